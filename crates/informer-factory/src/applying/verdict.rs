//! The decision about a received object, and whether a version is usable.

use std::collections::BTreeMap;
use std::sync::Arc;

use informer_object::ResourceVersion;
use informer_processor::Cause;
use informer_reflector::DecodeError;
use informer_store::{Entry, ObjectKey};

use crate::applying::arrival::Arrival;
use crate::applying::quarantine::QuarantineReason;

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
    Reborn,
}

/// Whether what is stored and what arrived are versions of one object.
#[derive(PartialEq, Eq)]
pub(crate) enum Life {
    Same,
    Other,
    Unknown,
}

/// Compares the uids of what is stored and what was received.
pub(crate) fn same_life<T>(stored: &Entry<T>, arrival: &Arrival<T>) -> Life {
    if stored.uid.is_unknown() || arrival.uid.is_unknown() {
        Life::Unknown
    } else if stored.uid == arrival.uid {
        Life::Same
    } else {
        Life::Other
    }
}

/// Judges what arrived against what is stored.
pub(crate) fn judge<T>(
    stored: &Entry<T>,
    epoch: u32,
    arrival: &Arrival<T>,
    cause: Cause,
) -> Verdict<T> {
    let update = || Verdict::Update(Arc::clone(&stored.object));
    let same_epoch = epoch == arrival.epoch || planted!(EpochIgnored);
    let older =
        !planted!(OlderApplied) && same_epoch && arrival.version.is_older_than(&stored.version);
    let life = same_life(stored, arrival);
    match cause {
        // A resync repeats what is there; it never brings anything back to life or back in time.
        Cause::Resync if life == Life::Other || older => Verdict::Drop,
        Cause::Resync => update(),
        Cause::Watch | Cause::Relist if older => Verdict::Drop,
        Cause::Watch | Cause::Relist => match life {
            Life::Other if !planted!(RebornAsUpdate) => Verdict::Reborn,
            // Across a rewind an equal version may stand for another state (RFX-15).
            _ if same_epoch && same_version(stored, arrival) && !planted!(UnchangedAnnounced) => {
                Verdict::Keep
            }
            _ => update(),
        },
    }
}

/// Equal and known; two objects without a version cannot be told apart and count as changed.
fn same_version<T>(stored: &Entry<T>, arrival: &Arrival<T>) -> bool {
    !stored.version.is_unset() && stored.version == arrival.version
}
