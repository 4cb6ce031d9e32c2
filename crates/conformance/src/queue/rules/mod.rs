//! What our queues do differently, as functions of client-go's trace. Their order matters: first
//! what single changes are, then which of them are there, then who is taken with whom, and how
//! often.

mod batch;
#[cfg(test)]
mod checks;
mod closed;
mod group;
mod latch;
mod line;
mod overtaken;
mod repeat;
mod replaced;
mod tombstone;
mod transform;
mod twice;

use crate::rules::Rule;
use crate::trace::Trace;

/// The rules of this level.
pub const RULES: &[Rule] = &[
    Rule {
        row: "D-60",
        name: "a tombstone that knows nothing does not replace one that does",
        apply: tombstone::keep_the_better_informed,
    },
    Rule {
        row: "D-61",
        name: "what a list brings is Replaced",
        apply: replaced::always_replaced,
    },
    Rule {
        row: "D-12",
        name: "a closed queue refuses",
        apply: closed::refuse,
    },
    Rule {
        row: "D-32",
        name: "what cannot be transformed is left out, the rest goes on",
        apply: transform::leave_out,
    },
    Rule {
        row: "D-63",
        name: "synced after the first list, not before",
        apply: overtaken::wait_for_the_list,
    },
    Rule {
        row: "D-06",
        name: "of a key listed twice the last counts",
        apply: twice::keep_the_last,
    },
    Rule {
        row: "D-14",
        name: "the keys of a relist move up to the first of them",
        apply: group::take_together,
    },
    Rule {
        row: "D-13",
        name: "what fails is taken five times, at last alone, and given up",
        apply: repeat::try_again,
    },
    Rule {
        row: "D-11",
        name: "synced after the last initial item, not before",
        apply: latch::after_processing,
    },
    Rule {
        row: "D-62",
        name: "a bookmark is not taken and ends no batch",
        apply: batch::without_bookmarks,
    },
];

/// Changes what stands under each step; `change` gets the step and the lines.
fn step_by_step(
    trace: Trace,
    mut change: impl FnMut(&[&str], Vec<String>) -> Vec<String>,
) -> Trace {
    let mut changed = Vec::new();
    let mut lines = trace.into_lines().into_iter().peekable();
    while let Some(step) = lines.next() {
        let below = std::iter::from_fn(|| lines.next_if(|line| !line.starts_with("> ")));
        let below = below.collect();
        let words: Vec<&str> = step.split(' ').skip(1).collect();
        let below = change(&words, below);
        changed.push(step);
        changed.extend(below);
    }
    Trace::new(changed)
}
