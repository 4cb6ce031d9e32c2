//! The objects that a dictionary is trained from.

use crate::packing::dictionary_settings::DictionarySettings;

/// Copies of objects.
#[derive(Default)]
pub(super) struct Samples {
    pub(super) texts: Vec<Box<[u8]>>,
    pub(super) bytes: usize,
}

impl Samples {
    /// Adds a copy of an object. Returns true once there are `enough`, or many bytes of them.
    pub(super) fn add(
        &mut self,
        text: &[u8],
        enough: usize,
        settings: &DictionarySettings,
    ) -> bool {
        self.texts.push(text.into());
        self.bytes += text.len();
        self.texts.len() >= enough || self.bytes >= settings.sample_bytes
    }
}
