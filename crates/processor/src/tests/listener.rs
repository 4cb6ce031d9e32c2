//! RB-7, PR-2, PR-3, PR-6: a listener with news, resyncs and a slow consumer, in random orders.

use proptest::collection::vec;
use proptest::prelude::*;

use super::history::{Act, Key, act};
use super::rig::{GROW, Rig};
use crate::listener::config::Overflow;

#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    News(Key, Act),
    Resync,
    Take(usize),
    Handle,
}

impl Step {
    pub(super) fn run(self, rig: &mut Rig) -> Result<(), String> {
        match self {
            Self::News(key, act) => {
                rig.commit(key, act);
                rig.distribute(rig.sequence());
            }
            Self::Resync => rig.resync(),
            Self::Take(limit) => rig.take(limit),
            Self::Handle => drop(rig.handle()?),
        }
        Ok(())
    }
}

pub(super) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0..4_u8, act()).prop_map(|(key, act)| Step::News(key, act)),
        1 => Just(Step::Resync),
        3 => (1..5_usize).prop_map(Step::Take),
        6 => Just(Step::Handle),
    ];
    vec(step, 0..80)
}

pub(super) fn overflow() -> impl Strategy<Value = Overflow> {
    prop_oneof![Just(GROW), Just(Overflow::Coalesce)]
}

/// `Fold::hear` judges each callback: grammar, continuity, no going back. In particular a resync
/// may never tell what is older than what was told.
pub(super) fn check(overflow: Overflow, steps: &[Step]) -> Result<(), String> {
    let mut rig = Rig::new(overflow);
    rig.begin(0);
    for step in steps {
        step.run(&mut rig)?;
        rig.check_accounts()?;
    }
    rig.settle()?;
    rig.check_accounts()?;
    rig.check_final()
}

proptest! {
    #[test]
    fn listener_tells_the_truth_in_order(overflow in overflow(), steps in steps()) {
        check(overflow, &steps).map_err(TestCaseError::fail)?;
    }
}

/// Every history of seven steps over one key, resync included: the replay and the news of a key in
/// each relation.
#[test]
fn resync_and_news_of_one_key_in_every_order() {
    let letters = [
        Step::News(0, Act::Set),
        Step::News(0, Act::Delete),
        Step::Resync,
        Step::Take(1),
        Step::Handle,
    ];
    for overflow in [GROW, Overflow::Coalesce] {
        let count = letters.len().pow(7);
        for number in 0..count {
            let mut rest = number;
            let history: Vec<_> = std::iter::repeat_with(|| {
                let letter = letters[rest % letters.len()];
                rest /= letters.len();
                letter
            })
            .take(7)
            .collect();
            check(overflow, &history).unwrap_or_else(|why| panic!("{why} in {history:?}"));
        }
    }
}
