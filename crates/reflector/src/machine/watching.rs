//! A watch that is open, and what its beginning says of old events.

use std::time::Duration;

use super::{replace::Handover, watch::Connection};
use crate::{DecodeError, Identity, ResourceVersion};

/// An open watch.
pub(super) struct Watching {
    pub(super) connection: Connection,
    pub(super) events: u64,
    /// The resume version has moved.
    pub(super) progress: bool,
    /// The server has shown that its history reaches to where we began, or a consistent list just
    /// before did. What is older than our version is a replay from then on, not a rewind.
    pub(super) confirmed: bool,
    /// Where we began is the version of a consistent list: until something newer comes, what is
    /// older was in that list, or had gone before it.
    pub(super) listed: bool,
    pub(super) taking: Option<Taking>,
}

/// The sink is taking an event.
pub(super) struct Taking {
    pub(super) received: ResourceVersion,
    pub(super) undecodable: Option<(Identity, DecodeError)>,
}

impl Watching {
    /// `listed` says that a consistent list came just before.
    pub(super) fn new(connection: Connection, listed: bool) -> Self {
        Self {
            connection,
            events: 0,
            progress: false,
            confirmed: listed,
            listed,
            taking: None,
        }
    }

    pub(super) fn after_initial_events(handover: Handover) -> Self {
        Self {
            events: handover.events,
            progress: true,
            ..Self::new(handover.connection, true)
        }
    }

    /// Whether a list has told all that an addition or a change of this version could tell; of an
    /// object that is gone nobody but the list knows that (FM-37). A bookmark that came ahead of
    /// its events has moved the version, and they still count (FM-24).
    pub(super) fn is_repeated(&self, version: &ResourceVersion, resume: &ResourceVersion) -> bool {
        self.listed && !self.progress && version.is_older_than(resume)
    }

    pub(super) fn is_taking(&self) -> bool {
        self.taking.is_some()
    }

    /// None while the sink holds us back: the watch is not at fault.
    pub(super) fn deadline(&self) -> Option<Duration> {
        (!self.is_taking()).then_some(self.connection.deadline)
    }
}
