//! SY-01..03, FM-72: "synced" is neither early nor late, whatever is merged or comes and goes.

use proptest::prelude::*;

use super::history::{Act, Key};
use super::listener::{Step, overflow, steps};
use super::rig::Rig;
use crate::listener::config::Overflow;
use crate::listener::sync_tracker::SyncTracker;

/// A listener added before the start: the initial list comes as news. After `list` of them the
/// source says that it is complete.
pub(super) fn check(overflow: Overflow, steps: &[Step], list: usize) -> Result<(), String> {
    let mut rig = Rig::new(overflow);
    rig.begin(0);
    rig.source.initial = true;
    let mut latched = false;
    let mut upstream = false;
    for (at, step) in steps.iter().enumerate() {
        if at == list {
            upstream = true;
            rig.source.initial = false;
            rig.listener.tracker.upstream_synced();
        }
        if !matches!(step, Step::Resync) {
            step.run(&mut rig)?;
        }
        let synced = rig.listener.tracker.is_synced();
        if latched && !synced {
            return Err("SY-02: the latch opened again".to_owned());
        }
        if synced && !latched {
            if !upstream {
                return Err("SY-02: synced before the source was".to_owned());
            }
            check_all_told(&rig)?;
        }
        latched = synced;
    }
    rig.listener.tracker.upstream_synced();
    rig.settle()?;
    match rig.listener.tracker.is_synced() {
        true => Ok(()),
        false => Err("SY-02: everything was handled, and it is not synced".to_owned()),
    }
}

/// FM-72: each object of the initial list that still lives has been handled, and so has the replay.
fn check_all_told(rig: &Rig) -> Result<(), String> {
    let listed = |key: &Key| {
        let lives = (0..=rig.sequence()).filter_map(|at| rig.news(at));
        lives
            .filter(|news| news.key() == key)
            .rfind(|news| matches!(&***news, crate::Notification::Added(_)))
            .is_some_and(|news| news.is_initial())
    };
    if rig.has_initial_replay() {
        return Err("FM-72: synced before the initial replay ended".to_owned());
    }
    match rig
        .source
        .state
        .keys()
        .find(|key| listed(key) && !rig.fold.state.contains_key(key))
    {
        Some(key) => Err(format!("FM-72: synced, and {key} was never handled")),
        None => Ok(()),
    }
}

proptest! {
    #[test]
    fn synced_is_neither_early_nor_late(
        overflow in overflow(),
        steps in steps(),
        list in 0..40_usize,
    ) {
        check(overflow, &steps, list).map_err(TestCaseError::fail)?;
    }

    /// SY-02, with the counter alone.
    #[test]
    fn tracker_closes_once_when_nothing_is_outstanding(
        moves in proptest::collection::vec(0..3_u8, 0..40),
    ) {
        let mut tracker = SyncTracker::default();
        let (mut outstanding, mut upstream, mut synced) = (0_u64, false, false);
        for step in moves {
            let closed = match step {
                0 => {
                    outstanding += 1;
                    tracker.start(1);
                    false
                }
                1 if outstanding > 0 => {
                    outstanding -= 1;
                    tracker.finish(1)
                }
                1 => false,
                _ => {
                    upstream = true;
                    tracker.upstream_synced()
                }
            };
            let closes = step > 0 && upstream && outstanding == 0 && !synced;
            // A step that did nothing closes nothing.
            prop_assert!(!closed || closes);
            synced |= closed;
            prop_assert_eq!(tracker.is_synced(), synced);
            prop_assert_eq!(tracker.outstanding, outstanding);
        }
    }
}

/// SY-01: a counter that would become negative stops, since "synced" would be a lie.
#[test]
#[should_panic(expected = "SY-01")]
fn tracker_refuses_to_end_what_never_began() {
    SyncTracker::default().finish(1);
}

/// The six rows of synctrack's `TestBasicLogic`: the source is done before or after the handler.
#[test]
fn tracker_rows() {
    for count in [0, 1, 10] {
        let mut before = SyncTracker::default();
        before.start(count);
        assert_eq!(before.upstream_synced(), count == 0);
        assert_eq!(before.finish(count), count > 0);
        assert!(before.is_synced());

        let mut after = SyncTracker::default();
        after.start(count);
        assert!(!after.finish(count));
        assert!(!after.is_synced());
        assert!(after.upstream_synced());
        assert!(after.is_synced());
    }
}

/// What must not be merged into the listed ones: an object that went and came again.
#[test]
fn an_object_that_comes_and_goes_while_it_waits_is_settled() {
    let steps = [Step::News(0, Act::Set), Step::News(0, Act::Delete)];
    check(Overflow::Coalesce, &steps, 2).expect("vanished additions are settled");
}
