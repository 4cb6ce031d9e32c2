//! The intended differences of a whole informer, one file each.

use crate::rules::Rule;

/// In the order in which they are applied.
pub const RULES: &[Rule] = &[];
