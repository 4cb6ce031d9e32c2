//! The state machine of one listener: its phase, its backlog, its replay and its counters.
//!
//! It neither blocks, wakes, logs nor reads the time, and calls no handler. `Listener` puts it
//! behind a lock, the consumer takes from it, and `fanout` pushes to it. Each step returns what it
//! leaves over, to be dropped outside the lock.

// - PR-7: while joining notifications are buffered; `begin` drops what the snapshot shows, whether
//   it came before or comes after. `tests/joining.rs`
// - RB-7: received + replayed = delivered + pending + coalesced + abandoned. `tests/listener.rs`
// - FM-72: "synced" waits for the initial replay and for each initial notification. `tests/sync.rs`

use std::sync::Arc;
use std::time::Instant;

use crate::backlog::Backlog;
use crate::backlog::batch::Batch;
use crate::backlog::coalesce::Vanished;
use crate::backlog::in_flight::InFlight;
use crate::backlog::pending_item::Displaced;
use crate::listener::config::Overflow;
use crate::listener::phase::{Buffered, Phase};
use crate::listener::replay::{ActiveReplay, Replay, ReplayKind, ReplaySlot};
use crate::listener::resync::{ResyncTerms, Schedule};
use crate::listener::status::Counts;
use crate::listener::sync_tracker::SyncTracker;
use crate::notification::{Key, Notification};

/// What the consumer gets.
pub(crate) enum Taken<K, T> {
    /// So many notifications were put into the consumer's buffer.
    Entries(usize),
    /// A replay to be pulled until it ends.
    Replay(ActiveReplay<K, T>),
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
    ReplaySlot<K, T>,
);

/// What `begin` does not use: old notifications, and the replay if the listener has ended.
type Unused<K, T> = (Buffered<K, T>, Option<Replay<K, T>>);

/// The state of one listener. See the module.
pub(crate) struct ListenerState<K, T> {
    pub(crate) phase: Phase<K, T>,
    /// The sequence of the snapshot it joined with: notifications up to it are known already.
    floor: Option<u64>,
    pub(crate) overflow: Overflow,
    backlog: Backlog<K, T>,
    pub(crate) replay: ReplaySlot<K, T>,
    /// The number of replays that were ever queued.
    replays: u64,
    /// Whether the backlog has a checkpoint. Most never have one, and a take must not pay for it.
    pub(crate) has_checkpoints: bool,
    /// Objects that were present when the listener joined have not all been handled.
    pub(crate) initial_unfinished: bool,
    pub(crate) tracker: SyncTracker,
    pub(crate) schedule: Schedule,
    pub(crate) counts: Counts,
}

impl<K: Key, T> ListenerState<K, T> {
    pub(crate) fn new(overflow: Overflow, terms: ResyncTerms, now: Instant) -> Self {
        let mut tracker = SyncTracker::default();
        // The initial replay counts as one from the beginning, so that "synced" cannot come before
        // it.
        tracker.start(1);
        Self {
            phase: Phase::Joining(Buffered::default()),
            floor: None,
            overflow,
            backlog: Backlog::new(overflow),
            replay: ReplaySlot::None,
            replays: 0,
            has_checkpoints: false,
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
            Phase::Joining(buffered) => {
                for batch in batches {
                    buffered.extend(sequence, since, batch.news.as_slice());
                }
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

    /// Starts delivery: `replay` first, then what was held and is newer than `sequence`.
    // PR-7
    pub(crate) fn begin(
        &mut self,
        sequence: u64,
        replay: Replay<K, T>,
        since: u64,
        displaced: &mut Vec<Displaced<K, T>>,
    ) -> (Option<usize>, Unused<K, T>) {
        let Phase::Joining(held) = &mut self.phase else {
            return (None, (Buffered::default(), Some(replay)));
        };
        let held = std::mem::take(held);
        self.phase = Phase::Live;
        self.floor = Some(sequence);
        let position = self.backlog.replay_position();
        for (since, notification) in held.newer_than(sequence) {
            self.push_one(notification, since, displaced);
        }
        if replay.is_empty() {
            // After the buffered ones were counted, so that "synced" waits for them.
            self.initial_replay_ended();
        } else {
            self.queue_replay(position, ReplayKind::Initial, replay, since);
        }
        (self.pushed(0), (held, None))
    }

    /// Queues the first collection of the source as one entry. Returns the replay where its items
    /// have to be pushed one by one: while joining, where something else is pending, which a
    /// coalescing buffer would deliver after the replay, and for a listener with a resync period,
    /// whose resyncs would be left out beside the replay.
    pub(crate) fn push_initial(
        &mut self,
        sequence: u64,
        replay: Replay<K, T>,
        since: u64,
    ) -> Option<Replay<K, T>> {
        let idle = matches!((&self.phase, &self.replay), (Phase::Live, ReplaySlot::None))
            && self.backlog.len() == 0
            && self.schedule.next.is_none();
        if !idle || self.is_known(sequence) {
            return Some(replay);
        }
        self.initial_unfinished = true;
        self.tracker.start(1);
        let position = self.backlog.replay_position();
        self.queue_replay(position, ReplayKind::Initial, replay, since);
        None
    }

    fn queue_replay(&mut self, position: u64, kind: ReplayKind, items: Replay<K, T>, since: u64) {
        self.replay = ReplaySlot::Waiting(position, ActiveReplay { kind, since, items });
        self.replays += 1;
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

    /// Whether a resync check at `now` finds this listener due.
    // SP-05
    pub(crate) fn is_resync_due(&self, now: Instant) -> bool {
        matches!(self.phase, Phase::Live) && self.schedule.is_due(now)
    }

    /// When it is due next, if it takes part in resyncs at all.
    pub(crate) fn next_resync(&self) -> Option<Instant> {
        match self.phase {
            Phase::Live => self.schedule.next,
            Phase::Joining(_) | Phase::Draining | Phase::Ended => None,
        }
    }

    /// Arms the next resync if this one is due, and returns whether to queue the replay of
    /// `sequence`: not beside another replay, nor when the listener joined with a newer snapshot.
    pub(crate) fn wants_resync(&mut self, sequence: u64, now: Instant) -> bool {
        if !self.is_resync_due(now) {
            return false;
        }
        self.schedule.rearm(now);
        let newer = self.floor.is_some_and(|floor| floor > sequence);
        let wants = matches!(self.replay, ReplaySlot::None) && !newer;
        self.counts.resyncs_skipped += u64::from(!wants);
        wants
    }

    /// Queues a resync as one entry. Returns the replay if the listener has ended meanwhile.
    pub(crate) fn push_resync(&mut self, replay: Replay<K, T>, since: u64) -> Option<Replay<K, T>> {
        if !matches!((&self.phase, &self.replay), (Phase::Live, ReplaySlot::None)) {
            return Some(replay);
        }
        self.backlog.resync_begins();
        let position = self.backlog.replay_position();
        self.queue_replay(position, ReplayKind::Resync, replay, since);
        None
    }

    /// Sets a checkpoint behind everything that is pending or in flight, and returns its number.
    /// [`checkpoints_passed`](Self::checkpoints_passed) has reached it when all of that has been
    /// handled.
    // PR-15
    pub(crate) fn set_checkpoint(&mut self, in_flight: usize) -> u64 {
        match self.phase {
            // An ended listener handles nothing more and never passes a checkpoint.
            Phase::Ended => u64::MAX,
            Phase::Joining(_) | Phase::Live | Phase::Draining => {
                let idle = in_flight == 0 || planted!(CheckpointIgnoresInFlight);
                match idle && self.is_drained() {
                    // The consumer may be asleep, so that it would not pass a new checkpoint.
                    true => self.backlog.checkpoints().last(),
                    false => {
                        self.has_checkpoints = true;
                        self.backlog.set_checkpoint(self.replays)
                    }
                }
            }
        }
    }

    /// The number of checkpoints that the consumer has passed.
    pub(crate) fn checkpoints_passed(&self) -> u64 {
        self.backlog.checkpoints().passed
    }

    /// Passes the checkpoints that the consumer has reached. Returns the position of the next
    /// checkpoint or of the replay at `replay`, whichever comes first.
    #[cold]
    fn pass_checkpoints(&mut self, replay: Option<u64>) -> Option<u64> {
        let replays_over = self.replays - u64::from(replay.is_some());
        self.backlog.pass_checkpoints(replays_over);
        let next = self.backlog.checkpoints().next();
        self.has_checkpoints = next.is_some();
        match (replay, next) {
            (Some(replay), Some(next)) => Some(replay.min(next)),
            (replay, next) => replay.or(next),
        }
    }

    /// Takes what is next in line. The consumer has handled what it took before.
    pub(crate) fn take(&mut self, limit: usize, out: &mut InFlight<K, T>) -> Taken<K, T> {
        if matches!(self.phase, Phase::Joining(_)) {
            return Taken::Nothing;
        }
        if matches!(self.phase, Phase::Ended) {
            return Taken::Closed;
        }
        let position = self.replay.waiting().map(|(position, _)| position);
        let boundary = match self.has_checkpoints {
            true => self.pass_checkpoints(position),
            false => position,
        };
        if position.is_some_and(|position| self.backlog.is_replay_next(position))
            && let ReplaySlot::Waiting(_, replay) = std::mem::take(&mut self.replay)
        {
            self.replay = ReplaySlot::Active(replay.kind);
            return Taken::Replay(replay);
        }
        let taken = self.backlog.take(limit, boundary, out);
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

    /// Whether an item pulled from a replay is to be delivered. Otherwise news of its key wait.
    pub(crate) fn admit_replayed(&mut self, kind: ReplayKind, key: &K) -> bool {
        self.counts.replayed += 1;
        let skip = kind == ReplayKind::Resync && self.backlog.overtakes_resync(key);
        self.counts.coalesced += u64::from(skip);
        !skip
    }

    /// The consumer has pulled the last item of its replay, and it has been handled. Returns keys,
    /// whose drops may run user code.
    pub(crate) fn replay_ended(&mut self) -> Option<Vanished<K>> {
        match std::mem::take(&mut self.replay) {
            ReplaySlot::Active(ReplayKind::Initial) => {
                self.initial_replay_ended();
                None
            }
            ReplaySlot::Active(ReplayKind::Resync) => self.backlog.resync_ends(),
            ReplaySlot::None | ReplaySlot::Waiting(..) => None,
        }
    }

    fn initial_replay_ended(&mut self) {
        self.initial_unfinished = false;
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
                let waiting = self.replay.waiting();
                let is_resync =
                    waiting.is_some_and(|(_, replay)| replay.kind == ReplayKind::Resync);
                is_resync.then(|| {
                    let replay = std::mem::take(&mut self.replay);
                    (Phase::Ended, None, self.backlog.resync_ends(), replay)
                })
            }
            Phase::Draining | Phase::Ended => None,
        }
    }

    /// Ends at once. What the consumer has taken is the consumer's to account for.
    #[must_use]
    pub(crate) fn end(&mut self) -> Leftover<K, T> {
        self.counts.abandoned += self.backlog.len() as u64;
        let backlog = std::mem::replace(&mut self.backlog, Backlog::new(self.overflow));
        let phase = std::mem::replace(&mut self.phase, Phase::Ended);
        let replay = std::mem::take(&mut self.replay);
        (phase, Some(backlog), None, replay)
    }

    /// Whether a consumer that asks gets something, be it the news that this is the end.
    pub(crate) fn has_work(&self) -> bool {
        match self.phase {
            Phase::Joining(_) => false,
            Phase::Live => self.backlog.len() > 0 || self.replay.waiting().is_some(),
            Phase::Draining | Phase::Ended => true,
        }
    }

    /// Whether nothing is left to take or to pull.
    pub(crate) fn is_drained(&self) -> bool {
        self.backlog.len() == 0 && matches!(self.replay, ReplaySlot::None)
    }

    pub(crate) fn depth(&self) -> usize {
        match &self.phase {
            Phase::Joining(held) => held.len(),
            Phase::Live | Phase::Draining | Phase::Ended => self.backlog.len(),
        }
    }

    /// Since when the entry that is next has waited.
    pub(crate) fn oldest(&self) -> Option<u64> {
        let replay = self.replay.waiting().map(|(_, replay)| replay.since);
        let waiting = [replay, self.backlog.front_since()];
        waiting.into_iter().flatten().min()
    }
}
