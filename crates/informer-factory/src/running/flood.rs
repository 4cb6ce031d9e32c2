//! When more keys are quarantined than are kept with their reasons.
//!
//! So many unusable objects mean a broken type or an attack. The informer is degraded for as long
//! as one key is quarantined. A flood of them is logged once, and everything is fetched again
//! periodically: the cause may be gone without any change of the objects.

// SEC-23

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use crate::running::core::Core;

/// Between two lists while the flood lasts: six an hour are no load to speak of.
const PERIOD: Duration = Duration::from_secs(600);

/// Starts a task that lists again if a flood has begun. Without a flood it costs no task.
pub(crate) fn attend<T: Send + Sync + 'static>(core: &Arc<Core<T>>) {
    if core.applier.quarantine.begin_flood() {
        tracing::error!(
            informer = %core.status.name, keys = core.applier.quarantine.len(),
            "more keys are quarantined than are kept with their reasons"
        );
        core.runtime
            .tasks
            .spawn(relist_until_it_is_over(Arc::clone(core)));
    }
}

async fn relist_until_it_is_over<T: Send + Sync + 'static>(core: Arc<Core<T>>) {
    loop {
        let stop = &core.runtime.stop;
        let waited = stop.run_until_cancelled(sleep(PERIOD)).await;
        if waited.is_none() || core.applier.quarantine.has_flood_ended() {
            return;
        }
        core.runtime.sources.relist_all();
    }
}
