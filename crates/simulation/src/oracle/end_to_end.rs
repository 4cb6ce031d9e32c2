//! End to end (X), and the master oracle: what each handler is told is a legal compression of the
//! history from where it joined, and adds up to the store, which is what the server holds.

use std::collections::BTreeMap;

use super::Findings;
use crate::{
    FaultKind,
    evidence::{Evidence, Listened},
    listener::What,
    object::Sighting,
    truth::Written,
};

pub(super) fn judge(evidence: &Evidence, findings: &mut Findings) {
    for listener in &evidence.listeners {
        legal(evidence, listener, findings);
        fold(evidence, listener, findings);
        if is_without_gaps(evidence) && !listener.plan.coalesces && listener.left.is_none() {
            reliable(evidence, listener, findings);
        }
    }
    same_end(evidence, findings);
}

fn is_selected(evidence: &Evidence, written: &Written) -> bool {
    let namespace = written.key.split('/').next().unwrap_or_default();
    evidence
        .plan
        .informer
        .scope
        .selects(namespace, &written.tier)
}

/// X-1, and the first half of the master oracle: every object told of is one that was written.
fn legal(evidence: &Evidence, listener: &Listened, findings: &mut Findings) {
    let forged = evidence.has_met(FaultKind::forges_versions);
    for told in &listener.told {
        if let What::Deleted {
            last: Some(last), ..
        } = &told.what
        {
            // The version is that of the deletion, or of leaving the selection.
            let written = evidence.truth.write(last.serial());
            let known = written.is_some_and(|written| written.uid == last.uid());
            findings.check("X-8", told.at, known, || format!("nobody wrote {told:?}"));
        }
        let Some(new) = told.state() else {
            continue;
        };
        let written = evidence.truth.write(new.serial());
        let known = match forged {
            true => written.is_some_and(|written| written.uid == new.uid()),
            false => evidence.truth.knows(new, false),
        };
        findings.check("X-8", told.at, known, || format!("nobody wrote {told:?}"));
        let wanted = written.is_none_or(|written| is_selected(evidence, written));
        findings.check("X-1", told.at, wanted, || format!("not selected: {told:?}"));
    }
}

/// PR-6: what was told adds up to the store.
fn fold(evidence: &Evidence, listener: &Listened, findings: &mut Findings) {
    let Some(last) = evidence.samples.last() else {
        return;
    };
    if listener.left.is_some() || listener.depth > 0 {
        return;
    }
    let mut known: BTreeMap<&str, &Sighting> = BTreeMap::new();
    for told in &listener.told {
        match told.state() {
            Some(new) => known.insert(told.key.as_str(), new),
            None => known.remove(told.key.as_str()),
        };
    }
    let same = known.len() == last.held.len()
        && last.held.iter().all(|(key, held)| {
            known
                .get(key.as_str())
                .is_some_and(|known| known.is_same(held))
        });
    findings.check("PR-6", last.at, same, || {
        format!(
            "{:?} knows {known:?}, the store holds {:?}",
            listener.plan, last.held
        )
    });
}

/// Whether one list was followed by an unbroken history.
fn is_without_gaps(evidence: &Evidence) -> bool {
    let lists = evidence.samples.last().map(|sample| &sample.lists);
    evidence.is_honest() && lists.is_some_and(|lists| lists.iter().all(|lists| *lists == 1))
}

/// without a gap nothing is left out, whatever broke meanwhile.
fn reliable(evidence: &Evidence, listener: &Listened, findings: &mut Findings) {
    let mut told: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for one in listener.told.iter().filter(|told| !told.is_resync()) {
        if let Some(new) = one.state() {
            told.entry(one.key.as_str()).or_default().push(new.serial());
        }
    }
    for (key, told) in told {
        let writes = evidence.truth.writes.iter();
        let mut wanted: Vec<u64> = writes
            .filter(|one| one.key == key && !one.is_deletion && is_selected(evidence, one))
            .map(|one| one.serial)
            .collect();
        let first = wanted
            .iter()
            .position(|serial| Some(serial) == told.first());
        wanted.drain(..first.unwrap_or(0));
        findings.check("X-8", listener.joined, wanted == told, || {
            format!("{key} was written by {wanted:?}, and told of were {told:?}")
        });
    }
}

/// SYS-1: the store is what the server holds, but for what is refused.
fn same_end(evidence: &Evidence, findings: &mut Findings) {
    let Some(last) = evidence.samples.last() else {
        return;
    };
    let refused = evidence.plan.informer.refuses_multiples;
    let is_refused = |serial: u64| refused.is_some_and(|by| serial.is_multiple_of(by));
    let held: BTreeMap<&str, &Sighting> = last
        .held
        .iter()
        .map(|(key, held)| (key.as_str(), held))
        .collect();
    for (key, uid, version, serial) in &evidence.ending.server {
        let found = held.get(key.as_str());
        let same = found.is_some_and(|held| held.uid() == uid && held.version() == *version);
        findings.check("X", last.at, same || is_refused(*serial), || {
            format!("the server has {uid}@{version}#{serial}, the store {found:?}")
        });
    }
    for (key, seen) in held {
        let there = evidence.ending.server.iter().any(|(one, ..)| one == key);
        findings.check("X", last.at, there, || {
            format!("{key} is gone, the store has {seen:?}")
        });
    }
}
