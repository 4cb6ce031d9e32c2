//! `cargo xtask ci`: everything that has to hold, in order, cheap things first.
//!
//! The workflow of the repository's host calls the same jobs one by one, so there is no second
//! list of commands anywhere.

mod jobs;

use anyhow::{Context, Result, bail};

use crate::clock;
use crate::stopwatch::{Outcome, Report};
use jobs::JOBS;

/// Runs one job, or all of them until the first failure, and prints the time split.
pub(crate) fn run(name: Option<&str>) -> Result<()> {
    let chosen = match name {
        None => &JOBS[..],
        Some(name) => std::slice::from_ref(find(name)?),
    };
    let mut report = Report::default();
    let mut failure = None;
    let mut rest = chosen.iter();
    for job in rest.by_ref() {
        println!("\n== {}: {}", job.name, job.about);
        let start = clock::now();
        match (job.run)() {
            Ok(outcome) => report.note(job.name, outcome, start),
            Err(error) => {
                eprintln!("error: {error:#}");
                report.note(job.name, Outcome::Failed, start);
                failure = Some(job.name);
                break;
            }
        }
    }
    println!();
    let left: Vec<&str> = rest.map(|job| job.name).collect();
    if !left.is_empty() {
        println!("not run: {}", left.join(", "));
    }
    println!("{}", report.summary());
    match failure {
        None => Ok(()),
        Some(name) => bail!("job {name} failed; `cargo xtask ci {name}` runs it alone"),
    }
}

fn find(name: &str) -> Result<&'static jobs::Job> {
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
