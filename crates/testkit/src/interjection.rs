//! What a server says to open watches although its history knows nothing of it.
//!
//! Each is kept with the version at which it was said, and every watch that was open then passes it
//! between the changes before and after, however slowly it reads.

use serde_json::{Value, json};

use crate::{
    EventKind, Object, Rejection, Resource,
    object::{split, text},
    wire::Frame,
};

/// Something a server says to the watches that are open now.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Interjection {
    /// An event out of thin air: it goes to every watch, whatever that selects, and does not move
    /// its place in the history.
    // FM-37
    Event {
        /// What it is called.
        kind: EventKind,
        /// Of which object; name, uid and version as they stand in its metadata.
        object: Value,
    },
    /// Any line at all. A watch in protobuf gets the members `type` and `object` of the line as an
    /// event.
    Line(Value),
    /// A bookmark with the server's version, to watches that asked for bookmarks.
    // RL-46
    Bookmark,
    /// An `ERROR` event, after which the watch ends.
    Error(Rejection),
}

/// An interjection, with its place among the changes.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) at: u64,
    what: Interjection,
}

impl Said {
    pub(crate) fn new(at: u64, what: Interjection) -> Self {
        Self { at, what }
    }

    /// The line for a watch; none if it did not ask for such.
    pub(crate) fn frame(&self, resource: &Resource, bookmarks: bool) -> Option<Frame> {
        match &self.what {
            Interjection::Event { kind, object } => {
                let (metadata, fields) = split(object.clone());
                let version = metadata.get("resourceVersion").and_then(Value::as_str);
                let version = version.and_then(|text| text.parse().ok()).unwrap_or(0);
                // No object of the history lacks a name, so this is a line of its own.
                if text(metadata.get("name")).is_none() {
                    let mut object = object.clone();
                    object["kind"] = json!(resource.kind);
                    object["apiVersion"] = json!(resource.api_version());
                    let line = json!({"type": kind.as_str(), "object": object});
                    return Some(Frame::Changed(line));
                }
                let object = Object::render(resource, version, &metadata, &fields);
                let kind = *kind;
                Some(Frame::Event { kind, object })
            }
            Interjection::Line(value) => Some(Frame::Changed(value.clone())),
            Interjection::Bookmark => bookmarks.then_some(Frame::Bookmark {
                version: self.at,
                ends_initial: false,
            }),
            Interjection::Error(rejection) => Some(Frame::Error(rejection.clone())),
        }
    }
}
