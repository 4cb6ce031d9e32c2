//! The store (STX): its index, its keys, its versions, and that it is the server's state.
//!
//! STX-3 and STX-4 are judged as STX-8: a replace or a read halfway would be a state the server
//! never had, and somebody looks in the middle of commits. STX-5 is the borrow checker's; STX-9 and
//! STX-10 are proved in the crate.

use std::{collections::BTreeMap, sync::Arc};

use informer_factory::QueueKind;

use super::Findings;
use crate::{
    evidence::{Evidence, Sample},
    object::Held,
    truth::{History, Written},
};

pub(super) fn judge(evidence: &Evidence, findings: &mut Findings) {
    let mut before: &[Held] = &[];
    let is_honest = evidence.is_honest();
    let mut history = history(evidence);
    for sample in &evidence.samples {
        index(sample, findings);
        keys(sample, findings);
        if !evidence.may_go_back(sample.at) {
            versions(before, sample, findings);
        }
        if is_honest && sample.is_synced {
            state(evidence, sample, &mut history, findings);
        }
        before = &sample.held;
    }
    if is_honest {
        glimpses(evidence, findings);
    }
}

/// What the server had of what is selected.
fn history(evidence: &Evidence) -> History<'_, impl Fn(&Written) -> bool> {
    let scope = evidence.plan.informer.scope;
    evidence.truth.history(move |written| {
        let namespace = written.key.split('/').next().unwrap_or_default();
        scope.selects(namespace, &written.tier)
    })
}

/// STX-4, STX-8, FM-13, FM-74: whoever looks while a commit is made sees the state before it.
fn glimpses(evidence: &Evidence, findings: &mut Findings) {
    let mut history = history(evidence);
    for glimpse in &evidence.glimpses {
        let state = history.at(glimpse.applied);
        let held = glimpse.held.iter();
        let same = held
            .map(|(key, serial)| (key.as_str(), serial))
            .eq(state.iter().map(|(key, serial)| (*key, serial)));
        findings.check("STX-4", glimpse.at, same, || {
            let (applied, held) = (glimpse.applied, &glimpse.held);
            format!("at {applied} the server has {state:?}, a reader saw {held:?}")
        });
    }
}

/// STX-1, STX-2: the index, computed from scratch, is the index.
fn index(sample: &Sample, findings: &mut Findings) {
    let Some(index) = &sample.index else {
        return;
    };
    let mut wanted: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (key, seen) in &sample.held {
        if let Some(value) = seen.group() {
            wanted.entry(value).or_default().push(key.to_string());
        }
    }
    wanted.values_mut().for_each(|keys| keys.sort_unstable());
    let same = wanted.len() == index.len()
        && wanted
            .iter()
            .zip(index)
            .all(|((a, left), (b, right))| **a == **b && left == right);
    findings.check("STX-1", sample.at, same, || {
        format!("wanted {wanted:?}, is {index:?}")
    });
    let empty = |(_, keys): &(Arc<str>, Vec<String>)| keys.is_empty();
    findings.check("STX-2", sample.at, !index.iter().any(empty), || {
        format!("{index:?}")
    });
}

/// STX-6: each object is where its own words say.
fn keys(sample: &Sample, findings: &mut Findings) {
    for (key, seen) in &sample.held {
        let good = !key.name().is_empty() && seen.key() == key.as_str();
        findings.check("STX-6", sample.at, good, || {
            format!("{key} holds {}", seen.key())
        });
    }
}

/// STX-7: no object gets older.
fn versions(before: &[Held], sample: &Sample, findings: &mut Findings) {
    let before: BTreeMap<_, _> = before.iter().map(|(key, seen)| (key, seen)).collect();
    for (key, now) in &sample.held {
        let older = before
            .get(key)
            .filter(|then| then.uid() == now.uid() && then.version() > now.version());
        findings.check("STX-7", sample.at, older.is_none(), || {
            format!("{key} went from {older:?} to {now:?}")
        });
    }
}

/// STX-8, X-5, X-6: the store is the server's state at the version it says; where changes wait by
/// key, single objects may be ahead of it.
fn state(
    evidence: &Evidence,
    sample: &Sample,
    history: &mut History<'_, impl Fn(&Written) -> bool>,
    findings: &mut Findings,
) {
    let Some(applied) = sample.applied else {
        return;
    };
    let wanted = history.at(applied);
    let held: BTreeMap<&str, u64> = sample
        .held
        .iter()
        .map(|(key, seen)| (key.as_str(), seen.serial()))
        .collect();
    if evidence.plan.informer.queue == QueueKind::InOrder {
        findings.check("STX-8", sample.at, held == *wanted, || {
            format!("at {applied} the server has {wanted:?}, the store {held:?}")
        });
        return;
    }
    let changed_later = |key: &str| {
        let writes = evidence.truth.writes.iter();
        let mut later = writes.rev().take_while(|one| one.version > applied);
        later.any(|one| one.key == key)
    };
    let keys = held.keys().chain(wanted.keys());
    let mut wrong = keys.filter(|key| held.get(*key) != wanted.get(*key));
    let wrong = wrong.find(|key| {
        let is_older = held.get(*key) < wanted.get(*key) && held.contains_key(*key);
        is_older || !changed_later(key)
    });
    findings.check("STX-8", sample.at, wrong.is_none(), || {
        format!("at {applied}, {wrong:?}: the server has {wanted:?}, the store {held:?}")
    });
}
