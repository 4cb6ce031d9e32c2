//! What is to become of an object that arrives under a key the store holds already.

use std::sync::Arc;

use informer_processor::Cause;
use informer_store::Entry;

use crate::arrival::{Arrival, is_older};

/// What is to become of an object that arrived under a key the store holds.
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

/// Whether it is.
pub(crate) fn same_life<T>(stored: &Entry<T>, arrival: &Arrival<T>) -> Life {
    match (&*stored.uid, &*arrival.uid) {
        ("", _) | (_, "") => Life::Unknown,
        (x, y) if x == y => Life::Same,
        _ => Life::Other,
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
        !planted!(OlderApplied) && same_epoch && is_older(&arrival.version, &stored.version);
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
    !stored.version.is_empty() && stored.version == arrival.version
}
