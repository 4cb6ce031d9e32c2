//! A handler that sees only what a predicate lets through (EH-02, EH-03).
//!
//! Keeps no list of keys: what it forwards follows from the notification alone, as in client-go. So
//! a watched deletion whose *final* state no longer matches is not forwarded, even when an earlier
//! state was. A deletion of which no state is known is forwarded: one too many is harmless.

use std::sync::Arc;

use derive_where::derive_where;

use crate::handler::Handler;
use crate::notification::{Deleted, Notification};

/// Forwards to `inner` what `predicate` lets through.
///
/// | old matches | new matches | `inner` gets |
/// | --- | --- | --- |
/// | yes | yes | the update |
/// | no | yes | an add, never initial (EH-03) |
/// | yes | no | a delete of the old state |
/// | no | no | nothing |
#[doc(alias = "FilteringResourceEventHandler")]
#[derive_where(Debug)]
pub struct Filtered<H, F> {
    #[derive_where(skip)]
    predicate: F,
    #[derive_where(skip)]
    inner: H,
}

impl<H, F> Filtered<H, F> {
    /// Lets `inner` see the objects for which `predicate` says true.
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
        match notification {
            Notification::Added { object, .. } => {
                if (self.predicate)(object) {
                    self.inner.on_notification(notification);
                }
            }
            Notification::Updated { key, old, new, .. } => {
                match ((self.predicate)(old), (self.predicate)(new)) {
                    (true, true) => self.inner.on_notification(notification),
                    (false, true) => self.inner.on_notification(&Notification::Added {
                        key: key.clone(),
                        object: Arc::clone(new),
                        initial: false,
                    }),
                    (true, false) => {
                        self.inner
                            .on_notification(&Notification::Deleted(Deleted::Known {
                                key: key.clone(),
                                last: Arc::clone(old),
                            }));
                    }
                    (false, false) => {}
                }
            }
            Notification::Deleted(deleted) => {
                if deleted.last().is_none_or(|last| (self.predicate)(last)) {
                    self.inner.on_notification(notification);
                }
            }
        }
    }
}
