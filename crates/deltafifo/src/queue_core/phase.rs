//! Where the initial population is: not there, being processed, done.

// - FQ-9: `Synced` is reached when the changes of the first relist have been *processed*,
//   that is acknowledged or exhausted, and never left. `tests`, `tests/client_go.rs`
// - DF-10, RF-03: when a single change comes before any relist, the initial population is
//   empty by definition, and has therefore been processed.

use super::ledger::Ledger;

/// The state of the initial population.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing but resyncs and bookmarks came so far.
    Unpopulated,
    /// The first relist, call number `first`, is not fully processed.
    Draining { first: u64 },
    /// The initial population has been processed.
    Synced,
}

impl Phase {
    /// A single change came.
    #[inline]
    pub(crate) fn single(&mut self) {
        match self {
            Self::Unpopulated => *self = Self::Synced,
            Self::Draining { .. } | Self::Synced => {}
        }
    }

    /// A relist came as call `seq`. True if it is the first.
    pub(crate) fn relist(&mut self, seq: u64) -> bool {
        let first = *self == Self::Unpopulated;
        if first {
            *self = Self::Draining { first: seq };
        }
        first
    }

    /// Something may have been settled.
    pub(crate) fn settle<P: Clone>(&mut self, ledger: &Ledger<P>) {
        match *self {
            Self::Draining { first } if ledger.is_settled(first) => *self = Self::Synced,
            Self::Unpopulated | Self::Draining { .. } | Self::Synced => {}
        }
    }

    pub(crate) fn is_synced(self) -> bool {
        self == Self::Synced
    }
}
