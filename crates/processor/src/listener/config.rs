//! What can be chosen when a handler is added.

use std::sync::Arc;
use std::time::Duration;

use crate::listener::overflow::Overflow;

/// How one listener behaves. Every field has a default with a reason.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ListenerConfig {
    /// Name in logs and status. Empty by default: then the type name of the handler is used, which
    /// is what client-go falls back to (PL-11).
    pub name: Arc<str>,
    /// What to do with a backlog. [`Overflow::Grow`] by default.
    pub overflow: Overflow,
    /// How often every object is to be announced again. `None` by default, since a watch that
    /// works needs no reminders. What comes of it is negotiated (SI-16): see
    /// [`ResyncTerms`](crate::ResyncTerms).
    pub resync: Option<Duration>,
}

impl ListenerConfig {
    /// The defaults, with a name for logs and status.
    pub fn named(name: impl Into<Arc<str>>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// Chooses what to do with a backlog.
    #[must_use]
    pub fn overflow(mut self, overflow: Overflow) -> Self {
        self.overflow = overflow;
        self
    }

    /// Asks for every object to be announced again each `period`; zero asks for never.
    #[must_use]
    pub fn resync(mut self, period: Duration) -> Self {
        self.resync = Some(period);
        self
    }
}
