//! Index functions that fail.

use std::collections::{BTreeMap, BTreeSet};

use super::observed::{Observed, each_step, head_of, key_of, version_of};
use crate::scenario::Scenario;
use crate::trace::Trace;

/// What client-go holds although its index function failed, and what we hold instead.
#[derive(Default)]
struct Ghosts {
    objects: BTreeMap<String, Option<String>>,
    indexes: BTreeSet<String>,
}

/// D-42: client-go stores the object and then panics, so that readers find it in the list and not
/// in the index; and since the function is asked about the old object too, the next change of the
/// key panics as well, and a deletion always does (IX-05). Ours is as it was before.
pub(super) fn writes_that_panic_never_were(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    let mut ghosts = Ghosts::default();
    let mut store = "store".to_owned();
    each_step(scenario, trace, |observed| {
        let is_bad = |word: &str| word.split('+').any(|attribute| attribute == "data=bad");
        let bad: Vec<String> = observed
            .objects()
            .into_iter()
            .filter(|(_, word)| is_bad(word))
            .map(|(_, word)| head_of(word).to_owned())
            .collect();
        if observed.panicked() && observed.step.verb == "add-index" {
            ghosts.indexes.extend(observed.step.args.first().cloned());
        } else if observed.panicked() && !bad.is_empty() {
            observed.set("store", &store);
            for word in bad {
                let held = store.split(' ').find(|held| key_of(held) == key_of(&word));
                ghosts.objects.insert(word.clone(), held.map(str::to_owned));
            }
        } else if observed.panicked() {
            poisoned(observed, &mut ghosts);
        } else if observed.step.verb == "replace" {
            ghosts.objects.clear();
        }
        observed.replace_words(|word| match ghosts.objects.get(head_of(word)) {
            Some(held) => held.clone(),
            None => Some(word.to_owned()),
        });
        for line in &mut observed.lines {
            if let Some(names) = line.strip_prefix("indexes ") {
                let kept = names
                    .split(' ')
                    .filter(|name| !ghosts.indexes.contains(*name));
                *line = kept.fold("indexes".to_owned(), |line, name| format!("{line} {name}"));
            }
        }
        if let Some(line) = observed.line("store") {
            line.clone_into(&mut store);
        }
    })
}

/// A step that has nothing bad in it fails because of what its key holds. With us it goes well.
fn poisoned(observed: &mut Observed<'_>, ghosts: &mut Ghosts) {
    let words: Vec<String> = observed
        .objects()
        .into_iter()
        .map(|(_, word)| word.to_owned())
        .collect();
    observed.lines.retain(|line| line != "panic");
    for word in &words {
        for (ghost, held) in &mut ghosts.objects {
            if key_of(ghost) == key_of(word) {
                *held = None;
            }
        }
    }
    if let Some(version) = words.iter().rev().find_map(|word| version_of(word)) {
        observed.set("version", &format!("version {version}"));
    }
}
