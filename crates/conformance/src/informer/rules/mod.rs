//! The intended differences of a whole informer, one file each.

mod blanked_version;
mod history;
mod member;
mod observed;
mod overlapping_resync;
mod panic_pause;
mod pending_at_stop;
mod told;

use crate::rules::Rule;

/// In the order in which they are applied.
pub const RULES: &[Rule] = &[
    blanked_version::RULE,
    panic_pause::RULE,
    pending_at_stop::RULE,
    overlapping_resync::OVERLAPPING,
    overlapping_resync::OVERTAKEN,
];
