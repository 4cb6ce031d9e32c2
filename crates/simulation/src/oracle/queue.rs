//! The queue (FQ), as far as handlers and status show it.
//!
//! FQ-3 (nothing is lost) is judged at the end of the run, as X. What is inside the queue, FQ-1,
//! FQ-4 to FQ-6, FQ-8, FQ-10, FQ-11, FQ-13, is proved in the crate.

use std::collections::BTreeMap;

use super::Findings;
use crate::{
    evidence::Evidence,
    listener::{Told, What},
};

pub(super) fn judge(evidence: &Evidence, findings: &mut Findings) {
    synced(evidence, findings);
    transformed(evidence, findings);
    for listener in &evidence.listeners {
        in_order(evidence, &listener.told, findings);
    }
}

/// FQ-2, FQ-7: by key, in the order in which it was written.
pub(super) fn in_order(evidence: &Evidence, all: &[Told], findings: &mut Findings) {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for told in all {
        if let What::Updated { old, new, .. } = &told.what
            && told.is_resync()
        {
            findings.check("FQ-7", told.at, old.is_same(new), || {
                format!("a resync of {} changed {old:?} into {new:?}", told.key)
            });
        }
        let Some(new) = told.state() else {
            continue;
        };
        let place = evidence.truth.place(new.serial()).unwrap_or(usize::MAX);
        let before = places.insert(told.key.as_str(), place);
        let in_order = before.is_none_or(|before| before <= place);
        let holds = in_order || evidence.may_go_back(told.at);
        findings.check("FQ-2", told.at, holds, || {
            format!("{} was told of write {before:?} before {place}", told.key)
        });
    }
}

/// FQ-12, FM-57: what is stored went through the transform, once.
fn transformed(evidence: &Evidence, findings: &mut Findings) {
    let wanted = usize::from(evidence.plan.informer.refuses_multiples.is_some());
    for sample in &evidence.samples {
        let wrong = sample.held.iter();
        let wrong = wrong
            .map(|(_, seen)| seen)
            .find(|seen| seen.transformed() != wanted);
        findings.check("FQ-12", sample.at, wrong.is_none(), || {
            format!(
                "transformed {} times: {wrong:?}",
                wrong.map_or(0, |wrong| wrong.transformed())
            )
        });
    }
}

/// FQ-9: synced when the first list of every source was processed, and for ever.
fn synced(evidence: &Evidence, findings: &mut Findings) {
    let mut was_synced = false;
    for sample in &evidence.samples {
        findings.check("FQ-9", sample.at, sample.is_synced || !was_synced, || {
            "it was synced before".to_owned()
        });
        let listed = sample.lists.iter().all(|lists| *lists > 0);
        let sources = evidence.plan.informer.scope.sources();
        let complete = listed && sample.lists.len() == sources;
        findings.check("FQ-9", sample.at, complete || !sample.is_synced, || {
            format!("synced, with {:?} lists", sample.lists)
        });
        was_synced |= sample.is_synced;
    }
}
