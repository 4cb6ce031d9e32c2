//! The taking side of a listener: what a task, a thread and a stream have in common.
//!
//! Hands out one notification at a time. It counts as handled when `finish` is called or the next
//! one is asked for; the gate decides whether it may start. Replays are pulled here, outside locks.

// - PR-1: one at a time, each at most once. `tests/delivery.rs`
// - Dropped in whatever way, it reports the listener's end (FM-70). `tests/remove.rs`

use std::sync::Arc;
use std::task::{Context, Poll};

use crate::backlog::batch::News;
use crate::backlog::in_flight::InFlight;
use crate::boundary::Panicked;
use crate::listener::Listener;
use crate::listener::replay::ActiveReplay;
use crate::listener::state::Taken;
use crate::notification::{Key, Notification};

/// The number of items of a replay that one poll may skip. A resync of 150,000 objects, each with a
/// newer notification pending, must not keep a current-thread runtime from everything else.
const PULLS_AT_ONCE: usize = 1_024;

/// The consumer of one listener. See the module.
pub(crate) struct Consumer<K: Key, T: Send + Sync + 'static> {
    listener: Arc<Listener<K, T>>,
    in_flight: InFlight<K, T>,
    replay: Option<ActiveReplay<K, T>>,
    /// The notification that was handed out and is not handled yet, if any.
    running: Option<Running>,
}

struct Running {
    /// Whether "synced" waits for it. Items of a replay are counted by the replay.
    counted: bool,
}

impl<K: Key, T: Send + Sync + 'static> Consumer<K, T> {
    pub(crate) fn new(listener: Arc<Listener<K, T>>) -> Self {
        Self {
            listener,
            in_flight: InFlight::default(),
            replay: None,
            running: None,
        }
    }

    pub(crate) fn listener(&self) -> &Arc<Listener<K, T>> {
        &self.listener
    }

    /// The notification that was handed out last, while it is handled.
    pub(crate) fn current(&self) -> &Arc<Notification<K, T>> {
        self.in_flight
            .first()
            .expect("a notification is in hand until it is handled")
    }

    /// Whether there is a next notification, which is then the current one. Otherwise there will
    /// be none any more. The one before counts as handled.
    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        self.settle(false);
        let mut pulls = 0;
        loop {
            if let Some((since, counted)) = self.in_flight.terms() {
                return Poll::Ready(self.start(since, counted));
            }
            if self.replay.is_some() {
                if pulls == PULLS_AT_ONCE {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                pulls += 1;
                self.pull();
                continue;
            }
            match self.listener.take(&mut self.in_flight, cx) {
                Taken::Entries(_) => {}
                Taken::Replay(replay) => {
                    self.listener.gauges.set_replay_left(replay.items.left);
                    self.replay = Some(replay);
                }
                Taken::Nothing => return Poll::Pending,
                Taken::Closed => {
                    // A stream that is kept after its end must not hold up a stop.
                    if self.listener.is_stream() {
                        self.listener.close();
                    }
                    return Poll::Ready(false);
                }
            }
        }
    }

    /// Takes the next item of the active replay, unless it is skipped or the replay is over.
    fn pull(&mut self) {
        let Some(replay) = &mut self.replay else {
            return;
        };
        let pulled = match self.listener.gate.is_closed() {
            true => Some(None),
            false => self
                .listener
                .panics
                .guard("a replay", || replay.items.next()),
        };
        let left = match &pulled {
            Some(Some(_)) => replay.items.left,
            Some(None) | None => 0,
        };
        self.listener.gauges.set_replay_left(left);
        match pulled {
            Some(Some(notification)) => {
                if self
                    .listener
                    .admit_replayed(replay.kind, notification.key())
                {
                    self.in_flight.push_replayed(replay.since, notification);
                } else {
                    self.listener.panics.release(notification);
                }
            }
            Some(None) => {
                self.listener.panics.release(self.replay.take());
                self.listener.replay_ended();
            }
            None => {
                let kind = replay.kind;
                self.listener.panics.release(self.replay.take());
                self.listener.replay_iterator_panicked(kind);
            }
        }
    }

    // PR-11
    /// Starts the callback of the next notification, unless the listener has been removed.
    fn start(&mut self, since: u64, counted: bool) -> bool {
        if !self.listener.gate.enter() {
            return false;
        }
        self.listener.gauges.set_running(Some(since));
        self.running = Some(Running { counted });
        true
    }

    /// The callback of the notification that was handed out has ended.
    // PR-12
    pub(crate) fn finish(&mut self, result: &Result<(), Panicked>) {
        self.log_current(result);
        self.settle(result.is_err());
    }

    /// As `finish`; then the next notification is handed out if it is in hand already.
    #[inline]
    pub(crate) fn follow(&mut self, result: &Result<(), Panicked>) -> bool {
        self.log_current(result);
        let Some(running) = self.running.take() else {
            return false;
        };
        self.advance();
        let (initial, panicked) = (running.counted, result.is_err());
        let Some((since, counted)) = self.in_flight.terms() else {
            return self.listener.handled(initial, panicked, None);
        };
        let follows = self.listener.handled(initial, panicked, Some(since));
        if follows {
            self.running = Some(Running { counted });
        }
        follows
    }

    fn settle(&mut self, panicked: bool) {
        if let Some(running) = self.running.take() {
            self.listener.handled(running.counted, panicked, None);
            self.advance();
        }
    }

    /// Goes on to the next notification. The last reference to an object may be dropped here.
    #[inline]
    fn advance(&mut self) {
        let panics = &self.listener.panics;
        match self.in_flight.advance().map(|run| run.news) {
            // No user code runs where another listener still shares the notification.
            Some(News::One(one)) => {
                if let Some(last) = Arc::into_inner(one) {
                    panics.release(last);
                }
            }
            Some(several @ News::Several(_)) => panics.release(several),
            None => {}
        }
    }

    #[inline]
    fn log_current(&self, result: &Result<(), Panicked>) {
        if let Err(panicked) = result {
            let key = Some(self.current().key());
            self.listener.panics.log("a callback", panicked, key);
        }
    }
}

impl<K: Key, T: Send + Sync + 'static> Drop for Consumer<K, T> {
    fn drop(&mut self) {
        let in_flight = std::mem::take(&mut self.in_flight);
        self.listener
            .panics
            .release((in_flight, self.replay.take()));
        self.listener.consumer_gone();
    }
}
