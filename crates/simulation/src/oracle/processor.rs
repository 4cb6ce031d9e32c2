//! What each handler is told (PR): in turn, by the grammar, without gap or repetition.
//!
//! RB is judged by its effects: a growing ring by PR-7 and PR-9, a coalescing one by the grammar
//! and by X. PR-14 is STX-8's order, seen by one reference handler.

use std::collections::BTreeMap;

use informer_factory::Cause;

use super::Findings;
use crate::{
    evidence::{Evidence, Listened},
    listener::{Told, What},
    object::Sighting,
};

pub(super) fn judge(evidence: &Evidence, findings: &mut Findings) {
    for listener in &evidence.listeners {
        serial(evidence, listener, findings);
        grammar(evidence, &listener.told, findings);
        initial(listener, findings);
        first_list(evidence, listener, findings);
    }
    isolation(evidence, findings);
}

/// PR-1, PR-10, PR-11, PR-12.
fn serial(evidence: &Evidence, listener: &Listened, findings: &mut Findings) {
    let overlaps = listener.overlaps;
    let joined = listener.joined;
    findings.check("PR-1", joined, overlaps == 0, || {
        format!("{overlaps} callbacks overlapped")
    });
    let resync = listener.told.iter().find(|told| told.is_resync());
    let allowed = listener.has_resync && evidence.plan.informer.default_resync.is_some();
    if let Some(told) = resync.filter(|_| !allowed && !listener.has_resync) {
        findings.check("PR-10", told.at, false, || {
            format!("a resync nobody asked for: {told:?}")
        });
    }
    if let Some(left) = listener.left {
        let late = listener.told.get(left.told);
        findings.check("PR-11", left.at, late.is_none(), || {
            format!(
                "removed after {} notifications, then told {late:?}",
                left.told
            )
        });
    }
    let (planned, counted) = (listener.panics_planned, listener.panics_counted);
    findings.check("PR-12", joined, planned == counted, || {
        format!("{planned} panics, of which {counted} were counted")
    });
}

/// PR-2, PR-3, PR-4, PR-5, PR-13.
pub(super) fn grammar(evidence: &Evidence, all: &[Told], findings: &mut Findings) {
    let mut known: BTreeMap<&str, &Sighting> = BTreeMap::new();
    for told in all {
        let before = known.get(told.key.as_str()).copied();
        let fits = matches!(told.what, What::Added { .. }) == before.is_none();
        findings.check("PR-2", told.at, fits, || {
            format!("knows {before:?} and is told {told:?}")
        });
        match &told.what {
            What::Added { .. } => {}
            What::Updated { old, new, cause } => {
                continuity(before, old, told, findings);
                findings.check("PR-4", told.at, old.uid() == new.uid(), || {
                    format!("{told:?}")
                });
                let newer = new.version() >= old.version() || evidence.may_go_back(told.at);
                findings.check("PR-5", told.at, newer, || format!("{told:?}"));
                // After a rewind a version may be another content, so the list is told of.
                let changed =
                    *cause == Cause::Resync || !old.is_same(new) || evidence.may_go_back(told.at);
                findings.check("PR-1", told.at, changed, || format!("told twice: {told:?}"));
            }
            What::Deleted { last: None, .. } => {
                findings.check("PR-3", told.at, false, || {
                    format!("knows {before:?}, and nothing is left of it: {told:?}")
                });
            }
            What::Deleted {
                last: Some(last),
                is_known: false,
            } => continuity(before, last, told, findings),
            What::Deleted {
                last: Some(last), ..
            } => {
                let same = before.is_none_or(|before| before.uid() == last.uid());
                findings.check("PR-13", told.at, same, || {
                    format!("knows {before:?}, and is told that another ended: {told:?}")
                });
            }
        }
        match told.state() {
            Some(new) => known.insert(told.key.as_str(), new),
            None => known.remove(told.key.as_str()),
        };
    }
}

fn continuity(before: Option<&Sighting>, old: &Sighting, told: &Told, findings: &mut Findings) {
    let same = before.is_none_or(|before| before.is_same(old));
    findings.check("PR-3", told.at, same, || {
        format!("knows {before:?}, is told {told:?}")
    });
}

/// PR-7, PR-8: who joins is told of each object that is there, once, as initial, and first.
fn initial(listener: &Listened, findings: &mut Findings) {
    let flagged = |told: &&Told| matches!(told.what, What::Added { initial: true, .. });
    let first_news = listener
        .told
        .iter()
        .position(|told| !flagged(&told) && !told.is_resync());
    let late = first_news.and_then(|first| listener.told[first..].iter().find(flagged));
    if listener.plan.coalesces {
        return;
    }
    // Where there are several sources, the first list of one may come after news of another.
    let in_front = late.is_none() || listener.is_early;
    findings.check("PR-8", listener.joined, in_front, || {
        format!("an initial one is late: {late:?}")
    });
    // Whoever left may have done so before it was told.
    if listener.left.is_some() {
        return;
    }
    let initial = listener.told.iter().filter(|told| !told.is_resync());
    let initial = initial.take(listener.present.len()).filter(flagged);
    let mut told: Vec<_> = initial.collect();
    told.sort_by(|a, b| a.key.cmp(&b.key));
    let same = told.len() == listener.present.len()
        && told
            .iter()
            .zip(&listener.present)
            .all(|(told, (key, present))| {
                told.key == *key && told.state().is_some_and(|new| new.is_same(present))
            });
    findings.check("PR-7", listener.joined, same, || {
        format!("there was {:?}, told was {told:?}", listener.present)
    });
}

/// PR-8: what was there before the start came with the first list, and is initial for whoever was
/// there as well.
fn first_list(evidence: &Evidence, listener: &Listened, findings: &mut Findings) {
    if !listener.is_early || listener.plan.coalesces || !evidence.is_honest() {
        return;
    }
    let written = evidence.plan.initial.len() as u64;
    for told in &listener.told {
        if let What::Added {
            new,
            initial: false,
        } = &told.what
        {
            let is_news = new.serial() > written;
            findings.check("PR-8", told.at, is_news, || {
                format!("was there before the start: {told:?}")
            });
        }
    }
}

/// PR-7, PR-9, PR-14, RB-1: whatever others do, everybody who takes everything is told the same;
/// who joined late, the end of it.
fn isolation(evidence: &Evidence, findings: &mut Findings) {
    let Some(reference) = evidence.listeners.first() else {
        return;
    };
    let all: Vec<&Told> = reference
        .told
        .iter()
        .filter(|told| !told.is_resync())
        .collect();
    for listener in evidence.listeners.iter().skip(1) {
        if listener.plan.coalesces || listener.left.is_some() || listener.depth > 0 {
            continue;
        }
        // What was there it is told first; where there are several sources, the first list of one
        // may be news to whoever joined after that of another.
        let news = listener.told.iter().filter(|told| !told.is_resync());
        let news: Vec<&Told> = news.skip(listener.present.len()).collect();
        let from = all.len().checked_sub(news.len());
        let differs = from.map(|from| {
            all[from..]
                .iter()
                .zip(&news)
                .find(|(a, b)| !is_same_news(a, b))
        });
        let complete = !listener.is_early || listener.joined > reference.joined || from == Some(0);
        let same = complete && differs.as_ref().is_some_and(Option::is_none);
        findings.check("PR-9", listener.joined, same, || {
            let counts = (all.len(), news.len());
            format!(
                "{:?} was told otherwise: {counts:?} {differs:?}",
                listener.plan
            )
        });
    }
}

fn is_same_news(a: &Told, b: &Told) -> bool {
    let same = |a: Option<&Sighting>, b: Option<&Sighting>| match (a, b) {
        (Some(a), Some(b)) => a.is_same(b),
        (None, None) => true,
        _ => false,
    };
    a.key == b.key && same(a.state(), b.state())
}
