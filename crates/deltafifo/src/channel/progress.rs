//! An observer of how far the consumer gets.

use std::sync::Arc;

use derive_where::derive_where;

use crate::error::NeverSynced;

use super::shared::{Shared, State};
use super::waiters::{Look, until};

/// Where the queue stands.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress<P> {
    /// [`Queue::applied`](crate::Queue::applied).
    pub applied: Option<P>,
    /// [`Queue::received`](crate::Queue::received).
    pub received: Option<P>,
    /// [`Queue::is_synced`](crate::Queue::is_synced).
    pub synced: bool,
    /// [`Queue::len`](crate::Queue::len).
    pub unsettled: usize,
    /// Whether nothing more is taken.
    pub closed: bool,
}

/// Observes how far the consumer of a queue gets, without keeping the queue open. A clone has seen
/// what the original has seen.
#[derive_where(Clone, Debug)]
pub struct ProgressObserver<K, V, P> {
    #[derive_where(skip(Debug))]
    shared: Arc<Shared<K, V, P>>,
    /// The last state change that was seen.
    seen: u64,
}

impl<K, V, P> ProgressObserver<K, V, P> {
    pub(super) fn new(shared: Arc<Shared<K, V, P>>) -> Self {
        let seen = shared.lock().turn;
        Self { shared, seen }
    }

    /// Waits until the initial population was processed.
    ///
    /// The future has no time limit, because this crate has no clock; bound it with
    /// `tokio::time::timeout` or the like.
    ///
    /// # Errors
    ///
    /// [`NeverSynced`] when the queue ended and that never happened.
    ///
    /// # Cancel safety
    ///
    /// Safe: it only looks.
    #[doc(alias = "HasSyncedChecker")]
    pub async fn wait_synced(&self) -> Result<(), NeverSynced> {
        until(&self.shared, |state| {
            if state.queue.is_synced() {
                Look::Seen(Ok(()))
            } else if state.is_over() {
                Look::Seen(Err(NeverSynced))
            } else {
                Look::Wait
            }
        })
        .await
    }

    /// Whether the initial population was processed.
    #[doc(alias = "HasSynced")]
    pub fn is_synced(&self) -> bool {
        self.shared.lock().queue.is_synced()
    }
}

impl<K, V, P: Clone> ProgressObserver<K, V, P> {
    /// Where the queue stands now.
    pub fn progress(&self) -> Progress<P> {
        progress(&self.shared.lock())
    }

    /// Waits for a change since the observer was made or this method last returned. Several changes
    /// may be returned as one. `None` when nothing will change any more and the last change was
    /// returned.
    ///
    /// # Cancel safety
    ///
    /// Safe: the next call returns a change that was not returned.
    pub async fn changed(&mut self) -> Option<Progress<P>> {
        let seen = &mut self.seen;
        until(&self.shared, move |state| {
            if *seen != state.turn {
                *seen = state.turn;
                Look::Seen(Some(progress(state)))
            } else if state.is_over() {
                Look::Seen(None)
            } else {
                Look::Wait
            }
        })
        .await
    }
}

pub(super) fn progress<K, V, P: Clone>(state: &State<K, V, P>) -> Progress<P> {
    Progress {
        applied: state.queue.applied().cloned(),
        received: state.queue.received().cloned(),
        synced: state.queue.is_synced(),
        unsettled: state.queue.len(),
        closed: state.queue.is_closed(),
    }
}
