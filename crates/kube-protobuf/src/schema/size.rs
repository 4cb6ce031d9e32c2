//! The size of a message as a struct of k8s-openapi, estimated from its fields.
//!
//! Rust orders the fields of a struct so that little is lost between them, and finds room for most
//! `None`s within the values. `tests/budget.rs` compares the sizes with those of the structs.

use super::table::{Entry, Field, Kind, Shape};

/// `Vec` and `String`, with or without an `Option`.
pub(crate) const TEXT: usize = 24;

/// `Option<BTreeMap>`.
const MAP: usize = 32;

/// An enum of a box and a list.
const CHOICE: usize = 24;

/// A `Box` of a message within itself.
const BOX: usize = 8;

/// The message whose struct has fields for `apiVersion` and `kind`, which are not in the table. The
/// structs of all other kinds have constants.
const NAMED_BY_FIELDS: &str = "meta/v1.DeleteOptions";

/// The two fields, and what is behind them: `v1` and `DeleteOptions`.
const NAME_FIELDS: usize = 2 * (TEXT + 16);

impl Entry {
    /// Returns the bytes of the struct, without what is behind its pointers.
    pub(crate) fn size(&'static self) -> usize {
        *self.size.get_or_init(|| struct_size(self))
    }

    /// Whether a message in a field of this one is in a box.
    #[inline]
    pub(crate) fn boxes(&self, inner: &Self) -> bool {
        self.choice.is_some() || std::ptr::eq(self, inner)
    }
}

impl Kind {
    /// Returns the bytes of a value in a list or a map, without what is behind its pointers.
    pub(crate) fn size(self) -> usize {
        match self {
            Self::Message(entry) => entry.size(),
            _ => value_size(self, None),
        }
    }
}

fn struct_size(entry: &'static Entry) -> usize {
    if entry.choice.is_some() {
        return CHOICE;
    }
    let fields = entry.message().fields();
    let fields: usize = fields.map(|field| field_size(field, entry)).sum();
    let names = match entry.name {
        NAMED_BY_FIELDS => NAME_FIELDS,
        _ => 0,
    };
    (fields + names).next_multiple_of(8)
}

fn field_size(field: &Field, outer: &'static Entry) -> usize {
    match field.shape {
        Shape::List => TEXT,
        Shape::Map => MAP,
        Shape::Value | Shape::Pointer | Shape::Inline => value_size(field.kind, Some(outer)),
    }
}

/// The sizes are those of an `Option`.
fn value_size(kind: Kind, outer: Option<&'static Entry>) -> usize {
    match kind {
        Kind::Bool => 1,
        Kind::I32 => 8,
        Kind::I64 | Kind::F64 => 16,
        Kind::Time | Kind::MicroTime | Kind::Duration => 24,
        Kind::Str | Kind::Bytes | Kind::Quantity | Kind::IntOrString | Kind::Names => TEXT,
        Kind::Json => 32,
        Kind::Choice(..) => CHOICE,
        Kind::Message(entry) if outer.is_some_and(|outer| outer.boxes(entry)) => BOX,
        // The table has no other recursion, so this one ends.
        Kind::Message(entry) => struct_size(entry),
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::table;
    use super::*;

    /// Whether a message is within itself, without a list, a map or a box between.
    fn is_within_itself(entry: &'static Entry, outer: &mut Vec<&'static str>) -> bool {
        if outer.contains(&entry.name) {
            return true;
        }
        outer.push(entry.name);
        let found = entry.message().fields().any(|field| {
            let Kind::Message(inner) = field.kind else {
                return false;
            };
            let in_place = !matches!(field.shape, Shape::List | Shape::Map);
            in_place && !entry.boxes(inner) && is_within_itself(inner, outer)
        });
        outer.pop();
        found
    }

    #[test]
    fn every_message_has_a_size() {
        for entry in table().messages() {
            assert!(!is_within_itself(entry, &mut Vec::new()), "{}", entry.name);
            assert!(entry.size() < 16 * 1024, "{}: {}", entry.name, entry.size());
        }
    }
}
