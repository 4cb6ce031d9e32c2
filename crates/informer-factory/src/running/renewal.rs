//! Replaces stored objects by better forms of the same content, a few at a time.

use std::sync::Arc;

use informer_store::ObjectKey;
use tokio::task::JoinError;

use crate::applying::exchange::Exchange;
use crate::running::core::Core;

/// The number of objects replaced with one commit.
// The lock of the writer is held for some hundred microseconds.
const CHUNK: usize = 1_000;

/// Knows when stored objects should be replaced.
pub(crate) trait Renew<T>: Send + Sync {
    /// What is to be done, if anything is.
    fn renewal(self: Arc<Self>) -> Option<Renewal<T>>;
}

/// The object in a better form; `None` if it is to stay.
pub(crate) type RenewFn<T> = dyn Fn(&T) -> Option<T> + Send + Sync;

/// One replacement of all objects that need it.
pub(crate) struct Renewal<T> {
    /// Makes the better form of one object.
    pub(crate) renew: Arc<RenewFn<T>>,
    /// Called at the end: true if every stored object has been looked at, false after a panic.
    pub(crate) done: Box<dyn FnOnce(bool) + Send + Sync>,
}

/// Replaces the objects, in commits that change neither versions nor what handlers receive.
///
/// A panic of the type or of an index function ends the replacement. It is not tried again before
/// another one is due.
pub(crate) async fn run<T: Send + Sync + 'static>(core: &Arc<Core<T>>, renewal: Renewal<T>) {
    let Renewal { renew, done } = renewal;
    let mut is_complete = true;
    for keys in core.applier.reader.keys().chunks(CHUNK) {
        if let Err(error) = replace(core, &renew, keys.to_vec()).await {
            tracing::error!(informer = %core.status.name, "packing again failed: {error}");
            is_complete = false;
            break;
        }
    }
    done(is_complete);
}

/// Replaces the objects of some keys.
async fn replace<T: Send + Sync + 'static>(
    core: &Arc<Core<T>>,
    renew: &Arc<RenewFn<T>>,
    keys: Vec<ObjectKey>,
) -> Result<(), JoinError> {
    let (applier, renew) = (Arc::clone(&core.applier), Arc::clone(renew));
    let renewed = move |key: ObjectKey| {
        let old = applier.reader.get(&key)?;
        let new = Arc::new(renew(&old)?);
        Some(Exchange { key, old, new })
    };
    let exchanges = move || keys.into_iter().filter_map(renewed).collect::<Vec<_>>();
    let exchanges = off_task(exchanges).await?;
    if exchanges.is_empty() {
        return Ok(());
    }
    let applier = Arc::clone(&core.applier);
    off_task(move || applier.exchange(exchanges)).await
}

/// Runs work that takes milliseconds, such as packing a chunk again, on another thread.
#[cfg(not(sim))]
async fn off_task<R: Send + 'static>(
    work: impl FnOnce() -> R + Send + 'static,
) -> Result<R, JoinError> {
    tokio::task::spawn_blocking(work).await
}

/// Lets other tasks run first: no seed of the simulator decides when a thread ends.
#[cfg(sim)]
async fn off_task<R: Send + 'static>(
    work: impl FnOnce() -> R + Send + 'static,
) -> Result<R, JoinError> {
    tokio::task::yield_now().await;
    Ok(work())
}
