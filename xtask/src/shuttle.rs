//! `cargo xtask shuttle`: the threads of the crates that have some, in thousands of orders.
//!
//! The unit tests of one crate at a time are built with `--cfg shuttle`, which puts shuttle's
//! primitives in the place of std's in that crate alone. What it depends on is built as always, so
//! nothing is built a second time.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::Value;

use crate::shell::{cargo, output_of, program, run_watched};

/// The crates whose threads meet, and which have a module `schedules`.
const PACKAGES: [&str; 4] = [
    "informer-store",
    "informer-deltafifo",
    "informer-processor",
    "informer-factory",
];

/// Where the scenarios are.
const SCENARIOS: &str = "schedules::";

/// What to run.
#[derive(Debug, Args)]
pub(crate) struct ShuttleCommand {
    /// Only the scenarios with this in their path.
    #[arg(default_value = SCENARIOS)]
    name: String,
    /// How many schedules each scenario is run under (T8).
    #[arg(long, default_value_t = 10_000)]
    schedules: u64,
    /// Instead, the one schedule in this file, which a failing scenario has named.
    #[arg(long, requires = "name")]
    replay: Option<PathBuf>,
}

impl Default for ShuttleCommand {
    fn default() -> Self {
        Self {
            name: SCENARIOS.to_owned(),
            schedules: 10_000,
            replay: None,
        }
    }
}

/// Runs the scenarios; fails with the first crate in which one does not hold.
pub(crate) fn run(command: &ShuttleCommand) -> Result<()> {
    let mut scenarios = 0;
    for package in PACKAGES {
        let tests = build(package)?;
        let mut test = program(tests);
        test.arg(&command.name)
            .env("SCHEDULES", command.schedules.to_string());
        if let Some(file) = &command.replay {
            let file = file.canonicalize().context("there is no such schedule")?;
            test.env("SCHEDULE", file);
        }
        run_watched(&mut test, |line| {
            scenarios += usize::from(line.ends_with(" ... ok"));
        })
        .with_context(|| {
            let name = "NAME_OF_THE_TEST";
            format!("replay it: cargo xtask shuttle {name} --replay FILE_NAMED_ABOVE")
        })?;
    }
    if scenarios == 0 {
        bail!("no scenario has `{}` in its path", command.name);
    }
    println!("shuttle: {scenarios} scenarios and planted bugs");
    Ok(())
}

/// Builds the unit tests of a crate over shuttle, for speed; where they are.
fn build(package: &str) -> Result<PathBuf> {
    let unit_tests = ["rustc", "--locked", "--lib", "--profile", "bench"];
    let mut command = cargo(unit_tests);
    command.args(["--package", package]);
    command.args(["--message-format", "json-render-diagnostics"]);
    let messages = output_of(command.args(["--", "--cfg", "shuttle"]))?;
    let executable = messages.lines().rev().find_map(executable);
    executable.with_context(|| format!("cargo did not say where the tests of {package} are"))
}

/// The executable that a message of cargo is about, if it is about one.
fn executable(message: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(message).ok()?;
    message["executable"].as_str().map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_messages_about_an_executable_have_one() {
        let tests = r#"{"reason":"compiler-artifact","executable":"/t/store-1"}"#;
        assert_eq!(executable(tests), Some(PathBuf::from("/t/store-1")));
        let library = r#"{"reason":"compiler-artifact","executable":null}"#;
        assert_eq!(executable(library), None);
        assert_eq!(executable("Compiling"), None);
    }
}
