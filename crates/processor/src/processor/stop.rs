//! The orderly stop: no news, drain, then say what was left undone.
//!
//! Always returns: after the grace it waits for nobody. Callbacks that block cannot be ended; they
//! are reported, and nothing follows them.

// PL-04: client-go drops what waits; here it is delivered or reported.
// - D1: done within the grace, at whatever point. `tests/stop.rs`

use std::sync::Arc;
use std::time::Duration;

use crate::listener::status::ListenerId;
use crate::notification::Key;
use crate::processor::Processor;
use crate::sync::timeout;

/// The result of [`Processor::stop`]: what was delivered, and what was not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StopReport {
    /// Notifications handled, by all listeners in all their life.
    pub delivered: u64,
    /// Notifications that waited, or were being handled, when the grace ended.
    pub abandoned: u64,
    /// One entry per listener, in the order in which they were added; then one for each that was
    /// removed before and had not ended when the grace did.
    pub listeners: Vec<ListenerReport>,
}

impl StopReport {
    /// Whether everything was delivered and every handler has ended.
    pub fn is_clean(&self) -> bool {
        self.listeners.iter().all(|listener| {
            listener.abandoned == 0 && !listener.initial_unfinished && !listener.still_running
        })
    }
}

/// What a stop has left of one listener.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListenerReport {
    /// Which one.
    pub id: ListenerId,
    /// Its name.
    pub name: Arc<str>,
    /// Notifications handled in all its life.
    pub delivered: u64,
    /// Notifications that waited, or were being handled, when the grace ended.
    pub abandoned: u64,
    /// Objects that were there when it joined have not all been handled.
    pub initial_unfinished: bool,
    /// Its callback had not returned when the grace ended. It is left alone; nothing follows it.
    pub still_running: bool,
}

impl<K: Key, T: Send + Sync + 'static> Processor<K, T> {
    /// Hands out and adds nothing from here on; what waits is still delivered, and streams end
    /// after it. [`stop`](Processor::stop) does the same and waits.
    pub fn close(&self) {
        self.registry.close();
    }

    /// Stops: nothing more is handed out or added, what waits is delivered for at most `grace`,
    /// then thrown away and reported. Pending resyncs are dropped, because they carry no change.
    ///
    /// Waits for the running callbacks too, also of handlers just removed, and for streams that
    /// still have something to give.
    /// Called from a callback, it does not wait for that callback's own listener; see
    /// [`calling_listener`](Processor::calling_listener). Called again, it reports again.
    ///
    /// # Panics
    ///
    /// When `grace` is not zero and this is awaited outside a tokio runtime with time enabled.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it is ready, the listeners go on draining and nothing is thrown away. Call it
    /// again to go on waiting.
    // FM-67
    pub async fn stop(&self, grace: Duration) -> StopReport {
        let listeners = self.registry.close();
        let leaving = self.registry.lock().leaving.clone();
        let own = self.calling_listener();
        if !grace.is_zero() {
            let all_ended = async {
                let all = listeners.iter().chain(&leaving);
                for listener in all.filter(|listener| Some(listener.id()) != own) {
                    // An error cannot be: the listener is in our hands.
                    drop(
                        listener
                            .milestones
                            .subscribe()
                            .wait_for(|seen| seen.ended)
                            .await,
                    );
                }
            };
            // Running out of grace is an answer, told below.
            drop(timeout(grace, all_ended).await);
        }
        let mut report = StopReport::default();
        // Of those who were removed, only the ones that could not be waited for.
        let unended = leaving.iter().filter(|listener| listener.is_leaving());
        for listener in listeners.iter().chain(unended) {
            listener.close();
            // After the gate is closed: what does not run now will not.
            let still_running = listener.gate.is_running();
            listener.abort();
            let status = listener.status(crate::sync::now());
            let ended = ListenerReport {
                id: status.id,
                name: status.name,
                delivered: status.delivered,
                abandoned: status.abandoned + status.depth as u64,
                initial_unfinished: listener.with(|state| state.initial_unfinished),
                still_running,
            };
            report.delivered += ended.delivered;
            report.abandoned += ended.abandoned;
            report.listeners.push(ended);
        }
        report
    }
}
