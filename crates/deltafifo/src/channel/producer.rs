//! The end that fills the queue, and waits while it is full.

// FQ-13

use std::future::Future;
use std::sync::Arc;

use derive_where::derive_where;

use crate::error::Closed;
use crate::known::Known;
use crate::queue::{Deletion, Queue};
use crate::tombstone::Final;
use crate::transform::Rejected;

use super::progress::{Progress, ProgressObserver, progress};
use super::shared::Shared;
use super::waiters::{Look, until};

/// The end that fills the queue. Cloneable; when the last one is dropped, the queue closes.
///
/// Calls from one task take effect in the order in which they return.
#[derive_where(Debug)]
pub struct Producer<K, V, P> {
    #[derive_where(skip)]
    pub(crate) shared: Arc<Shared<K, V, P>>,
}

impl<K, V, P> Producer<K, V, P> {
    pub(super) fn new(shared: Arc<Shared<K, V, P>>) -> Self {
        Self { shared }
    }

    /// [`Queue::add`], once there is room.
    ///
    /// # Errors
    ///
    /// [`Closed`] gives back the object, at once, also when it waited for room.
    ///
    /// # Cancel safety
    ///
    /// A future that is dropped before it is ready has queued nothing; the object is dropped
    /// with it.
    pub fn add(
        &self,
        key: K,
        value: V,
        position: P,
    ) -> impl Future<Output = Result<(), Closed<V>>> {
        self.when_room((key, value, position), |queue, (key, value, position)| {
            queue.add(key, value, position)
        })
    }

    /// [`Queue::update`], once there is room.
    ///
    /// # Errors
    ///
    /// [`Closed`] gives back the object, at once, also when it waited for room.
    ///
    /// # Cancel safety
    ///
    /// A future that is dropped before it is ready has queued nothing; the object is dropped
    /// with it.
    pub fn update(
        &self,
        key: K,
        value: V,
        position: P,
    ) -> impl Future<Output = Result<(), Closed<V>>> {
        self.when_room((key, value, position), |queue, (key, value, position)| {
            queue.update(key, value, position)
        })
    }

    /// [`Queue::delete`], once there is room. `known` is called under the lock: it should
    /// return a snapshot that is cheap to take.
    ///
    /// # Errors
    ///
    /// [`Closed`] gives back the final state, at once, also when it waited for room.
    ///
    /// # Cancel safety
    ///
    /// A future that is dropped before it is ready has queued nothing; the final state is
    /// dropped with it.
    pub fn delete<S: Known<K, V>>(
        &self,
        key: K,
        last: Final<V>,
        position: P,
        known: impl FnOnce() -> S,
    ) -> impl Future<Output = Result<Deletion, Closed<Final<V>>>> {
        self.with_known(known, move |queue, known| {
            queue.delete(key, last, position, known)
        })
    }

    /// [`Queue::replace`], once there is room: one group, which counts one towards the bound.
    /// `known` is called under the lock: it should return a snapshot that is cheap to take.
    ///
    /// # Errors
    ///
    /// [`Closed`] gives back the objects, at once, also when it waited for room.
    ///
    /// # Cancel safety
    ///
    /// A future that is dropped before it is ready has queued nothing; the objects are dropped
    /// with it.
    pub fn replace<S: Known<K, V>>(
        &self,
        items: Vec<(K, V)>,
        position: P,
        known: impl FnOnce() -> S,
    ) -> impl Future<Output = Result<(), Closed<Vec<(K, V)>>>> {
        let replaced = self.with_known(known, move |queue, known| {
            queue.replace(items, position, known)
        });
        // The items that were left out are dropped here, after the lock is released.
        async { replaced.await.map(drop) }
    }

    /// [`Queue::resync`], once there is room. `known` is called under the lock: it should
    /// return a snapshot that is cheap to take.
    ///
    /// # Errors
    ///
    /// [`Closed`], at once, also when it waited for room.
    ///
    /// # Cancel safety
    ///
    /// A future that is dropped before it is ready has queued nothing.
    pub fn resync<S: Known<K, V>>(
        &self,
        known: impl FnOnce() -> S,
    ) -> impl Future<Output = Result<(), Closed<()>>> {
        self.with_known(known, |queue, known| queue.resync(known))
    }

    /// [`Queue::bookmark`]. Needs no room, so it does not wait.
    ///
    /// # Errors
    ///
    /// [`Closed`] gives back the mark.
    ///
    /// # Cancel safety
    ///
    /// Ready when first polled; a future that was never polled has done nothing.
    pub async fn bookmark(&self, position: P) -> Result<(), Closed<P>> {
        self.shared.change(|state| state.queue.bookmark(position))
    }

    /// Takes nothing more; what is queued is still delivered. Wakes all who wait.
    // FQ-10
    pub fn close(&self) {
        self.shared.change(|state| state.queue.close());
    }

    /// Whether nothing more is taken.
    pub fn is_closed(&self) -> bool {
        self.shared.lock().queue.is_closed()
    }

    /// [`Queue::for_each_queued`]. `visit` is called under the lock: it must not call the queue.
    pub fn for_each_queued(&self, visit: &mut dyn FnMut(&K, &V)) {
        self.shared.lock().queue.for_each_queued(visit);
    }

    /// [`Queue::take_rejected`].
    pub fn take_rejected(&self) -> Vec<Rejected<K>> {
        self.shared.lock().queue.take_rejected()
    }

    /// An observer of how far the consumer gets.
    pub fn observer(&self) -> ProgressObserver<K, V, P> {
        ProgressObserver::new(Arc::clone(&self.shared))
    }

    /// Calls the queue with a snapshot, which is taken under the lock and dropped outside it.
    fn with_known<S: Known<K, V>, R>(
        &self,
        known: impl FnOnce() -> S,
        call: impl FnOnce(&mut dyn Queue<K, V, P>, &S) -> R,
    ) -> impl Future<Output = R> {
        let called = self.when_room((known, call), |queue, (known, call)| {
            let known = known();
            (call(queue, &known), known)
        });
        async { called.await.0 }
    }

    /// Calls the queue once there is room, or it is closed and refuses. What `call` returns is
    /// dropped by the caller, after the lock is released. No `async fn`: the arguments would be
    /// moved from one state machine into the next.
    #[inline]
    fn when_room<A, R>(
        &self,
        args: A,
        call: impl FnOnce(&mut dyn Queue<K, V, P>, A) -> R,
    ) -> impl Future<Output = R> {
        let mut held = Some((args, call));
        let early = planted!(RoomSeenEarly) && self.shared.lock().queue.len() < self.shared.bound;
        until(&self.shared, move |state| {
            if !state.queue.is_closed() && !early && state.queue.len() >= self.shared.bound {
                return Look::Wait;
            }
            let (args, call) = held
                .take()
                .expect("a future is not polled after it was ready");
            Look::Changed(call(&mut *state.queue, args))
        })
    }
}

impl<K, V, P: Clone> Producer<K, V, P> {
    /// How far queue and consumer are.
    pub fn progress(&self) -> Progress<P> {
        progress(&self.shared.lock())
    }
}

impl<K, V, P> Clone for Producer<K, V, P> {
    fn clone(&self) -> Self {
        self.shared.lock().producers += 1;
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<K, V, P> Drop for Producer<K, V, P> {
    fn drop(&mut self) {
        self.shared.change(|state| {
            state.producers -= 1;
            if state.producers == 0 {
                state.queue.close();
            }
        });
    }
}
