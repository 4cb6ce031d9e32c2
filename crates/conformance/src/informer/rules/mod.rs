//! The intended differences of a whole informer, one file for each kind.

mod blanked_version;
mod deadlines;
mod deliveries;
mod end;
mod epochs;
mod failures_told;
mod history;
mod later;
mod left_out;
mod member;
mod met;
mod never_back;
mod observed;
mod overlapping_resync;
mod own_schedule;
mod panic_pause;
mod pending_at_stop;
mod relist_order;
mod requests;
mod rewatch;
mod told;
mod transforms;
mod versionless;

use crate::rules::Rule;

/// In the order in which they are applied.
pub const RULES: &[Rule] = &[
    left_out::UNDECODABLE,
    left_out::UNTRANSFORMED,
    versionless::EMPTY_VERSION,
    versionless::GONE_PAGE,
    own_schedule::RULE,
    later::REOPENED,
    later::FALLEN_BACK,
    later::INCOMPLETE,
    later::NAMELESS,
    requests::ONCE,
    requests::SHORTER,
    epochs::RULE,
    never_back::STORE,
    never_back::VERSION,
    rewatch::RULE,
    deliveries::TWICE,
    deliveries::REBORN,
    deliveries::STRANGER,
    deliveries::OLDER,
    deliveries::REPEATED,
    deliveries::UNCHANGED,
    relist_order::RULE,
    requests::AHEAD,
    requests::PAGED,
    deadlines::RULE,
    transforms::ONCE,
    transforms::QUARANTINED,
    blanked_version::RULE,
    panic_pause::RULE,
    pending_at_stop::RULE,
    end::RULE,
    overlapping_resync::OVERLAPPING,
    overlapping_resync::OVERTAKEN,
    failures_told::RULE,
];
