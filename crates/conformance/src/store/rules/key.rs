//! Keys: what client-go takes for a key, and we do not.

use std::collections::BTreeSet;

use super::observed::{Observed, each_step, head_of, key_of};
use crate::scenario::Scenario;
use crate::trace::Trace;

/// Whether client-go makes a key of this that we refuse. `of_cluster`: it is all name.
type Refused = fn(key: &str, of_cluster: bool) -> bool;

/// D-07: client-go stores an object without a name, as `ns/`, and splits such a key.
pub(super) fn nameless_is_refused(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    refuse(scenario, trace, |key, of_cluster| {
        key.is_empty() || key.ends_with('/') && !of_cluster
    })
}

/// D-40: client-go takes any text for a key, so that one object may have two, and two have one.
pub(super) fn slashes_are_refused(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    refuse(scenario, trace, |key, of_cluster| {
        let slashes = key.matches('/').count();
        slashes > 1 || slashes == 1 && of_cluster
    })
}

/// What is refused changes nothing, and is nowhere to be found.
fn refuse(scenario: &Scenario, trace: Trace, refused: Refused) -> Trace {
    let mut ghosts: BTreeSet<String> = BTreeSet::new();
    let (mut store, mut version) = ("store".to_owned(), "version none".to_owned());
    each_step(scenario, trace, |observed| {
        let bad: Vec<(usize, String)> = observed
            .objects()
            .into_iter()
            .filter(|(_, word)| *word != "keyless" && refused(key_of(word), is_all_name(word)))
            .map(|(position, word)| (position, head_of(word).to_owned()))
            .collect();
        if bad.is_empty() {
            key_itself(observed, refused);
        } else if observed.step.verb == "transaction" {
            let positions = bad.iter().map(|(position, _)| format!(" {position}"));
            let error = format!("error key{}", positions.collect::<String>());
            observed.lines.insert(0, error);
        } else {
            observed.lines = vec!["error key".to_owned(), store.clone(), version.clone()];
        }
        ghosts.extend(bad.into_iter().map(|(_, word)| word));
        observed.replace_words(|word| (!ghosts.contains(head_of(word))).then(|| word.to_owned()));
        for (head, kept) in [("store", &mut store), ("version", &mut version)] {
            if let Some(line) = observed.line(head) {
                line.clone_into(kept);
            }
        }
    })
}

fn is_all_name(word: &str) -> bool {
    word.ends_with("+cluster")
}

/// Steps that are about a key alone. In a text a slash at the beginning is a second spelling.
fn key_itself(observed: &mut Observed<'_>, refused: Refused) {
    let word = observed.step.args.first().map_or("", String::as_str);
    let key = if word == "\"\"" { "" } else { key_of(word) };
    let second_spelling = key.len() > 1 && key.starts_with('/');
    let is_text = observed.step.verb == "split" || word.starts_with("key:");
    let is_bad = match observed.step.verb.as_str() {
        "split" | "key-of" if word != "keyless" => {
            // Of the two rules, the one about slashes answers for second spellings.
            refused(key, is_all_name(word)) || is_text && second_spelling && refused("a//b", false)
        }
        _ => false,
    };
    if is_bad {
        observed.lines = vec!["error key".to_owned()];
    }
}
