//! What this level does differently on purpose, a file for each kind of difference.

#[cfg(test)]
mod checks;
mod index;
mod key;
mod observed;
mod panic;
mod version;

use crate::rules::Rule;

/// The rules of this level. Which objects there are comes before what becomes of them.
pub const RULES: &[Rule] = &[
    Rule {
        row: "D-07",
        name: "an object or a key without a name is refused",
        apply: key::nameless_is_refused,
    },
    Rule {
        row: "D-40",
        name: "a second spelling of a key, or a slash in a name, is refused",
        apply: key::slashes_are_refused,
    },
    Rule {
        row: "D-42",
        name: "a write that panics never was",
        apply: panic::writes_that_panic_never_were,
    },
    Rule {
        row: "D-41",
        name: "what has no version does not move the store's",
        apply: version::only_versions_move_the_version,
    },
    Rule {
        row: "D-43",
        name: "indexes can be added where there were none",
        apply: index::a_missing_map_is_empty,
    },
    Rule {
        row: "D-44",
        name: "the values of an index that does not exist are an error",
        apply: index::unknown_indexes_have_no_values,
    },
    Rule {
        row: "D-45",
        name: "the lister of no namespace finds what is in none",
        apply: index::no_namespace_is_cluster_scope,
    },
];
