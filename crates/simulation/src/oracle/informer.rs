//! Informer and factory (IN, FAX), and how they end (D1).
//!
//! IN-6 and FAX-1 to FAX-4 are tests of the facade; FAX-6 needs several informers that fail.

use std::time::Duration;

use informer_factory::InformerState;

use super::Findings;
use crate::{
    evidence::{Evidence, Listened, Sample},
    listener::What,
    object::Held,
};

pub(super) fn judge(evidence: &Evidence, findings: &mut Findings) {
    states(evidence, findings);
    for (index, listener) in evidence.listeners.iter().enumerate() {
        handler_synced(evidence, index, listener, findings);
        visible(evidence, listener, findings);
    }
    quarantine(evidence, findings);
    unusable(evidence, findings);
    ending(evidence, findings);
}

/// IN-4: states come in their order, and synced is a fact.
fn states(evidence: &Evidence, findings: &mut Findings) {
    let rank = |sample: &Sample| match sample.state {
        InformerState::Created => 0,
        InformerState::Starting => 1,
        InformerState::Synced | InformerState::Degraded => 2,
        InformerState::RuntimeGone => 3,
        InformerState::Stopping => 4,
        InformerState::Stopped => 5,
        other => panic!("{other:?} has no rank"),
    };
    let mut before = 0;
    for sample in &evidence.samples {
        let now = rank(sample);
        let holds = now >= before && (now == 2) == sample.is_synced;
        findings.check("IN-4", sample.at, holds, || format!("{:?}", sample.state));
        let good = sample.state == InformerState::Synced;
        let troubled = sample.is_failing || sample.quarantined > 0;
        findings.check("IN-4", sample.at, !(good && troubled), || {
            "synced, although something fails".to_owned()
        });
        before = now;
    }
}

/// IN-2: a handler is synced after the informer, after all its initial objects, and for ever.
fn handler_synced(evidence: &Evidence, index: usize, listener: &Listened, findings: &mut Findings) {
    let mut was_synced = false;
    for sample in &evidence.samples {
        let Some((synced, told)) = sample.listeners.get(index).copied() else {
            continue;
        };
        findings.check("IN-2", sample.at, synced || !was_synced, || {
            "no longer synced".into()
        });
        findings.check("IN-2", sample.at, sample.is_synced || !synced, || {
            "synced before the informer".to_owned()
        });
        if synced && !was_synced {
            let late = listener
                .told
                .iter()
                .skip(told)
                .find(|told| matches!(told.what, What::Added { initial: true, .. }));
            findings.check("IN-2", sample.at, late.is_none(), || {
                format!("synced before {late:?}")
            });
        }
        was_synced |= synced;
    }
    let is_done = listener.is_synced || listener.left.is_some() || listener.depth > 0;
    findings.check("IN-2", evidence.ending.healed, is_done, || {
        format!("{:?} has everything and is not synced", listener.plan)
    });
}

/// IN-3: what a handler is told is in the store already, or was.
fn visible(evidence: &Evidence, listener: &Listened, findings: &mut Findings) {
    for (index, told) in listener.told.iter().enumerate() {
        let (Some(in_store), Some(new)) = (&told.in_store, told.state()) else {
            continue;
        };
        if evidence.may_go_back(told.at) {
            continue;
        }
        let holds = match in_store {
            Some(held) => held.version() >= new.version(),
            None => {
                let mut later = listener.told[index + 1..].iter();
                listener.plan.coalesces
                    || listener.left.is_some()
                    || later.any(|later| later.key == told.key && later.state().is_none())
            }
        };
        findings.check("IN-3", told.at, holds, || format!("{told:?}"));
    }
}

/// IN-7: what is quarantined is there, and cannot be used.
fn quarantine(evidence: &Evidence, findings: &mut Findings) {
    let refused = evidence.plan.informer.refuses_multiples;
    for quarantined in &evidence.ending.quarantined {
        let key = quarantined.key.as_str();
        let found = evidence.ending.server.iter().find(|(one, ..)| one == key);
        let unusable =
            found.is_some_and(|(.., serial)| refused.is_some_and(|by| serial.is_multiple_of(by)));
        findings.check("IN-7", evidence.ending.healed, unusable, || {
            format!("{key} is quarantined at the end, the server has {found:?}")
        });
    }
}

/// IN-7, FM-54: what cannot be used is quarantined, and not passed over in silence.
fn unusable(evidence: &Evidence, findings: &mut Findings) {
    let Some(divisor) = evidence.plan.informer.refuses_multiples else {
        return;
    };
    let ending = &evidence.ending;
    for (key, uid, version, serial) in &ending.server {
        let mut quarantined = ending.quarantined.iter();
        let known = quarantined.any(|quarantined| quarantined.key.as_str() == key);
        let holds = known
            || !serial.is_multiple_of(divisor)
            || is_taken_for_held(evidence, (key, uid, *version));
        findings.check("IN-7", ending.healed, holds, || {
            format!("{key}#{serial} is refused, and not quarantined")
        });
    }
}

/// FM-39: whether the server said this under the uid and version of what is held, and no list has
/// told of a restore since that was written: nobody can tell the two.
fn is_taken_for_held(evidence: &Evidence, identity: (&str, &str, u64)) -> bool {
    let held = evidence.samples.last().map_or(&[][..], |last| &last.held);
    let is_same = |(key, held): &&Held| (key.as_str(), held.uid(), held.version()) == identity;
    let held = held.iter().find(is_same);
    let Some(written) = held.and_then(|(_, held)| evidence.truth.write(held.serial())) else {
        return false;
    };
    let since = evidence.samples.iter();
    let since = since.filter(|sample| sample.at > written.at);
    let applied = since.filter_map(|sample| sample.applied);
    evidence.rewound_at.is_some() && applied.is_sorted()
}

/// IN-5, IN-8, FAX-5, D1.
fn ending(evidence: &Evidence, findings: &mut Findings) {
    let ending = &evidence.ending;
    let end = evidence.end();
    let mut check = |id, holds, what: &dyn Fn() -> String| findings.check(id, end, holds, what);
    check("IN-8", ending.version_error.is_none(), &|| {
        format!("{:?}", ending.version_error)
    });
    check("IN-5", ending.told_after == 0, &|| {
        format!("{} callbacks after", ending.told_after)
    });
    check("IN-5", ending.open_watches == 0, &|| {
        format!("{} watches", ending.open_watches)
    });
    check("IN-5", ending.tasks_left == 0, &|| {
        format!("{} tasks are left", ending.tasks_left)
    });
    check("IN-5", ending.is_store_frozen, &|| {
        "the store changed after the shutdown".into()
    });
    let stopped = ending.state == Some(InformerState::Stopped);
    check("IN-5", stopped, &|| {
        format!("{:?} after the shutdown", ending.state)
    });
    let idle = ending.is_idle;
    let quick = !idle || ending.shutdown <= Duration::from_secs(1);
    check("D1", quick, &|| {
        format!("the shutdown took {:?}", ending.shutdown)
    });
    check("D1", !idle || ending.is_shutdown_complete, &|| {
        "something was left undone".into()
    });
    for released in &evidence.released {
        let took = released.until - released.from;
        let quick = took <= Duration::from_secs(1);
        findings.check("FAX-5", released.from, quick, || {
            format!("the release took {took:?}")
        });
    }
}
