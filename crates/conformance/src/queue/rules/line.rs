//! A line of the trace that says which changes of a key were taken.

use std::fmt;

/// The kinds of changes, as both sides write them.
const KINDS: [&str; 6] = ["Added", "Updated", "Deleted", "Gone", "Replaced", "Sync"];

/// `failed initial a Added@1 Gone`: changes of one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) failed: bool,
    pub(super) initial: bool,
    pub(super) key: String,
    pub(super) deltas: Vec<String>,
}

impl Taken {
    /// Reads a line; `None` if it is about something else.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let (failed, line) = without(line, "failed ");
        let (initial, line) = without(line, "initial ");
        let mut words = line.split(' ').map(str::to_owned);
        let key = words.next()?;
        let deltas: Vec<String> = words.collect();
        let is_kind = |delta: &String| KINDS.contains(&kind_of(delta));
        (!deltas.is_empty() && deltas.iter().all(is_kind)).then_some(Self {
            failed,
            initial,
            key,
            deltas,
        })
    }
}

/// Whether `prefix` is there, and the rest.
pub(super) fn without<'a>(line: &'a str, prefix: &str) -> (bool, &'a str) {
    match line.strip_prefix(prefix) {
        Some(rest) => (true, rest),
        None => (false, line),
    }
}

/// `Added` of `Added@1`.
pub(super) fn kind_of(delta: &str) -> &str {
    delta.split('@').next().unwrap_or_default()
}

impl fmt::Display for Taken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let failed = if self.failed { "failed " } else { "" };
        let initial = if self.initial { "initial " } else { "" };
        write!(f, "{failed}{initial}{} {}", self.key, self.deltas.join(" "))
    }
}

/// Changes the changes of each key that was taken; a line without any is dropped.
pub(super) fn each_taken(lines: Vec<String>, mut change: impl FnMut(&mut Taken)) -> Vec<String> {
    let changed = lines.into_iter().filter_map(|line| {
        let Some(mut taken) = Taken::parse(&line) else {
            return Some(line);
        };
        change(&mut taken);
        (!taken.deltas.is_empty()).then(|| taken.to_string())
    });
    changed.collect()
}
