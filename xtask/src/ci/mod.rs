//! `cargo xtask ci`: everything that has to hold, cheap things first.
//!
//! The workflow of the repository's host calls the same jobs one by one, so there is no second
//! list of commands anywhere.

mod advisories;
pub(crate) mod check;
mod compilers;
mod deny;
mod jobs;
mod lanes;
mod minimal;
mod miri;
mod property;
pub(crate) mod public_types;
mod published;
mod rustup;
mod semver;

use anyhow::{Context, Result, bail};
use clap::builder::{PossibleValue, PossibleValuesParser};

use crate::clock;
use crate::stopwatch::{Outcome, Report};
use jobs::{JOBS, Job};

/// Runs one job, or all of them until the first failure, and prints the time split.
pub(crate) fn run(name: Option<&str>) -> Result<()> {
    match name {
        None => lanes::run(),
        Some(name) => alone(find(name)?),
    }
}

/// The name of each job, and a line with its seconds and what it proves.
pub(crate) fn jobs() -> impl Iterator<Item = (&'static str, String)> {
    let line = |job: &Job| format!("{:>4} s  {}", job.seconds, job.about);
    JOBS.iter().map(move |job| (job.name, line(job)))
}

/// The names for the command line, described by the lines of `jobs`.
pub(crate) fn job_names() -> PossibleValuesParser {
    let value = |(name, line)| PossibleValue::new(name).help(line);
    PossibleValuesParser::new(jobs().map(value))
}

/// The line of the help below the list of jobs.
pub(crate) fn seconds_of_all() -> String {
    let sum: u32 = JOBS.iter().map(|job| job.seconds).sum();
    format!("Seconds are those of a clean clone on two cores, {sum} s in all, in two lanes.")
}

fn alone(job: &Job) -> Result<()> {
    let mut report = Report::default();
    println!("\n== {}: {}", job.name, job.about);
    let start = clock::now();
    let outcome = (job.run)().unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        Outcome::Failed
    });
    report.note(job.name, outcome, start);
    println!("\n{}", report.summary());
    if !report.is_good() {
        bail!(
            "job {name} failed; `cargo xtask ci {name}` runs it alone",
            name = job.name
        );
    }
    Ok(())
}

fn find(name: &str) -> Result<&'static Job> {
    let names = || JOBS.map(|job| job.name).join(", ");
    let job = JOBS.iter().find(|job| job.name == name);
    job.with_context(|| format!("there is no job {name:?}; there are {}", names()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkout;

    #[test]
    fn an_unknown_job_is_refused_with_the_list() {
        let error = find("lint")
            .map(|job| job.name)
            .expect_err("there is no such job");
        assert!(error.to_string().contains("clippy"), "{error}");
    }

    #[test]
    fn names_of_jobs_are_unique() {
        for (index, job) in JOBS.iter().enumerate() {
            assert!(
                JOBS[..index].iter().all(|other| other.name != job.name),
                "{}",
                job.name
            );
        }
    }
    #[test]
    fn the_workflow_runs_every_job() {
        let path = checkout::root().join(".github/workflows/ci.yml");
        let workflow = std::fs::read_to_string(path).expect("the workflow is part of the tree");
        let matrix = workflow
            .lines()
            .find_map(|line| line.trim().strip_prefix("job: ["));
        let matrix = matrix
            .expect("the workflow has a matrix of jobs")
            .trim_end_matches(']');
        let listed: Vec<&str> = matrix.split(", ").collect();
        assert_eq!(listed, JOBS.map(|job| job.name));
    }
}
