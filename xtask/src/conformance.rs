//! `cargo xtask conformance`: builds the judge, a Go program around the pinned client-go, and lets
//! `crates/conformance` compare both sides.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};

use crate::built::Built;
use crate::checkout;
use crate::fast_build;
use crate::shell::{go, go_build, has_go, output_of, run as shell_run};
use crate::stopwatch::Outcome;

/// How many random scenarios continuous integration compares, over all levels.
const RANDOM_IN_CI: &str = "4000";

/// What to do with the scenarios.
#[derive(Debug, Subcommand)]
pub(crate) enum ConformanceCommand {
    /// Stored scenarios against stored traces, and the documents against both; needs no Go.
    Check,
    /// Asks client-go anew about the stored scenarios.
    Record(Selection),
    /// Runs both sides live on the stored scenarios, or on random ones.
    Compare {
        #[command(flatten)]
        selection: Selection,
        /// So many random scenarios instead of the stored ones.
        #[arg(long)]
        random: Option<u64>,
        /// client-go over real HTTP and in real time, against what was recorded.
        #[arg(long, conflicts_with = "random")]
        http: bool,
        /// The seed of all random choices.
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
}

/// Which scenarios.
#[derive(Debug, Default, Args)]
pub(crate) struct Selection {
    /// Only this level: queue, store, processor or informer.
    #[arg(long)]
    level: Option<String>,
    /// Only scenarios whose name contains this.
    #[arg(long)]
    only: Option<String>,
}

/// Runs one command.
pub(crate) fn run(command: &ConformanceCommand) -> Result<()> {
    match command {
        ConformanceCommand::Check => shell_run(&mut conformance("check")?),
        ConformanceCommand::Record(selection) => {
            // Go unpacks client-go when the judge is built for the first time.
            build_judge()?;
            let upstream = format!("--upstream={}", upstream()?.display());
            with_judge("record", selection, &[&*upstream])
        }
        ConformanceCommand::Compare {
            selection,
            random,
            http,
            seed,
        } => {
            let random = random.map(|count| format!("--random={count}"));
            let http = http.then_some("--http");
            let seed = format!("--seed={seed}");
            let arguments: Vec<&str> = random.as_deref().into_iter().chain(http).collect();
            let arguments = [arguments, vec![&*seed]].concat();
            with_judge("compare", selection, &arguments)
        }
    }
}

/// The job of continuous integration: what is stored, then both sides live.
pub(crate) fn ci() -> Result<Outcome> {
    shell_run(&mut conformance("check")?)?;
    if !has_go() {
        let why = "Go is not installed: stored traces were checked, client-go was not asked";
        return Ok(Outcome::Skipped(why.to_owned()));
    }
    with_judge("compare", &Selection::default(), &[])?;
    // Not over real HTTP: that is real time, and a busy machine is no difference.
    let random = ["--random", RANDOM_IN_CI];
    with_judge("compare", &Selection::default(), &random)?;
    Ok(Outcome::Passed)
}

fn with_judge(command: &str, selection: &Selection, arguments: &[&str]) -> Result<()> {
    let judge = build_judge()?;
    let mut command = conformance(command)?;
    command.arg("--judge").arg(judge).args(arguments);
    if let Some(level) = &selection.level {
        command.args(["--level", level]);
    }
    if let Some(only) = &selection.only {
        command.args(["--only", only]);
    }
    shell_run(&mut command)
}

fn conformance(subcommand: &str) -> Result<Command> {
    let mut build = fast_build::build_program("conformance", "coverage");
    let mut command = Built::by(&mut build)?.program("conformance")?;
    command.arg(subcommand);
    Ok(command)
}

/// The judge is a test binary: virtual time exists only there.
fn build_judge() -> Result<PathBuf> {
    build_go("judge", &["test", "-c"], ".")
}

/// The folder of client-go's caches, in the module the judge is built with.
fn upstream() -> Result<PathBuf> {
    let mut list = go([
        "list",
        "-mod=readonly",
        "-m",
        "-f",
        "{{.Dir}}",
        "k8s.io/client-go",
    ]);
    list.current_dir(checkout::root().join("crates/conformance/go"));
    let folder = output_of(&mut list)?;
    Ok(PathBuf::from(folder.trim()).join("tools/cache"))
}

/// The program that follows a real API server with client-go's informers.
pub(crate) fn build_beside() -> Result<PathBuf> {
    build_go("beside", &["build"], "./cmd/beside")
}

/// Go's own cache makes this fast.
fn build_go(name: &str, words: &[&str], package: &str) -> Result<PathBuf> {
    let built = checkout::root().join("target/conformance").join(name);
    let mut build = go_build(words);
    build.arg("-o").arg(&built).arg(package);
    build.current_dir(checkout::root().join("crates/conformance/go"));
    shell_run(&mut build).context("client-go needs Go, see crates/conformance/README.md")?;
    Ok(built)
}
