//! The judges: what must hold of every run, one file for each group of the
//! invariants of `docs/INVARIANTS.md`.
//!
//! They see what a user and the server see, and share no code with what they judge. What cannot be
//! seen from there is named in the file of its group, and proved in the crate it belongs to.

mod controller;
mod end_to_end;
mod informer;
mod packed;
mod processor;
mod queue;
mod recovery;
mod reflector;
mod store;

use std::{fmt, time::Duration};

pub(crate) use recovery::heal_bound;

use crate::evidence::Evidence;

/// Something that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// Which invariant, by its id in `docs/INVARIANTS.md`.
    pub id: &'static str,
    /// When it was first seen, since the start of the run.
    pub at: Duration,
    /// What was seen.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {:.3?}: {}", self.id, self.at, self.what)
    }
}

/// What the judges have found.
#[derive(Default)]
struct Findings(Vec<Violation>);

impl Findings {
    /// Notes a violation unless `holds`.
    fn check(
        &mut self,
        id: &'static str,
        at: Duration,
        holds: bool,
        what: impl FnOnce() -> String,
    ) {
        if !holds {
            self.0.push(Violation {
                id,
                at,
                what: what(),
            });
        }
    }
}

/// All that does not hold, in the order of time.
pub(crate) fn judge(evidence: &Evidence) -> Vec<Violation> {
    let mut findings = Findings::default();
    let judges = [
        store::judge,
        queue::judge,
        reflector::judge,
        processor::judge,
        informer::judge,
        end_to_end::judge,
        packed::judge,
        controller::judge,
        recovery::judge,
    ];
    judges
        .iter()
        .for_each(|judge| judge(evidence, &mut findings));
    let mut found = findings.0;
    found.sort_by_key(|violation| violation.at);
    found
}
