//! PR-15: a caller waits until everything before its call has been handled, and no longer.

pub(super) mod packing;

use proptest::collection::vec;
use proptest::prelude::*;

use super::history::{Act, Key};
use super::listener::{Step, overflow, steps};
use super::rig::{GROW, Rig};
use crate::listener::config::Overflow;

const KEYS: std::ops::Range<Key> = 0..4;

/// A checkpoint, and the number of commits when it was set.
type Waiting = (u64, u64);

pub(super) fn cases() -> impl Strategy<Value = (Overflow, Vec<Step>, Vec<bool>)> {
    (overflow(), steps(), vec(any::<bool>(), 80))
}

/// Runs `steps` and sets a checkpoint after each one for which `waits` says so.
pub(super) fn check(overflow: Overflow, steps: &[Step], waits: &[bool]) -> Result<(), String> {
    let mut rig = Rig::new(overflow);
    rig.begin(0);
    let mut waiting: Vec<Waiting> = Vec::new();
    for (step, waits) in steps.iter().zip(waits) {
        step.run(&mut rig)?;
        if *waits {
            waiting.push((rig.set_checkpoint(), rig.sequence()));
        }
        check_passed(&rig, &mut waiting)?;
    }
    rig.settle()?;
    check_passed(&rig, &mut waiting)?;
    match waiting.is_empty() {
        true => Ok(()),
        false => Err(format!("PR-15: never passed: {waiting:?}")),
    }
}

/// Removes the checkpoints that were passed. For each of them the handler has received, key by key,
/// the state of its commit or a later one.
fn check_passed(rig: &Rig, waiting: &mut Vec<Waiting>) -> Result<(), String> {
    let passed = rig.listener.checkpoints_passed();
    let (over, rest): (Vec<_>, Vec<_>) = waiting.iter().partition(|(at, _)| *at <= passed);
    *waiting = rest;
    for (_, sequence) in over {
        let later = &rig.states[usize::try_from(sequence).expect("small")..];
        let is_one = |key: &Key| {
            let received = rig.fold.state.get(key);
            let mut states = later
                .iter()
                .map(|state| state.get(key).map(|object| **object));
            states.any(|state| state.as_ref() == received)
        };
        if let Some(key) = KEYS.into_iter().find(|key| !is_one(key)) {
            return Err(format!("PR-15: {key} of commit {sequence} is outstanding"));
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn a_checkpoint_is_passed_after_everything_before_it(
        (overflow, steps, waits) in cases(),
    ) {
        check(overflow, &steps, &waits).map_err(TestCaseError::fail)?;
    }
}

/// A consumer takes up to 64 notifications together. Those behind the checkpoint are not among
/// them, and the checkpoint is passed before the first of them is handled.
#[test]
fn a_growing_backlog_is_taken_up_to_the_checkpoint() {
    let mut rig = Rig::new(GROW);
    rig.begin(0);
    rig.settle().expect("nothing was there");
    let send = |rig: &mut Rig, key| {
        rig.commit(key, Act::Set);
        rig.distribute(rig.sequence());
    };
    (0..3).for_each(|key| send(&mut rig, key));
    let checkpoint = rig.set_checkpoint();
    assert_eq!(rig.set_checkpoint(), checkpoint, "two at one place are one");
    (0..3).for_each(|key| send(&mut rig, key));
    rig.take(64);
    while rig.handle().expect("legal") {}
    assert_eq!(rig.heard.len(), 3);
    assert!(rig.listener.checkpoints_passed() < checkpoint);
    rig.take(64);
    assert_eq!(rig.listener.checkpoints_passed(), checkpoint);
    assert_eq!(rig.heard.len(), 3);
}
