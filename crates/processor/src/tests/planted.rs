//! Each planted bug is found by the checks that prove its absence: a proof that cannot fail proves
//! nothing. The checks are the very functions the proofs call.

use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::strategy::Strategy;

use super::{checkpoints, coalescing, compress, joining, listener, quiet_runner, ring, sync};
use crate::planted::{self, Planted};

/// Whether `check` fails for some history while `bug` is switched on. Assertions of the cores
/// count: they are there to stop such a bug.
fn is_found<S>(bug: Planted, strategy: &S, check: impl Fn(S::Value) -> Result<(), String>) -> bool
where
    S: Strategy,
    S::Value: std::fmt::Debug,
{
    let outcome = planted::with(bug, || {
        let run = || {
            quiet_runner().run(strategy, |value| {
                check(value).map_err(proptest::test_runner::TestCaseError::fail)
            })
        };
        catch_unwind(AssertUnwindSafe(run))
    });
    !matches!(outcome, Ok(Ok(())))
}

fn ring_finds(bug: Planted) -> bool {
    is_found(bug, &ring::steps(), |steps| {
        ring::check(&steps).map_err(|why| why.to_string())
    })
}

fn coalescing_finds(bug: Planted) -> bool {
    is_found(bug, &coalescing::steps(), |steps| coalescing::check(&steps))
}

fn listener_finds(bug: Planted) -> bool {
    let cases = (listener::overflow(), listener::steps());
    is_found(bug, &cases, |(overflow, steps)| {
        listener::check(overflow, &steps)
    })
}

fn sync_finds(bug: Planted) -> bool {
    let cases = (listener::overflow(), listener::steps(), 0..40_usize);
    is_found(bug, &cases, |(overflow, steps, list)| {
        sync::check(overflow, &steps, list)
    })
}

#[test]
fn the_ring_proof_finds_its_bugs() {
    assert!(ring_finds(Planted::RingNeverShrinks));
    assert!(ring_finds(Planted::RingForgetsToUnwrap));
}

#[test]
fn the_coalescing_proof_finds_its_bugs() {
    assert!(coalescing_finds(Planted::UpdateLosesFirstOld));
    assert!(coalescing_finds(Planted::UnknownSkipsTheUpdate));
    assert!(coalescing_finds(Planted::RecreatedAsUpdate));
    assert!(coalescing_finds(Planted::AnnihilationUnsettled));
    assert!(coalescing_finds(Planted::CoalesceAppends));
    assert!(coalescing_finds(Planted::MergedGoesToTheEnd));
}

#[test]
fn the_table_proof_finds_its_bugs() {
    for bug in [
        Planted::UpdateLosesFirstOld,
        Planted::RecreatedAsUpdate,
        Planted::InitialFlagLost,
        Planted::NewestIsLost,
    ] {
        assert!(
            planted::with(bug, compress::check_every_legal_pair).is_err(),
            "{bug:?}"
        );
    }
}

#[test]
fn the_listener_proof_finds_its_bugs() {
    assert!(listener_finds(Planted::ResyncIgnoresPending));
    assert!(listener_finds(Planted::UpdateLosesFirstOld));
    assert!(listener_finds(Planted::ResyncRemembersNothing));
}

#[test]
fn the_checkpoint_proof_finds_its_bugs() {
    let bug = Planted::CheckpointIgnoresInFlight;
    assert!(is_found(
        bug,
        &checkpoints::cases(),
        |(overflow, steps, waits)| checkpoints::check(overflow, &steps, &waits)
    ));
    let packing = || catch_unwind(checkpoints::packing::check);
    assert!(planted::with(Planted::PackForgetsCheckpoints, packing).is_err());
}

#[test]
fn the_sync_proof_finds_its_bugs() {
    assert!(sync_finds(Planted::SyncForgetsStart));
    assert!(sync_finds(Planted::AnnihilationUnsettled));
}

#[test]
fn the_joining_proof_finds_its_bugs() {
    for bug in [Planted::JoinKeepsOverlap, Planted::JoinForgetsFloor] {
        assert!(planted::with(bug, joining::check_all).is_err(), "{bug:?}");
    }
}

/// The same checks without a bug, so that what is found above is the bug.
#[test]
fn the_checks_pass_without_a_bug() {
    let mut runner = quiet_runner();
    let cases = (listener::overflow(), listener::steps(), 0..40_usize);
    runner
        .run(&cases, |(overflow, steps, list)| {
            let all = sync::check(overflow, &steps, list)
                .and_then(|()| listener::check(overflow, &steps));
            all.map_err(proptest::test_runner::TestCaseError::fail)
        })
        .expect("no bug is planted");
}
