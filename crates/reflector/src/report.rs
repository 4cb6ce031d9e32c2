//! What the reflector tells about itself: phases, failures, progress. Data, no log lines.

use std::time::Duration;

use crate::{DecodeError, Failure, Identity, ResourceVersion};

/// Where the machine is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Made, not started.
    Created,
    /// Fetching pages.
    Listing,
    /// Receiving the initial events of a streaming list.
    Streaming,
    /// A watch has been asked for and the server has not answered yet.
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
pub enum RelistCause {
    /// The first time.
    Initial,
    /// The resume version is no longer in the server's window (410).
    Expired,
    /// The server is behind our version, or refused it.
    TooLarge,
    /// The watch broke in a way that a new watch at the same version does not mend.
    WatchBroken,
    /// A streaming list did not work out; the plain list is tried.
    StreamingFallback,
    /// Somebody asked for it.
    Requested,
}

/// One thing worth telling.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Report {
    /// The phase changed.
    Phase(Phase),
    /// An attempt failed. Every failed attempt is reported exactly once (RFX-13).
    Failed {
        /// Why.
        failure: Failure,
        /// How many attempts have failed since a watch last lived, this one included. A list
        /// that succeeded in between does not start the count over, nor the delays (RFX-8).
        attempts: u32,
        /// How long until the next attempt.
        next_in: Duration,
    },
    /// A list, paged or streaming, was accepted.
    Listed {
        /// Why it was fetched.
        cause: RelistCause,
        /// How many items it holds.
        items: usize,
        /// How many of them were at hand already.
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
        /// How many events it carried, bookmarks included.
        events: u64,
    },
    /// Something was received and taken; the freshness of the informer.
    Progress {
        /// The version received.
        received: ResourceVersion,
    },
    /// The object is of use to nobody; its key is quarantined (FM-53, FM-54).
    Undecodable {
        /// Whose.
        identity: Identity,
        /// Why.
        error: DecodeError,
    },
    /// The server's history was rewound: a list came with a version below ours (FM-39).
    NewEpoch {
        /// The version we had.
        before: ResourceVersion,
        /// The version of the list.
        after: ResourceVersion,
    },
    /// Versions of this resource cannot be compared; guards that need an order are off (FM-41).
    Incomparable {
        /// The first version that is not a decimal.
        version: ResourceVersion,
    },
}

/// Receives reports. Must be quick: it is called between two steps of the machine.
pub trait Observe: Send {
    /// Takes one report.
    fn observe(&mut self, report: Report);
}

/// Nobody is told.
impl Observe for () {
    fn observe(&mut self, _: Report) {}
}
