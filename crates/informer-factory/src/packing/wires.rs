//! The dictionaries of one informer, apart for each wire format.
//!
//! A server may answer in JSON for some time, and in protobuf before and after. The sources of two
//! namespaces may even receive different formats at a time. Because a dictionary of one format
//! packs the other one badly, each format has dictionaries of its own.

use std::sync::Arc;
use std::time::Instant;

use informer_kube_source::ReceivedWire;

use crate::packing::dictionaries::{Dictionaries, Outdated};
use crate::packing::dictionary_settings::DictionarySettings;

/// The dictionaries of one informer.
pub(super) struct Wires {
    json: Arc<Dictionaries>,
    protobuf: Arc<Dictionaries>,
}

impl Wires {
    pub(super) fn new(settings: DictionarySettings) -> Self {
        let new = || Arc::new(Dictionaries::new(settings));
        Self {
            json: new(),
            protobuf: new(),
        }
    }

    /// The dictionaries of objects in this format.
    pub(super) fn of(&self, wire: ReceivedWire) -> &Arc<Dictionaries> {
        match wire {
            ReceivedWire::Protobuf if !planted!(WiresMixed) => &self.protobuf,
            _ => &self.json,
        }
    }

    /// Whether the first objects wait for a dictionary, or none has been received yet.
    ///
    /// A format that is not in use has no objects to learn from, so no list waits for it.
    pub(super) fn is_learning(&self) -> bool {
        let both = self.both();
        both.iter().any(|one| one.has_waiting()) || both.iter().all(|one| one.is_learning())
    }

    /// Ends the wait of the first objects, as [`Dictionaries::settle`].
    ///
    /// The objects of a format that comes into use later are packed one by one, until there are
    /// enough of them to train a dictionary in the background. They are packed again then.
    pub(super) fn settle(&self, now: impl Fn() -> Instant) {
        self.both().iter().for_each(|one| one.settle(&now));
    }

    /// The objects that are to be packed again, and the dictionaries of their format.
    pub(super) fn outdated(&self) -> Option<(Arc<Dictionaries>, Outdated)> {
        let outdated = |one: &&Arc<Dictionaries>| Some((Arc::clone(one), one.outdated()?));
        self.both().iter().find_map(outdated)
    }

    /// The bytes of memory that dictionaries and samples take.
    pub(super) fn memory(&self) -> usize {
        self.both().iter().map(|one| one.memory()).sum()
    }

    fn both(&self) -> [&Arc<Dictionaries>; 2] {
        [&self.json, &self.protobuf]
    }
}
