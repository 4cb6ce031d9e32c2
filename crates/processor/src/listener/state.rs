//! The state machine of one listener: its phase, its backlog, its walk and its counters.
//!
//! It neither blocks, wakes, logs nor reads the time, and calls no handler. `Listener` puts it
//! behind a lock, the consumer takes from it, and `fanout` pushes to it. Each step returns what it
//! leaves over, to be dropped outside the lock.
//!
//! - PR-7: while joining notifications are buffered; `begin` drops what the snapshot shows, whether
//!   it came before or comes after. `tests/joining.rs`
//! - RB-7: received + walked = delivered + pending + coalesced + abandoned. `tests/listener.rs`
//! - FM-72: "synced" waits for the initial walk and for each initial notification. `tests/sync.rs`

use std::sync::Arc;
use std::time::Instant;

use crate::backlog::Backlog;
use crate::backlog::batch::Batch;
use crate::backlog::coalesce::Vanished;
use crate::backlog::in_flight::InFlight;
use crate::backlog::pending_item::Displaced;
use crate::listener::config::Overflow;
use crate::listener::phase::{Buffered, Phase};
use crate::listener::resync::{ResyncTerms, Schedule};
use crate::listener::status::{Counts, ListenerPhase};
use crate::listener::sync_tracker::SyncTracker;
use crate::listener::walk::{ActiveWalk, Walk, WalkKind, WalkSlot};
use crate::notification::{Key, Notification};

/// What the consumer gets.
pub(crate) enum Taken<K, T> {
    /// So many notifications were put into the consumer's buffer.
    Entries(usize),
    /// A walk to be pulled until it ends.
    Walk(ActiveWalk<K, T>),
    /// Nothing now.
    Nothing,
    /// Nothing ever again.
    Closed,
}

/// What a step leaves over. It is dropped outside the lock, because drops may run user code.
pub(crate) type Leftover<K, T> = (
    Phase<K, T>,
    Option<Backlog<K, T>>,
    Option<Vanished<K>>,
    WalkSlot<K, T>,
);

/// What `begin` does not use: old notifications, and the walk if the listener has ended.
type Unused<K, T> = (Buffered<K, T>, Option<Walk<K, T>>);

/// The state of one listener. See the module.
pub(crate) struct ListenerState<K, T> {
    phase: Phase<K, T>,
    /// The sequence of the snapshot it joined with: news up to it are known already.
    floor: Option<u64>,
    overflow: Overflow,
    backlog: Backlog<K, T>,
    walk: WalkSlot<K, T>,
    initial_unfinished: bool,
    tracker: SyncTracker,
    schedule: Schedule,
    counts: Counts,
}

impl<K: Key, T> ListenerState<K, T> {
    pub(crate) fn new(overflow: Overflow, terms: ResyncTerms, now: Instant) -> Self {
        let mut tracker = SyncTracker::default();
        // The initial walk counts as one from the beginning, so that "synced" cannot come before
        // it.
        tracker.start(1);
        Self {
            phase: Phase::Joining(Buffered::default()),
            floor: None,
            overflow,
            backlog: Backlog::new(overflow),
            walk: WalkSlot::None,
            initial_unfinished: true,
            tracker,
            schedule: Schedule::new(terms, now),
            counts: Counts::default(),
        }
    }

    /// Hands over what was committed under `sequence`. `in_flight` entries are with the consumer.
    /// Says at which depth a warning is due.
    pub(crate) fn push(
        &mut self,
        (sequence, batches): (u64, &[Batch<K, T>]),
        since: u64,
        in_flight: usize,
        displaced: &mut Vec<Displaced<K, T>>,
    ) -> Option<usize> {
        match &mut self.phase {
            Phase::Joining(held) => {
                batches
                    .iter()
                    .for_each(|batch| held.extend(sequence, since, batch.news.as_slice()));
                return None;
            }
            Phase::Live => {}
            Phase::Draining | Phase::Ended => return None,
        }
        if self.is_known(sequence) {
            return None;
        }
        for batch in batches {
            if self.backlog.push_batch(batch, since) {
                self.counts.received += batch.news.as_slice().len() as u64;
                self.tracker.start(batch.initial);
                continue;
            }
            for notification in batch.news.as_slice() {
                self.push_one(notification, since, displaced);
            }
        }
        self.pushed(in_flight)
    }

    /// Starts delivery: `walk` first, then what was held and is newer than `sequence` (PR-7).
    pub(crate) fn begin(
        &mut self,
        sequence: u64,
        walk: Walk<K, T>,
        since: u64,
        displaced: &mut Vec<Displaced<K, T>>,
    ) -> (Option<usize>, Unused<K, T>) {
        let held = match &mut self.phase {
            Phase::Joining(held) => std::mem::take(held),
            Phase::Live | Phase::Draining | Phase::Ended => {
                return (None, (Buffered::default(), Some(walk)));
            }
        };
        self.phase = Phase::Live;
        self.floor = Some(sequence);
        let position = self.backlog.walk_position();
        for (since, notification) in held.newer_than(sequence) {
            self.push_one(notification, since, displaced);
        }
        let kind = WalkKind::Initial;
        if walk.is_empty() {
            // After the held ones were counted, so that they are waited for.
            self.walk = WalkSlot::Active { kind };
            let vanished = self.walk_ended();
            assert!(vanished.is_none(), "only a resync remembers keys");
        } else {
            let walk = ActiveWalk {
                kind,
                since,
                items: walk,
            };
            self.walk = WalkSlot::Waiting { position, walk };
        }
        (self.pushed(0), (held, None))
    }

    fn is_known(&self, sequence: u64) -> bool {
        self.floor.is_some_and(|floor| sequence <= floor) && !planted!(JoinForgetsFloor)
    }

    fn push_one(
        &mut self,
        notification: &Arc<Notification<K, T>>,
        since: u64,
        displaced: &mut Vec<Displaced<K, T>>,
    ) {
        self.counts.received += 1;
        self.tracker.start(u64::from(notification.is_initial()));
        let merged = self.backlog.push(notification, since, displaced);
        self.counts.coalesced += merged.coalesced;
        if merged.settled > 0 {
            self.tracker.finish(merged.settled);
        }
    }

    fn pushed(&mut self, in_flight: usize) -> Option<usize> {
        let depth = self.backlog.len() + in_flight;
        self.counts.high_water = self.counts.high_water.max(depth);
        self.backlog.warn(depth)
    }

    /// Every initial notification has been handed over.
    pub(crate) fn upstream_synced(&mut self) {
        self.tracker.upstream_synced();
    }

    /// Whether a resync check at `now` finds this listener due (SP-05).
    pub(crate) fn is_resync_due(&self, now: Instant) -> bool {
        matches!(self.phase, Phase::Live) && self.schedule.is_due(now)
    }

    /// When it is due next, if it takes part in resyncs at all.
    pub(crate) fn next_resync(&self) -> Option<Instant> {
        match self.phase {
            Phase::Live => self.schedule.next(),
            Phase::Joining(_) | Phase::Draining | Phase::Ended => None,
        }
    }

    /// Arms the next resync if this one is due, and tells whether it wants the walk of `sequence`:
    /// not while it has another one (design 6.9), nor when it joined with a newer snapshot.
    pub(crate) fn wants_resync(&mut self, sequence: u64, now: Instant) -> bool {
        if !self.is_resync_due(now) {
            return false;
        }
        self.schedule.rearm(now);
        let newer = self.floor.is_some_and(|floor| floor > sequence);
        let wants = matches!(self.walk, WalkSlot::None) && !newer;
        self.counts.resyncs_skipped += u64::from(!wants);
        wants
    }

    /// Puts a resync in line as one entry. Gives the walk back if the listener has ended meanwhile.
    pub(crate) fn push_resync(&mut self, walk: Walk<K, T>, since: u64) -> Option<Walk<K, T>> {
        if !matches!((&self.phase, &self.walk), (Phase::Live, WalkSlot::None)) {
            return Some(walk);
        }
        self.backlog.resync_begins();
        let position = self.backlog.walk_position();
        let walk = ActiveWalk {
            kind: WalkKind::Resync,
            since,
            items: walk,
        };
        self.walk = WalkSlot::Waiting { position, walk };
        None
    }

    /// Takes what is next in line.
    pub(crate) fn take(&mut self, limit: usize, out: &mut InFlight<K, T>) -> Taken<K, T> {
        if matches!(self.phase, Phase::Joining(_)) {
            return Taken::Nothing;
        }
        if matches!(self.phase, Phase::Ended) {
            return Taken::Closed;
        }
        let position = match &self.walk {
            WalkSlot::Waiting { position, .. } => Some(*position),
            WalkSlot::None | WalkSlot::Active { .. } => None,
        };
        if position.is_some_and(|position| self.backlog.is_walk_next(position))
            && let WalkSlot::Waiting { walk, .. } =
                std::mem::replace(&mut self.walk, WalkSlot::None)
        {
            self.walk = WalkSlot::Active { kind: walk.kind };
            return Taken::Walk(walk);
        }
        let taken = self.backlog.take(limit, position, out);
        if taken > 0 {
            // Lets the warning begin anew once the backlog has gone.
            let _below = self.backlog.warn(self.backlog.len());
            Taken::Entries(taken)
        } else if matches!(self.phase, Phase::Draining) {
            Taken::Closed
        } else {
            Taken::Nothing
        }
    }

    /// Whether an item pulled from a walk is to be delivered. Otherwise news of its key wait.
    pub(crate) fn admit_walked(&mut self, kind: WalkKind, key: &K) -> bool {
        self.counts.walked += 1;
        let skip = kind == WalkKind::Resync && self.backlog.overtakes_resync(key);
        self.counts.coalesced += u64::from(skip);
        !skip
    }

    /// The consumer has pulled the last item of its walk, and it has been handled. Returns keys,
    /// whose drops may run user code.
    pub(crate) fn walk_ended(&mut self) -> Option<Vanished<K>> {
        let WalkSlot::Active { kind } = std::mem::replace(&mut self.walk, WalkSlot::None) else {
            return None;
        };
        match kind {
            WalkKind::Initial => {
                self.initial_unfinished = false;
                self.tracker.finish(1);
                None
            }
            WalkKind::Resync => self.backlog.resync_ends(),
        }
    }

    /// The iterator of the initial walk panicked. It stays unfinished for ever.
    pub(crate) fn initial_walk_panicked(&mut self) {
        self.walk = WalkSlot::None;
    }

    /// An initial notification from the backlog has been handled.
    pub(crate) fn initial_handled(&mut self) {
        self.tracker.finish(1);
    }

    /// Takes nothing new; what waits is still delivered. A resync that waits is not news and goes.
    /// A listener that never began has nothing to deliver and ends.
    #[must_use]
    pub(crate) fn drain(&mut self) -> Option<Leftover<K, T>> {
        match self.phase {
            Phase::Joining(_) => Some(self.end()),
            Phase::Live => {
                self.phase = Phase::Draining;
                let reminder = match &self.walk {
                    WalkSlot::Waiting { walk, .. } => walk.kind == WalkKind::Resync,
                    WalkSlot::None | WalkSlot::Active { .. } => false,
                };
                reminder.then(|| {
                    let walk = std::mem::replace(&mut self.walk, WalkSlot::None);
                    (Phase::Ended, None, self.backlog.resync_ends(), walk)
                })
            }
            Phase::Draining | Phase::Ended => None,
        }
    }

    /// The consumer threw `count` entries away that it had taken.
    pub(crate) fn lost(&mut self, count: usize) {
        self.counts.abandoned += count as u64;
    }

    /// Ends at once. What the consumer has taken is the consumer's to account for.
    #[must_use]
    pub(crate) fn end(&mut self) -> Leftover<K, T> {
        self.counts.abandoned += self.backlog.len() as u64;
        let backlog = std::mem::replace(&mut self.backlog, Backlog::new(self.overflow));
        let phase = std::mem::replace(&mut self.phase, Phase::Ended);
        let walk = std::mem::replace(&mut self.walk, WalkSlot::None);
        (phase, Some(backlog), None, walk)
    }

    pub(crate) fn phase(&self) -> ListenerPhase {
        self.phase.public()
    }

    /// Whether a consumer that asks gets something, be it the news that this is the end.
    pub(crate) fn has_work(&self) -> bool {
        match self.phase {
            Phase::Joining(_) => false,
            Phase::Live => self.backlog.len() > 0 || matches!(self.walk, WalkSlot::Waiting { .. }),
            Phase::Draining | Phase::Ended => true,
        }
    }

    /// Whether nothing is left to take or to pull.
    pub(crate) fn is_drained(&self) -> bool {
        self.backlog.len() == 0 && matches!(self.walk, WalkSlot::None)
    }

    pub(crate) fn depth(&self) -> usize {
        match &self.phase {
            Phase::Joining(held) => held.len(),
            Phase::Live | Phase::Draining | Phase::Ended => self.backlog.len(),
        }
    }

    /// Since when the entry that is next has waited.
    pub(crate) fn oldest(&self) -> Option<u64> {
        let walk = match &self.walk {
            WalkSlot::Waiting { walk, .. } => Some(walk.since),
            WalkSlot::None | WalkSlot::Active { .. } => None,
        };
        [walk, self.backlog.front_since()]
            .into_iter()
            .flatten()
            .min()
    }

    pub(crate) fn is_synced(&self) -> bool {
        self.tracker.is_synced()
    }

    /// Whether objects that were there at the start have not all been handled.
    pub(crate) fn initial_unfinished(&self) -> bool {
        self.initial_unfinished
    }

    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    pub(crate) fn overflow(&self) -> Overflow {
        self.overflow
    }

    pub(crate) fn terms(&self) -> ResyncTerms {
        self.schedule.terms()
    }
}
