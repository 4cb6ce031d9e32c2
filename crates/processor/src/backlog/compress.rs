//! What becomes of two notifications for one key when the first has not been delivered yet.
//!
//! One table, complete on purpose: every pair is named, those that a correct source never sends
//! too. For these the result leads to the state the newer one tells of, so that a listener that
//! coalesces ends where one that does not ends.
//!
//! Does not know where the older one waits, nor counts anything: see `coalesce`.

// - RB-5: the outcome is a legal compression. `tests/compress.rs`, `tests/coalescing.rs`
// - RB-6: folding it gives the same state as folding both. `tests/compress.rs`

use std::sync::Arc;

use crate::notification::{Cause, Deleted, Notification, Updated};

/// What to do with the waiting entry and the new one.
pub(crate) enum Merge<T> {
    /// The waiting one says it all.
    KeepOlder,
    /// The new one takes its place.
    KeepNewer,
    /// An addition of this state, initial or not, takes its place.
    Added(Arc<T>, bool),
    /// An update from the older's old state to the new state takes its place.
    Updated(Arc<T>, Arc<T>, Cause),
    /// A deletion whose final state is unknown takes its place, with the state before the update.
    Unknown(Arc<T>),
    /// The handler need never hear of this object.
    Annihilate,
    /// Both are needed: the new one waits behind the older.
    Append,
    /// Both are needed, the new one as an addition of this state.
    AppendAdded(Arc<T>),
}

/// The table. `older` is the last entry waiting for the key.
// RB-5
// A row a case: broken over more lines it could not be read as a table.
#[rustfmt::skip]
pub(crate) fn compress<K, T>(older: &Notification<K, T>, newer: &Notification<K, T>) -> Merge<T> {
    use Cause::{Resync, Watch};
    use Notification::{Added as Add, Deleted as Gone, Updated as Update};
    let same = Arc::clone;
    match (older, newer) {
        // A reminder adds nothing to news, nor to the news that there is nothing left.
        (_, Update(Updated { cause: Resync, .. })) => Merge::KeepOlder,

        (Add(older), Update(newer)) => {
            Merge::Added(same(&newer.new), older.initial && !planted!(InitialFlagLost))
        }
        // Not sent by a correct source: an addition of what is there.
        (Add(older), Add(newer)) => Merge::Added(same(&newer.object), older.initial),
        (Add(_), Gone(_)) => Merge::Annihilate,

        (Update(older), Update(newer)) if planted!(UpdateLosesFirstOld) => {
            Merge::Updated(same(&older.new), same(&newer.new), newer.cause)
        }
        (Update(_), Update(_)) if planted!(NewestIsLost) => Merge::KeepOlder,
        (Update(older), Update(newer)) => {
            Merge::Updated(same(&older.old), same(&newer.new), newer.cause)
        }
        // Not sent by a correct source: an addition of what is there.
        (Update(older), Add(newer)) => {
            Merge::Updated(same(&older.old), same(&newer.object), older.cause)
        }
        (Update(_), Gone(Deleted::Known { .. } | Deleted::MovedAway { .. })) => Merge::KeepNewer,
        (Update(_), Gone(Deleted::Unknown { .. })) if planted!(UnknownSkipsTheUpdate) => {
            Merge::KeepNewer
        }
        // The handler receives the state that it was notified of last (PR-3).
        (Update(older), Gone(Deleted::Unknown { .. })) => Merge::Unknown(same(&older.old)),

        (Gone(Deleted::Known { last, .. }), Add(newer)) if planted!(RecreatedAsUpdate) => {
            Merge::Updated(same(last), same(&newer.object), Watch)
        }
        // Another object with the same name: the end of the first must not be missed.
        (Gone(_), Add(_)) => Merge::Append,
        // Not sent by a correct source: an update of what is gone.
        (Gone(_), Update(newer)) => Merge::AppendAdded(same(&newer.new)),
        // Not sent by a correct source: a second end. The better informed one stays, and between
        // a deletion and a move away the newer one.
        (Gone(_), Gone(Deleted::Unknown { .. })) => Merge::KeepOlder,
        (Gone(Deleted::Known { .. }), Gone(Deleted::Known { .. })) => Merge::KeepOlder,
        (Gone(Deleted::MovedAway { .. }), Gone(Deleted::MovedAway { .. })) => Merge::KeepOlder,
        (Gone(_), Gone(Deleted::Known { .. } | Deleted::MovedAway { .. })) => Merge::KeepNewer,
    }
}
