//! `cargo xtask check`: what to run before each commit, in a few minutes.
//!
//! Formatting, lints and the rules of the tree are those of `ci`; clippy compiles every crate that
//! depends on a changed one. Tests run for the crates with changed files, and for the facade if it
//! depends on one of them. Everything else waits for `ci`.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use cargo_metadata::Metadata;

use crate::clock;
use crate::layers::product;
use crate::shell::{cargo, output_of, program, run as shell_run};
use crate::stopwatch::{Outcome, Report};

use super::find;
use super::jobs::metadata;

/// The jobs of `ci` that check rules and compile.
const RULES: [&str; 4] = ["fmt", "tidy", "layers", "clippy"];

const FACADE: &str = "informer-factory";

/// Runs the jobs that check rules, then the tests, until the first failure.
///
/// A file has changed if it differs from the commit `since`, or if git does not track it.
pub(crate) fn run(since: &str) -> Result<()> {
    let metadata = metadata()?;
    let tested = tested(changed_packages(&metadata, &changed_files(since)?));
    let mut report = Report::default();
    for name in RULES {
        let job = find(name)?;
        step(&mut report, name, || (job.run)().map(|_| ()))?;
    }
    for package in &tested {
        let test = ["test", "--locked", "-p", package, "--tests"];
        step(&mut report, package, || shell_run(&mut cargo(test)))?;
    }
    println!("\n{}", report.summary());
    if tested.is_empty() {
        println!("no crate has a file that differs from {since}, so no test was run");
    }
    Ok(())
}

fn step(report: &mut Report, name: &str, run: impl FnOnce() -> Result<()>) -> Result<()> {
    println!("\n== {name}");
    let start = clock::now();
    let result = run();
    let outcome = match result {
        Ok(()) => Outcome::Passed,
        Err(_) => Outcome::Failed,
    };
    report.note(name, outcome, start);
    if let Err(error) = result {
        println!("\n{}", report.summary());
        bail!("{name}: {error:#}");
    }
    Ok(())
}

/// Paths relative to the checkout.
fn changed_files(since: &str) -> Result<Vec<String>> {
    let changed = output_of(program("git").args(["diff", "--name-only", "--relative", since]))?;
    let new = ["ls-files", "--others", "--exclude-standard"];
    let new = output_of(program("git").args(new))?;
    Ok(changed
        .lines()
        .chain(new.lines())
        .map(str::to_owned)
        .collect())
}

fn changed_packages(metadata: &Metadata, files: &[String]) -> BTreeSet<String> {
    let mut changed = BTreeSet::new();
    for package in metadata.workspace_packages() {
        let folder = package.manifest_path.parent();
        let folder = folder.and_then(|folder| folder.strip_prefix(&metadata.workspace_root).ok());
        let holds =
            |file: &String| folder.is_some_and(|folder| file.starts_with(&format!("{folder}/")));
        if files.iter().any(holds) {
            changed.insert(package.name.to_string());
        }
    }
    changed
}

/// The crates whose tests run: those that changed, and the facade with a crate below it.
fn tested(changed: BTreeSet<String>) -> BTreeSet<String> {
    let mut tested = changed;
    let product = product();
    if tested
        .iter()
        .any(|package| product.contains(package.as_str()))
    {
        tested.insert(FACADE.to_owned());
    }
    tested
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tested_for(files: &[&str]) -> Vec<String> {
        let files: Vec<String> = files.iter().map(|&file| file.to_owned()).collect();
        let metadata = metadata().expect("the workspace can be read");
        tested(changed_packages(&metadata, &files))
            .into_iter()
            .collect()
    }

    #[test]
    fn a_changed_leaf_is_tested_with_the_facade() {
        let tested = tested_for(&["crates/store/src/lib.rs", "README.md"]);
        assert_eq!(tested, [FACADE, "informer-store"]);
    }

    #[test]
    fn a_crate_above_the_facade_is_tested_alone() {
        assert_eq!(tested_for(&["crates/cli/src/main.rs"]), ["informer-cli"]);
        assert_eq!(tested_for(&["xtask/src/main.rs"]), ["xtask"]);
    }

    #[test]
    fn a_document_has_no_tests() {
        assert!(tested_for(&["docs/TESTING.md", "crates/README.md"]).is_empty());
    }

    #[test]
    fn every_job_of_the_check_is_a_job_of_ci() {
        for name in RULES {
            assert!(find(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn the_first_step_that_fails_is_reported() {
        let mut report = Report::default();
        step(&mut report, "fmt", || Ok(())).expect("it passes");
        let error = step(&mut report, "tidy", || bail!("a finding")).expect_err("it fails");
        assert_eq!(error.to_string(), "tidy: a finding");
        assert!(report.has("tidy") && !report.is_good());
    }
}
