//! RB-1, RB-2: the ring against `VecDeque`.

use std::collections::VecDeque;
use std::rc::Rc;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use crate::backlog::ring::{INITIAL, Ring};

/// What is done to a ring: in bursts, so that it grows and empties.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Push(u16),
    Pop(u16),
    /// Pops so many together.
    Drain(u16),
}

pub(super) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let burst = prop_oneof![4 => 1..4_u16, 2 => 1..40_u16, 1 => 1..200_u16];
    let step = (0..4_u8, burst).prop_map(|(kind, n)| match kind {
        0 => Step::Pop(n),
        1 => Step::Drain(n),
        _ => Step::Push(n),
    });
    vec(step, 1..60)
}

/// Checks that every entry comes once and in order, that the capacity is within its bound at every
/// moment, and that the ring keeps nothing alive that it has given out.
pub(super) fn check(steps: &[Step]) -> Result<(), TestCaseError> {
    let mut ring = Ring::default();
    let mut model = VecDeque::new();
    let mut pushed = 0_u64;
    // Each entry of the ring holds a clone.
    let token = Rc::new(());
    for step in steps {
        let (rounds, together) = match *step {
            Step::Push(count) | Step::Pop(count) => (count, 1),
            Step::Drain(count) => (1, usize::from(count)),
        };
        for _ in 0..rounds {
            if matches!(step, Step::Push(_)) {
                ring.push((pushed, Rc::clone(&token)));
                model.push_back(pushed);
                pushed += 1;
            } else {
                let mut popped = Vec::new();
                ring.pop_each(|entry| {
                    popped.push(entry.0);
                    popped.len() < together
                });
                let expected: Vec<_> = model.drain(..together.min(model.len())).collect();
                prop_assert_eq!(popped, expected, "RB-1");
            }
            prop_assert_eq!(ring.entries().len(), model.len());
            prop_assert_eq!(ring.front().map(|entry| entry.0), model.front().copied());
            let bound = INITIAL.max(2 * ring.entries().len());
            prop_assert!(
                ring.entries().capacity() <= bound,
                "RB-2: {} > {bound}",
                ring.entries().capacity()
            );
        }
        let alive = Rc::strong_count(&token) - 1;
        prop_assert_eq!(alive, model.len(), "PL-03: what is taken is given out");
    }
    Ok(())
}

proptest! {
    #[test]
    fn ring_is_a_queue_within_its_bound(steps in steps()) {
        check(&steps)?;
    }
}

/// RB-2: growing and shrinking move each entry a bounded number of times on average, also at the
/// lengths where the two meet.
#[test]
fn ring_moves_are_amortised() {
    for base in 1..400_usize {
        let mut ring = Ring::default();
        let mut moved = 0;
        let mut operations = 0;
        let mut watch = |ring: &Ring<usize>, before: usize| {
            operations += 1;
            if ring.entries().capacity() != before {
                moved += ring.entries().len();
            }
        };
        for n in 0..base {
            let before = ring.entries().capacity();
            ring.push(n);
            watch(&ring, before);
        }
        for round in 0..base {
            let before = ring.entries().capacity();
            if round % 4 < 2 {
                assert!(ring.pop().is_some());
            } else {
                ring.push(round);
            }
            watch(&ring, before);
        }
        while !ring.entries().is_empty() {
            let before = ring.entries().capacity();
            assert!(ring.pop().is_some());
            watch(&ring, before);
        }
        assert!(
            moved <= 6 * operations,
            "RB-2: {moved} moves in {operations} operations"
        );
    }
}
