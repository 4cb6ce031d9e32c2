//! The reports of the reflector: phases, failures, progress. Data, no log lines.

use std::time::Duration;

use crate::{Body, DecodeError, Failure, Identity, Item, ResourceVersion};

/// A phase of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Phase {
    /// Created, not started.
    Created,
    /// Fetching pages.
    Listing,
    /// Receiving the initial events of a streaming list.
    Streaming,
    /// A watch has been requested and the server has not answered yet.
    OpeningWatch,
    /// A watch is open.
    Watching,
    /// Waiting before the next attempt.
    BackingOff,
    /// Ended.
    Stopped,
}

/// Why a whole collection is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RelistCause {
    /// The first time.
    Initial,
    /// The resume version is no longer in the server's window (410).
    Expired,
    /// The server is behind our version, or refused it.
    TooLarge,
    /// The watch broke in a way that a new watch at the same version does not repair.
    WatchBroken,
    /// A streaming list failed; a paged list is tried.
    StreamingFallback,
    /// A user demanded it.
    Requested,
}

/// One event in the life of a reflector.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Report {
    /// The phase changed.
    Phase(Phase),
    // RFX-13
    /// An attempt failed. Every failed attempt is reported exactly once.
    Failed {
        /// Why.
        failure: Failure,
        // RFX-8
        /// The number of attempts that failed since the last healthy watch, this one included. A
        /// successful list in between resets neither the count nor the delays.
        attempts: u32,
        /// The time until the next attempt.
        next_in: Duration,
    },
    /// A list, paged or streaming, was accepted.
    Listed {
        /// Why it was fetched.
        cause: RelistCause,
        /// The number of items.
        items: usize,
        /// The number of them that were cached.
        reused: usize,
        /// Its version.
        version: ResourceVersion,
    },
    /// A watch was opened.
    WatchOpened {
        /// The version it starts from.
        version: ResourceVersion,
    },
    /// A watch ended without an error.
    WatchClosed {
        /// How long it lived.
        lived: Duration,
        /// The number of its events, bookmarks included.
        events: u64,
    },
    /// The sink has accepted everything up to a version: the freshness of the informer.
    Progress {
        /// The version received.
        received: ResourceVersion,
    },
    // FM-53, FM-54
    /// An object could not be decoded; its key is quarantined.
    Undecodable {
        /// The object's identity.
        identity: Identity,
        /// Why.
        error: DecodeError,
    },
    // FM-39
    /// The server's history was rewound: a list has a version below the resume version.
    NewEpoch {
        /// The resume version before the list.
        before: ResourceVersion,
        /// The version of the list.
        after: ResourceVersion,
    },
    // FM-41
    /// Versions of this resource cannot be compared; checks that need an order are off.
    Incomparable {
        /// The first version that is not a decimal.
        version: ResourceVersion,
    },
}

impl Report {
    // FM-53
    /// Returns the report of an item that could not be decoded; `None` for every other item.
    pub(crate) fn undecodable<T>(item: &Item<T>) -> Option<Self> {
        match &item.body {
            Body::Undecodable(error) => Some(Self::Undecodable {
                identity: item.identity.clone(),
                error: DecodeError::clone(error),
            }),
            Body::Decoded(_) | Body::Reused(_) => None,
        }
    }
}

/// Receives reports. Must be fast: it is called between two steps of the machine.
pub trait Observe: Send {
    /// Takes one report.
    fn observe(&mut self, report: Report);
}

/// Discards reports.
impl Observe for () {
    fn observe(&mut self, _: Report) {}
}
