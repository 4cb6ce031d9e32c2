//! The selected members of an object on a tape, and the supplied ones.

use serde::de::{DeserializeSeed, MapAccess};

use super::{Misfit, Tokens, taped::Taped};
use crate::decode::shape::{
    key::{Key, TextDeserializer},
    selection::{NextValue, Selection},
};

/// Access to the selected and supplied members of an object.
pub(crate) struct Members<'c, 't, 'de, 'p> {
    tokens: &'c mut Tokens<'t, 'de>,
    left: usize,
    selection: Selection<'p>,
    value: NextValue<'p>,
}

impl<'c, 't, 'de, 'p> Members<'c, 't, 'de, 'p> {
    /// The selected ones of the next `left` members.
    pub(crate) fn new(
        tokens: &'c mut Tokens<'t, 'de>,
        left: usize,
        selection: Selection<'p>,
    ) -> Self {
        Self {
            tokens,
            left,
            selection,
            value: NextValue::Whole,
        }
    }

    /// The number of members that remain and are selected.
    fn count(&self) -> Result<usize, Misfit> {
        let Some(mut count) = self.selection.supplies() else {
            return Ok(self.left);
        };
        let mut tokens = *self.tokens;
        for _ in 0..self.left {
            count += usize::from(self.selection.member(tokens.key()?).is_some());
            tokens.skip()?;
        }
        Ok(count)
    }
}

impl<'de> MapAccess<'de> for Members<'_, '_, 'de, '_> {
    type Error = Misfit;

    #[inline]
    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Misfit> {
        if let Some((field, value)) = self.selection.next_supplied() {
            self.value = value;
            return seed.deserialize(TextDeserializer::new(field)).map(Some);
        }
        while let Some(left) = self.left.checked_sub(1) {
            self.left = left;
            let key = self.tokens.key()?;
            let Some(value) = self.selection.member(key) else {
                self.tokens.skip()?;
                continue;
            };
            self.value = value;
            return seed.deserialize(Key(key)).map(Some);
        }
        Ok(None)
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Misfit> {
        match self.value {
            NextValue::Whole => seed.deserialize(Taped::new(self.tokens, None, None)),
            NextValue::Below(node) => seed.deserialize(Taped::new(self.tokens, Some(node), None)),
            NextValue::Supplied(text) => seed.deserialize(TextDeserializer::new(text)),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        self.count().ok()
    }
}
