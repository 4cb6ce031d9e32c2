//! What a listener counts, all under its lock.
//!
//! - RB-7: received + walked = delivered + pending + coalesced + abandoned. `tests/listener.rs`

/// Exact at every quiescent point (RB-7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Notifications handed over, those of walks not included.
    pub(crate) received: u64,
    /// Notifications pulled from walks.
    pub(crate) walked: u64,
    /// Notifications that were or will be delivered only as part of another, or need not be.
    pub(crate) coalesced: u64,
    /// Entries thrown away because the listener ended.
    pub(crate) abandoned: u64,
    /// Resyncs left out because the previous one, or the initial walk, was still going on.
    pub(crate) resyncs_skipped: u64,
    /// Most entries that ever waited at once.
    pub(crate) high_water: usize,
}
