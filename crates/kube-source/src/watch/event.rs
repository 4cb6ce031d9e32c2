//! Reads one event of a watch.
//!
//! Pure: a frame in, an event or a failure out. A frame is a line of JSON here; protobuf is read in
//! [`super::message_event`]. An event must be complete, well-formed, of a known
//! type, and about an object of the right kind with a name. Any other
//! line ends the stream, so that the version never moves past a line that was not understood. An
//! object that has an identity but does not decode is returned as undecodable.

// FM-30, FM-31, FM-33, FM-52, FM-54

use std::sync::Arc;

use informer_reflector::{
    Body, DecodeErrorCategory, Failure, Item, ResourceVersion, Reuse, WatchEvent,
};
use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{
    KubeSource, ReceivedWire,
    decode::{
        decoder::Buffers,
        envelope::{Envelope, Text, version_of},
        json_text::{not_json, protocol, text, trim_end, wrong_kind},
        object::cached,
    },
    http::status::{HttpParts, WireStatus},
};

/// A part of the name of the annotation below.
const INITIAL_EVENTS_END: &str = "initial-events-end";

#[derive(Deserialize)]
struct WireEvent<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    object: &'a RawValue,
}

#[derive(Deserialize)]
pub(super) struct WireBookmark<'a> {
    #[serde(borrow)]
    metadata: WireBookmarkMeta<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireBookmarkMeta<'a> {
    #[serde(borrow, default)]
    resource_version: Text<'a>,
    #[serde(borrow, default)]
    annotations: Option<Annotations<'a>>,
}

/// The one annotation that matters; the others are skipped.
#[derive(Deserialize)]
struct Annotations<'a> {
    #[serde(borrow, default, rename = "k8s.io/initial-events-end")]
    initial_events_end: Text<'a>,
}

/// Reads the events of one stream.
pub(crate) struct EventReader<T> {
    pub(crate) source: Arc<KubeSource<T>>,
    format: ReceivedWire,
    /// Consulted during the initial events of a streaming list.
    pub(super) reuse: Option<Arc<dyn Reuse<T>>>,
    /// Memory for reading.
    pub(crate) buffers: Buffers,
}

impl<T: 'static> EventReader<T> {
    pub(crate) fn new(
        source: Arc<KubeSource<T>>,
        format: ReceivedWire,
        reuse: Option<Arc<dyn Reuse<T>>>,
    ) -> Self {
        Self {
            source,
            format,
            reuse,
            buffers: Buffers::default(),
        }
    }

    /// Creates a reader for these frames, which precede all frames that this one reads later. It
    /// uses the memory of `buffers`.
    pub(crate) fn for_frames(&mut self, frames: &[u8], buffers: Buffers) -> Self {
        let mut reader = Self::new(Arc::clone(&self.source), self.format, self.reuse.clone());
        reader.buffers = buffers;
        // A frame that only contains the text loses some reuse for later frames, and nothing else.
        if self.reuse.is_some() && memmem::find(frames, INITIAL_EVENTS_END.as_bytes()).is_some() {
            self.reuse = None;
        }
        reader
    }

    /// Reads one frame.
    pub(crate) fn read(&mut self, frame: &[u8]) -> Result<WatchEvent<T>, Failure> {
        if self.format == ReceivedWire::Protobuf {
            return self.read_message(frame);
        }
        let line = text(frame)?;
        match self.read_usual(line) {
            Some(event) => Ok(event),
            None => self.read_any(line),
        }
    }

    /// Reads a line as servers write them: the type, an object that decodes, and nothing else. Only
    /// decoding checks that it is JSON; an object that is reused is not read.
    fn read_usual(&mut self, line: &str) -> Option<WatchEvent<T>> {
        let (kind, rest) = line.strip_prefix(r#"{"type":""#)?.split_once('"')?;
        let object = trim_end(rest.strip_prefix(r#","object":"#)?);
        let object = object.strip_suffix('}')?;
        let (event, may_reuse) = change(kind)?;
        let item = self.item(object, may_reuse).ok()??;
        is_json(&item.body).then(|| event(item))
    }

    pub(crate) fn read_any(&mut self, line: &str) -> Result<WatchEvent<T>, Failure> {
        let event: WireEvent<'_> = serde_json::from_str(line).map_err(|error| not_json(&error))?;
        let object = event.object.get();
        let kind = event.kind.as_str();
        planted!(WrongKindIsSkipped => if let Some(skipped) = self.skipped(object) {
            return Ok(skipped);
        });
        if let Some((event, may_reuse)) = change(kind) {
            let item = self.item(object, may_reuse)?;
            return item.map(event).map_or_else(|| left_out(object), Ok);
        }
        match kind {
            "BOOKMARK" => self.bookmark(object),
            "ERROR" => Ok(WatchEvent::Error(server_error(object))),
            _ if planted!(UnknownTypeIsSkipped) => self.bookmark(object),
            kind => Err(unknown_type(kind)),
        }
    }

    /// `None` for an object that no key can be made for.
    fn item(&mut self, json: &str, may_reuse: bool) -> Result<Option<Item<T>>, Failure> {
        let envelope = Envelope::of_event_object(json);
        if !self.source.expects(envelope.names()) {
            return Err(wrong_kind(
                envelope.api_version.as_str(),
                envelope.kind.as_str(),
            ));
        }
        let Some(identity) = envelope.identity()? else {
            return Ok(None);
        };
        let reuse = self.reuse.as_deref().filter(|_| may_reuse);
        let body = match cached(reuse, &identity) {
            Some(object) => Body::Reused(object),
            None => {
                let is_typed = envelope.is_typed();
                let buffers = &mut self.buffers;
                self.source.decode(json, is_typed, &identity, buffers)
            }
        };
        Ok(Some(Item::new(identity, body)))
    }

    /// A planted bug takes what is of another kind for a bookmark.
    #[cfg(any(test, sim))]
    fn skipped(&self, json: &str) -> Option<WatchEvent<T>> {
        let bookmark: WireBookmark<'_> = serde_json::from_str(json).ok()?;
        let is_expected = self.source.expects(Envelope::of_event_object(json).names());
        (!is_expected).then(|| WatchEvent::Bookmark {
            version: version_of(&bookmark.metadata.resource_version),
            initial_events_end: false,
        })
    }

    fn bookmark(&mut self, json: &str) -> Result<WatchEvent<T>, Failure> {
        let envelope = Envelope::of_event_object(json);
        if !self.source.expects(envelope.names()) {
            return Err(wrong_kind(
                envelope.api_version.as_str(),
                envelope.kind.as_str(),
            ));
        }
        let bookmark = serde_json::from_str(json).map_err(|error| not_json(&error))?;
        self.bookmarked(&bookmark)
    }

    pub(super) fn bookmarked(
        &mut self,
        bookmark: &WireBookmark<'_>,
    ) -> Result<WatchEvent<T>, Failure> {
        let version = version_of(&bookmark.metadata.resource_version);
        if version.is_unset() {
            return Err(protocol("NoVersion", "a bookmark has no version"));
        }
        let annotations = bookmark.metadata.annotations.as_ref();
        let initial_events_end =
            annotations.is_some_and(|found| found.initial_events_end.as_str() == "true");
        if initial_events_end {
            self.reuse = None;
        }
        Ok(WatchEvent::Bookmark {
            version,
            initial_events_end,
        })
    }
}

/// The event of an object without a key: there is nothing to store, and nothing to receive again.
fn left_out<T>(json: &str) -> Result<WatchEvent<T>, Failure> {
    left_out_at(Envelope::of_event_object(json).version())
}

/// The event of an object of this version without a key.
pub(super) fn left_out_at<T>(version: ResourceVersion) -> Result<WatchEvent<T>, Failure> {
    if version.is_unset() {
        return Err(protocol("NoVersion", "an object has no version"));
    }
    Ok(WatchEvent::Bookmark {
        version,
        initial_events_end: false,
    })
}

/// What makes an item an event.
pub(super) type About<T> = fn(Item<T>) -> WatchEvent<T>;

/// The event of this type, if it is one about an object, and whether a stored object may be reused
/// for it.
pub(super) fn change<T>(kind: &str) -> Option<(About<T>, bool)> {
    match kind {
        "ADDED" => Some((WatchEvent::Added, true)),
        "MODIFIED" => Some((WatchEvent::Modified, false)),
        "DELETED" => Some((WatchEvent::Deleted, false)),
        _ => None,
    }
}

/// Whether all of the text was read; a transform sees only what was.
fn is_json<T>(body: &Body<T>) -> bool {
    match body {
        Body::Decoded(_) | Body::Reused(_) => true,
        Body::Undecodable(error) => error.category == DecodeErrorCategory::Transform,
    }
}

/// An `ERROR` event is a failure even if its object is no `Status`.
// FM-27
fn server_error(json: &str) -> Failure {
    let status = serde_json::from_str::<WireStatus<'_>>(json).unwrap_or_default();
    status.judge(HttpParts::default())
}

pub(super) fn unknown_type(kind: &str) -> Failure {
    const LONGEST: usize = 32;
    let is_word = kind.len() <= LONGEST && kind.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let kind = if is_word { kind } else { "?" };
    let message = format!("an event of the unknown type {kind:?}");
    protocol("UnknownEvent", message)
}
