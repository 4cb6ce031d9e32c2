//! Handlers made of closures.

// EH-01

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use derive_where::derive_where;

use crate::handler::{AsyncHandler, Handler};
use crate::notification::{Added, Deleted, Notification, Updated};

type Callback<E> = Option<Box<dyn FnMut(&E) + Send>>;

/// A handler put together from closures; what is not given is skipped.
///
/// ```
/// use std::sync::Arc;
/// use informer_processor::{Added, Callbacks, Handler};
///
/// let mut handler = Callbacks::<&str, u32>::new()
///     .on_add(|added| println!("{} appeared", added.key))
///     .on_delete(|deleted| println!("{} is gone", deleted.key()));
/// handler.on_notification(&Added::new("a", Arc::new(1)).into());
/// ```
// EH-01
#[doc(alias = "ResourceEventHandlerFuncs")]
#[doc(alias = "ResourceEventHandlerDetailedFuncs")]
#[derive_where(Default)]
pub struct Callbacks<K, T> {
    add: Callback<Added<K, T>>,
    update: Callback<Updated<K, T>>,
    delete: Callback<Deleted<K, T>>,
}

impl<K, T> Callbacks<K, T> {
    /// A handler that does nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Calls `f` with each object that appeared.
    #[must_use]
    pub fn on_add(mut self, f: impl FnMut(&Added<K, T>) + Send + 'static) -> Self {
        self.add = Some(Box::new(f));
        self
    }

    /// Calls `f` with each object that changed.
    #[must_use]
    pub fn on_update(mut self, f: impl FnMut(&Updated<K, T>) + Send + 'static) -> Self {
        self.update = Some(Box::new(f));
        self
    }

    /// Calls `f` with each object that was deleted.
    #[must_use]
    pub fn on_delete(mut self, f: impl FnMut(&Deleted<K, T>) + Send + 'static) -> Self {
        self.delete = Some(Box::new(f));
        self
    }
}

impl<K, T> fmt::Debug for Callbacks<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Callbacks")
            .field("on_add", &self.add.is_some())
            .field("on_update", &self.update.is_some())
            .field("on_delete", &self.delete.is_some())
            .finish()
    }
}

impl<K: 'static, T: 'static> Handler<K, T> for Callbacks<K, T> {
    fn on_add(&mut self, added: &Added<K, T>) {
        if let Some(f) = &mut self.add {
            f(added);
        }
    }

    fn on_update(&mut self, updated: &Updated<K, T>) {
        if let Some(f) = &mut self.update {
            f(updated);
        }
    }

    fn on_delete(&mut self, deleted: &Deleted<K, T>) {
        if let Some(f) = &mut self.delete {
            f(deleted);
        }
    }
}

/// A handler made of one closure that gets everything, with the key.
pub fn handler_fn<K, T, F>(f: F) -> HandlerFn<F>
where
    F: FnMut(&Notification<K, T>) + Send + 'static,
{
    HandlerFn { f }
}

/// See [`handler_fn`].
#[derive_where(Debug)]
pub struct HandlerFn<F> {
    #[derive_where(skip)]
    f: F,
}

impl<K, T, F> Handler<K, T> for HandlerFn<F>
where
    F: FnMut(&Notification<K, T>) + Send + 'static,
{
    fn on_notification(&mut self, notification: &Notification<K, T>) {
        (self.f)(notification);
    }
}

/// An asynchronous handler made of one closure that gets everything, with the key.
pub fn async_fn<K, T, F, R>(f: F) -> AsyncFn<F>
where
    F: FnMut(Arc<Notification<K, T>>) -> R + Send + 'static,
    R: Future<Output = ()> + Send,
{
    AsyncFn { f }
}

/// See [`async_fn`].
#[derive_where(Debug)]
pub struct AsyncFn<F> {
    #[derive_where(skip)]
    f: F,
}

impl<K, T, F, R> AsyncHandler<K, T> for AsyncFn<F>
where
    F: FnMut(Arc<Notification<K, T>>) -> R + Send + 'static,
    R: Future<Output = ()> + Send,
{
    fn on_notification(
        &mut self,
        notification: Arc<Notification<K, T>>,
    ) -> impl Future<Output = ()> + Send {
        (self.f)(notification)
    }
}
