//! Distribution: one pass over the listeners per batch, resync or announcement.

// - PR-9: a listener that blocks delays neither the sender nor another one. `tests/isolation.rs`
// - PR-10: a resync goes to the listeners that are due, and to no other. `tests/resync.rs`

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::backlog::batch::Batch;
use crate::boundary::guarded;
use crate::listener::Listener;
use crate::listener::replay::Replay;
use crate::notification::{Key, Notification};
use crate::processor::Processor;
use crate::sync::{nanos, now};

/// The number of listeners up to which each receives the first collection as a replay of its own.
const MOST_REPLAYS: usize = 4;

impl<K: Key, T: Send + Sync + 'static> Processor<K, T> {
    /// Settles the check period: listeners added later can no longer lower it. The first
    /// distribution does the same.
    // SI-16
    pub fn start(&self) {
        self.registry.start();
    }

    /// Hands `batch`, committed under `sequence`, to every listener.
    ///
    /// Takes each listener's lock once and wakes its handler at most once; never waits for any of
    /// them. After a stop it does nothing.
    // PR-9
    pub fn distribute(&self, sequence: u64, batch: &[Arc<Notification<K, T>>]) {
        if batch.is_empty() {
            return;
        }
        self.registry.start();
        let listeners = self.registry.listeners();
        self.push(&listeners, sequence, batch);
    }

    fn push(
        &self,
        listeners: &[Arc<Listener<K, T>>],
        sequence: u64,
        batch: &[Arc<Notification<K, T>>],
    ) {
        if listeners.is_empty() {
            return;
        }
        let since = nanos(self.registry.epoch, now());
        let batches = Batch::split(batch);
        let mut displaced = Vec::new();
        for listener in listeners {
            listener.push((sequence, batches.as_slice()), since, &mut displaced);
        }
        // After all listeners: drops run user code, which may take long or panic.
        for value in displaced {
            if let Err(panicked) = guarded(|| drop(value)) {
                tracing::error!(panic = %panicked.message, "the drop of a merged object panicked");
            }
        }
    }

    /// Hands the first collection of the source, committed under `sequence`, to every listener.
    ///
    /// One entry per listener, however many objects: `replay` is called for each listener and its
    /// items are pulled when the handler gets to them. They are the state of `sequence`, as
    /// [`Notification::Added`] with `initial: true`. A listener that is joining, has something
    /// else pending or has a resync period receives the same items as from
    /// [`distribute`](Processor::distribute), and so do all where there are more than four
    /// listeners: they share one notification per object, which takes less time than a notification
    /// per object and listener. After a stop this method does nothing.
    pub fn distribute_initial(&self, sequence: u64, replay: impl Fn() -> Replay<K, T>) {
        self.registry.start();
        let since = nanos(self.registry.epoch, now());
        let listeners = self.registry.listeners();
        let mut others = Vec::new();
        for listener in listeners.iter() {
            if listeners.len() > MOST_REPLAYS {
                others.push(Arc::clone(listener));
                continue;
            }
            let items = replay();
            let refused = listener.with(|state| state.push_initial(sequence, items, since));
            if refused.is_some() {
                others.push(Arc::clone(listener));
                listener.panics.release(refused);
            }
        }
        if !others.is_empty() {
            let batch: Vec<_> = replay().map(Arc::new).collect();
            self.push(&others, sequence, &batch);
        }
    }

    /// Announces every object again to the listeners that are due at `now`, and arms their next
    /// resync. One entry per listener, however many objects: `replay` is called once for each and
    /// pulled lazily, at its place in line. It shows the state of `sequence`, as
    /// [`Notification::Updated`] with [`Cause::Resync`](crate::Cause::Resync).
    ///
    /// Left out for a listener whose previous resync or initial replay is still going on;
    /// an item is left out where newer news of its key wait.
    // RB-5
    pub fn distribute_resync(
        &self,
        sequence: u64,
        now: Instant,
        replay: impl Fn() -> Replay<K, T>,
    ) {
        self.registry.start();
        let since = nanos(self.registry.epoch, now);
        for listener in self.registry.listeners().iter() {
            if listener.with(|state| state.wants_resync(sequence, now))
                && let Some(replay) = listener.panics.guard("making a replay", &replay)
            {
                // Given back if the listener was removed meanwhile.
                let refused = listener.with(|state| state.push_resync(replay, since));
                listener.panics.release(refused);
            }
        }
    }

    /// Whether a listener is due for a resync at `now`.
    // SP-05
    #[doc(alias = "shouldResync")]
    pub fn resync_due(&self, now: Instant) -> bool {
        self.registry
            .listeners()
            .iter()
            .any(|listener| listener.with(|state| state.is_resync_due(now)))
    }

    /// When the next listener will be due; `None` if none ever is.
    pub fn next_resync(&self) -> Option<Instant> {
        let listeners = self.registry.listeners();
        listeners
            .iter()
            .filter_map(|listener| listener.with(|state| state.next_resync()))
            .min()
    }

    /// How often resyncs are checked for, as negotiated so far.
    // SI-16
    pub fn check_period(&self) -> Option<Duration> {
        self.registry.lock().check_period
    }

    /// Every initial notification has been handed over. From here on a listener is synced as soon
    /// as it has handled them all.
    // SY-02, SY-03
    pub fn upstream_synced(&self) {
        self.registry.upstream_synced();
    }
}
