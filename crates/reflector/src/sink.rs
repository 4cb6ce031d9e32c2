//! The port to whoever takes what the reflector accepted.

use std::future::Future;

use crate::{Item, ResourceVersion};

/// Takes what was received, in order.
///
/// Progress moves only with what the sink has taken: the resume version of the machine is
/// the version received with the last emission that `accept` returned `Ok` for.
///
/// ```
/// use informer_reflector::{Emission, Refused, Sink};
///
/// /// Counts the emissions, and takes no more than ten.
/// struct Ten(u32);
///
/// impl<T: Send + Sync> Sink<T> for Ten {
///     async fn accept(&mut self, emission: Emission<T>) -> Result<(), Refused> {
///         println!("everything up to {} has been received", emission.received());
///         self.0 += 1;
///         match self.0 {
///             0..10 => Ok(()),
///             _ => Err(Refused),
///         }
///     }
/// }
/// # let _ = Ten(0);
/// ```
// RFX-2
pub trait Sink<T>: Send {
    /// Takes one emission; may wait, which holds the watch back.
    ///
    /// # Errors
    ///
    /// [`Refused`] when the sink takes nothing more; the reflector then ends.
    // FQ-13
    fn accept(&mut self, emission: Emission<T>)
    -> impl Future<Output = Result<(), Refused>> + Send;
}

/// One change of the collection, with the version received by taking it. Exhaustive on purpose: a
/// sink must handle all kinds.
#[derive(Clone, Debug)]
pub enum Emission<T> {
    /// The whole collection at one version. What it leaves out is gone.
    ///
    /// A key occurs once. Items whose body is undecodable are still there: their
    /// last good version is to be kept.
    // FQ-8, FM-07, FM-53
    Replace {
        /// Every item of the collection.
        items: Vec<Item<T>>,
        /// The version of the collection.
        received: ResourceVersion,
        /// Whether the history goes on.
        // FM-39
        epoch: Epoch,
    },
    /// One object changed.
    Change {
        /// What the watch called it.
        change: Change,
        /// The object, or its final state.
        item: Item<T>,
        /// The version received: not always the item's own.
        // FM-36, RL-37
        received: ResourceVersion,
    },
    /// Nothing changed up to this version.
    Bookmark {
        /// The version received.
        received: ResourceVersion,
    },
}

impl<T> Emission<T> {
    /// The version received by taking this.
    pub fn received(&self) -> &ResourceVersion {
        match self {
            Self::Replace { received, .. }
            | Self::Change { received, .. }
            | Self::Bookmark { received } => received,
        }
    }
}

/// Whether a collection continues the history of what was received before. Exhaustive on purpose: a
/// sink must handle both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Epoch {
    /// The history goes on.
    Same,
    /// The history was rewound: versions that were received before mean nothing now.
    New,
}

/// What a watch called a change. Membership of the store, not this, decides add or update.
/// Exhaustive on purpose: a watch has these three.
// PD-01
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// `ADDED`
    Added,
    /// `MODIFIED`
    Modified,
    /// `DELETED`
    Deleted,
}

/// The sink is closed and takes nothing more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the sink is closed")]
pub struct Refused;
