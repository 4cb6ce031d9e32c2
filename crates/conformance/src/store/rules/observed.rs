//! client-go's trace of this level, taken apart: the steps, and under each what it showed.

use crate::scenario::{Scenario, Step};
use crate::store::object::Word;
use crate::trace::Trace;

/// One step and its lines, the one that repeats it left out.
pub(super) struct Observed<'a> {
    pub(super) step: &'a Step,
    pub(super) lines: Vec<String>,
}

impl<'a> Observed<'a> {
    /// The line with this head.
    pub(super) fn line(&mut self, head: &str) -> Option<&mut String> {
        let mut lines = self.lines.iter_mut();
        lines.find(|line| line.split(' ').next() == Some(head))
    }

    /// Makes a line with this head another one, if there is one.
    pub(super) fn set(&mut self, head: &str, line: &str) {
        if let Some(found) = self.line(head) {
            line.clone_into(found);
        }
    }

    /// Whether the step panicked.
    pub(super) fn panicked(&self) -> bool {
        self.lines.iter().any(|line| line == "panic")
    }

    /// Whether the step writes objects one by one.
    pub(super) fn writes(&self) -> bool {
        ["add", "update", "delete", "transaction", "fill"].contains(&&*self.step.verb)
    }

    /// The words of the step that stand for objects, each with its position among them.
    pub(super) fn objects(&self) -> Vec<(usize, &'a str)> {
        let args = self.step.args.iter().map(String::as_str);
        let words: Vec<&str> = match self.step.verb.as_str() {
            "add" | "update" | "delete" => args.take(1).collect(),
            "replace" => args.skip(1).collect(),
            "fill" => args.skip(1).take(1).collect(),
            "transaction" => args.skip(1).step_by(2).collect(),
            _ => Vec::new(),
        };
        words.into_iter().enumerate().collect()
    }

    /// Does something to each object that is shown; `None` drops it.
    pub(super) fn replace_words(&mut self, change: impl Fn(&str) -> Option<String>) {
        const SHOW: [&str; 5] = ["store", "list", "held", "found", "get"];
        for line in &mut self.lines {
            let mut words = line.split(' ');
            let head = words.next().unwrap_or_default();
            if !SHOW.contains(&head) || line.starts_with("store of ") {
                continue;
            }
            let mut words: Vec<String> = words.filter_map(&change).collect();
            words.sort();
            if head == "get" && words.is_empty() {
                words.push("none".to_owned());
            }
            words.insert(0, head.to_owned());
            *line = words.join(" ");
        }
    }
}

/// Takes the trace apart, lets `change` look at each step in order, and puts it together again.
pub(super) fn each_step<'a>(
    scenario: &'a Scenario,
    trace: Trace,
    mut change: impl FnMut(&mut Observed<'a>),
) -> Trace {
    let mut lines = trace.into_lines().into_iter().peekable();
    let mut rewritten = Vec::new();
    let mut steps = scenario.steps.iter();
    while let Some(line) = lines.next() {
        rewritten.push(line);
        let Some(step) = steps.next() else { continue };
        let mut observed = Observed {
            step,
            lines: Vec::new(),
        };
        while let Some(line) = lines.next_if(|line| !line.starts_with("> ")) {
            observed.lines.push(line);
        }
        change(&mut observed);
        rewritten.append(&mut observed.lines);
    }
    Trace::new(rewritten)
}

/// An object without what hangs on it: `ns/name@version`.
pub(super) fn head_of(word: &str) -> &str {
    word.split('+').next().unwrap_or_default()
}

/// The key of an object or of what is left of one.
pub(super) fn key_of(word: &str) -> &str {
    let word = word.strip_prefix("gone:").unwrap_or(word);
    let word = word.strip_prefix("key:").unwrap_or(word);
    word.split(['@', '+']).next().unwrap_or_default()
}

/// The version that comes with an object, if one does.
pub(super) fn version_of(word: &str) -> Option<&str> {
    let plain = matches!(Word::read(word), Some(Word::Object(_)));
    let version = head_of(word).split_once('@')?.1;
    (plain && !version.is_empty()).then_some(version)
}
