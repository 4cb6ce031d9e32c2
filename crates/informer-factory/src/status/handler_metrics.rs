//! The backlogs of handlers as metrics.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use informer_processor::ListenerStatus;
use metrics::{counter, gauge};

use crate::status::telemetry;

/// The sums over all handlers of one name.
#[derive(Clone, Copy, Default)]
struct Handlers {
    backlog: usize,
    oldest: Duration,
    coalesced: u64,
    panics: u64,
}

/// The handlers that have been published, by name.
pub(crate) struct HandlerMetrics {
    informer: Arc<str>,
    handlers: BTreeMap<Arc<str>, Handlers>,
}

impl HandlerMetrics {
    /// The metrics of an informer's handlers; `informer` is its label.
    pub(crate) fn new(informer: Arc<str>) -> Self {
        Self {
            informer,
            handlers: BTreeMap::new(),
        }
    }

    /// Publishes all handlers, and an empty backlog for removed ones. Returns the number of pending
    /// notifications.
    pub(crate) fn publish(&mut self, listeners: &[ListenerStatus]) -> usize {
        let published = self.handlers.keys().map(Arc::clone);
        let mut handlers: BTreeMap<_, Handlers> =
            published.map(|name| (name, Handlers::default())).collect();
        for listener in listeners {
            let sums = handlers.entry(Arc::clone(&listener.name)).or_default();
            sums.backlog += listener.pending();
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
        gauge!(telemetry::PENDING_NOTIFICATIONS, &labels).set(handlers.backlog as f64);
        gauge!(telemetry::HANDLER_OLDEST, &labels).set(handlers.oldest.as_secs_f64());
        counter!(telemetry::HANDLER_COALESCED, &labels).absolute(handlers.coalesced);
        counter!(telemetry::HANDLER_PANICS, &labels).absolute(handlers.panics);
    }
}
