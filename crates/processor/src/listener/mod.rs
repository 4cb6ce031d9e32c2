//! A listener behind its lock, with the waker of its consumer: where the sides meet.
//!
//! The sender pushes under one lock and wakes at most once. The consumer takes under the same lock
//! and leaves its waker there when it finds nothing. No user code runs under the lock except
//! `Hash`, `Eq` and `Clone` of keys: leftovers and displaced objects are dropped after it, behind
//! the panic boundary.

// - RB-3: a consumer that found nothing has left its waker in the same critical section, so no
//   wake-up is lost. `tests/wake.rs`
// - PR-11: `remove` closes the gate first. `gate`

pub(crate) mod config;
pub(crate) mod gate;
mod gauges;
mod panics;
pub(crate) mod phase;
pub(crate) mod replay;
pub(crate) mod resync;
pub(crate) mod state;
pub(crate) mod status;
pub(crate) mod sync_tracker;

use std::sync::{Arc, OnceLock, PoisonError, Weak};
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::task::AbortHandle;

use crate::backlog::batch::Batch;
use crate::backlog::in_flight::InFlight;
use crate::backlog::pending_item::Displaced;
use crate::listener::gate::Gate;
use crate::listener::gauges::Gauges;
use crate::listener::panics::Panics;
use crate::listener::replay::{Replay, ReplayKind, ReplaySlot};
use crate::listener::state::{ListenerState, Taken};
use crate::listener::status::{Caller, ListenerId, ListenerPhase, ListenerStatus, Milestones};
use crate::notification::Key;
use crate::sync::{Mutex, MutexGuard, nanos, now};

/// Notifications taken from a growing ring at once, and the rest of the last one's batch: enough to
/// spare the lock, too few to hide a backlog.
const BATCH: usize = 64;

/// Who takes from the listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConsumerKind {
    /// A task or a thread of ours, which ends by itself.
    Driven,
    /// A stream in the user's hands, which nobody can end.
    Stream,
}

/// The list of listeners, which a listener leaves.
pub(crate) trait Roster: Send + Sync {
    /// Takes a removed listener off the list.
    fn forget(&self, id: ListenerId);
    /// Reports that a removed listener has ended.
    fn left(&self, id: ListenerId);
}

struct Guarded<K, T> {
    state: ListenerState<K, T>,
    waker: Option<Waker>,
}

/// A listener. See the module.
pub(crate) struct Listener<K, T> {
    pub(crate) caller: Caller,
    pub(crate) name: Arc<str>,
    kind: ConsumerKind,
    epoch: Instant,
    guarded: Mutex<Guarded<K, T>>,
    pub(crate) gate: Gate,
    pub(crate) gauges: Gauges,
    pub(crate) panics: Panics,
    pub(crate) milestones: watch::Sender<Milestones>,
    abort: OnceLock<AbortHandle>,
    roster: Weak<dyn Roster>,
}

impl<K: Key, T: Send + Sync + 'static> Listener<K, T> {
    pub(crate) fn new(
        caller: Caller,
        name: Arc<str>,
        kind: ConsumerKind,
        state: ListenerState<K, T>,
        epoch: Instant,
        roster: Weak<dyn Roster>,
    ) -> Self {
        Self {
            caller,
            panics: Panics::new(Arc::clone(&name)),
            name,
            kind,
            epoch,
            guarded: Mutex::new(Guarded { state, waker: None }),
            gate: Gate::default(),
            gauges: Gauges::new(),
            milestones: watch::Sender::new(Milestones::default()),
            abort: OnceLock::new(),
            roster,
        }
    }

    pub(crate) fn id(&self) -> ListenerId {
        self.caller.1
    }

    /// Lets a stop that has run out of grace end a task that awaits.
    pub(crate) fn set_abort(&self, handle: AbortHandle) {
        // Ignored: called once, right after the task was made.
        drop(self.abort.set(handle));
    }

    /// A panic under this lock can only come from the user's `Hash`, `Eq` or `Clone` of a key; the
    /// other listeners and the sender go on.
    fn lock(&self) -> MutexGuard<'_, Guarded<K, T>> {
        self.guarded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes or asks the listener, wakes the consumer if that gave it something to do, and tells
    /// those who wait for "synced".
    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut ListenerState<K, T>) -> R) -> R {
        let mut guarded = self.lock();
        let before = guarded.state.tracker.is_synced();
        let result = f(&mut guarded.state);
        let synced = guarded.state.tracker.is_synced() && !before;
        let wake = guarded.waker.is_some() && guarded.state.has_work();
        let waker = wake.then(|| guarded.waker.take()).flatten();
        drop(guarded);
        if synced {
            self.reach(|milestones| milestones.synced = true);
        }
        if let Some(waker) = waker {
            self.panics.guard("waking a consumer", || waker.wake());
        }
        result
    }

    /// Records a milestone, which wakes its waiters.
    fn reach(&self, reached: impl FnOnce(&mut Milestones)) {
        self.panics
            .guard("waking a waiter", || self.milestones.send_modify(reached));
    }

    /// Hands over what was committed under `sequence`.
    pub(crate) fn push(
        &self,
        news: (u64, &[Batch<K, T>]),
        since: u64,
        displaced: &mut Vec<Displaced<K, T>>,
    ) {
        let warn = self.with(|state| state.push(news, since, self.in_flight(), displaced));
        self.warn(warn);
    }

    /// See [`Joining::begin`](crate::Joining::begin).
    pub(crate) fn begin(&self, sequence: u64, replay: Replay<K, T>) {
        let since = nanos(self.epoch, now());
        let mut displaced = Vec::new();
        let (warn, leftover) =
            self.with(|state| state.begin(sequence, replay, since, &mut displaced));
        self.warn(warn);
        self.panics.release(leftover);
        self.panics.release(displaced);
    }

    fn warn(&self, depth: Option<usize>) {
        if let Some(pending) = depth {
            tracing::warn!(
                listener = %self.name,
                pending,
                "a handler is slower than its notifications arrive",
            );
        }
    }

    /// Takes what is next. With nothing there, `cx` is woken when there is.
    pub(crate) fn take(&self, out: &mut InFlight<K, T>, cx: &mut Context<'_>) -> Taken<K, T> {
        let mut guarded = self.lock();
        let may_pass = guarded.state.has_checkpoints;
        let taken = guarded.state.take(BATCH, out);
        let passed = may_pass.then(|| guarded.state.checkpoints_passed());
        if let Taken::Entries(count) = taken {
            self.gauges.set_in_flight(self.in_flight() + count);
        }
        if planted!(WakerLeftTooLate) {
            drop(guarded);
            guarded = self.lock();
        }
        let mut stale = None;
        let is_current = |waker: &Waker| waker.will_wake(cx.waker());
        if matches!(taken, Taken::Nothing) && !guarded.waker.as_ref().is_some_and(is_current) {
            stale = guarded.waker.replace(cx.waker().clone());
        }
        drop(guarded);
        // Outside the lock: the drop of a waker may run the code of an executor.
        if stale.is_some() {
            self.panics.release(stale);
        }
        if let Some(passed) = passed {
            self.reach(|milestones| milestones.checkpoints = passed);
        }
        taken
    }

    /// Sets a checkpoint behind everything that is pending or in flight, and returns its number.
    /// The milestone `checkpoints` has reached it when all of that has been handled.
    pub(crate) fn set_checkpoint(&self) -> u64 {
        let mut guarded = self.lock();
        // Under the lock: a consumer that has something in flight takes again after it.
        let in_flight = self.in_flight();
        guarded.state.set_checkpoint(in_flight)
    }

    /// Whether an item pulled from a replay is to be delivered; then it is in hand.
    pub(crate) fn admit_replayed(&self, kind: ReplayKind, key: &K) -> bool {
        let mut guarded = self.lock();
        let admitted = guarded.state.admit_replayed(kind, key);
        self.gauges
            .set_in_flight(self.in_flight() + usize::from(admitted));
        admitted
    }

    /// A callback has returned or panicked; if there is a next one that waits since `next`, it
    /// starts at once. False if there is none, or the listener has been removed.
    #[inline]
    pub(crate) fn handled(&self, initial: bool, panicked: bool, next: Option<u64>) -> bool {
        if panicked {
            self.panics.count();
        }
        self.gauges.handled(next);
        let passed = match next {
            Some(_) => self.gate.pass(),
            None => {
                self.gate.leave();
                false
            }
        };
        // After the gate: with nothing in hand, no callback runs.
        self.gauges.set_in_flight(self.in_flight() - 1);
        if initial {
            self.with(|state| state.tracker.finish(1));
        }
        passed
    }

    /// The consumer has pulled the last item of its replay, and it has been handled.
    pub(crate) fn replay_ended(&self) {
        let leftover = self.with(ListenerState::replay_ended);
        self.panics.release(leftover);
    }

    /// The iterator of the consumer's replay panicked. After an initial replay the listener never
    /// counts as synced, because objects of the snapshot were not delivered.
    pub(crate) fn replay_iterator_panicked(&self, kind: ReplayKind) {
        match kind {
            ReplayKind::Initial => {
                self.with(|state| state.replay = ReplaySlot::None);
                self.reach(|milestones| milestones.replay_panicked = true);
            }
            ReplayKind::Resync => self.replay_ended(),
        }
    }

    /// Lets no callback start from here on, throws away what waits, and tells the consumer.
    pub(crate) fn remove(&self) {
        self.close();
        if let Some(roster) = self.roster.upgrade() {
            roster.forget(self.id());
        }
    }

    /// Whether a stream takes what is here.
    pub(crate) fn is_stream(&self) -> bool {
        self.kind == ConsumerKind::Stream
    }

    /// As `remove`, but stays in the processor's list, for its report.
    pub(crate) fn close(&self) {
        if !planted!(RemovalOnlyEmpties) {
            self.gate.close();
        }
        let leftover = self.with(ListenerState::end);
        self.panics.release(leftover);
        if self.is_stream() {
            // Nothing of ours runs; the stream says the end when it is asked.
            self.set_ended();
        }
    }

    /// Takes nothing new from here on and delivers the rest.
    pub(crate) fn drain(&self) {
        let leftover = self.with(ListenerState::drain);
        self.panics.release(leftover);
        let idle = self.with(|state| state.is_drained()) && self.in_flight() == 0;
        if idle && self.is_stream() {
            self.close();
        }
    }

    /// Ends a task that awaits. A callback that blocks cannot be ended.
    pub(crate) fn abort(&self) {
        if let Some(handle) = self.abort.get() {
            handle.abort();
        }
    }

    /// Whether a callback may still run, or the handler is still there.
    pub(crate) fn is_leaving(&self) -> bool {
        !self.is_stream() && !self.milestones.borrow().ended
    }

    /// The consumer is gone, with whatever it had taken.
    pub(crate) fn consumer_gone(&self) {
        self.gate.close();
        self.gate.leave();
        self.gauges.set_running(None);
        self.gauges.set_replay_left(0);
        let leftover = self.with(|state| {
            state.counts.abandoned += self.gauges.lose() as u64;
            state.end()
        });
        self.panics.release(leftover);
        self.set_ended();
        if let Some(roster) = self.roster.upgrade() {
            roster.left(self.id());
        }
    }

    fn set_ended(&self) {
        self.reach(|milestones| milestones.ended = true);
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.gauges.in_flight()
    }

    /// The listener at `now`.
    pub(crate) fn status(&self, now: Instant) -> ListenerStatus {
        let now = nanos(self.epoch, now);
        let guarded = self.lock();
        let state = &guarded.state;
        let counts = state.counts;
        let running = self.gauges.running_since();
        let oldest = state.oldest().into_iter().chain(running).min();
        let ended = self.milestones.borrow().ended;
        ListenerStatus {
            id: self.id(),
            name: Arc::clone(&self.name),
            phase: match ended {
                true => ListenerPhase::Ended,
                false => state.phase.public(),
            },
            overflow: state.overflow,
            synced: state.tracker.is_synced(),
            depth: state.depth() + self.in_flight(),
            replay_left: match state.replay.waiting() {
                Some((_, replay)) => replay.items.left,
                None => self.gauges.replay_left(),
            },
            high_water: counts.high_water,
            oldest_age: oldest.map(|since| Duration::from_nanos(now.saturating_sub(since))),
            received: counts.received,
            replayed: counts.replayed,
            delivered: self.gauges.delivered(),
            coalesced: counts.coalesced,
            abandoned: counts.abandoned,
            panics: self.panics.counted(),
            resync: state.schedule.terms,
            resyncs_skipped: counts.resyncs_skipped,
        }
    }
}
