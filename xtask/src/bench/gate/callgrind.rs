//! Counts the instructions of one run with callgrind, and reads what it wrote.
//!
//! The program's own instructions are kept apart from those of the system's libraries: another
//! system copies memory in another way, and that is not ours.

use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::shell::{output_of, program};

/// Instructions, of one run or of one operation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Instructions {
    /// Of the program itself.
    pub(super) own: f64,
    /// Of libraries, above all for copying and comparing memory.
    pub(super) system: f64,
}

impl Instructions {
    pub(super) fn total(self) -> f64 {
        self.own + self.system
    }

    pub(super) fn beyond(self, less: Self) -> Self {
        Self {
            own: self.own - less.own,
            system: self.system - less.system,
        }
    }

    /// The instructions of one operation, if these are of `times` operations.
    pub(super) fn each(self, times: u64) -> Self {
        let tenths = |value: f64| (value * 10.0 / times as f64).round() / 10.0;
        Self {
            own: tenths(self.own),
            system: tenths(self.system),
        }
    }
}

/// Runs `counter name times` on one processor, and counts.
pub(super) fn count(
    counter: &Path,
    name: &str,
    times: u64,
    processor: usize,
) -> Result<Instructions> {
    let folder = tempfile::tempdir()?;
    let written = folder.path().join("callgrind.out");
    let mut valgrind = program("valgrind");
    valgrind
        .args(["--tool=callgrind", "--quiet"])
        .arg(format!("--callgrind-out-file={}", written.display()))
        .arg(counter)
        .args([name, &times.to_string()])
        .args(["--processor", &processor.to_string()]);
    output_of(&mut valgrind)?;
    let text = std::fs::read_to_string(&written).context("callgrind has written nothing")?;
    // By its name, since its folder may be known by another one.
    let own = counter.file_name().context("a program has a name")?;
    let counted = parse(&text, &own.to_string_lossy());
    // Nothing would be less than what is checked in, and pass for an improvement.
    ensure!(
        counted.own > 0.0,
        "callgrind counted no instruction of {name}; its output is not what is read here"
    );
    Ok(counted)
}

/// Which C library it is; another one copies memory in another way.
pub(super) fn libc() -> Result<String> {
    let said = output_of(program("getconf").arg("GNU_LIBC_VERSION"));
    Ok(said.map_or_else(|_| "unknown".to_owned(), |said| said.trim().to_owned()))
}

/// Adds up the costs by the object whose code it is. A line of costs is a place and a number; the
/// one after `calls=` is what a callee took, which is counted where the callee is.
fn parse(text: &str, own: &str) -> Instructions {
    let mut sum = Instructions::default();
    let (mut is_own, mut own_id, mut is_call) = (false, None, false);
    for line in text.lines() {
        if let Some(object) = line.strip_prefix("ob=").or(line.strip_prefix("cob=")) {
            // `(7) /path` gives a number to a path, `(7)` says it again.
            let (id, path) = object.split_once(' ').unwrap_or((object, ""));
            if path.rsplit('/').next() == Some(own) {
                own_id = Some(id.to_owned());
            }
            if line.starts_with("ob=") {
                is_own = own_id.as_deref() == Some(id);
            }
        } else if line.starts_with("calls=") {
            is_call = true;
        } else if line.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first)) {
            let cost = line.split(' ').nth(1).and_then(|cost| cost.parse().ok());
            if !std::mem::take(&mut is_call) {
                let cost: f64 = cost.unwrap_or(0.0);
                *(if is_own {
                    &mut sum.own
                } else {
                    &mut sum.system
                }) += cost;
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITTEN: &str = "\
version: 1
events: Ir
ob=(1) /bin/counter
fl=(1) main.rs
fn=(1) main
10 5
cob=(2) /lib/libc.so
cfn=(2) memcpy
calls=3 0
+1 30
* 2

ob=(2)
fn=(2)
0 30

ob=(1)
fn=(3) other
-4 7
totals: 44
";

    #[test]
    fn costs_are_added_once_and_to_whom_they_belong() {
        let counted = parse(WRITTEN, "counter");
        assert_eq!((counted.own, counted.system), (14.0, 30.0));
    }

    #[test]
    fn an_operation_takes_what_the_longer_run_has_more() {
        let counted = |own, system| Instructions { own, system };
        let each = counted(1_234.0, 300.0)
            .beyond(counted(234.0, 100.0))
            .each(1_000);
        assert_eq!(each, counted(1.0, 0.2));
    }
}
