//! Applies faults to the events of an answered watch.
//!
//! Pure: frames in, frames out. Waiting, hanging and refusing are the skins' part.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};

use crate::{
    Damage, EventKind, Fault, Rejection, Resource,
    protobuf::{damaged_frame, event_frame, frame_of},
    wire::{Encoding, Format, Frame},
};

pub(crate) const HTML: &str = "<html><body><h1>Please log in</h1></body></html>";
pub(crate) const GARBAGE: &str = "%% this is not JSON %%";
/// A member that holds `{}`.
pub(crate) const GZIP: &[u8] =
    b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xab\xae\x05\x00\x43\xbf\xa6\xa3\x02\x00\x00\x00";

/// What is to be done to the lines of one watch.
#[derive(Debug, Default)]
pub(crate) struct Tampering {
    line: Option<LineFault>,
    cut_after_bytes: Option<u64>,
    cut_after_events: Option<u64>,
    close_after_events: Option<u64>,
    error_after: Option<(u64, Rejection)>,
    /// The error does not say its kind.
    is_error_bare: bool,
    is_deletion_older: bool,
    lose: Option<u64>,
    is_early_bookmark: bool,
    is_without_bookmarks: bool,
    is_without_end: bool,
    /// Not a line, ever.
    pub(crate) is_hanging: bool,
    pub(crate) close_after: Option<Duration>,
    pub(crate) ignores_timeout: bool,
    events: u64,
    sent: u64,
    bytes: u64,
    is_over: bool,
}

/// What is done to the first event's line.
#[derive(Clone, Copy, Debug)]
enum LineFault {
    Truncated,
    Garbage,
    Html,
    UnknownType,
    WrongKind,
    Nameless,
    Undecodable,
    Huge(usize),
    Gzip,
    Version(u64),
    Protobuf(Damage),
}

impl Tampering {
    pub(crate) fn new(faults: &[Fault]) -> Self {
        let mut all = Self::default();
        for fault in faults {
            match fault {
                Fault::ErrorEvent { after, status } => {
                    all.error_after = Some((*after, status.clone()));
                }
                Fault::BareError { after, status } => {
                    all.error_after = Some((*after, status.clone()));
                    all.is_error_bare = true;
                }
                Fault::Hang => all.is_hanging = true,
                Fault::CutAfterBytes(bytes) => all.cut_after_bytes = Some(*bytes),
                Fault::CutAfterEvents(events) => all.cut_after_events = Some(*events),
                Fault::CloseAfter(time) => all.close_after = Some(*time),
                Fault::CloseAfterEvents(events) => all.close_after_events = Some(*events),
                Fault::TruncatedLine => all.line = Some(LineFault::Truncated),
                Fault::GarbageLine => all.line = Some(LineFault::Garbage),
                Fault::Html => all.line = Some(LineFault::Html),
                Fault::UnknownType => all.line = Some(LineFault::UnknownType),
                Fault::WrongKind => all.line = Some(LineFault::WrongKind),
                Fault::Nameless => all.line = Some(LineFault::Nameless),
                Fault::UndecodableItem => all.line = Some(LineFault::Undecodable),
                Fault::HugeItem(bytes) => all.line = Some(LineFault::Huge(*bytes)),
                Fault::Gzip => all.line = Some(LineFault::Gzip),
                Fault::DeletedOlderVersion => all.is_deletion_older = true,
                Fault::OlderVersion(version) => all.line = Some(LineFault::Version(*version)),
                Fault::Protobuf(damage) => all.line = Some(LineFault::Protobuf(*damage)),
                Fault::BookmarkNever => all.is_without_bookmarks = true,
                Fault::NoInitialEventsEnd => all.is_without_end = true,
                Fault::LoseEvent(nth) => all.lose = Some(*nth),
                Fault::EarlyBookmark => all.is_early_bookmark = true,
                Fault::IgnoreTimeout => all.ignores_timeout = true,
                _ => {}
            }
        }
        all
    }

    /// Whether the watch has ended by what was done to it.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Passes lines on, changed where a fault says so. An empty batch asks for what comes first.
    pub(crate) fn apply(
        &mut self,
        frames: Vec<Frame>,
        resource: &Resource,
        format: Format,
    ) -> Vec<Frame> {
        let mut out = Vec::with_capacity(frames.len());
        self.before_next_event(&mut out);
        for frame in frames {
            if self.is_over {
                break;
            }
            self.pass(frame, resource, format, &mut out);
            self.before_next_event(&mut out);
        }
        match self.cut_after_bytes {
            Some(limit) => self.cut(limit, out, resource, format),
            None => out,
        }
    }

    fn pass(&mut self, frame: Frame, resource: &Resource, format: Format, out: &mut Vec<Frame>) {
        let Frame::Event { object, kind } = &frame else {
            let is_dropped = match frame {
                Frame::Bookmark { ends_initial, .. } => {
                    self.is_without_bookmarks || (ends_initial && self.is_without_end)
                }
                _ => false,
            };
            if !is_dropped {
                out.push(frame);
            }
            return;
        };
        self.events += 1;
        if self.lose == Some(self.events) {
            return;
        }
        if std::mem::take(&mut self.is_early_bookmark) {
            out.push(Frame::Bookmark {
                version: object.version(),
                ends_initial: false,
            });
        }
        self.sent += 1;
        if *kind == EventKind::Deleted && std::mem::take(&mut self.is_deletion_older) {
            let older = LineFault::Version(object.version().saturating_sub(1).max(1));
            return change_line(older, &frame, resource, format, out);
        }
        match self.line.take() {
            Some(fault) => change_line(fault, &frame, resource, format, out),
            None => out.push(frame),
        }
    }

    /// What happens after so many events, 0 included.
    fn before_next_event(&mut self, out: &mut Vec<Frame>) {
        if self.is_over {
            return;
        }
        if self.sent == 0 && matches!(self.line, Some(LineFault::Html)) {
            out.push(Frame::Raw(Bytes::from_static(HTML.as_bytes())));
            self.is_over = true;
        } else if self
            .close_after_events
            .is_some_and(|events| self.sent >= events)
        {
            self.is_over = true;
        } else if self
            .cut_after_events
            .is_some_and(|events| self.sent >= events)
        {
            out.push(Frame::Cut(Bytes::new()));
            self.is_over = true;
        } else if let Some((_, status)) =
            self.error_after.take_if(|(events, _)| self.sent >= *events)
        {
            out.push(match self.is_error_bare {
                true => bare_error(&status),
                false => Frame::Error(status),
            });
            self.is_over = true;
        }
    }

    fn cut(&mut self, limit: u64, lines: Vec<Frame>, of: &Resource, format: Format) -> Vec<Frame> {
        let mut out = Vec::with_capacity(lines.len() + 1);
        if limit == 0 {
            self.is_over = true;
            return vec![Frame::Cut(Bytes::new())];
        }
        for frame in lines {
            let mut line = Vec::new();
            frame.write(&mut line, of, format);
            let left = usize::try_from(limit - self.bytes).unwrap_or(usize::MAX);
            if line.len() < left {
                self.bytes += line.len() as u64;
                out.push(frame);
                continue;
            }
            line.truncate(left);
            out.push(Frame::Cut(Bytes::from(line)));
            self.is_over = true;
            break;
        }
        out
    }
}

fn change_line(
    fault: LineFault,
    frame: &Frame,
    resource: &Resource,
    format: Format,
    out: &mut Vec<Frame>,
) {
    let mut event = frame.to_json(resource, format.form);
    let object = &mut event["object"];
    match fault {
        LineFault::Truncated => {
            out.push(Frame::Raw(half(&event, resource, format)));
            return;
        }
        LineFault::Garbage => {
            out.push(Frame::Raw(match format.encoding {
                Encoding::Json => Bytes::from_static(GARBAGE.as_bytes()),
                Encoding::Protobuf => Bytes::from(frame_of(GARBAGE.as_bytes())),
            }));
            out.push(frame.clone());
            return;
        }
        LineFault::Html => {
            out.push(Frame::Raw(Bytes::from_static(HTML.as_bytes())));
            return;
        }
        LineFault::Gzip => {
            out.push(Frame::Raw(Bytes::from_static(GZIP)));
            return;
        }
        LineFault::Protobuf(damage) => {
            out.push(damaged(damage, frame, resource, format));
            return;
        }
        LineFault::Huge(bytes) => enlarge(object, bytes),
        LineFault::UnknownType => event["type"] = json!("FOO"),
        LineFault::WrongKind => {
            object["kind"] = json!("Table");
            object["apiVersion"] = json!("meta.k8s.io/v1");
        }
        LineFault::Nameless => object["metadata"]["name"] = json!(""),
        LineFault::Undecodable => spoil(object),
        LineFault::Version(version) => {
            object["metadata"]["resourceVersion"] = json!(version.to_string());
        }
    }
    out.push(Frame::Changed(event));
}

/// The first half of an event: a line without its end, or a frame with the length of the half.
fn half(event: &Value, resource: &Resource, format: Format) -> Bytes {
    match format.encoding {
        Encoding::Json => {
            let mut line = event.to_string().into_bytes();
            line.truncate(line.len() / 2);
            line.into()
        }
        Encoding::Protobuf => {
            let frame = event_frame(event, resource, format.form);
            let event = frame.get(4..).unwrap_or_default();
            frame_of(&event[..event.len() / 2]).into()
        }
    }
}

/// The event with damage that only protobuf has; as it is in JSON.
fn damaged(damage: Damage, frame: &Frame, resource: &Resource, format: Format) -> Frame {
    match (frame, format.encoding) {
        (Frame::Event { kind, object }, Encoding::Protobuf) => {
            let frame = damaged_frame(damage, *kind, object, resource, format.form);
            Frame::Raw(Bytes::from(frame))
        }
        _ => frame.clone(),
    }
}

/// An `ERROR` whose object has nothing that says what it is.
fn bare_error(status: &Rejection) -> Frame {
    let mut object = status.to_json();
    if let Value::Object(object) = &mut object {
        object.remove("kind");
        object.remove("apiVersion");
    }
    Frame::Changed(json!({"type": "ERROR", "object": object}))
}

/// Adds an annotation of this size.
pub(crate) fn enlarge(object: &mut Value, bytes: usize) {
    object["metadata"]["annotations"]["huge"] = json!("x".repeat(bytes));
}

/// Leaves the metadata and makes nonsense of the rest.
pub(crate) fn spoil(object: &mut Value) {
    let Value::Object(object) = object else {
        return;
    };
    for (name, value) in object.iter_mut() {
        if !matches!(name.as_str(), "kind" | "apiVersion" | "metadata") {
            *value = json!(42);
        }
    }
    for name in ["spec", "status", "data"] {
        object.insert(name.to_owned(), json!(42));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Object, fields::Fields, wire::Form};

    fn event(name: &str) -> Frame {
        let metadata = json!({"name": name});
        let metadata = metadata.as_object().unwrap();
        let object = Object::render(&Resource::pods(), 7, metadata, &Fields::default());
        Frame::Event {
            kind: EventKind::Added,
            object,
        }
    }

    /// FM-30: cut at every byte, everything before the cut is there and nothing behind it.
    #[test]
    fn a_cut_is_exact_at_every_byte() {
        let form = Form::Whole;
        for encoding in [Encoding::Json, Encoding::Protobuf] {
            is_exact_at_every_byte(Format { form, encoding });
        }
    }

    fn is_exact_at_every_byte(format: Format) {
        let pods = Resource::pods();
        let write = |frames: &[Frame]| {
            let mut out = Vec::new();
            frames
                .iter()
                .for_each(|frame| frame.write(&mut out, &pods, format));
            out
        };
        let whole = write(&[event("a"), event("b"), event("c")]);
        for at in 0..=whole.len() {
            let mut tampering = Tampering::new(&[Fault::CutAfterBytes(at as u64)]);
            let mut sent = Vec::new();
            for name in ["a", "b", "c"] {
                if !tampering.is_over() {
                    sent.extend(tampering.apply(vec![event(name)], &pods, format));
                }
            }
            assert!(tampering.is_over());
            assert!(matches!(sent.last(), Some(Frame::Cut(_))), "{at}");
            assert_eq!(write(&sent), whole[..at], "{at}");
        }
    }
}
