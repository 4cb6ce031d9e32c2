//! What a phase returns: the transition to make, as data. `mod.rs` carries it out.

use std::{mem, time::Duration};

use super::connection::Connection;
use crate::{FailureKind, Item, RelistCause, ResourceVersion};

/// The transition after an input.
pub(super) enum Next<T> {
    /// None: the phase continues.
    Stay,
    /// Makes this attempt now.
    Attempt(Attempt),
    /// Waits, then makes the attempt.
    Wait(Waiting),
    /// Emits the collection. A handover continues as a watch, otherwise a watch is requested.
    Replace(Collection<T>, Option<Handover>),
    /// The server has accepted the watch.
    Opened(Connection),
    /// The stream of a streaming list becomes the watch.
    Continue(Handover),
    /// Ends the machine.
    Stop,
}

/// The phase between two attempts.
pub(super) struct Waiting {
    pub(super) until: Duration,
    pub(super) attempt: Attempt,
}

/// An attempt to fetch the collection or to watch it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Attempt {
    /// Fetch the collection, by stream if allowed.
    Populate(Pass),
    /// Fetch the collection by list.
    List(Pass, Extent),
    /// Watch from the resume version.
    Watch,
}

impl Attempt {
    pub(super) fn pass(self) -> Option<Pass> {
        match self {
            Self::Populate(pass) | Self::List(pass, _) => Some(pass),
            Self::Watch => None,
        }
    }
}

/// Why a collection is fetched, and how.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pass {
    pub(super) cause: RelistCause,
    /// The held state is not trusted: the list is consistent, reuses nothing and is no stream.
    pub(super) repair: bool,
}

impl Pass {
    pub(super) fn new(cause: RelistCause) -> Self {
        Self {
            cause,
            repair: false,
        }
    }

    pub(super) fn because(self, cause: RelistCause) -> Self {
        Self { cause, ..self }
    }

    /// The same pass after the server refused the version, with a failure of this kind.
    pub(super) fn after_refusal(self, kind: FailureKind) -> Self {
        self.because(match kind {
            FailureKind::TooLarge => RelistCause::TooLarge,
            _ => RelistCause::Expired,
        })
    }
}

/// Whether a list is paged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// With the limit that `list.rs` chooses.
    Paged,
    /// Without a limit, because a continue token was refused.
    // PG-04
    Whole,
}

/// When the next attempt is due.
#[derive(Clone, Copy)]
pub(super) enum Pace {
    /// Immediately, with a different request.
    Immediate,
    /// After a delay, shorter if there was progress.
    Delayed { progress: bool },
}

impl Pace {
    pub(super) const DELAYED: Self = Self::Delayed { progress: false };

    /// Immediate unless that was used before.
    pub(super) fn immediate_once(used: &mut bool, otherwise: Self) -> Self {
        if mem::replace(used, true) {
            otherwise
        } else {
            Self::Immediate
        }
    }
}

/// A whole collection at one version.
pub(super) struct Collection<T> {
    pub(super) cause: RelistCause,
    pub(super) items: Vec<Item<T>>,
    pub(super) version: ResourceVersion,
    /// It was read consistently, so it is the server's present state.
    pub(super) consistent: bool,
}

/// A stream that continues as a watch after its initial events.
// RL-28
#[derive(Clone, Copy)]
pub(super) struct Handover {
    pub(super) connection: Connection,
    pub(super) events: u64,
}
