//! Resync: stored objects, delivered again to handlers that request it.

// SI-16, PR-10

use std::time::Duration;

use tokio::time::Instant;

use crate::running::core::Core;

/// Fires whenever a listener is due, until the informer stops.
pub(crate) async fn run<T: Send + Sync + 'static>(core: &Core<T>) {
    loop {
        let next = core.applier.processor.next_resync();
        tokio::select! {
            biased;
            () = core.runtime.stop.cancelled() => return,
            () = core.applier.resync_changed.notified() => {}
            () = sleep_until(next) => {
                let now = Instant::now();
                if core.status.is_synced() {
                    core.applier.resync(now.into_std());
                } else {
                    // Due, but the first list is not complete yet; look again in a while.
                    let pause = tokio::time::sleep(Duration::from_secs(1));
                    core.runtime.stop.run_until_cancelled(pause).await;
                }
            }
        }
    }
}

/// Without a listener that wants resync there is nothing to wait for.
async fn sleep_until(instant: Option<std::time::Instant>) {
    match instant {
        Some(instant) => tokio::time::sleep_until(Instant::from_std(instant)).await,
        None => std::future::pending().await,
    }
}
