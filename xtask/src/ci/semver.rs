//! The job `semver`: the public APIs keep what the newest release promises.

use anyhow::Result;
use cargo_metadata::{Metadata, Target};

use crate::shell::{cargo, output_of, program, run as shell_run};

use super::published::published;

/// Adds the subcommand of cargo that compares two versions of an API.
const TOOL: &str = "cargo-semver-checks";

/// Compares each published library with the newest tag.
pub(super) fn run(metadata: &Metadata) -> Result<()> {
    let tags = output_of(program("git").args(["tag", "--list", "v*", "--sort=-version:refname"]))?;
    let Some(newest) = tags.lines().next() else {
        println!("semver: no tag yet: nothing to compare with");
        return Ok(());
    };
    if output_of(&mut cargo(["semver-checks", "--version"])).is_err() {
        shell_run(&mut cargo(["install", "--locked", TOOL]))?;
    }
    let mut check = cargo(["semver-checks", "--baseline-rev", newest, "--all-features"]);
    for package in published(metadata) {
        if package.targets.iter().any(Target::is_lib) {
            check.args(["-p", package.name.as_str()]);
        }
    }
    shell_run(&mut check)
}
