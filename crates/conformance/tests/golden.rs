//! Every stored scenario against client-go's stored trace, and the documents against both. No Go.

use std::collections::BTreeMap;

use informer_conformance::documents::check_documents;
use informer_conformance::files::{self, Golden};
use informer_conformance::{Level, Scenario, Trace, check_stored, compare};

#[test]
fn every_stored_scenario_ends_as_client_go_says() {
    let stored = check_stored().expect("the files are readable");
    assert!(stored.findings.is_empty(), "{}", stored.findings.join("\n"));
    let documents = check_documents(&stored).expect("the documents are readable");
    assert!(documents.is_empty(), "{}", documents.join("\n"));
}

/// Of each file one trace, and of that every line: changed, dropped, and there twice.
#[test]
fn a_golden_trace_cannot_be_altered_unnoticed() {
    let mut alterations = 0;
    let mut seen: BTreeMap<Level, (usize, usize)> = BTreeMap::new();
    for (number, file) in files::stored().expect("readable").into_iter().enumerate() {
        let golden = files::read_golden(&file).expect("readable");
        let variants: Vec<_> = file.scenarios.iter().flat_map(Scenario::variants).collect();
        let variant = &variants[number * 7 % variants.len()];
        let runs = file.level.run(variant).expect("well formed");
        for altered in alterations_of(&golden[&variant.name]) {
            alterations += 1;
            let verdict = compare(file.level, variant, &altered, &runs);
            let (all, found) = seen.entry(file.level).or_default();
            *all += 1;
            *found += usize::from(!verdict.differences.is_empty());
            assert!(
                is_refused(&golden, &variant.name, &altered),
                "{}",
                variant.name
            );
        }
    }
    assert!(alterations > 100, "a sample worth the name");
    // A rule may drop a line whatever it says; that is rare, and then the digest tells.
    for (level, (all, found)) in seen {
        assert!(found * 2 > all, "{level}: {found} of {all}");
    }
}

fn alterations_of(trace: &Trace) -> Vec<Trace> {
    let lines = trace.lines();
    let mut altered = Vec::new();
    // A heading is the scenario's; whether it is altered says nothing about rules.
    for at in (0..lines.len()).filter(|&at| !lines[at].starts_with("> ")) {
        let mut changed = lines.to_vec();
        changed[at].push('0');
        let mut dropped = lines.to_vec();
        dropped.remove(at);
        let mut doubled = lines.to_vec();
        doubled.insert(at, lines[at].clone());
        altered.extend([changed, dropped, doubled].map(Trace::new));
    }
    altered
}

/// Whether a file in which `altered` stands for the trace, under the old digest, is refused.
fn is_refused(golden: &Golden, name: &str, altered: &Trace) -> bool {
    let one: Golden = BTreeMap::from([(name.to_owned(), golden[name].clone())]);
    let text = files::render_golden(&one);
    let heading = text.lines().next().unwrap_or_default();
    files::parse_golden(&format!("{heading}\n{altered}")).is_err()
}
