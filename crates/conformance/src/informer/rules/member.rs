//! The handlers of a scenario: when each joined and left, and how it behaves.

use crate::scenario::Scenario;

/// One stay of one handler.
pub(super) struct Member<'a> {
    pub(super) name: &'a str,
    pub(super) joined: usize,
    /// The step in which it left, or how many steps there are.
    pub(super) left: usize,
    pub(super) is_blocked: bool,
    /// The step that unblocks it.
    pub(super) unblocked: Option<usize>,
    /// At each notification of which key it panics.
    pub(super) panics: Option<&'a str>,
}

/// All of them, in the order in which they joined.
pub(super) fn members(scenario: &Scenario) -> Vec<Member<'_>> {
    let mut members: Vec<Member<'_>> = Vec::new();
    let end = scenario.steps.len();
    for (index, step) in scenario.steps.iter().enumerate() {
        let Some(name) = step.args.first() else {
            continue;
        };
        let mut here = members.iter_mut();
        let present = here.find(|member| member.name == name && member.left == end);
        match (step.verb.as_str(), present) {
            ("handler", None) => members.push(Member {
                name,
                joined: index,
                left: end,
                is_blocked: step.has("blocked"),
                unblocked: None,
                panics: step.option("panic"),
            }),
            ("remove", Some(member)) => member.left = index,
            ("unblock", Some(member)) if member.unblocked.is_none() => {
                member.unblocked = Some(index);
            }
            _ => {}
        }
    }
    members
}

/// The step in which the informer stops, or how many steps there are.
pub(super) fn stop_of(scenario: &Scenario) -> usize {
    let steps = || scenario.steps.iter();
    let end = scenario.steps.len();
    let Some(start) = steps().position(|step| step.verb == "start") else {
        return end;
    };
    let stop = steps().skip(start).position(|step| step.verb == "stop");
    stop.map_or(end, |stop| start + stop)
}

/// The step in which the informer starts, or how many steps there are.
pub(super) fn start_of(scenario: &Scenario) -> usize {
    let start = scenario.steps.iter().position(|step| step.verb == "start");
    start.unwrap_or(scenario.steps.len())
}
