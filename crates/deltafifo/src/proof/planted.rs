//! Bugs that can be switched on; `caught` shows that the checks find each.

/// A bug that can be switched on in test builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Planted {
    /// A change over a pending deletion replaces it: the deletion is never seen.
    UpdateSwallowsDelete,
    /// The same for a relist (FM-49).
    ReplacedSwallowsDelete,
    /// An object that is only in the queue gets no tombstone (FM-48).
    NoTombstoneForQueued,
    /// An object whose deletion waits gets a tombstone, too (FQ-6).
    TombstoneTwice,
    /// A key listed twice is replaced twice (FQ-8).
    ListedTwice,
    /// A relist does not see what is leased (design 6.1).
    RelistForgetsLeased,
    /// Deletion and resync do not see what is leased (design 6.1).
    LeasedIsForgotten,
    /// A resync does not see what is pending (FM-50).
    ResyncOverPending,
    /// Synced moves when the initial population is taken (FQ-9, DF-12).
    SyncedOnLease,
    /// Applied moves when a change is taken (design 6.5).
    AppliedOnLease,
    /// What failed goes to the tail (design 6.2).
    NackToTail,
    /// What came while a key was leased is lost when the key comes back (FQ-3).
    NackForgetsNewer,
    /// A relist can be taken in pieces (design 6.4).
    TornGroup,
    /// An object is transformed twice (FQ-12).
    TransformsTwice,
    /// A batch holds a key twice (RF-05).
    BatchRepeatsKey,
    /// Of a key listed twice the first object counts (FQ-8).
    FirstListedWins,
}
