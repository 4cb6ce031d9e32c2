//! The store's version: what moves it.

use super::observed::{each_step, version_of};
use crate::scenario::Scenario;
use crate::trace::Trace;

/// D-41: client-go takes the version of whatever was written last: none of an object without one
/// (IX-13), and none of a transaction that ends in what has none (IX-14). Ours is the version
/// received last.
pub(super) fn only_versions_move_the_version(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    let mut before = "version none".to_owned();
    each_step(scenario, trace, |observed| {
        let objects = observed.objects().into_iter().map(|(_, word)| word);
        let with_key: Vec<&str> = objects.filter(|word| *word != "keyless").collect();
        let received = with_key.iter().rev().find_map(|word| version_of(word));
        let last_has_one = with_key
            .last()
            .is_some_and(|word| version_of(word).is_some());
        let failed = observed.panicked() || observed.lines.iter().any(|line| line == "error key");
        let line = match received {
            _ if failed || observed.step.verb == "resync" => Some(before.clone()),
            _ if !observed.writes() || last_has_one => None,
            Some(version) => Some(format!("version {version}")),
            None => Some(before.clone()),
        };
        if let Some(line) = line {
            observed.set("version", &line);
        }
        if let Some(line) = observed.line("version") {
            line.clone_into(&mut before);
        }
    })
}
