//! Oracles for answers of any bytes: checks that hold for everything that is read from them.
//!
//! They serve the fuzz properties `watch_event`, `list_page` and `status_classify`. Each reads the
//! bytes once more with serde_json alone, and panics if the two results differ. Each returns the
//! messages that a reflector would report, so that a test can search them for content.

use std::{borrow::Cow, sync::Arc};

use bytes::Bytes;
use futures::FutureExt;
use informer_reflector::{
    Body, DecodeErrorCategory, Failure, Item, ListRequest, ListVersion, Page, WatchEvent,
};
use kube_core::DynamicObject;
use serde::{
    Deserialize,
    de::{DeserializeOwned, IgnoredAny},
};
use serde_json::{Value, value::RawValue};

use crate::{
    KubeSource, ReceivedWire, SerdeDecoder,
    http::status::{HttpParts, WireStatus},
    list::arriving::ArrivingList,
    watch::event::EventReader,
};

/// All pods, whole.
pub(crate) fn pods<T: DeserializeOwned + 'static>() -> KubeSource<T> {
    KubeSource::new(
        "/api/v1/pods",
        "v1",
        "Pod",
        Arc::new(SerdeDecoder::default()),
    )
}

/// Fuzz property 2: an event comes from a whole JSON value only, and says what that says.
pub(super) fn judge_event(line: &[u8]) -> String {
    match EventReader::new(Arc::new(pods()), ReceivedWire::Json, None).read(line) {
        Ok(WatchEvent::Added(item) | WatchEvent::Modified(item) | WatchEvent::Deleted(item)) => {
            assert!(is_json(line), "FM-30: an event that is not JSON");
            judge_short_cut(line, &item);
            judge_item(&item)
        }
        Ok(WatchEvent::Bookmark { version, .. }) => {
            assert!(is_json(line), "FM-30: a bookmark that is not JSON");
            assert!(!version.is_unset(), "RFX-2: a bookmark without a version");
            if let Ok(whole) = serde_json::from_slice::<Value>(line) {
                let written = whole["object"]["metadata"]["resourceVersion"].as_str();
                assert_eq!(version, *written.unwrap_or_default(), "RFX-2");
            }
            String::new()
        }
        Ok(WatchEvent::Error(failure)) | Err(failure) => judge_failure(&failure),
    }
}

/// A line that is read in the way in which servers write them is read as any other would be.
fn judge_short_cut(line: &[u8], read: &Item<DynamicObject>) {
    let line = std::str::from_utf8(line).expect("JSON is UTF-8");
    let again = EventReader::new(Arc::new(pods()), ReceivedWire::Json, None).read_any(line);
    let Ok(WatchEvent::Added(item) | WatchEvent::Modified(item) | WatchEvent::Deleted(item)) =
        again
    else {
        panic!("an event only on the short cut: {again:?}");
    };
    assert_eq!(
        read.identity, item.identity,
        "the short cut reads another identity"
    );
    let decoded = (read.body.object(), item.body.object());
    assert_eq!(decoded.0, decoded.1, "the short cut reads another object");
}

/// RFX-2, FM-54: the identity of what decoded is its own; of what did not, only where it failed.
fn judge_item(item: &Item<DynamicObject>) -> String {
    match &item.body {
        Body::Undecodable(error) => format!("{error} {error:?} {item:?}"),
        Body::Decoded(object) | Body::Reused(object) => {
            let own = &object.metadata;
            let text = |field: &Option<String>| field.clone().unwrap_or_default();
            assert_eq!(text(&own.name), item.identity.key.name(), "RFX-2");
            assert_eq!(item.identity.uid, *text(&own.uid), "RFX-2");
            let version = text(&own.resource_version);
            assert_eq!(item.identity.version, *version, "RFX-2");
            format!("{item:?}")
        }
    }
}

fn judge_failure(failure: &Failure) -> String {
    assert!(!failure.reason.is_empty(), "RFX-13: a cause");
    assert!(failure.message.chars().count() <= 513, "a short message");
    let asked = failure.retry_after.unwrap_or_default();
    assert!(asked.as_secs() <= 24 * 60 * 60, "SEC-27: within a day");
    let recovery = failure.kind.recovery();
    format!("{failure} {failure:?} {recovery:?}")
}

/// A list, whose items are not looked into.
#[derive(Deserialize)]
struct WholeList<'a> {
    #[serde(borrow)]
    items: Option<Vec<&'a RawValue>>,
}

/// Fuzz property 4: item by item, in any pieces, gives what decoding the whole gives, or a failure.
pub(super) fn judge_list<'a>(body: &[u8], pieces: impl Iterator<Item = &'a [u8]>) -> String {
    let page = read_list(pieces);
    let at_once = read_list(std::iter::once(body));
    assert_eq!(page.is_ok(), at_once.is_ok(), "FM-10: pieces decide");
    let page = match page {
        Ok(page) => page,
        Err(failure) => return judge_failure(&failure),
    };
    let whole: WholeList<'_> = serde_json::from_slice(body).expect("FM-10: a page is JSON");
    let items = whole.items.unwrap_or_default();
    let Some(items) = with_keys(items) else {
        return String::new();
    };
    assert_eq!(page.items.len(), items.len(), "FM-10: as many items");
    let judged = page.items.iter().zip(items).map(|(item, text)| {
        judge_against(item, text.get());
        judge_item(item)
    });
    judged.collect()
}

/// The parts of an item that make its key.
#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow)]
    metadata: Names<'a>,
}

#[derive(Deserialize)]
struct Names<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    namespace: Option<Cow<'a, str>>,
}

/// KY-01: the items without a slash in a name; the others have no key and are left out. `None` if
/// an item with a slash says its name twice, or cannot be read: whether it counts is not defined.
fn with_keys(items: Vec<&RawValue>) -> Option<Vec<&RawValue>> {
    let may_have_slash = |text: &str| {
        ["/", r"\u002f", r"\u002F"]
            .iter()
            .any(|at| text.contains(at))
    };
    let mut kept = Vec::new();
    for item in items {
        match serde_json::from_str::<Named<'_>>(item.get()) {
            Ok(Named { metadata }) => {
                let namespace = metadata.namespace.unwrap_or_default();
                let has_key = !metadata.name.contains('/') && !namespace.contains('/');
                kept.extend(has_key.then_some(item));
            }
            Err(_) if may_have_slash(item.get()) => return None,
            Err(_) => kept.push(item),
        }
    }
    Some(kept)
}

fn read_list<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Result<Page<DynamicObject>, Failure> {
    let request = ListRequest::new(ListVersion::Any);
    let mut list = ArrivingList::new(&Arc::new(pods()), ReceivedWire::Json, &request, None, 1);
    let at_once = "one thread does its work in place";
    for piece in pieces {
        let piece = Bytes::copy_from_slice(piece);
        list.push(&piece).now_or_never().expect(at_once)?;
    }
    list.complete().now_or_never().expect(at_once)
}

fn judge_against(item: &Item<DynamicObject>, text: &str) {
    let whole = serde_json::from_str::<DynamicObject>(text).ok();
    match &item.body {
        Body::Decoded(object) | Body::Reused(object) => {
            let whole = whole.expect("FM-54: only one parser decodes it");
            assert_eq!(object.metadata, whole.metadata, "item and whole");
            assert_eq!(object.data, whole.data, "item and whole");
        }
        // These are ours: an object of another type, and one that is too large.
        Body::Undecodable(error) if matches!(&*error.path, "kind" | "metadata") => {}
        Body::Undecodable(error) if error.category != DecodeErrorCategory::Data => {}
        Body::Undecodable(error) => {
            assert!(whole.is_none(), "FM-54: decodes after all: {error:?}");
        }
    }
}

/// Fuzz property 3: every text is a class, the same however it is written and wherever it came.
pub(super) fn judge_status(text: &str, code: u16) -> String {
    let Ok(status) = serde_json::from_str::<WireStatus<'_>>(text) else {
        return String::new();
    };
    let failure = status.judge(HttpParts::default());
    let line = format!(r#"{{"type":"ERROR","object":{text}}}"#);
    match EventReader::new(Arc::new(pods::<DynamicObject>()), ReceivedWire::Json, None)
        .read(line.as_bytes())
    {
        Ok(WatchEvent::Error(event)) => assert_eq!(event, failure, "FM-05: an event"),
        other => panic!("FM-27: an error that is none: {other:?}"),
    }
    let http = HttpParts {
        code,
        reason: "Name",
        retry_after: None,
    };
    let answer = status.judge(http);
    assert_eq!(
        answer.code,
        (code != 0).then_some(code).or(failure.code),
        "FM-28"
    );
    if let Some(pretty) = rewritten(text) {
        let status: WireStatus<'_> = serde_json::from_str(&pretty).expect("FM-27: still one");
        let again = status.judge(http);
        let parts = |f: &Failure| (f.kind, f.reason.clone(), f.message.clone());
        assert_eq!(parts(&again), parts(&answer), "FM-27: {pretty}");
    }
    judge_failure(&failure) + &judge_failure(&answer)
}

/// The same value, pretty-printed; unless it has fractions, which may be rounded once more.
fn rewritten(text: &str) -> Option<String> {
    let value: Value = serde_json::from_str(text).ok()?;
    let has_fraction = value["code"]
        .as_f64()
        .is_some_and(|code| code.fract() != 0.0);
    (!has_fraction).then(|| serde_json::to_string_pretty(&value).expect("a value is JSON"))
}

fn is_json(bytes: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(bytes).is_ok()
}
