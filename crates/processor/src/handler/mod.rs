//! What a user implements to be told.
//!
//! Calls to one handler never overlap and never go backwards; calls to different handlers are
//! independent. `Handler` and `AsyncHandler` share the caller's runtime and must not block it;
//! [`Processor::add_blocking`](crate::Processor::add_blocking) gives a handler a thread of its own.

pub(crate) mod callbacks;
pub(crate) mod filter;

use std::future::Future;
use std::sync::Arc;

use crate::notification::{Cause, Deleted, Notification};

/// Is told about every change, one at a time. Implement what is needed; the rest is skipped.
///
/// A panic is caught, counted and logged; the next notification follows at once.
// PR-1, EH-01, PR-12
#[doc(alias = "ResourceEventHandler")]
pub trait Handler<K, T>: Send + 'static {
    /// An object appeared. `initial` is true for those that were there at the start.
    // PR-8
    fn on_add(&mut self, object: &Arc<T>, initial: bool) {
        let _unused = (object, initial);
    }

    /// An object changed from `old` to `new`, or is announced again ([`Cause::Resync`]).
    fn on_update(&mut self, old: &Arc<T>, new: &Arc<T>, cause: Cause) {
        let _unused = (old, new, cause);
    }

    /// An object ended.
    fn on_delete(&mut self, deleted: &Deleted<K, T>) {
        let _unused = deleted;
    }

    /// Any of the three, with the key. Calls the matching one above unless overridden.
    fn on_notification(&mut self, notification: &Notification<K, T>) {
        match notification {
            Notification::Added {
                object, initial, ..
            } => self.on_add(object, *initial),
            Notification::Updated {
                old, new, cause, ..
            } => self.on_update(old, new, *cause),
            Notification::Deleted(deleted) => self.on_delete(deleted),
        }
    }
}

/// Is told about every change and may await; the next one waits until the future is ready.
// PR-1
pub trait AsyncHandler<K, T>: Send + 'static {
    /// Something happened to an object.
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
