//! The members of an object that are decoded or supplied, for both parsers.

use super::{TypeNames, projection::Node};

/// The position in an object that is decoded, and the selection of its members.
#[derive(Clone, Copy)]
pub(crate) struct Selection<'p> {
    /// `None` if nothing is dropped below.
    node: Option<&'p Node>,
    names: Option<TypeNames<'p>>,
    /// The type fields still to be supplied.
    supply: &'static [&'static str],
}

/// The value of the next member.
#[derive(Clone, Copy)]
pub(crate) enum NextValue<'p> {
    Whole,
    Below(&'p Node),
    Supplied(&'p str),
}

impl<'p> Selection<'p> {
    /// Skips the fields that `node` drops, and supplies `names` in place of the object's own.
    pub(crate) fn new(node: Option<&'p Node>, names: Option<TypeNames<'p>>) -> Self {
        Self {
            node,
            names,
            supply: names.map_or(&[][..], |_| &["apiVersion", "kind"]),
        }
    }

    /// The next member that is supplied, and its value.
    pub(crate) fn next_supplied(&mut self) -> Option<(&'static str, NextValue<'p>)> {
        let (names, (field, rest)) = (self.names?, self.supply.split_first()?);
        self.supply = rest;
        let text = match rest.is_empty() {
            true => names.kind,
            false => names.api_version,
        };
        Some((field, NextValue::Supplied(text)))
    }

    /// How a member of the object is decoded; `None` if it is skipped.
    #[inline]
    pub(crate) fn member(&self, key: &str) -> Option<NextValue<'p>> {
        if self.names.is_some() && matches!(key, "apiVersion" | "kind") {
            return None;
        }
        match self.node.and_then(|node| node.child(key)) {
            Some(child) if child.is_dropped() => None,
            Some(child) => Some(NextValue::Below(child)),
            None => Some(NextValue::Whole),
        }
    }

    /// The number of members still to be supplied, or `None` if the object is decoded as it is.
    pub(crate) fn supplies(&self) -> Option<usize> {
        (self.node.is_some() || self.names.is_some()).then_some(self.supply.len())
    }
}
