//! What a listener does with more notifications than its handler can take (style C2).
//!
//! Neither policy loses a change and neither makes the sender wait (FM-63, FM-64, FM-65).

use std::num::NonZeroUsize;

/// How a listener keeps what its handler has not taken yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Overflow {
    /// Every change is kept and delivered, as in client-go (PL-02); memory grows with the backlog
    /// and is given back afterwards (RB-2).
    Grow {
        /// Pending notifications at which a warning is logged, and again at every doubling.
        warn_at: NonZeroUsize,
    },
    /// At most one pending entry per key, two after a deletion and a new addition (RB-4); memory is
    /// bounded by the number of live keys. What is delivered leads to the same state (RB-6), and
    /// continues what was delivered before: `Updated.old` and `Deleted::Unknown.last` are the state
    /// that the handler was notified of last (PR-3).
    Coalesce,
}

/// Ten thousand pending notifications are some seconds of a busy cluster: a handler that far behind
/// is in trouble, one that is not has merely met a burst.
const WARN_AT: NonZeroUsize = NonZeroUsize::new(10_000).expect("ten thousand is not zero");

impl Default for Overflow {
    /// `Grow`, since leaving out intermediate states has to be asked for.
    fn default() -> Self {
        Self::Grow { warn_at: WARN_AT }
    }
}
