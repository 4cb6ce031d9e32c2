//! D-60: of two tombstones client-go keeps the newer, even if it knows nothing.

use std::collections::{BTreeMap, HashMap};

use super::line::each_taken;
use super::step_by_step;
use crate::scenario::Scenario;
use crate::trace::Trace;

/// Client-go's side says with `forgot <key> <position> <change>` what it lost.
pub(super) fn keep_the_better_informed(_: &Scenario, _: &str, trace: Trace) -> Trace {
    let mut lost: HashMap<String, BTreeMap<usize, String>> = HashMap::new();
    step_by_step(trace, |_, lines| {
        let mut kept = Vec::new();
        for line in lines {
            let words: Vec<&str> = line.split(' ').collect();
            if let ["forgot", key, position, change] = words[..] {
                let position = position.parse().unwrap_or(usize::MAX);
                let lost = lost.entry(key.to_owned()).or_default();
                // What was lost last is what was known last.
                lost.insert(position, change.to_owned());
                continue;
            }
            kept.extend(each_taken(vec![line], |taken| {
                for (position, change) in lost.remove(&taken.key).unwrap_or_default() {
                    if taken
                        .deltas
                        .get(position)
                        .is_some_and(|delta| delta == "Gone")
                    {
                        taken.deltas[position] = change;
                    }
                }
            }));
        }
        kept
    })
}
