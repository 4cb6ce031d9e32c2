//! D-32: an object that cannot be transformed fails client-go's whole call. Whoever brought it
//! brings the rest again, with what is known in the place of what failed.

use super::line::{Taken, each_taken, kind_of};
use super::step_by_step;
use crate::scenario::Scenario;
use crate::trace::Trace;

pub(super) fn leave_out(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    let is_delta = scenario.setting("queue").unwrap_or("delta") == "delta";
    step_by_step(trace, |step, lines| {
        let Some(at) = lines.iter().position(|line| line == "error transform") else {
            return lines;
        };
        let verb = step.iter().position(|&word| word == "replace");
        let brought = match verb {
            Some(verb) => &step[verb + 2..],
            None => &step[step.len() - 1..],
        };
        let rejected = brought
            .iter()
            .filter(|word| is_bad(word))
            .map(|word| key_of(word));
        let rejected: Vec<&str> = rejected.collect();
        let mut lines = lines;
        lines[at] = format!("rejected {}", rejected.join(" "));
        if verb.is_none() || !is_delta {
            return lines;
        }
        let after = lines.split_off(at);
        lines.extend(each_taken(after, |taken| brought_once(brought, taken)));
        lines
    })
}

/// Takes out what the first attempt brought before it failed, and what stood for what failed.
fn brought_once(list: &[&str], taken: &mut Taken) {
    let of_key = |words: &[&str], bad: bool| {
        let mine = words.iter().filter(|word| key_of(word) == taken.key);
        mine.filter(|word| is_bad(word) == bad).count()
    };
    let begun = list.iter().take_while(|word| !is_bad(word)).count();
    let first = of_key(&list[..begun], false);
    let again = of_key(list, false);
    let newest_is_listed = taken
        .deltas
        .last()
        .is_some_and(|last| kind_of(last) == "Replaced");
    if again == 0 && of_key(list, true) > 0 && newest_is_listed {
        taken.deltas.pop();
    }
    let end = taken.deltas.len().saturating_sub(again);
    let begin = end.saturating_sub(first);
    taken.deltas.drain(begin..end);
}

fn is_bad(word: &str) -> bool {
    word.ends_with('!')
}

fn key_of(word: &str) -> &str {
    word.split('@').next().unwrap_or_default()
}
