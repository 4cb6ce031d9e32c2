//! Indexes and listers.

use std::collections::BTreeSet;

use super::observed::{each_step, key_of};
use crate::scenario::Scenario;
use crate::trace::Trace;

/// D-43: client-go's `AddIndexers` panics where the store was made without a map (IX-12).
pub(super) fn a_missing_map_is_empty(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    if scenario.setting("indexes") != Some("nil") {
        return trace;
    }
    each_step(scenario, trace, |observed| {
        if observed.step.verb == "add-index" {
            observed.lines.retain(|line| line != "panic");
        }
    })
}

/// D-44: client-go answers with no values, as if the index were empty (IX-09).
pub(super) fn unknown_indexes_have_no_values(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    let initial = scenario.setting("indexes").unwrap_or_default().split(',');
    let mut known: BTreeSet<&str> = initial
        .filter_map(|one| Some(one.split_once(':')?.0))
        .collect();
    each_step(scenario, trace, |observed| {
        let name = observed.step.args.first().map_or("", String::as_str);
        match observed.step.verb.as_str() {
            "add-index" if !observed.panicked() => {
                known.insert(name);
            }
            "index-values" if !known.contains(name) => {
                if let Some(line) = observed.line("values").filter(|line| *line == "values") {
                    "error unknown-index".clone_into(line);
                }
            }
            _ => {}
        }
    })
}

/// D-45: client-go looks for `/name`, which no object is stored under (LI-03).
pub(super) fn no_namespace_is_cluster_scope(scenario: &Scenario, _: &str, trace: Trace) -> Trace {
    let mut store = "store".to_owned();
    each_step(scenario, trace, |observed| {
        if let Some(line) = observed.line("store") {
            line.clone_into(&mut store);
        }
        if let ("get-named", [namespace, name]) = (&*observed.step.verb, &*observed.step.args)
            && namespace == "\"\""
            && let Some(found) = store.split(' ').skip(1).find(|word| key_of(word) == name)
            && let Some(line) = observed.line("get").filter(|line| *line == "get none")
        {
            *line = format!("get {found}");
        }
    })
}
