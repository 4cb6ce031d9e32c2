//! Histories and faults by chance: the machine keeps its promises through all of them.
//!
//! RFX-1 to RFX-6, RFX-8, RFX-9, RFX-13 and RFX-15 after every step, RFX-10 at the end.

use std::time::Duration;

use proptest::{collection::vec, option, prelude::*};

use super::{
    run::{Run, play},
    world::{End, ListFault, Op, Open, WatchFault},
};
use crate::{Demand, FailureKind};

fn kinds() -> impl Strategy<Value = FailureKind> {
    use FailureKind::{
        Connect, Cut, Expired, Forbidden, Internal, Invalid, NotFound, Other, Protocol, Throttled,
        TimedOut, TooBig, TooLarge, Unauthorized, Unavailable,
    };
    prop::sample::select(vec![
        Expired,
        TooLarge,
        Throttled,
        Unavailable,
        Internal,
        Unauthorized,
        Forbidden,
        NotFound,
        Invalid,
        Connect,
        Cut,
        TimedOut,
        Protocol,
        TooBig,
        Other,
    ])
}

fn retry_after() -> impl Strategy<Value = Option<Duration>> {
    option::weighted(0.2, (0_u64..200).prop_map(Duration::from_secs))
}

fn list_fault() -> impl Strategy<Value = ListFault> {
    prop_oneof![
        6 => (kinds(), retry_after()).prop_map(|(kind, wait)| ListFault::Fail(kind, wait)),
        1 => Just(ListFault::Hang),
        1 => Just(ListFault::Panic),
        2 => Just(ListFault::Older),
        2 => Just(ListFault::OtherVersion),
        1 => Just(ListFault::NoVersion),
        2 => any::<bool>().prop_map(|older_last| ListFault::Twice { older_last }),
    ]
}

fn open() -> impl Strategy<Value = Open> {
    prop_oneof![
        6 => Just(Open::Accept),
        3 => (kinds(), retry_after()).prop_map(|(kind, wait)| Open::Fail(kind, wait)),
        1 => Just(Open::Hang),
        1 => Just(Open::Panic),
    ]
}

fn end() -> impl Strategy<Value = End> {
    prop_oneof![
        2 => Just(End::Never),
        3 => Just(End::Close),
        3 => kinds().prop_map(End::Error),
        3 => kinds().prop_map(End::Break),
        1 => Just(End::Panic),
    ]
}

fn watch_fault() -> impl Strategy<Value = WatchFault> {
    let rare = || prop::bool::weighted(0.15);
    (open(), 0_u64..4, rare(), rare(), rare(), 0_u32..5, end()).prop_map(
        |(open, replay, no_end, old_deletes, silent, after, end)| WatchFault {
            open,
            replay: replay.saturating_sub(1),
            no_end,
            old_deletes,
            silent,
            after,
            end,
        },
    )
}

fn op() -> impl Strategy<Value = Op> {
    let demand = prop::sample::select(vec![Demand::Retry, Demand::Relist, Demand::Repair]);
    prop_oneof![
        12 => (0_u8..5, prop::bool::weighted(0.3))
            .prop_map(|(key, delete)| Op::Write { key, delete }),
        2 => Just(Op::Compact),
        1 => (1_u64..6).prop_map(Op::Rewind),
        2 => Just(Op::Bookmark),
        6 => (1_u64..40).prop_map(Op::Advance),
        2 => (40_u64..700).prop_map(Op::Advance),
        4 => list_fault().prop_map(Op::List),
        6 => watch_fault().prop_map(Op::Watch),
        1 => demand.prop_map(Op::Demand),
    ]
}

pub(super) fn runs() -> impl Strategy<Value = Run> {
    let size = option::weighted(0.5, 1_u32..4);
    (any::<u64>(), any::<bool>(), size, vec(op(), 1..60)).prop_map(
        |(seed, streaming, page_size, ops)| Run {
            seed,
            streaming,
            page_size,
            ops,
        },
    )
}

proptest! {
    #[test]
    fn promises_hold_through_any_faults(run in runs()) {
        play(run);
    }

    /// T12: the same seed gives the same run.
    #[test]
    fn a_seed_replays_a_run(run in runs()) {
        let (once, again) = (play(run.clone()), play(run));
        prop_assert_eq!(once.requests(), again.requests());
        prop_assert_eq!(once.received(), again.received());
    }
}
