//! The skin for a reflector: its port, straight onto the history, without HTTP.
//!
//! Requests run through the same script of faults and the same log as those over HTTP. An object
//! is decoded from the bytes it is kept in; lines and lists that a fault has changed are read back
//! from theirs, by `decode`.

use std::{fmt, marker::PhantomData, sync::Arc, time::Duration};

use futures::{Stream, StreamExt, stream, stream::BoxStream};
use informer_reflector::{
    Failure, FailureKind, ListRequest, ListVersion, ListWatch, Page, ResourceVersion, Reuse,
    WatchEvent, WatchRequest,
};
use serde::de::DeserializeOwned;

use crate::{
    ApiServer, Fault, FieldSelector, LabelSelector, ListOptions, Rejection, RequestLine, Resource,
    ResourceId, Selection, Verb,
    decode::{Decoder, decode_line, decode_list},
    feed::{Feed, WatchOptions},
    list_tampering::{ListBody, changes_lists, write_list},
    server::Server,
    wire::{Form, Format, Frame},
};

/// A [`ListWatch`] of one resource; made by [`ApiServer::source`].
pub struct Source<T> {
    server: Arc<Server>,
    id: ResourceId,
    resource: Resource,
    selection: Selection,
    form: Form,
    streaming_lists: bool,
    path: String,
    object: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned + Send + Sync + 'static> Source<T> {
    pub(crate) fn new(server: &ApiServer, resource: &Resource) -> Result<Self, Rejection> {
        let server = Arc::clone(server.server());
        let (id, resource) = {
            let state = server.lock();
            let id = state.cluster.find(resource)?;
            (id, Resource::clone(&state.cluster.collection(id).resource))
        };
        Ok(Self {
            server,
            id,
            selection: Selection::default(),
            form: Form::Whole,
            streaming_lists: true,
            path: resource.path(None),
            resource,
            object: PhantomData,
        })
    }

    /// Only this namespace.
    #[must_use]
    pub fn namespace(mut self, namespace: &str) -> Self {
        self.path = self.resource.path(Some(namespace));
        self.selection.namespace = Some(namespace.to_owned());
        self
    }

    /// Only objects with these labels.
    ///
    /// # Errors
    ///
    /// 400 for what is not a selector.
    pub fn labels(mut self, selector: &str) -> Result<Self, Rejection> {
        self.selection.labels = LabelSelector::parse(selector)?;
        Ok(self)
    }

    /// Only objects with these fields.
    ///
    /// # Errors
    ///
    /// 400 for what is not a selector, or names a field that cannot be selected by.
    pub fn fields(mut self, selector: &str) -> Result<Self, Rejection> {
        self.selection.fields = FieldSelector::parse(selector, &self.resource)?;
        Ok(self)
    }

    /// Only the metadata, as `PartialObjectMetadata`.
    #[must_use]
    pub fn metadata_only(mut self) -> Self {
        self.form = Form::Metadata;
        self
    }

    /// A source that says that it cannot send initial events.
    // LW-05
    #[must_use]
    pub fn without_streaming_lists(mut self) -> Self {
        self.streaming_lists = false;
        self
    }

    fn decoder(&self, reuse: Arc<dyn Reuse<T>>) -> Decoder<T> {
        Decoder {
            resource: self.resource.clone(),
            form: self.form,
            reuse,
        }
    }

    /// Enters the request into the log, and meets the faults that come before any answer.
    async fn begin(&self, line: RequestLine) -> Result<(u64, Vec<Fault>), Failure> {
        let (number, faults) = self.server.begin(line);
        let told = |code, why: &str| self.server.answer(number, code, format!("fault: {why}"));
        for fault in &faults {
            match fault {
                Fault::Delay(time) | Fault::Stall(time) => tokio::time::sleep(*time).await,
                Fault::Refuse | Fault::Unreachable | Fault::Handshake => {
                    told(None, "refused");
                    let message = "the server refused the connection";
                    return Err(Failure::new(
                        FailureKind::Connect,
                        "ConnectionRefused",
                        message,
                    ));
                }
                Fault::HangHeaders => {
                    told(None, "never answered");
                    std::future::pending::<()>().await;
                }
                Fault::Answer { code, body, .. } => {
                    told(Some(*code), body);
                    return Err(Rejection::new(*code, "", body).to_failure());
                }
                Fault::Status(rejection) => {
                    told(Some(rejection.code), &rejection.to_string());
                    return Err(rejection.to_failure());
                }
                _ => {}
            }
        }
        Ok((number, faults))
    }

    fn refused(&self, number: u64, rejection: &Rejection) -> Failure {
        self.server
            .answer(number, Some(rejection.code), rejection.to_string());
        rejection.to_failure()
    }

    fn line(&self, verb: Verb, query: &str) -> RequestLine {
        RequestLine {
            namespace: self.selection.namespace.clone(),
            query: format!("{}?{query}", self.path),
            ..RequestLine::of(verb, &self.resource)
        }
    }

    fn list_line(&self, options: &ListOptions) -> RequestLine {
        let query = format!(
            "resourceVersion={}&resourceVersionMatch={}&limit={}&continue={}",
            options.version,
            options.version_match.as_deref().unwrap_or_default(),
            options.limit.unwrap_or(0),
            options.continue_token.as_deref().unwrap_or_default(),
        );
        RequestLine {
            version: options.version.clone(),
            is_continuation: options.continue_token.is_some(),
            ..self.line(Verb::List, &query)
        }
    }

    fn watch_line(&self, request: &WatchRequest) -> RequestLine {
        let query = format!(
            "watch=true&resourceVersion={}&timeoutSeconds={}&allowWatchBookmarks={}\
             &sendInitialEvents={}",
            request.version,
            request.timeout.as_secs(),
            request.bookmarks,
            request.sends_initial_events(),
        );
        RequestLine {
            version: request.version.to_string(),
            wants_initial_events: request.sends_initial_events(),
            ..self.line(Verb::Watch, &query)
        }
    }

    fn list_options(&self, request: ListRequest) -> ListOptions {
        let is_continuation = request.continue_token.is_some();
        let (version, version_match) = match request.version {
            _ if is_continuation => (String::new(), None),
            ListVersion::Consistent => (String::new(), None),
            ListVersion::Any => ("0".to_owned(), None),
            ListVersion::NotOlderThan(version) => {
                (version.to_string(), Some("NotOlderThan".to_owned()))
            }
            ListVersion::Exact(version) => (version.to_string(), Some("Exact".to_owned())),
            // A list that is as fresh as possible is right for every request.
            _ => (String::new(), None),
        };
        ListOptions {
            selection: self.selection.clone(),
            version,
            version_match,
            limit: request.limit.map(|limit| limit as usize),
            continue_token: request.continue_token.map(|token| token.to_string()),
        }
    }
}

impl<T: DeserializeOwned + Send + Sync + 'static> ListWatch for Source<T> {
    type Object = T;
    type Events = Events<T>;

    async fn list(
        &self,
        request: ListRequest,
        reuse: Arc<dyn Reuse<T>>,
    ) -> Result<Page<T>, Failure> {
        let may_reuse = request.reuse;
        let options = self.list_options(request);
        let (number, faults) = self.begin(self.list_line(&options)).await?;
        let listing = list_with_faults(&self.server, self.id, &options, &faults);
        let listing = listing.map_err(|rejection| self.refused(number, &rejection))?;
        self.server
            .answer(number, Some(200), story(&listing.why, &faults));
        if faults.contains(&Fault::Hang) {
            std::future::pending::<()>().await;
        }
        let reuse: Arc<dyn Reuse<T>> = if may_reuse { reuse } else { Arc::new(()) };
        let decoder = self.decoder(reuse);
        if faults.iter().any(changes_lists) {
            let ListBody { body, cut, .. } =
                write_list(&listing, &self.resource, Format::json(self.form), &faults);
            if cut.is_some() {
                return Err(broken());
            }
            return decode_list(&body, &decoder);
        }
        let items = listing.items.iter();
        let items = items.map(|object| decoder.item(object, true)).collect();
        Ok(Page::new(items, ResourceVersion::from(listing.version))
            .continued(listing.continue_token.map(Arc::from))
            .remaining(listing.remaining.map(|count| count as u64)))
    }

    async fn watch(
        &self,
        request: WatchRequest,
        reuse: Arc<dyn Reuse<T>>,
    ) -> Result<Events<T>, Failure> {
        let (number, faults) = self.begin(self.watch_line(&request)).await?;
        let is_initial = request.sends_initial_events();
        let options = WatchOptions {
            selection: self.selection.clone(),
            version: request.version.to_string(),
            version_match: is_initial.then(|| "NotOlderThan".to_owned()),
            bookmarks: request.bookmarks,
            send_initial_events: is_initial.then_some(true),
            timeout: Some(Duration::from_secs(request.timeout.as_secs()))
                .filter(|timeout| !timeout.is_zero()),
        };
        let format = Format::json(self.form);
        let opened = Feed::open(&self.server, self.id, options, format, &faults);
        let (feed, why) = opened.map_err(|rejection| self.refused(number, &rejection))?;
        self.server.answer(number, Some(200), story(&why, &faults));
        Ok(events(feed, self.decoder(reuse), is_initial))
    }

    fn streaming_lists(&self) -> bool {
        self.streaming_lists
    }

    fn describe(&self) -> &str {
        &self.path
    }
}

impl<T> fmt::Debug for Source<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// The reason for an answer, with the faults it met.
pub(crate) fn story(why: &str, faults: &[Fault]) -> String {
    if faults.is_empty() {
        why.to_owned()
    } else {
        format!("{why}; faults: {faults:?}")
    }
}

/// Lists; a stale replica lists what it knows.
// FM-01
pub(crate) fn list_with_faults(
    server: &Server,
    id: ResourceId,
    options: &ListOptions,
    faults: &[Fault],
) -> Result<crate::Listing, Rejection> {
    let state = server.lock();
    let older = faults.iter().find_map(|fault| match fault {
        Fault::OlderVersion(version) => Some(*version),
        Fault::StaleBy(versions) => Some(state.cluster.version().saturating_sub(*versions)),
        _ => None,
    });
    if let Some(version) = older {
        let options = ListOptions {
            version: version.to_string(),
            version_match: Some("Exact".to_owned()),
            continue_token: None,
            ..options.clone()
        };
        if let Ok(listing) = state.cluster.list(id, &options) {
            return Ok(listing);
        }
    }
    state.cluster.list(id, options)
}

fn broken() -> Failure {
    Failure::new(
        FailureKind::Cut,
        "ConnectionReset",
        "the connection broke within the answer",
    )
}

/// The events of one watch.
pub struct Events<T>(BoxStream<'static, Result<WatchEvent<T>, Failure>>);

impl<T> Stream for Events<T> {
    type Item = Result<WatchEvent<T>, Failure>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        self.0.poll_next_unpin(cx)
    }
}

impl<T> fmt::Debug for Events<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").finish_non_exhaustive()
    }
}

fn events<T>(feed: Feed, decoder: Decoder<T>, is_initial: bool) -> Events<T>
where
    T: DeserializeOwned + Send + Sync + 'static,
{
    let batches = stream::unfold(feed, |mut feed| async move {
        let frames = feed.next().await?;
        Some((frames, feed))
    });
    let frames = batches.flat_map(stream::iter);
    // An error is the last item; what a server sends behind it is not read.
    let events = frames.scan((false, is_initial), move |(is_over, is_initial), frame| {
        let event = (!*is_over).then(|| event(frame, &decoder, *is_initial));
        match &event {
            Some(Err(_)) => *is_over = true,
            Some(Ok(WatchEvent::Bookmark {
                initial_events_end: true,
                ..
            })) => *is_initial = false,
            _ => {}
        }
        std::future::ready(event)
    });
    Events(events.boxed())
}

fn event<T: DeserializeOwned>(
    frame: Frame,
    decoder: &Decoder<T>,
    is_initial: bool,
) -> Result<WatchEvent<T>, Failure> {
    match frame {
        Frame::Event { kind, object } => Ok(decoder.event(kind, decoder.item(&object, is_initial))),
        Frame::Bookmark {
            version,
            ends_initial,
        } => Ok(WatchEvent::Bookmark {
            version: ResourceVersion::from(version),
            initial_events_end: ends_initial,
        }),
        Frame::Error(rejection) => Ok(WatchEvent::Error(rejection.to_failure())),
        Frame::Changed(event) => decode_line(event.to_string().as_bytes(), decoder),
        Frame::Raw(line) => decode_line(&line, decoder),
        Frame::Cut(_) => Err(broken()),
    }
}
