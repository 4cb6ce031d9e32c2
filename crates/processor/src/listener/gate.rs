//! The one decision in which a callback that starts and a removal meet.
//!
//! A callback starts only through `enter`; after `close` nobody enters. Both are one step on one
//! word, so that a callback has either started before the removal returns, or never starts.

// - PR-11: no `enter` succeeds after `close` has returned. `tests/gate.rs`

use crate::sync::atomic::{AtomicU8, Ordering};

const RUNNING: u8 = 1;
const CLOSED: u8 = 2;

/// Admits callbacks until it is closed. See the module.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    state: AtomicU8,
}

impl Gate {
    /// Starts a callback, unless the gate is closed.
    pub(crate) fn enter(&self) -> bool {
        if planted!(GateLooksThenEnters) {
            let open = !self.is_closed();
            self.state
                .fetch_or(RUNNING * u8::from(open), Ordering::AcqRel);
            return open;
        }
        let entered = self
            .state
            .compare_exchange(0, RUNNING, Ordering::AcqRel, Ordering::Acquire);
        // One consumer: the only other reason to fail is that the gate is closed.
        assert!(
            entered != Err(RUNNING),
            "PR-1: callbacks of one listener never overlap"
        );
        entered.is_ok()
    }

    /// The callback has returned and another one starts, unless the gate is closed: then none runs.
    #[inline]
    pub(crate) fn pass(&self) -> bool {
        let (order, failed) = (Ordering::AcqRel, Ordering::Acquire);
        let passed = self.state.compare_exchange(RUNNING, RUNNING, order, failed);
        if passed.is_err() {
            self.leave();
        }
        passed.is_ok()
    }

    /// The callback has returned.
    pub(crate) fn leave(&self) {
        self.state.fetch_and(!RUNNING, Ordering::AcqRel);
    }

    /// Lets no further callback start.
    pub(crate) fn close(&self) {
        self.state.fetch_or(CLOSED, Ordering::AcqRel);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.state.load(Ordering::Acquire) & CLOSED != 0
    }

    /// Whether a callback has started and not returned.
    pub(crate) fn is_running(&self) -> bool {
        self.state.load(Ordering::Acquire) & RUNNING != 0
    }
}
