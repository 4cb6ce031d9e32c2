//! The jobs that compile the libraries with another compiler or for another platform.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use cargo_metadata::{Metadata, Target};

use crate::checkout;
use crate::shell::{cargo, program, run};
use crate::stopwatch::Outcome;

use super::jobs::{metadata, passed};
use super::minimal;
use super::published::published;
use super::rustup;

const WASM: &str = "wasm32-unknown-unknown";

/// Compiles every published library with the oldest compiler that the manifests promise.
pub(super) fn oldest() -> Result<Outcome> {
    let metadata = metadata()?;
    let mut check = match check_with_oldest(&metadata)? {
        Ok(check) => check,
        Err(why) => return Ok(Outcome::Skipped(why)),
    };
    for package in published(&metadata) {
        if package.targets.iter().any(Target::is_lib) {
            check.args(["-p", package.name.as_str()]);
        }
    }
    passed(run(&mut check))
}

/// Compiles the published packages with the oldest compiler and the oldest dependencies.
pub(super) fn oldest_dependencies() -> Result<Outcome> {
    let metadata = metadata()?;
    let mut check = match check_with_oldest(&metadata)? {
        Ok(check) => check,
        Err(why) => return Ok(Outcome::Skipped(why)),
    };
    let outside = tempfile::tempdir().context("cannot create a folder outside the checkout")?;
    minimal::prepare(&metadata, outside.path(), &target_of_oldest())?;
    check.args(["--workspace", "--all-features"]);
    passed(run(check.current_dir(outside.path())))
}

/// Compiles the pure crates for a platform without an operating system.
pub(super) fn wasm() -> Result<Outcome> {
    if let Err(why) = rustup::target(WASM) {
        return Ok(Outcome::Skipped(why));
    }
    let check = ["check", "--locked", "--target", WASM];
    run(cargo(check).args(["-p", "informer-store", "-p", "informer-deltafifo"]))?;
    passed(run(cargo(check).args([
        "-p",
        "informer-reflector",
        "--no-default-features",
    ])))
}

/// `cargo check` by the oldest compiler, or why it cannot be had.
fn check_with_oldest(metadata: &Metadata) -> Result<Result<Command, String>> {
    let oldest = oldest_compiler(metadata)?;
    let installed = rustup::toolchain(&oldest, &[]);
    Ok(installed.map(|()| {
        let mut check = program("rustup");
        check.args(["run", &oldest, "cargo", "check", "--locked", "--target-dir"]);
        check.arg(target_of_oldest());
        // The same for both jobs, which share most dependencies.
        check
            .env("CARGO_INCREMENTAL", "0")
            .env("CARGO_PROFILE_DEV_DEBUG", "false");
        check
    }))
}

/// A folder of its own, or each of the two compilers would undo the other's work.
fn target_of_oldest() -> PathBuf {
    checkout::target().join("msrv")
}

/// The one `rust-version` of the published crates, as a name for a toolchain.
fn oldest_compiler(metadata: &Metadata) -> Result<String> {
    let packages = metadata.workspace_packages();
    let version = packages
        .iter()
        .find_map(|package| package.rust_version.as_ref());
    let version = version.context("no crate states its rust-version")?;
    Ok(format!("{}.{}", version.major, version.minor))
}
