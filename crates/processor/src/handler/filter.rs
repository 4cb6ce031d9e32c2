//! A handler that receives the objects that match a predicate.
//!
//! It keeps no list of keys: the notification alone decides, as in client-go. Therefore a watched
//! deletion whose *final* state no longer matches is not forwarded, even when an earlier state
//! was. A deletion without a known state is forwarded: one too many is harmless.

// - EH-02: what is forwarded. EH-03: an object that begins to match is an add, never initial.

use std::sync::Arc;

use derive_where::derive_where;

use crate::handler::Handler;
use crate::notification::{Added, Deleted, Notification, Updated};

// EH-03
/// Forwards to `inner` the notifications of objects that match `predicate`.
///
/// | old matches | new matches | `inner` gets |
/// | --- | --- | --- |
/// | yes | yes | the update |
/// | no | yes | an add, never initial |
/// | yes | no | a delete of the old state |
/// | no | no | nothing |
///
/// ```
/// use informer_processor::{Added, Callbacks, Filtered, Handler, Notification};
///
/// let printer = Callbacks::<&str, u32>::new().on_add(|added| println!("{}", added.key));
/// let mut even = Filtered::new(|object: &u32| object.is_multiple_of(2), printer);
/// even.on_notification(&Added::new("a", 2.into()).into());
/// even.on_notification(&Notification::from(Added::new("b", 3.into()))); // not forwarded
/// ```
#[doc(alias = "FilteringResourceEventHandler")]
#[doc(alias("predicate_filter", "predicates"))]
#[derive_where(Debug)]
pub struct Filtered<H, F> {
    #[derive_where(skip)]
    predicate: F,
    #[derive_where(skip)]
    inner: H,
}

impl<H, F> Filtered<H, F> {
    /// Creates a handler that forwards the objects for which `predicate` returns true.
    pub fn new<T>(predicate: F, inner: H) -> Self
    where
        F: Fn(&T) -> bool + Send + 'static,
    {
        Self { predicate, inner }
    }
}

impl<K, T, H, F> Handler<K, T> for Filtered<H, F>
where
    K: Clone,
    H: Handler<K, T>,
    F: Fn(&T) -> bool + Send + 'static,
{
    fn on_notification(&mut self, notification: &Notification<K, T>) {
        let matches = |object: &Arc<T>| (self.predicate)(object);
        let is_forwarded = match notification {
            Notification::Added(added) => matches(&added.object),
            Notification::Updated(Updated { key, old, new, .. }) => {
                match (matches(old), matches(new)) {
                    (false, true) => {
                        let added = Added::new(key.clone(), Arc::clone(new));
                        return self.inner.on_notification(&added.into());
                    }
                    (true, false) => {
                        let (key, last) = (key.clone(), Arc::clone(old));
                        let deleted = Deleted::Known { key, last };
                        return self.inner.on_notification(&deleted.into());
                    }
                    (before, _) => before,
                }
            }
            Notification::Deleted(deleted) => deleted.last().is_none_or(matches),
        };
        if is_forwarded {
            self.inner.on_notification(notification);
        }
    }
}
