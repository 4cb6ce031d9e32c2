//! The counts that were checked in, one file for each compiler, and how new ones are judged.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::callgrind::Instructions;
use crate::checkout;

/// By how much an operation may grow before the gate closes.
const TOLERANCE: f64 = 0.03;
/// The same for handlers: how the compiler divides and inlines their path depends on code that is
/// none of it, and was seen to move a count by 4 %.
const TOLERANCE_OF_HANDLERS: f64 = 0.1;

/// The instructions of each operation.
#[derive(Debug)]
pub(super) struct Counts {
    libc: String,
    pub(super) parts: BTreeMap<String, Instructions>,
}

/// What became of one operation.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) name: String,
    counted: Option<f64>,
    expected: Option<f64>,
    pub(super) verdict: Verdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Good,
    Grown,
    /// Counted, and no count is checked in.
    New,
    /// Checked in, and there is no such operation.
    Gone,
}

impl Counts {
    pub(super) fn new(libc: String, parts: Vec<(String, Instructions)>) -> Self {
        let parts = parts.into_iter().collect();
        Self { libc, parts }
    }

    /// Those of this compiler, if there are any.
    pub(super) fn load(compiler: &str) -> Result<Option<Self>> {
        let path = path(compiler);
        if !path.exists() {
            return Ok(None);
        }
        let shown = path.display().to_string();
        let text = fs::read_to_string(path).context(shown.clone())?;
        let file: Value = serde_json::from_str(&text).context(shown.clone())?;
        let parts = file["instructions"].as_object().context(shown)?;
        let part = |(name, value): (&String, &Value)| {
            let of = |whose: &str| value[whose].as_f64().unwrap_or(0.0);
            let (own, system) = (of("own"), of("system"));
            (name.clone(), Instructions { own, system })
        };
        let libc = file["libc"].as_str().unwrap_or("unknown").to_owned();
        Ok(Some(Self::new(libc, parts.iter().map(part).collect())))
    }

    /// Writes them as those of this compiler.
    pub(super) fn save(&self, compiler: &str) -> Result<()> {
        let parts = self.parts.iter().map(|(name, count)| {
            let count = json!({"own": count.own, "system": count.system});
            (name.clone(), count)
        });
        let parts: serde_json::Map<String, Value> = parts.collect();
        let file = json!({"libc": self.libc, "instructions": parts});
        let path = path(compiler);
        fs::write(&path, serde_json::to_string_pretty(&file)? + "\n")?;
        println!("written: {}", path.display());
        Ok(())
    }

    /// Each operation of both. With another C library only the program's own instructions count.
    pub(super) fn judge(&self, counted: &Self) -> Vec<Judged> {
        let whole = self.libc == counted.libc;
        let number = |count: &Instructions| match whole {
            true => count.total(),
            false => count.own,
        };
        let names = self.parts.keys().chain(counted.parts.keys());
        let names: std::collections::BTreeSet<&String> = names.collect();
        let judge = |name: &String| {
            let expected = self.parts.get(name).map(number);
            let counted = counted.parts.get(name).map(number);
            let verdict = match (counted, expected) {
                (None, _) => Verdict::Gone,
                (_, None) => Verdict::New,
                (Some(counted), Some(expected))
                    if counted <= expected * (1.0 + tolerance(name)) =>
                {
                    Verdict::Good
                }
                _ => Verdict::Grown,
            };
            Judged {
                name: name.clone(),
                counted,
                expected,
                verdict,
            }
        };
        names.into_iter().map(judge).collect()
    }
}

fn tolerance(name: &str) -> f64 {
    match name.starts_with("processor/") {
        true => TOLERANCE_OF_HANDLERS,
        false => TOLERANCE,
    }
}

fn path(compiler: &str) -> PathBuf {
    let file = format!("crates/bench/counts/{compiler}.json");
    checkout::root().join(file)
}

impl fmt::Display for Judged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |count: Option<f64>| match count {
            Some(count) => format!("{count:.1}"),
            None => "-".to_owned(),
        };
        let change = match (self.counted, self.expected) {
            (Some(counted), Some(expected)) => {
                format!("{:+.2} %", (counted / expected - 1.0) * 100.0)
            }
            _ => "-".to_owned(),
        };
        let verdict = match self.verdict {
            Verdict::Good => "good".to_owned(),
            Verdict::Grown => format!("GROWN by more than {} %", tolerance(&self.name) * 100.0),
            Verdict::New => "NEW: nothing is checked in".to_owned(),
            Verdict::Gone => "GONE: there is no such operation".to_owned(),
        };
        let (counted, expected) = (number(self.counted), number(self.expected));
        let name = &self.name;
        write!(
            f,
            "| {name} | {counted} | {expected} | {change} | {verdict} |"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(libc: &str, own: f64, system: f64) -> Counts {
        let parts = vec![("store/get".to_owned(), Instructions { own, system })];
        Counts::new(libc.to_owned(), parts)
    }

    fn verdict(expected: &Counts, counted: &Counts) -> Verdict {
        expected.judge(counted)[0].verdict
    }

    #[test]
    fn three_percent_more_are_too_much_and_less_is_good() {
        let expected = counts("a", 900.0, 100.0);
        assert_eq!(
            verdict(&expected, &counts("a", 929.0, 100.0)),
            Verdict::Good
        );
        assert_eq!(
            verdict(&expected, &counts("a", 900.0, 131.0)),
            Verdict::Grown
        );
        assert_eq!(
            verdict(&expected, &counts("a", 500.0, 100.0)),
            Verdict::Good
        );
    }

    #[test]
    fn handlers_may_grow_by_a_tenth() {
        let count = |own| {
            let count = Instructions { own, system: 0.0 };
            Counts::new("a".to_owned(), vec![("processor/stream".to_owned(), count)])
        };
        assert_eq!(verdict(&count(100.0), &count(109.0)), Verdict::Good);
        assert_eq!(verdict(&count(100.0), &count(111.0)), Verdict::Grown);
    }

    #[test]
    fn what_another_library_does_is_not_judged() {
        let expected = counts("a", 900.0, 100.0);
        assert_eq!(
            verdict(&expected, &counts("b", 900.0, 900.0)),
            Verdict::Good
        );
        assert_eq!(verdict(&expected, &counts("b", 928.0, 0.0)), Verdict::Grown);
    }

    #[test]
    fn an_operation_without_a_count_and_a_count_without_one_are_named() {
        let none = Counts::new("a".to_owned(), Vec::new());
        let one = counts("a", 1.0, 0.0);
        assert_eq!(verdict(&none, &one), Verdict::New);
        assert_eq!(verdict(&one, &none), Verdict::Gone);
        let line = one.judge(&none)[0].to_string();
        assert!(
            line.ends_with("| - | 1.0 | - | GONE: there is no such operation |"),
            "{line}"
        );
    }
}
