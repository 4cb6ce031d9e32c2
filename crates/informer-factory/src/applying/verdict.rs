//! The decision about a received object, and whether a version is usable.

use std::collections::BTreeMap;
use std::sync::Arc;

use informer_object::ResourceVersion;
use informer_processor::Cause;
use informer_reflector::DecodeError;
use informer_store::{Entry, ObjectKey};

use crate::applying::quarantine::QuarantineReason;
use crate::applying::received_item::ReceivedItem;

/// Whether a version is usable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// It is stored, or the object is gone.
    Good,
    /// It is the stored one, which the indexes have seen before.
    Kept,
    /// It cannot be decoded.
    Unusable {
        /// The version.
        version: ResourceVersion,
        /// Why.
        error: DecodeError,
    },
}

/// Keys whose objects the store cannot take, with the reason.
pub(crate) type Refused = BTreeMap<ObjectKey, QuarantineReason>;

/// The decision about an object that was received.
pub(crate) enum Verdict<T> {
    Drop,
    Keep,
    Add,
    Update(Arc<T>),
    Recreated,
}

/// Whether the stored and the received object are versions of one object, by uid.
#[derive(PartialEq, Eq)]
pub(crate) enum Incarnation {
    Same,
    Other,
    Unknown,
}

/// Compares the uids of what is stored and what was received.
pub(crate) fn incarnation<T>(stored: &Entry<T>, received: &ReceivedItem<T>) -> Incarnation {
    if stored.uid.is_unknown() || received.uid.is_unknown() {
        Incarnation::Unknown
    } else if stored.uid == received.uid {
        Incarnation::Same
    } else {
        Incarnation::Other
    }
}

/// Judges a received object against the stored one.
pub(crate) fn judge<T>(
    stored: &Entry<T>,
    epoch: u32,
    received: &ReceivedItem<T>,
    cause: Cause,
) -> Verdict<T> {
    let update = || Verdict::Update(Arc::clone(&stored.object));
    let same_epoch = epoch == received.epoch() || planted!(EpochIgnored);
    let older =
        !planted!(OlderApplied) && same_epoch && received.version.is_older_than(&stored.version);
    let incarnation = incarnation(stored, received);
    match cause {
        // A resync repeats what is there; it never restores a deleted object or an older version.
        Cause::Resync if incarnation == Incarnation::Other || older => Verdict::Drop,
        Cause::Resync => update(),
        // Every other cause, also one of a later version of the processor, brings a state of the
        // server.
        _ if older => Verdict::Drop,
        _ => match incarnation {
            Incarnation::Other if !planted!(RebornAsUpdate) => Verdict::Recreated,
            // Across a rewind an equal version may stand for another state (RFX-15).
            _ if same_epoch && same_version(stored, received) && !planted!(UnchangedAnnounced) => {
                Verdict::Keep
            }
            _ => update(),
        },
    }
}

/// Equal and known; two objects without a version cannot be distinguished and count as changed.
fn same_version<T>(stored: &Entry<T>, received: &ReceivedItem<T>) -> bool {
    !stored.version.is_unset() && stored.version == received.version
}
