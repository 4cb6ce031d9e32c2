//! The protocol (RFX), from the server's log of requests, with the bounds R1, R2 and R6.
//!
//! R3 needs a thousand informers and is a test of its own. RFX-7, RFX-9, RFX-12, RFX-13 and RFX-17
//! are proved in the crate; RFX-2 is judged as STX-8, RFX-10 as R4.

use std::time::Duration;

use informer_testkit::{RequestRecord, Verb};

use super::Findings;
use crate::{
    controlling::NAMESPACE,
    evidence::Evidence,
    requests::{by_source, most_within, parameter},
};

const SECOND: Duration = Duration::from_secs(1);
/// The faults of a run, and what R1 and R2 allow in that time: 200 lists and 720 requests an hour.
const WINDOW: Duration = Duration::from_secs(600);
/// Back-off begins short, again after every two minutes of health, and an answer that needs no
/// delay is free once in each such spell: five spells, a dozen requests each.
const SPELLS: usize = 60;
const MOST_LISTS: usize = 34 + SPELLS;
const MOST_REQUESTS: usize = 120 + SPELLS;
/// What a first failure may cost at once: a stream, a list, a consistent list, each list read again
/// where it goes back and something was reused, a watch, all that after one more refusal, and the
/// first delays. A number of ours; the specification bounds longer times.
const MOST_AT_ONCE: usize = 12;
/// The longest watch with its margin, then the longest delay (R5, R6, RFX-11).
const LONGEST_GAP: Duration = Duration::from_secs(305 + 60 + 10);

pub(super) fn judge(evidence: &Evidence, findings: &mut Findings) {
    for records in by_source(&evidence.requests) {
        rates(&records, findings);
        resume(&records, findings);
        let first = records.first();
        let namespace = first.and_then(|record| record.line.namespace.as_deref());
        let is_controllers = namespace == Some(NAMESPACE);
        // The controller's own first list may be earlier than the informer's.
        if !is_controllers {
            asked(evidence, &records, findings);
        }
        refusals(&records, findings);
        // The controller ends first.
        let end = match &evidence.controlled {
            Some(controlled) if is_controllers => controlled.until,
            _ => evidence.end(),
        };
        gaps(evidence, &records, end, findings);
    }
    stops(evidence, findings);
}

/// Whether a request fetches the collection, from its beginning.
fn populates(record: &RequestRecord) -> bool {
    match record.line.verb {
        Verb::List => !record.line.is_continuation,
        _ => record.line.wants_initial_events,
    }
}

/// RFX-8, R1, R2.
fn rates(records: &[&RequestRecord], findings: &mut Findings) {
    let whole = records.iter().filter(|record| !record.line.is_continuation);
    let times: Vec<Duration> = whole.clone().map(|record| record.at).collect();
    let lists: Vec<Duration> = whole
        .filter(|record| populates(record))
        .map(|record| record.at)
        .collect();
    let (count, at) = most_within(&lists, WINDOW);
    findings.check("R1", at, count <= MOST_LISTS, || {
        format!("{count} lists in {WINDOW:?}")
    });
    let (count, at) = most_within(&times, WINDOW);
    let holds = count <= MOST_REQUESTS;
    findings.check("R2", at, holds, || {
        format!("{count} requests in {WINDOW:?}")
    });
    let (count, at) = most_within(&times, SECOND);
    let holds = count <= MOST_AT_ONCE;
    findings.check("RFX-8", at, holds, || {
        format!("{count} requests in a second")
    });
}

/// RFX-3, RFX-4, FM-01: watches resume at versions that do not go back, whatever the server says,
/// unless the collection was read consistently in between: only that is believed to be a rewind.
fn resume(records: &[&RequestRecord], findings: &mut Findings) {
    let (mut before, mut is_consistent) = (0, false);
    for record in records {
        if record.line.verb != Verb::Watch || record.line.wants_initial_events {
            is_consistent |= populates(record) && record.line.version.is_empty();
            continue;
        }
        let version: u64 = record.line.version.parse().unwrap_or(0);
        let is_believed = std::mem::take(&mut is_consistent);
        let holds = version >= before || is_believed;
        findings.check("RFX-3", record.at, holds, || {
            format!("a watch from {before}, then one from {version}: {record}")
        });
        findings.check("RFX-4", record.at, version > 0, || {
            format!("a watch from no version: {record}")
        });
        before = version;
    }
}

/// RFX-5, FM-01, FM-38: no version is asked for before a list brought one, and a list of any age
/// is asked for until then only.
fn asked(evidence: &Evidence, records: &[&RequestRecord], findings: &mut Findings) {
    let listed = |sample: &&crate::evidence::Sample| sample.lists.iter().any(|lists| *lists > 0);
    let first = evidence.samples.iter().position(|sample| listed(&sample));
    let before = first.and_then(|first| evidence.samples[..first].last());
    let mut has_version = false;
    for record in records.iter().filter(|record| !record.line.is_continuation) {
        let asked = record.line.version.as_str();
        let is_exact = !matches!(asked, "" | "0");
        let too_early = before.is_some_and(|sample| record.at < sample.at);
        findings.check("RFX-5", record.at, !(is_exact && too_early), || {
            format!("nothing was listed yet: {record}")
        });
        let any_age = record.line.verb == Verb::List && asked == "0";
        findings.check("RFX-5", record.at, !(any_age && has_version), || {
            format!("a list of any age, after one that was not: {record}")
        });
        has_version |= is_exact;
    }
}

/// RFX-5: once a version was refused to a list, the next one is consistent.
fn refusals(records: &[&RequestRecord], findings: &mut Findings) {
    let mut populating = records.iter().filter(|record| populates(record)).peekable();
    while let Some(record) = populating.next() {
        let refused = record.code == Some(410) && record.line.verb == Verb::List;
        let Some(next) = populating.peek().filter(|_| refused) else {
            continue;
        };
        let asked = &next.line.version;
        findings.check("RFX-5", next.at, asked.is_empty(), || {
            format!("after {record} came {next}")
        });
    }
}

/// RFX-11, R5, R6: nothing is waited for for ever.
fn gaps(evidence: &Evidence, records: &[&RequestRecord], end: Duration, findings: &mut Findings) {
    let ends = records.iter().skip(1).map(|record| record.at).chain([end]);
    for (record, next) in records.iter().zip(ends) {
        let gap = next.saturating_sub(record.at);
        let timeout = parameter(record, "timeoutSeconds").and_then(|text| text.parse().ok());
        let asked = Duration::from_secs(timeout.unwrap_or(0));
        findings.check("RFX-11", record.at, asked <= 300 * SECOND, || {
            format!("{record}")
        });
        findings.check(
            "RFX-11",
            record.at,
            gap <= LONGEST_GAP + evidence.jumped,
            || format!("{gap:?} without a request after {record}"),
        );
    }
}

/// RFX-14: no request begins after the end.
fn stops(evidence: &Evidence, findings: &mut Findings) {
    let late = evidence.ending.requests_after;
    findings.check("RFX-14", evidence.end(), late == 0, || {
        format!("{late} requests after the shutdown")
    });
    for released in &evidence.released {
        let late = evidence.requests.iter().find(|record| {
            record.line.query.contains(&released.selector) && record.at > released.until
        });
        findings.check("RFX-14", released.until, late.is_none(), || {
            format!("{late:?}")
        });
    }
}
