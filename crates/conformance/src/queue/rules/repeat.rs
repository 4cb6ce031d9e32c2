//! D-13: what fails is lost to client-go. Ours hands it out again, so often, and for the last time
//! each key alone.

use super::step_by_step;
use crate::scenario::Scenario;
use crate::trace::Trace;

/// How often ours hands out what fails.
const ATTEMPTS: usize = 5;

/// The keys of a group stand there together, and then each for its last attempt.
pub(super) fn try_again(_: &Scenario, _: &str, trace: Trace) -> Trace {
    step_by_step(trace, |_, lines| {
        let mut repeated = Vec::new();
        let mut last_attempts = 0;
        let mut lines = lines.into_iter();
        while let Some(line) = lines.next() {
            let group = line.strip_prefix("together ");
            if let Some(count) = group.and_then(|count| count.parse().ok()) {
                let members: Vec<String> = lines.by_ref().take(count).collect();
                let fails = members.iter().all(|member| member.starts_with("failed "));
                for _ in 0..if fails { ATTEMPTS - 1 } else { 1 } {
                    repeated.push(line.clone());
                    repeated.extend(members.iter().cloned());
                }
                last_attempts = if fails { count } else { 0 };
            } else if line.starts_with("failed ") {
                let attempts = if last_attempts > 0 { 1 } else { ATTEMPTS };
                last_attempts = last_attempts.saturating_sub(1);
                repeated.extend(std::iter::repeat_n(line.clone(), attempts));
                repeated.push(format!("given up {}", subject(&line)));
            } else {
                repeated.push(line);
            }
        }
        repeated
    })
}

/// What it is about, in one word.
fn subject(line: &str) -> &str {
    let mut words = line.split(' ').skip(1);
    let subject = words.find(|&word| word != "initial");
    subject.unwrap_or_default()
}
