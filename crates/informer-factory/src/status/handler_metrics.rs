//! The backlogs of handlers as metrics.
//!
//! Handlers are sampled at most once a second, and only after a commit and while one of them is
//! behind: an idle informer costs nothing, and one with a hundred handlers is not slowed down.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use informer_processor::ListenerStatus;
use metrics::{counter, gauge};
use tokio_util::sync::CancellationToken;

use crate::applying::applier::Applier;
use crate::status::telemetry;

/// Between two samples.
const EVERY: Duration = Duration::from_secs(1);

/// Publishes the backlogs of the handlers whenever they may have changed, until `stop`.
pub(crate) async fn run<T: Send + Sync + 'static>(applier: &Applier<T>, stop: &CancellationToken) {
    let mut published = Published {
        informer: Arc::clone(&applier.status.label),
        handlers: BTreeMap::new(),
    };
    let sampling = async {
        loop {
            applier.backlogs_changed.notified().await;
            loop {
                let pending = published.publish(&applier.processor.listeners());
                tokio::time::sleep(EVERY).await;
                if pending == 0 {
                    break;
                }
            }
        }
    };
    stop.run_until_cancelled(sampling).await;
    published.publish(&[]);
}

/// The sums over all handlers of one name.
#[derive(Clone, Copy, Default)]
struct Handlers {
    backlog: usize,
    oldest: Duration,
    coalesced: u64,
    panics: u64,
}

/// The handlers that have been published, by name.
struct Published {
    informer: Arc<str>,
    handlers: BTreeMap<Arc<str>, Handlers>,
}

impl Published {
    /// Publishes all handlers, and an empty backlog for removed ones. Returns the number of pending
    /// notifications.
    fn publish(&mut self, listeners: &[ListenerStatus]) -> usize {
        let published = self.handlers.keys().map(Arc::clone);
        let mut handlers: BTreeMap<_, Handlers> =
            published.map(|name| (name, Handlers::default())).collect();
        for listener in listeners {
            let sums = handlers.entry(Arc::clone(&listener.name)).or_default();
            sums.backlog += listener.depth + listener.replay_left;
            sums.oldest = sums.oldest.max(listener.oldest_age.unwrap_or_default());
            sums.coalesced += listener.coalesced;
            sums.panics += listener.panics;
        }
        for (name, sums) in &mut handlers {
            if let Some(before) = self.handlers.get(name) {
                // A removed handler of the same name must not take the counters back.
                sums.coalesced = sums.coalesced.max(before.coalesced);
                sums.panics = sums.panics.max(before.panics);
            }
            self.record(name, *sums);
        }
        self.handlers = handlers;
        self.handlers.values().map(|sums| sums.backlog).sum()
    }

    fn record(&self, name: &Arc<str>, handlers: Handlers) {
        let labels = [
            ("informer", Arc::clone(&self.informer)),
            ("handler", Arc::clone(name)),
        ];
        gauge!(telemetry::HANDLER_BACKLOG, &labels).set(handlers.backlog as f64);
        gauge!(telemetry::HANDLER_OLDEST, &labels).set(handlers.oldest.as_secs_f64());
        counter!(telemetry::HANDLER_COALESCED, &labels).absolute(handlers.coalesced);
        counter!(telemetry::HANDLER_PANICS, &labels).absolute(handlers.panics);
    }
}
