//! When more keys are quarantined than are kept with their reasons (SEC-23).
//!
//! So many objects that nobody can use are a broken type or an attack. The informer is degraded for
//! as long as one key is quarantined; a flood of them is said once, and everything is fetched again
//! now and then: what caused it may be gone, and not every cause touches the objects.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;

use crate::core::Core;

/// Between two lists while the flood lasts: six an hour are no load to speak of.
const PERIOD: Duration = Duration::from_secs(600);

/// Watches the quarantine until the informer stops.
pub(crate) async fn run<T: Send + Sync + 'static>(core: Arc<Core<T>>) {
    let ebb = async {
        let mut changes = core.board.subscribe();
        loop {
            changes.mark_unchanged();
            if core.quarantine.is_flooded() {
                tracing::error!(
                    informer = %core.name, keys = core.quarantine.len(),
                    "more keys are quarantined than are kept with their reasons"
                );
                relist_until_it_is_over(&core).await;
            }
            if changes.changed().await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        biased;
        () = core.stop.cancelled() => {}
        () = ebb => {}
    }
}

async fn relist_until_it_is_over<T: Send + Sync + 'static>(core: &Core<T>) {
    loop {
        sleep(PERIOD).await;
        if !core.quarantine.is_flooded() {
            return;
        }
        core.sources.relist_all();
    }
}
