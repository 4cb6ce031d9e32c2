//! Writes the reports of one reflector into its informer's status, the log and metrics.

use std::sync::Arc;
use std::time::Duration;

use informer_kube_source::ReceivedWire;
use informer_reflector::{Failure, FailureKind, Observe, Report};
use informer_store::Scope;
use metrics::counter;

use crate::status::SourceStatus;
use crate::status::shared::SharedStatus;
use crate::status::telemetry;
use crate::sync::now;

/// Writes the reports of one reflector into the status.
pub(crate) struct StatusObserver {
    pub(crate) status: Arc<SharedStatus>,
    pub(crate) scope: Scope,
    pub(crate) received_wire: Box<ReceivedWireFn>,
}

/// Returns the format of the last answer that a source received.
pub(crate) type ReceivedWireFn = dyn Fn() -> Option<ReceivedWire> + Send + Sync;

impl StatusObserver {
    fn source(&self, change: impl FnOnce(&mut SourceStatus)) {
        self.status.update(&self.scope, change);
    }

    fn failed(&self, failure: Failure, attempts: u32, next_in: Duration) {
        let (name, kind) = (&self.status.name, failure.kind);
        if kind == FailureKind::Panicked {
            self.status.count_task_panic();
        }
        // One line when it begins to fail and then at every doubling, so that a day of failing
        // does not fill a disk (FM-87, R11).
        if attempts.is_power_of_two() {
            tracing::warn!(informer = %name, attempts, ?next_in, "{failure}");
        }
        counter!(
            telemetry::FAILURES,
            "informer" => Arc::clone(&self.status.label),
            "kind" => format!("{kind:?}")
        )
        .increment(1);
        self.source(|source| (source.failure, source.attempts) = (Some(failure), attempts));
    }
}

impl Observe for StatusObserver {
    fn observe(&mut self, report: Report) {
        let label = || Arc::clone(&self.status.label);
        match report {
            Report::Phase(phase) => {
                self.source(|source| (source.phase, source.since) = (phase, now()));
            }
            Report::Failed {
                failure,
                attempts,
                next_in,
            } => self.failed(failure, attempts, next_in),
            Report::Listed {
                cause,
                items,
                reused,
                version,
            } => {
                let informer = &self.status.name;
                tracing::debug!(%informer, ?cause, items, reused, %version, "listed");
                counter!(telemetry::LISTS, "informer" => label(), "cause" => format!("{cause:?}"))
                    .increment(1);
                let wire = (self.received_wire)();
                self.source(|source| {
                    source.wire = wire;
                    source.lists += 1;
                    source.reused += reused as u64;
                    (source.failure, source.attempts) = (None, 0);
                });
            }
            Report::WatchOpened { version } => {
                tracing::debug!(informer = %self.status.name, %version, "watch opened");
                counter!(telemetry::WATCHES, "informer" => label()).increment(1);
                // The server took our version, so what failed before has healed; `attempts` still
                // counts, since the watch may close at once again (FM-21).
                let wire = (self.received_wire)();
                self.source(|source| {
                    source.wire = wire;
                    source.watches += 1;
                    source.failure = None;
                });
            }
            Report::Progress { received } => {
                // No subscriber is notified: this happens with every event.
                let was_failing = self.status.with(&self.scope, |source| {
                    source.received = received;
                    source.last_progress = Some(now());
                    source.failure.is_some()
                });
                if was_failing == Some(true) {
                    // Something was received, so what failed before has healed.
                    self.source(|source| (source.failure, source.attempts) = (None, 0));
                }
            }
            // The sink has begun the epoch, before it accepted the list.
            Report::NewEpoch { before, after } => tracing::warn!(
                informer = %self.status.name, %before, %after, "the server's history was rewound"
            ),
            // Logged when its key goes into quarantine, once for each version (FM-87).
            Report::Undecodable { .. } => {}
            Report::Incomparable { version } => tracing::warn!(
                informer = %self.status.name,
                %version,
                "versions of this resource have no order; older events cannot be told"
            ),
            _ => {}
        }
    }
}
