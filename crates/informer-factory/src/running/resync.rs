//! Resync: what the store holds, told again to handlers that asked for it (SI-16, PR-10).

use std::sync::Arc;
use std::time::Duration;

use informer_processor::{Cause, Notification, Walk};
use informer_store::{ObjectKey, Snapshot, StoreReader};
use tokio::time::Instant;

use crate::running::core::Core;

/// Walks a snapshot lazily, and leaves out what has changed since: the change itself is on its way
/// to the listener, so a resync never brings back an older state (FM-50, FQ-7).
pub(crate) fn walk<T: Send + Sync + 'static>(
    snapshot: Snapshot<T>,
    now: StoreReader<T>,
) -> Walk<ObjectKey, T> {
    Walk::new(snapshot.cursor().filter_map(move |(key, entry)| {
        let current = now.get(key.as_str())?;
        Arc::ptr_eq(&current, &entry.object).then(|| {
            let (old, new) = (Arc::clone(&entry.object), entry.object);
            Notification::Updated {
                key,
                old,
                new,
                cause: Cause::Resync,
            }
        })
    }))
}

/// Fires whenever a listener is due, until the informer stops.
pub(crate) async fn run<T: Send + Sync + 'static>(core: Arc<Core<T>>) {
    loop {
        let next = core.processor.next_resync();
        tokio::select! {
            biased;
            () = core.stop.cancelled() => return,
            () = core.resync_changed.notified() => {}
            () = sleep_until(next) => {
                let now = Instant::now();
                if core.board.is_synced() {
                    core.resync(now.into_std());
                } else {
                    // Due, but there is nothing whole to tell yet; look again in a while.
                    tokio::select! {
                        () = core.stop.cancelled() => return,
                        () = tokio::time::sleep(Duration::from_secs(1)) => {}
                    }
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
