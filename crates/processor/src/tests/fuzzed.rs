//! Histories out of a fuzzer's numbers, in the proportions of `coalescing`.

use super::coalescing::{Step, check};
use super::history::{Act, Key};

/// Gives a number below the one it is given, or `None` when the input is used up.
pub type Draw<'a> = dyn FnMut(u32) -> Option<u32> + 'a;

/// Enough for a burst of all keys to be packed.
const LONGEST: usize = 400;

/// Runs one history through the coalescing ring and judges what its consumer hears (RB-5, RB-6).
///
/// # Panics
///
/// At the first thing that no handler should see.
pub fn coalescing_ring(draw: &mut Draw<'_>) {
    let keys = if draw(4) == Some(3) { 120 } else { 4 };
    let mut steps = Vec::new();
    while let Some(step) = step(keys, draw).filter(|_| steps.len() < LONGEST) {
        steps.push(step);
    }
    if let Err(wrong) = check(&steps) {
        panic!("{wrong} in {steps:?}");
    }
}

fn step(keys: u32, draw: &mut Draw<'_>) -> Option<Step> {
    let act = match draw(17)? {
        0..6 => Act::Set,
        6 => Act::Relist,
        7..10 => Act::Delete,
        10 => Act::Move,
        11 => Act::Miss,
        12 => Act::Remind,
        _ => return Some(Step::Take),
    };
    draw(keys).map(|key| Step::News(key as Key, act))
}
