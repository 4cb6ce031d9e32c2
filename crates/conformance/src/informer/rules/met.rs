//! Which request met which fault: a trace names both, in the order in which they happened.

use super::observed::Observed;
use crate::scenario::Step;

/// What a request asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    List,
    Page,
    Watch,
    /// A watch that begins with a state.
    Stream,
}

/// One request of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Met {
    /// The step, and the line in it.
    pub(super) step: usize,
    pub(super) line: usize,
    pub(super) asked: Asked,
    /// What went wrong, in the words of the scenario.
    pub(super) fault: Option<String>,
}

/// All requests, in order.
pub(super) fn met(steps: &[Observed<'_>]) -> Vec<Met> {
    let mut scripted: Vec<Scripted<'_>> = Vec::new();
    let mut all = Vec::new();
    for (index, observed) in steps.iter().enumerate() {
        match observed.step.verb.as_str() {
            "fault" => scripted.extend(Scripted::of(observed.step)),
            "heal" => scripted.clear(),
            _ => {}
        }
        for (line, text) in observed.lines.iter().enumerate() {
            let Some(asked) = Asked::of(text) else {
                continue;
            };
            let fault = scripted.iter_mut().find(|fault| fault.is_for(asked));
            all.push(Met {
                step: index,
                line,
                asked,
                fault: fault.map(Scripted::use_up),
            });
        }
    }
    all
}

impl Asked {
    pub(super) fn of(line: &str) -> Option<Self> {
        let request = line.strip_prefix("request ")?;
        Some(match request {
            _ if request.contains("sendInitialEvents=true") => Self::Stream,
            _ if request.contains("watch=true") => Self::Watch,
            _ if request.contains("continue=") => Self::Page,
            _ => Self::List,
        })
    }
}

/// A fault of the scenario that is not used up.
struct Scripted<'a> {
    request: &'a str,
    what: &'a str,
    left: u64,
}

impl<'a> Scripted<'a> {
    fn of(step: &'a Step) -> Option<Self> {
        let [request, what, ..] = step.args.as_slice() else {
            return None;
        };
        let left = match step.option("times") {
            None if step.has("always") => u64::MAX,
            None => 1,
            Some(times) => times.parse().unwrap_or(u64::MAX),
        };
        Some(Self {
            request,
            what,
            left,
        })
    }

    fn is_for(&self, asked: Asked) -> bool {
        let matches = match self.request {
            "any" => true,
            "list" => matches!(asked, Asked::List | Asked::Page),
            "page" => asked == Asked::Page,
            "watch" => matches!(asked, Asked::Watch | Asked::Stream),
            _ => asked == Asked::Stream,
        };
        matches && self.left > 0
    }

    fn use_up(&mut self) -> String {
        self.left = self.left.saturating_sub(u64::from(self.left < u64::MAX));
        self.what.to_owned()
    }
}
