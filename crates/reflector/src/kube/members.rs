//! The members of an object on a tape, without those that are left out, with those supplied.

use serde::de::{DeserializeSeed, MapAccess};

use super::{
    key::{Key, TextDeserializer},
    projection::Node,
    shape::TypeNames,
    tape::{Misfit, Tokens},
    taped::Taped,
};

pub(super) struct Members<'c, 't, 'de, 'p> {
    tokens: &'c mut Tokens<'t, 'de>,
    left: usize,
    node: Option<&'p Node>,
    names: Option<TypeNames<'p>>,
    /// The type fields still to be supplied.
    supply: &'static [&'static str],
    value: NextValue<'p>,
}

#[derive(Clone, Copy)]
enum NextValue<'p> {
    Whole,
    Below(&'p Node),
    Supplied(&'p str),
}

impl<'c, 't, 'de, 'p> Members<'c, 't, 'de, 'p> {
    /// `left` members, of which those below `node` are left out; `names` are supplied.
    pub(super) fn new(
        tokens: &'c mut Tokens<'t, 'de>,
        left: usize,
        node: Option<&'p Node>,
        names: Option<TypeNames<'p>>,
    ) -> Self {
        Self {
            tokens,
            left,
            node,
            names,
            supply: names.map_or(&[][..], |_| &["apiVersion", "kind"]),
            value: NextValue::Whole,
        }
    }

    fn is_left_out(&self, key: &str) -> bool {
        let is_supplied = self.names.is_some() && matches!(key, "apiVersion" | "kind");
        let child = self.node.and_then(|node| node.child(key));
        is_supplied || child.is_some_and(Node::is_dropped)
    }

    /// How many members are left and not left out.
    fn count(&self) -> Result<usize, Misfit> {
        if self.node.is_none() && self.names.is_none() {
            return Ok(self.left);
        }
        let mut tokens = *self.tokens;
        let mut count = self.supply.len();
        for _ in 0..self.left {
            count += usize::from(!self.is_left_out(tokens.key()?));
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
        if let (Some(names), Some((field, rest))) = (self.names, self.supply.split_first()) {
            self.supply = rest;
            self.value = NextValue::Supplied(match rest.is_empty() {
                true => names.kind,
                false => names.api_version,
            });
            return seed.deserialize(TextDeserializer::new(field)).map(Some);
        }
        while let Some(left) = self.left.checked_sub(1) {
            self.left = left;
            let key = self.tokens.key()?;
            if self.is_left_out(key) {
                self.tokens.skip()?;
                continue;
            }
            let child = self.node.and_then(|node| node.child(key));
            self.value = child.map_or(NextValue::Whole, NextValue::Below);
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
