//! Which members of an object are decoded, and which are supplied, whatever the parser.

use super::{TypeNames, projection::Node};

/// Where in an object to be decoded we are, and what is wanted of its members.
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
    /// Without what is dropped below `node`, and with `names` in place of the object's own.
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

    /// What is wanted of a member that is there; `None` if it is left out.
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

    /// How many members are to be supplied, or `None` if those of the object are taken as they are.
    pub(crate) fn supplies(&self) -> Option<usize> {
        (self.node.is_some() || self.names.is_some()).then_some(self.supply.len())
    }
}
