//! The task that samples what is too costly to publish with every change: the backlogs of handlers,
//! memory, and progress.
//!
//! It samples at most once a second, after a commit or a bookmark, and while a handler is behind:
//! an idle informer costs nothing, and one with a hundred handlers is not slowed down.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use metrics::gauge;

use crate::running::core::Core;
use crate::running::renewal::{self, Renew};
use crate::status::handler_metrics::HandlerMetrics;
use crate::status::{InformerStatus, telemetry};
use crate::sync::now;

/// Between two samples.
const EVERY: Duration = Duration::from_secs(1);

/// A gauge holds 15 digits exactly.
const DIGITS: u64 = 1_000_000_000_000_000;

/// Samples whenever something may have changed, until the informer stops.
pub(crate) async fn run<T: Send + Sync + 'static>(core: Arc<Core<T>>) {
    let mut handlers = HandlerMetrics::new(Arc::clone(&core.status.label));
    let sampling = async {
        loop {
            core.applier.sample_due.notified().await;
            loop {
                let status = core.status();
                publish_progress(&status);
                core.meter
                    .publish(&status.memory, &status.name, &status.label);
                let pending = handlers.publish(&status.handlers);
                // Before that, the objects to be renewed may be on their way to the store.
                let renew = core.renew.clone().filter(|_| status.synced);
                if let Some(renewal) = renew.and_then(Renew::renewal) {
                    renewal::run(&core, renewal).await;
                }
                tokio::time::sleep(EVERY).await;
                if pending == 0 {
                    break;
                }
            }
        }
    };
    core.runtime.stop.run_until_cancelled(sampling).await;
    handlers.publish(&[]);
}

/// Publishes how far the store is, and when something was received last.
fn publish_progress(status: &InformerStatus) {
    let label = || Arc::clone(&status.label);
    let sources = || status.sources.iter();
    let versions = sources().map(|source| source.applied.as_ref()?.as_number());
    let version = versions.min().flatten().unwrap_or(0) % DIGITS;
    gauge!(telemetry::STORE_VERSION, "informer" => label()).set(version as f64);
    let progress = sources().map(|source| source.last_progress);
    let last = progress.min().flatten();
    let timestamp = last.map_or(Duration::ZERO, |last| {
        since_1970().saturating_sub(now().saturating_duration_since(last))
    });
    gauge!(telemetry::LAST_PROGRESS, "informer" => label()).set(timestamp.as_secs_f64());
}

#[expect(
    clippy::disallowed_methods,
    reason = "monitoring compares it with the time of another machine"
)]
fn since_1970() -> Duration {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default()
}
