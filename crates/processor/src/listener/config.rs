//! The configuration of a listener.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

/// The configuration of one listener. Every field has a default.
///
/// ```
/// use std::time::Duration;
/// use informer_processor::{ListenerConfig, Overflow};
///
/// let config = ListenerConfig::named("metrics")
///     .overflow(Overflow::Coalesce)
///     .resync(Duration::from_secs(600));
/// assert_eq!(&*config.name, "metrics");
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ListenerConfig {
    /// Name in logs and status. Empty by default: then the type name of the handler is used, which
    /// is what client-go falls back to.
    // PL-11
    pub name: Arc<str>,
    /// What to do with a backlog. [`Overflow::Grow`] by default.
    pub overflow: Overflow,
    /// How often every object is announced again. Default: none. The effective period also depends
    /// on the processor's check period: see [`ResyncTerms`](crate::ResyncTerms).
    // SI-16
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

/// How a listener keeps what its handler has not taken yet. Exhaustive on purpose: match
/// both.
///
/// ```
/// use std::num::NonZeroUsize;
/// use informer_processor::{ListenerConfig, Overflow};
///
/// // Every change is delivered; a backlog of 500 is worth a warning.
/// let warn_at = NonZeroUsize::new(500).expect("not zero");
/// let each = ListenerConfig::named("audit").overflow(Overflow::Grow { warn_at });
/// // Only the newest state of an object is delivered.
/// let newest = ListenerConfig::named("metrics").overflow(Overflow::Coalesce);
/// # let _ = (each, newest);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Overflow {
    /// Every change is kept and delivered, as in client-go; memory grows with the backlog
    /// and is given back afterwards.
    // PL-02, RB-2
    Grow {
        /// Pending notifications at which a warning is logged, and again at every doubling.
        warn_at: NonZeroUsize,
    },
    /// At most one pending entry per key, two after a deletion and a new addition; memory is
    /// bounded by the number of live keys. What is delivered leads to the same state, and
    /// continues what was delivered before: `Updated.old` and `Deleted::Unknown.last` are the state
    /// that the handler was notified of last.
    // RB-4, RB-6, PR-3
    Coalesce,
}

/// Ten thousand pending notifications are some seconds of a busy cluster. A burst stays below it; a
/// handler that is further behind does not keep up.
const WARN_AT: NonZeroUsize = NonZeroUsize::new(10_000).expect("ten thousand is not zero");

impl Default for Overflow {
    /// `Grow`, since leaving out intermediate states has to be asked for.
    fn default() -> Self {
        Self::Grow { warn_at: WARN_AT }
    }
}
