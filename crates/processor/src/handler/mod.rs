//! What a user implements to be told.
//!
//! Calls to one handler never overlap and never go backwards; calls to different handlers are
//! independent. `Handler` and `AsyncHandler` share the caller's runtime and must not block it;
//! [`Processor::add_blocking`](crate::Processor::add_blocking) gives a handler a thread of its own.

pub(crate) mod callbacks;
pub(crate) mod filter;

use std::future::Future;
use std::sync::Arc;

use crate::notification::{Added, Deleted, Notification, Updated};

/// Receives every change, one at a time. Implement the methods you need.
///
/// A panic is caught, counted and logged; the next notification follows.
///
/// ```
/// use informer_processor::{Added, Deleted, Handler};
///
/// /// Counts the objects that are present.
/// struct Count(usize);
///
/// impl Handler<String, u32> for Count {
///     fn on_add(&mut self, _added: &Added<String, u32>) {
///         self.0 += 1;
///     }
///
///     fn on_delete(&mut self, _deleted: &Deleted<String, u32>) {
///         self.0 -= 1;
///     }
/// }
/// # let _ = Count(0);
/// ```
// PR-1, EH-01, PR-12
#[doc(alias = "ResourceEventHandler")]
#[expect(unused_variables, reason = "the names are part of the documentation")]
pub trait Handler<K, T>: Send + 'static {
    /// Called when an object appeared, and for the objects that were there at the start.
    // PR-8
    fn on_add(&mut self, added: &Added<K, T>) {}

    /// Called when an object changed, or is announced again ([`Cause::Resync`](crate::Cause)).
    fn on_update(&mut self, updated: &Updated<K, T>) {}

    /// Called when an object was deleted, or moved away from this replica ([`Deleted`]).
    fn on_delete(&mut self, deleted: &Deleted<K, T>) {}

    /// Called for each of the three; the default calls the matching method above.
    fn on_notification(&mut self, notification: &Notification<K, T>) {
        match notification {
            Notification::Added(added) => self.on_add(added),
            Notification::Updated(updated) => self.on_update(updated),
            Notification::Deleted(deleted) => self.on_delete(deleted),
        }
    }
}

/// Receives every change and may await; the next one waits until the future is ready.
///
/// ```
/// use std::sync::Arc;
/// use informer_processor::{Notification, async_fn};
///
/// let handler = async_fn(|change: Arc<Notification<String, u32>>| async move {
///     tokio::task::yield_now().await;
///     println!("{change:?}");
/// });
/// # let _ = handler;
/// ```
// PR-1
pub trait AsyncHandler<K, T>: Send + 'static {
    /// Called when an object appeared, changed or was deleted.
    ///
    /// # Cancel safety
    ///
    /// The future is dropped at an await when a stop has used up its grace; the notification then
    /// counts as abandoned.
    fn on_notification(
        &mut self,
        notification: Arc<Notification<K, T>>,
    ) -> impl Future<Output = ()> + Send;
}
