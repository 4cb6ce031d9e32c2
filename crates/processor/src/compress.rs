//! What becomes of two notifications for one key when the first has not been delivered yet.
//!
//! One table, complete on purpose: every pair is named, those that a correct source never sends
//! too. For these the result leads to the state the newer one tells of, so that a listener that
//! coalesces ends where one that does not ends (RB-6).
//!
//! Does not know where the older one waits, nor counts anything: see `coalesce`.
//!
//! - RB-5: the outcome is a legal compression. `proof/compress.rs`, `proof/coalescing.rs`
//! - RB-6: folding it gives the same state as folding both. `proof/compress.rs`

use std::sync::Arc;

use crate::deleted::Deleted;
use crate::notification::{Cause, Notification};

/// What to do with the waiting entry and the new one.
pub(crate) enum Merge<T> {
    /// The waiting one says it all.
    KeepOlder,
    /// The new one takes its place.
    KeepNewer,
    /// An addition of the new state takes its place.
    Added { object: Arc<T>, initial: bool },
    /// An update from the older's old state to the new state takes its place.
    Updated {
        old: Arc<T>,
        new: Arc<T>,
        cause: Cause,
    },
    /// The handler need never hear of this object.
    Annihilate,
    /// Both are needed: the new one waits behind the older.
    Append,
    /// Both are needed, the new one as an addition.
    AppendAdded { object: Arc<T> },
}

/// The table (RB-5). `older` is the last entry waiting for the key.
pub(crate) fn compress<K, T>(older: &Notification<K, T>, newer: &Notification<K, T>) -> Merge<T> {
    use Notification::{Added, Deleted as Gone, Updated};
    match (older, newer) {
        // A reminder adds nothing to news, nor to the news that there is nothing left.
        (
            Added { .. } | Updated { .. } | Gone(_),
            Updated {
                cause: Cause::Resync,
                ..
            },
        ) => Merge::KeepOlder,

        (
            Added { initial, .. },
            Updated {
                new,
                cause: Cause::Watch | Cause::Relist,
                ..
            },
        ) => {
            let initial = *initial && !planted!(InitialFlagLost);
            Merge::Added {
                object: Arc::clone(new),
                initial,
            }
        }
        // Not sent by a correct source: an addition of what is there.
        (Added { initial, .. }, Added { object, .. }) => Merge::Added {
            object: Arc::clone(object),
            initial: *initial,
        },
        (Added { .. }, Gone(_)) => Merge::Annihilate,

        (
            Updated {
                old, new: between, ..
            },
            Updated {
                new,
                cause: cause @ (Cause::Watch | Cause::Relist),
                ..
            },
        ) => {
            let old = if planted!(UpdateLosesFirstOld) {
                between
            } else {
                old
            };
            Merge::Updated {
                old: Arc::clone(old),
                new: Arc::clone(new),
                cause: *cause,
            }
        }
        // Not sent by a correct source: an addition of what is there.
        (Updated { old, cause, .. }, Added { object, .. }) => Merge::Updated {
            old: Arc::clone(old),
            new: Arc::clone(object),
            cause: *cause,
        },
        (Updated { .. }, Gone(_)) => Merge::KeepNewer,

        (Gone(gone), Added { object, .. }) => match gone.last() {
            Some(last) if planted!(RecreatedAsUpdate) => Merge::Updated {
                old: Arc::clone(last),
                new: Arc::clone(object),
                cause: Cause::Watch,
            },
            // Another object with the same name: the end of the first must not be missed.
            _ => Merge::Append,
        },
        // Not sent by a correct source: an update of what is gone.
        (
            Gone(_),
            Updated {
                new,
                cause: Cause::Watch | Cause::Relist,
                ..
            },
        ) => Merge::AppendAdded {
            object: Arc::clone(new),
        },
        // Not sent by a correct source: a second end. The better informed one stays.
        (Gone(Deleted::Unknown { .. }), Gone(Deleted::Known { .. })) => Merge::KeepNewer,
        (Gone(Deleted::Known { .. }), Gone(Deleted::Known { .. } | Deleted::Unknown { .. }))
        | (Gone(Deleted::Unknown { .. }), Gone(Deleted::Unknown { .. })) => Merge::KeepOlder,
    }
}
