//! Recovery (R4 to R9, RFX-10): after the faults the store is what the server holds, and soon.
//!
//! R7 has no credentials here. R5's 45 s are the kernel's (keep-alive); without sockets a silent
//! watch is found by its deadline.

use std::time::Duration;

use super::Findings;
use crate::{evidence::Evidence, plan::Plan};

/// The longest delay that may be running (R4, R8), and a list.
const DELAY: Duration = Duration::from_secs(60 + 5);
/// A list that gets no headers, or no byte of its body (R6).
const LIST: Duration = Duration::from_secs(60 + 30);
/// A watch that is silent for its longest life (R5), or an initial list by one (R9).
const WATCH: Duration = Duration::from_secs(305);

/// How long convergence may take after this plan's faults.
///
/// A request that hangs when all is healed still has to be given up, and what it was about may
/// need a delay before it is tried again.
pub(crate) fn heal_bound(plan: &Plan) -> Duration {
    let silent = plan.kinds.iter().any(|kind| kind.leaves_silence());
    match silent {
        true => WATCH + DELAY + LIST,
        false => DELAY + LIST,
    }
}

pub(super) fn judge(evidence: &Evidence, findings: &mut Findings) {
    let ending = &evidence.ending;
    let bound = heal_bound(&evidence.plan);
    let took = ending.converged.map(|at| at - ending.healed);
    let id = if evidence.plan.kinds.iter().any(|kind| kind.leaves_silence()) {
        "R5"
    } else {
        "R4"
    };
    let holds = took.is_some_and(|took| took <= bound);
    findings.check(id, ending.healed + bound, holds, || match took {
        Some(took) => format!("it took {took:?} to converge, allowed are {bound:?}"),
        None => "the store never became what the server holds".to_owned(),
    });
}
