//! When a listener has been told of everything that was there at the start.
//!
//! Counts the initial notifications handed over and not yet handled, and closes once, when the
//! source says that all have been handed over and none is outstanding. Knows no listener, no time.

// - SY-01: the count never becomes negative. `assert` below
// - SY-02: the latch closes once and never opens. `tests/sync.rs`
// - FM-72: not closed before the last initial callback has returned. `tests/sync.rs`

/// Counts outstanding initial notifications. See the module.
#[doc(alias = "SingleFileTracker")]
#[derive(Debug, Default)]
pub(crate) struct SyncTracker {
    pub(crate) outstanding: u64,
    upstream: bool,
    synced: bool,
}

impl SyncTracker {
    pub(crate) fn is_synced(&self) -> bool {
        self.synced
    }

    /// `count` initial notifications were handed over.
    pub(crate) fn start(&mut self, count: u64) {
        if !planted!(SyncForgetsStart) {
            self.outstanding += count;
        }
    }

    /// `count` of them were handled, or need not be any more. True if this closed the latch.
    pub(crate) fn finish(&mut self, count: u64) -> bool {
        if !planted!(SyncForgetsStart) {
            let left = self.outstanding.checked_sub(count);
            self.outstanding = left.expect("SY-01: more initial notifications ended than began");
        }
        self.close_if_done()
    }

    /// Every initial notification has been handed over. True if this closed the latch.
    // SY-03
    pub(crate) fn upstream_synced(&mut self) -> bool {
        self.upstream = true;
        self.close_if_done()
    }

    fn close_if_done(&mut self) -> bool {
        let closes = !self.synced && self.upstream && self.outstanding == 0;
        self.synced |= closes;
        closes
    }
}
