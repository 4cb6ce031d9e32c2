//! All short histories over two keys: what chance might miss, counting does not (T7).
//!
//! Every history of five letters over {Add a/b, Update a/b, Delete a/b, Replace of the four
//! subsets, Resync, Bookmark, Lease of one, Lease of all, Ack, Nack}: 16^5. And every history of
//! six where what is taken is settled at once, so that the last four are one letter, Pop: 13^6.
//! Prefixes are shared: a history is continued from a copy of the world. Two attempts, so that
//! five letters are enough for a quarantine. At the end of every history the queue is drained.

use super::judged::Judged;
use super::model::{Key, Position, Value};
use super::world::{Op, Verdict, World};
use crate::planted::{self, Planted};
use crate::{DeltaFifo, InOrderQueue};

/// What happens between two looks at all invariants.
type Letter = Vec<Op>;

/// What producers do.
fn produced() -> Vec<Op> {
    let [a, b] = [0, 1];
    vec![
        Op::Add(a),
        Op::Add(b),
        Op::Update(a),
        Op::Update(b),
        Op::Delete(a, true),
        Op::Delete(b, true),
        Op::Replace(vec![]),
        Op::Replace(vec![a]),
        Op::Replace(vec![b]),
        Op::Replace(vec![a, b]),
        Op::Resync,
        Op::Bookmark,
    ]
}

/// A consumer that may do anything at any time.
fn sixteen() -> Vec<Letter> {
    let consumed = [
        Op::Lease(1, false),
        Op::Lease(2, false),
        Op::Ack,
        Op::Nack(1),
    ];
    let all = produced().into_iter().chain(consumed);
    all.map(|op| vec![op]).collect()
}

/// A consumer that settles what it takes.
fn thirteen() -> Vec<Letter> {
    let pop = vec![Op::Lease(1, false), Op::Ack];
    let produced = produced().into_iter().map(|op| vec![op]);
    produced.chain([pop]).collect()
}

fn spell<Q: Judged>(world: &mut World<Q>, letter: &[Op]) -> Verdict {
    letter.iter().try_for_each(|op| world.step(op))
}

/// Walks all continuations of `world`; how many histories were finished.
fn walk<Q: Judged>(
    world: World<Q>,
    left: usize,
    letters: &[Letter],
    so_far: &mut Vec<Letter>,
) -> Result<u64, String> {
    if left == 0 {
        world
            .drain()
            .map_err(|wrong| format!("drained after {so_far:?}: {wrong}"))?;
        return Ok(1);
    }
    let mut finished = 0;
    for letter in letters {
        let mut next = world.copy();
        so_far.push(letter.clone());
        spell(&mut next, letter).map_err(|wrong| format!("after {so_far:?}: {wrong}"))?;
        finished += walk(next, left - 1, letters, so_far)?;
        so_far.pop();
    }
    Ok(finished)
}

/// All histories of `length` letters; the first letters are shared out to two threads.
fn all_over<Q: Judged + 'static>(
    letters: &[Letter],
    length: usize,
    planted: Option<Planted>,
) -> Result<u64, String> {
    let half = |odd: usize| {
        let mut finished = 0;
        for first in letters.iter().skip(odd).step_by(2) {
            let mut world = World::<Q>::new(2);
            spell(&mut world, first).map_err(|wrong| format!("after {first:?}: {wrong}"))?;
            finished += walk(world, length - 1, letters, &mut vec![first.clone()])?;
        }
        Ok(finished)
    };
    let (even, odd): (Result<u64, String>, Result<u64, String>) = std::thread::scope(|scope| {
        // A bug is switched on for one thread.
        let half = |odd| planted::with(planted, || half(odd));
        let other = scope.spawn(move || half(1));
        (half(0), other.join().expect("a panic is a finding, too"))
    });
    Ok(even? + odd?)
}

/// All histories of `length` of the sixteen letters.
pub(super) fn all<Q: Judged + 'static>(
    length: usize,
    planted: Option<Planted>,
) -> Result<u64, String> {
    all_over::<Q>(&sixteen(), length, planted)
}

/// T7: all 4,826,809 histories where the random tests, too, are asked for more than by default;
/// else two letters less.
fn all_that_settle_at_once<Q: Judged + 'static>() {
    let is_thorough = std::env::var_os("PROPTEST_CASES").is_some();
    let length = if is_thorough { 6 } else { 4 };
    let found = all_over::<Q>(&thirteen(), length, None);
    assert_eq!(found, Ok(13_u64.pow(length as u32)));
}

#[test]
fn all_delta_fifo_histories_that_settle_at_once() {
    all_that_settle_at_once::<DeltaFifo<Key, Value, Position>>();
}

#[test]
fn all_in_order_histories_that_settle_at_once() {
    all_that_settle_at_once::<InOrderQueue<Key, Value, Position>>();
}

/// FQ-1..FQ-11, FM-48, FM-49, FM-50: all 1,048,576 histories.
#[test]
fn all_delta_fifo_histories_of_five_letters() {
    assert_eq!(
        all::<DeltaFifo<Key, Value, Position>>(5, None),
        Ok(16_u64.pow(5))
    );
}

/// The in-order queue has fewer ways to go wrong; four letters are 65,536 histories.
#[test]
fn all_in_order_histories_of_four_letters() {
    assert_eq!(
        all::<InOrderQueue<Key, Value, Position>>(4, None),
        Ok(16_u64.pow(4))
    );
}
