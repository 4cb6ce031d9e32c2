//! Builds requests: paths, queries and headers as client-go sends them.

use http::{Request, header};
use informer_reflector::{Failure, FailureKind, ListRequest, ListVersion, WatchRequest};
use kube_client::client::Body;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::{KubeSource, ReceivedWire, Representation, http::negotiation::Accepted};

/// The media type of protobuf.
pub(crate) const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// The characters that Go's `url.QueryEscape` encodes, except a blank, which becomes `+`.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~')
    .remove(b' ');

/// A query with its question mark, encoded as Go does. The caller adds names in order.
#[derive(Debug, Default)]
struct Query(String);

impl Query {
    /// Adds a value that is there and not empty.
    fn add<'v>(&mut self, name: &str, value: impl Into<Option<&'v str>>) {
        let Some(value) = value.into().filter(|value| !value.is_empty()) else {
            return;
        };
        let separator = if self.0.is_empty() { '?' } else { '&' };
        let value = utf8_percent_encode(value, ENCODED).to_string();
        self.0 += &format!("{separator}{name}={}", value.replace(' ', "+"));
    }
}

/// Builds the request for one page.
///
/// It carries a `resourceVersionMatch` for an exact version only. The other versions need none: the
/// server's default is what is meant.
// RL-17
pub(crate) fn list<T>(
    source: &KubeSource<T>,
    request: &ListRequest,
    accepted: Accepted,
) -> Result<Request<Body>, Failure> {
    let mut query = Query::default();
    query.add("continue", request.continue_token.as_deref());
    query.add("fieldSelector", source.field_selector.as_deref());
    query.add("labelSelector", source.label_selector.as_deref());
    let limit = request.limit.map(|limit| limit.to_string());
    query.add("limit", limit.as_deref());
    // RL-13: the token implies the version; servers refuse both together.
    if request.continue_token.is_none() {
        let version = match &request.version {
            ListVersion::Any => "0".to_owned(),
            ListVersion::Consistent => String::new(),
            ListVersion::NotOlderThan(version) | ListVersion::Exact(version) => version.to_string(),
            // A list that is as fresh as possible is right for every request.
            _ => String::new(),
        };
        query.add("resourceVersion", &*version);
        let is_exact = matches!(request.version, ListVersion::Exact(_));
        query.add("resourceVersionMatch", is_exact.then_some("Exact"));
    }
    build(
        source,
        &query,
        accept(source, "PartialObjectMetadataList", accepted),
        false,
    )
}

/// The longest timeout that is requested, in seconds: 68 years. A server counts in nanoseconds of
/// 64 bits, and refuses a value that overflows.
const LONGEST_WATCH: u64 = i32::MAX as u64;

/// Builds the request for a watch.
// RL-24, RL-34
pub(crate) fn watch<T>(
    source: &KubeSource<T>,
    request: &WatchRequest,
    accepted: Accepted,
) -> Result<Request<Body>, Failure> {
    let mut query = Query::default();
    let bookmarks = request.bookmarks.then_some("true");
    query.add("allowWatchBookmarks", bookmarks);
    query.add("fieldSelector", source.field_selector.as_deref());
    query.add("labelSelector", source.label_selector.as_deref());
    query.add("resourceVersion", &*request.version.to_string());
    if request.sends_initial_events() {
        query.add("resourceVersionMatch", "NotOlderThan");
        query.add("sendInitialEvents", "true");
    }
    if !request.timeout.is_zero() {
        let seconds = request.timeout.as_secs().clamp(1, LONGEST_WATCH);
        query.add("timeoutSeconds", &*seconds.to_string());
    }
    query.add("watch", "true");
    build(
        source,
        &query,
        accept(source, "PartialObjectMetadata", accepted),
        true,
    )
}

/// The media types of the accepted formats, of the type `partial` if only metadata is wanted.
fn accept<T>(source: &KubeSource<T>, partial: &str, accepted: Accepted) -> String {
    let formats = [
        (ReceivedWire::Protobuf, PROTOBUF),
        (ReceivedWire::Json, "application/json"),
    ];
    let accepted = formats
        .iter()
        .filter(|(format, _)| accepted.has(*format))
        .map(|(_, media_type)| match source.representation {
            Representation::Full => (*media_type).to_owned(),
            Representation::MetadataOnly => format!("{media_type};as={partial};g=meta.k8s.io;v=v1"),
        });
    accepted.collect::<Vec<_>>().join(",")
}

fn build<T>(
    source: &KubeSource<T>,
    query: &Query,
    accept: String,
    plain: bool,
) -> Result<Request<Body>, Failure> {
    let uri = format!("{}{}", source.path, query.0);
    let mut request = Request::get(uri).header(header::ACCEPT, accept);
    if plain {
        // FM-32: servers may compress each event on its own, and lower layers read only the first.
        request = request.header(header::ACCEPT_ENCODING, "identity");
    }
    request.body(Body::empty()).map_err(|_| {
        let message = format!("{:?} is not a path", source.path);
        Failure::new(FailureKind::Invalid, "BadPath", message)
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use informer_reflector::WatchStart;

    use super::*;
    use crate::tests::scripted;

    fn list_request() -> ListRequest {
        ListRequest::new(ListVersion::Any)
    }

    fn uri_of_list(request: &ListRequest) -> String {
        let mut source = scripted::source::<()>();
        source.label_selector = Some("app in (a,b),!c".into());
        source.field_selector = Some("spec.nodeName=ä~1".into());
        list(&source, request, Accepted::Json)
            .expect("a request")
            .uri()
            .to_string()
    }

    /// RL-13, RL-17: versions, limits and tokens as client-go sends them.
    #[test]
    fn lists_ask_as_client_go_does() {
        let selectors = "fieldSelector=spec.nodeName%3D%C3%A4~1\
            &labelSelector=app+in+%28a%2Cb%29%2C%21c";
        let mut request = list_request();
        let any = format!("/api/v1/pods?{selectors}&resourceVersion=0");
        assert_eq!(uri_of_list(&request), any);
        request.version = ListVersion::NotOlderThan("7".into());
        request.limit = Some(500);
        let paged = format!("/api/v1/pods?{selectors}&limit=500&resourceVersion=7");
        assert_eq!(uri_of_list(&request), paged);
        request.continue_token = Some("a/b+c=".into());
        let next = format!("/api/v1/pods?continue=a%2Fb%2Bc%3D&{selectors}&limit=500");
        assert_eq!(uri_of_list(&request), next);
        request.version = ListVersion::Exact("7".into());
        assert_eq!(uri_of_list(&request), next);
        request.continue_token = None;
        let exact = format!("{paged}&resourceVersionMatch=Exact");
        assert_eq!(uri_of_list(&request), exact);
        request.version = ListVersion::Consistent;
        request.limit = None;
        assert_eq!(uri_of_list(&request), format!("/api/v1/pods?{selectors}"));
    }

    /// RL-24, FM-32: streaming lists, time-outs, and no compression.
    #[test]
    fn watches_ask_as_client_go_does() {
        let mut asked = WatchRequest::new("5", Duration::from_secs(290)).with_initial_events();
        let mut source = scripted::source::<()>();
        source.representation = Representation::MetadataOnly;
        let request = watch(&source, &asked, Accepted::Json).expect("a request");
        assert_eq!(
            request.uri().to_string(),
            "/api/v1/pods?allowWatchBookmarks=true&resourceVersion=5\
             &resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=290\
             &watch=true"
        );
        assert_eq!(request.headers()[header::ACCEPT_ENCODING], "identity");
        let accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
        assert_eq!(request.headers()[header::ACCEPT], accept);
        asked.start = WatchStart::Version;
        asked.bookmarks = false;
        asked.version = "".into();
        asked.timeout = Duration::ZERO;
        let request = watch(&source, &asked, Accepted::Json).expect("a request");
        assert_eq!(request.uri().to_string(), "/api/v1/pods?watch=true");
    }

    /// Protobuf is preferred where both formats are accepted.
    #[test]
    fn formats_are_accepted_as_client_go_does() {
        let mut source = scripted::source::<()>();
        let accept = |source: &KubeSource<()>, accepted| {
            let request = list(source, &list_request(), accepted).expect("a request");
            let accept = request.headers()[header::ACCEPT].to_str();
            accept.expect("a text").to_owned()
        };
        assert_eq!(accept(&source, Accepted::Protobuf), PROTOBUF);
        let both = format!("{PROTOBUF},application/json");
        assert_eq!(accept(&source, Accepted::Both), both);
        source.representation = Representation::MetadataOnly;
        let partial = ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
        let both = format!("{PROTOBUF}{partial},application/json{partial}");
        assert_eq!(accept(&source, Accepted::Both), both);
    }

    /// RFX-7: even a path that is none fails like anything else.
    #[test]
    fn a_bad_path_is_a_failure() {
        let mut source = scripted::source::<()>();
        source.path = "no path\n".into();
        let failure = list(&source, &list_request(), Accepted::Json).expect_err("not a path");
        assert_eq!(failure.kind, FailureKind::Invalid);
    }
}
