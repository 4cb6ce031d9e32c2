//! One entry of the history, and what a watcher with a selection sees of it.

use std::fmt;

use crate::{Object, Selection};

/// What a watch calls a change. Exhaustive on purpose: a watch has these three.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// The object came into being, or came into the selection.
    Added,
    /// The object changed and stayed in the selection.
    Modified,
    /// The object went away, or left the selection.
    // FM-42
    Deleted,
}

impl EventKind {
    /// As it is written on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
        }
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One write: the state before it, and after it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Change {
    /// The version the write got; unique over all resources.
    pub version: u64,
    /// The state before; `None` for a creation.
    pub before: Option<Object>,
    /// The state after; of a deletion the final state, under the version of the deletion.
    pub object: Object,
    /// Whether the object is gone now.
    pub deleted: bool,
}

impl Change {
    /// A write that turned `before`, if there was one, into `object`.
    pub fn new(before: Option<Object>, object: Object) -> Self {
        Self {
            version: object.version(),
            before,
            object,
            deleted: false,
        }
    }

    /// Makes it a deletion, of which `object` is the final state.
    #[must_use]
    pub fn deletion(mut self) -> Self {
        self.deleted = true;
        self
    }

    /// What a watcher of this selection is told, if anything.
    ///
    /// An object that leaves the selection is told as deleted, in its last matching state but with
    /// the version of the change, so that the watcher's progress does not go back.
    // FM-36, FM-42
    pub fn seen_by(&self, selection: &Selection) -> Option<(EventKind, Object)> {
        let before = self
            .before
            .as_ref()
            .filter(|object| selection.matches(object));
        let is_in = !self.deleted && selection.matches(&self.object);
        match (before, is_in) {
            (None, false) => None,
            (None, true) => Some((EventKind::Added, self.object.clone())),
            (Some(_), true) => Some((EventKind::Modified, self.object.clone())),
            (Some(_), false) if self.deleted => Some((EventKind::Deleted, self.object.clone())),
            (Some(last), false) => Some((EventKind::Deleted, last.with_version(self.version))),
        }
    }
}
