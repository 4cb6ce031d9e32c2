//! The status of a listener, as plain values.

use std::sync::Arc;
use std::time::Duration;

use crate::listener::config::Overflow;
use crate::listener::resync::ResyncTerms;

/// Identifies a listener of one processor, which never uses it twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ListenerId(pub(crate) u64);

/// A listener of a process: the number of its processor, and its own.
pub(crate) type Caller = (u64, ListenerId);

/// Where a listener is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ListenerPhase {
    /// Registered; what happens is held until [`Joining::begin`](crate::Joining::begin).
    Joining,
    /// Delivering.
    Live,
    /// Delivering what it had when the processor was stopped; gets nothing new.
    Draining,
    /// Removed, stopped or gone: nothing more is delivered.
    Ended,
}

/// One listener at one moment.
///
/// When it has begun and nothing is being handed over or handled the numbers are exact, and
/// `received + replayed = delivered + depth + coalesced + abandoned`.
// RB-7
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ListenerStatus {
    /// Which one.
    pub id: ListenerId,
    /// Its name.
    pub name: Arc<str>,
    /// Where it is in its life.
    pub phase: ListenerPhase,
    /// What it does with a backlog.
    pub overflow: Overflow,
    /// Whether everything that was there at the start has been handled.
    // SY-02, FM-72
    pub synced: bool,
    /// Notifications handed over and not handled yet; the one being handled counts.
    pub depth: usize,
    /// Objects of the initial replay or of a resync that the handler has not reached yet; they are
    /// not part of `depth`. At least this many: objects that have changed meanwhile are skipped.
    pub replay_left: usize,
    /// Largest depth so far.
    pub high_water: usize,
    /// How long the oldest of them has waited, the one being handled included.
    pub oldest_age: Option<Duration>,
    /// Notifications handed over by the source.
    pub received: u64,
    /// Notifications pulled from initial replays and resyncs.
    pub replayed: u64,
    /// Notifications handled, those included that ended in a panic.
    pub delivered: u64,
    /// Notifications that became part of another, or needed no delivery.
    pub coalesced: u64,
    /// Notifications thrown away because the listener ended.
    pub abandoned: u64,
    /// Panics of callbacks, of replays, and of drops of notifications.
    pub panics: u64,
    /// Requested and effective resync period, and why they differ.
    pub resync: ResyncTerms,
    /// Resyncs left out because the one before was still going on.
    pub resyncs_skipped: u64,
}

impl ListenerStatus {
    /// The number of notifications that the handler has not handled yet: the pending ones, the one
    /// being handled, and the rest of a replay.
    pub fn pending(&self) -> usize {
        self.depth + self.replay_left
    }
}

/// The counters that a listener keeps under its lock.
// RB-7: received + replayed = delivered + pending + coalesced + abandoned. `tests/listener.rs`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) received: u64,
    pub(crate) replayed: u64,
    pub(crate) coalesced: u64,
    pub(crate) abandoned: u64,
    pub(crate) resyncs_skipped: u64,
    pub(crate) high_water: usize,
}

/// The events in a listener's life that callers wait for. Each flag becomes true once and stays so.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Milestones {
    pub(crate) synced: bool,
    pub(crate) ended: bool,
    /// The replay of the initial snapshot panicked: `synced` never becomes true.
    pub(crate) replay_panicked: bool,
    /// The number of checkpoints that the consumer has passed. It never falls.
    pub(crate) checkpoints: u64,
}
