//! All jobs, in two lanes beside each other: one builds for debugging, the other for speed.
//!
//! Cargo locks a build folder for one build at a time, and the lanes use two profiles, so they do
//! not wait for each other. `miri` has a folder of its own, and is in the shorter lane. While one
//! lane links or runs a last long test, the other one uses the idle core. Cheap jobs run before
//! both lanes. The fuzzer comes last, because it runs for a fixed time, whatever share of the cores
//! it gets.
//!
//! Each job is a process of its own. Its output is shown when it ends, so outputs never mix.

use std::fs::{self, File};
use std::io::{Read, Seek};
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use super::jobs::JOBS;
use crate::checkout;
use crate::clock;
use crate::stopwatch::{Outcome, Report};

/// The file below the build folder that keeps the time split of the last run of all jobs.
const TIMES: &str = "ci-times.txt";

type Lane = &'static [&'static str];

const STAGES: [[Lane; 2]; 2] = [
    [&["fmt", "tidy", "layers", "deny", "advisories"], &[]],
    [
        &[
            "clippy", "test", "leaves", "property", "shuttle", "docs", "examples", "package",
            "msrv", "minimal", "semver", "wasm",
        ],
        &[
            "simulate",
            "mutants",
            "conformance",
            "protobuf",
            "gate",
            "miri",
            "fuzz",
        ],
    ],
];

/// Runs all jobs; after the first failure none is begun.
pub(super) fn run() -> Result<()> {
    let start = clock::now();
    let all = All {
        // Asked now: the answer is another one when a job has built xtask again.
        xtask: std::env::current_exe().context("cannot find xtask itself")?,
        report: Mutex::default(),
    };
    for lanes in STAGES {
        thread::scope(|scope| {
            for lane in lanes {
                scope.spawn(|| all.run(lane));
            }
        });
    }
    let report = all.report();
    let names = JOBS.map(|job| job.name);
    let left = names.into_iter().filter(|name| !report.has(name));
    let left: Vec<&str> = left.collect();
    if !left.is_empty() {
        println!("\nnot run: {}", left.join(", "));
    }
    let split = format!(
        "{}\n{} in all\n",
        report.summary(),
        clock::seconds_since(start)
    );
    print!("\n{split}");
    let times = checkout::target().join(TIMES);
    fs::write(&times, split).with_context(|| format!("cannot write {times:?}"))?;
    if !report.is_good() {
        bail!("`cargo xtask ci JOB` runs one job alone");
    }
    Ok(())
}

#[derive(Debug)]
struct All {
    xtask: PathBuf,
    report: Mutex<Report>,
}

impl All {
    fn report(&self) -> MutexGuard<'_, Report> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, lane: Lane) {
        for name in lane {
            if !self.report().is_good() {
                return;
            }
            println!("{name} ...");
            let start = clock::now();
            let ended = self.job(name);
            self.end(name, ended, start);
        }
    }

    /// Whether it succeeded, and what it said.
    fn job(&self, name: &str) -> Result<(bool, String)> {
        let mut said: File = tempfile::tempfile().context("cannot keep what a job says")?;
        // As cargo started us: it said where the checkout is.
        let mut job = Command::new(&self.xtask);
        job.args(["ci", name])
            .stdout(said.try_clone()?)
            .stderr(said.try_clone()?);
        let status = job.status().context("cannot run xtask")?;
        said.rewind()?;
        let mut bytes = Vec::new();
        said.read_to_end(&mut bytes)?;
        Ok((
            status.success(),
            String::from_utf8_lossy(&bytes).into_owned(),
        ))
    }

    /// Shows it as a whole, under the lock of the report.
    fn end(&self, name: &str, ended: Result<(bool, String)>, start: Instant) {
        let mut report = self.report();
        let outcome = match ended {
            Ok((succeeded, said)) => {
                println!("{said}");
                outcome(name, succeeded, &said)
            }
            Err(error) => {
                println!("error: {error:#}");
                Outcome::Failed
            }
        };
        report.note(name, outcome, start);
    }
}

/// How a job ended, by what it said.
fn outcome(name: &str, succeeded: bool, said: &str) -> Outcome {
    let prefix = format!("{name}: skipped (");
    let skipped = said.lines().find_map(|line| line.strip_prefix(&*prefix));
    match skipped {
        _ if !succeeded => Outcome::Failed,
        Some(reason) => Outcome::Skipped(reason.trim_end_matches(')').to_owned()),
        None => Outcome::Passed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_job_is_in_one_lane() {
        let mut names: Vec<&str> = STAGES.as_flattened().concat();
        names.sort_unstable();
        let mut jobs = JOBS.map(|job| job.name);
        jobs.sort_unstable();
        assert_eq!(names, jobs);
    }

    #[test]
    fn a_job_that_was_skipped_says_so_and_why() {
        let skipped = outcome("wasm", true, "== wasm\nwasm: skipped (no target)\n");
        assert_eq!(skipped, Outcome::Skipped("no target".to_owned()));
        assert_eq!(outcome("test", true, "wasm: skipped (x)"), Outcome::Passed);
        assert_eq!(outcome("test", false, ""), Outcome::Failed);
    }

    #[test]
    fn what_a_job_says_is_kept_and_its_end_is_noted() {
        let all = All {
            xtask: PathBuf::from("false"),
            report: Mutex::default(),
        };
        all.run(&["fmt", "tidy"]);
        let report = all.report();
        assert!(report.has("fmt") && !report.is_good());
        assert!(!report.has("tidy"), "nothing is begun after a failure");
    }
}
