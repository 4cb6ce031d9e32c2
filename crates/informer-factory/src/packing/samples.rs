//! The objects that a dictionary is trained from.

use std::collections::HashSet;

use informer_object::ObjectKey;

use crate::packing::dictionary_settings::DictionarySettings;

/// After this many times as many versions as are needed, the samples are of too few objects.
const REPEATS: usize = 8;

/// Copies of objects, one of each: versions of one object say little about others.
#[derive(Default)]
pub(super) struct Samples {
    pub(super) texts: Vec<Box<[u8]>>,
    pub(super) bytes: usize,
    keys: HashSet<ObjectKey>,
    /// The number and the bytes of all versions, those that were not copied included.
    seen: usize,
    pub(super) seen_bytes: usize,
}

impl Samples {
    /// Adds a copy of an object, unless there is one. Returns true once there are `enough`, or many
    /// bytes of them, or no more can be expected.
    pub(super) fn add(
        &mut self,
        (key, text): (&ObjectKey, &[u8]),
        enough: usize,
        settings: &DictionarySettings,
    ) -> bool {
        self.seen += 1;
        self.seen_bytes += text.len();
        if self.keys.insert(key.clone()) {
            self.texts.push(text.into());
            self.bytes += text.len();
        }
        let is_stale = self.seen >= enough.saturating_mul(REPEATS)
            || self.seen_bytes >= settings.waiting_bytes;
        self.are_enough(enough, settings) || is_stale
    }

    /// Whether they are `enough` for a dictionary.
    pub(super) fn are_enough(&self, enough: usize, settings: &DictionarySettings) -> bool {
        self.texts.len() >= enough || self.bytes >= settings.sample_bytes
    }
}
