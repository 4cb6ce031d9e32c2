//! What a commit did.

/// What a commit did, operation by operation in their order.
///
/// A key that is deleted and stored again in one batch counts as removed and as inserted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Commit {
    /// The number of this commit: one more than that of the commit before; the first is 1.
    pub sequence: u64,
    /// Entries stored under a key that was not there.
    pub inserted: usize,
    /// Entries stored under a key that was there, the unchanged ones of a replacement included.
    pub updated: usize,
    /// Keys that were there and were removed.
    pub removed: usize,
    /// Entries of a replacement whose key its scope does not cover; they were not stored (FM-14).
    pub refused: usize,
}
