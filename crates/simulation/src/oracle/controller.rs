//! The controller: what it processes is told by the same grammar, in the order in which it was
//! written, and adds up to its store, which ends as what the server holds (FQ-2, FQ-3, FM-48).

use std::collections::BTreeMap;

use super::{Findings, processor, queue};
use crate::{controlling::NAMESPACE, evidence::Evidence, object::Sighting};

pub(super) fn judge(evidence: &Evidence, findings: &mut Findings) {
    let Some(controlled) = &evidence.controlled else {
        return;
    };
    processor::grammar(evidence, &controlled.told, findings);
    queue::in_order(evidence, &controlled.told, findings);
    let mut known: BTreeMap<&str, &Sighting> = BTreeMap::new();
    for told in &controlled.told {
        match told.state() {
            Some(new) => known.insert(told.key.as_str(), new),
            None => known.remove(told.key.as_str()),
        };
    }
    let end = evidence.end();
    let held = &controlled.held;
    let adds_up = known.len() == held.len()
        && held.iter().all(|(key, held)| {
            let known = known.get(key.as_str());
            known.is_some_and(|known| known.is_same(held))
        });
    findings.check("FQ-3", end, adds_up, || {
        format!("the controller processed {known:?}, its store holds {held:?}")
    });
    let all = &evidence.ending.everything;
    let wanted = all.iter().filter(|(key, ..)| is_followed(key));
    let wanted: Vec<_> = wanted
        .map(|(key, uid, ..)| (key.as_str(), uid.as_str()))
        .collect();
    let found = held.iter().map(|(key, held)| (key.as_str(), held.uid()));
    findings.check("FM-48", end, found.eq(wanted.iter().copied()), || {
        format!("the server has {wanted:?}, the controller's store {held:?}")
    });
    findings.check("FM-82", end, controlled.is_ended, || {
        "the controller panicked".to_owned()
    });
}

fn is_followed(key: &str) -> bool {
    key.split('/').next() == Some(NAMESPACE)
}
