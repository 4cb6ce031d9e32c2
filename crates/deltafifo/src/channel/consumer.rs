//! The end that drains the queue.

use std::future::Future;
use std::num::NonZeroUsize;
use std::sync::Arc;

use derive_where::derive_where;

use crate::error::NeverSynced;
use crate::lease::Exhausted;

use super::leased::Leased;
use super::progress::ProgressObserver;
use super::shared::Shared;
use super::waiters::{Look, until};

/// The end that drains the queue. When it is dropped the queue closes: nobody is left to make
/// room.
#[derive_where(Debug)]
pub struct Consumer<K, V, P> {
    #[derive_where(skip)]
    shared: Arc<Shared<K, V, P>>,
}

impl<K, V, P> Consumer<K, V, P> {
    pub(super) fn new(shared: Arc<Shared<K, V, P>>) -> Self {
        Self { shared }
    }

    /// The next works, once there are some and no lease is out; `None` when the queue is closed
    /// and everything was settled.
    ///
    /// [`Queue::lease`](crate::Queue::lease) says what is handed out together.
    ///
    /// # Cancel safety
    ///
    /// A future that is dropped before it is ready has taken nothing. Once it is ready, dropping
    /// the guard gives all of it back, which counts as an attempt.
    #[doc(alias = "Pop")]
    #[doc(alias = "PopBatch")]
    pub fn next(&self, max_keys: NonZeroUsize) -> impl Future<Output = Option<Leased<K, V, P>>> {
        until(&self.shared, move |state| {
            match state.queue.lease(max_keys) {
                Some(lease) => {
                    state.lease_out = true;
                    Look::Seen(Some(Leased::new(Arc::clone(&self.shared), lease)))
                }
                None if state.queue.is_closed() && state.queue.is_empty() => Look::Seen(None),
                None => Look::Wait,
            }
        })
    }

    /// Waits until the initial population was processed.
    ///
    /// The future has no time limit, because this crate has no clock; bound it with
    /// `tokio::time::timeout` or the like.
    ///
    /// # Errors
    ///
    /// [`NeverSynced`] when the queue is closed and drained and that never happened.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only looks.
    pub async fn wait_synced(&self) -> Result<(), NeverSynced> {
        self.observer().wait_synced().await
    }

    /// Takes nothing more; what is queued is still handed out. Wakes all who wait.
    // FQ-10
    pub fn close(&self) {
        self.shared.change(|state| state.queue.close());
    }

    /// Returns the items that were exhausted when a guard was dropped, which returns nothing. Call
    /// it after a panic of whatever processes leases; the items are kept until then.
    #[must_use]
    pub fn take_abandoned(&self) -> Vec<Exhausted<K, V>> {
        std::mem::take(&mut self.shared.lock().abandoned)
    }

    /// An observer of how far this consumer gets.
    pub fn observer(&self) -> ProgressObserver<K, V, P> {
        ProgressObserver::new(Arc::clone(&self.shared))
    }
}

impl<K, V, P> Drop for Consumer<K, V, P> {
    fn drop(&mut self) {
        self.shared.change(|state| {
            state.consumer_lives = false;
            state.queue.close();
        });
    }
}
