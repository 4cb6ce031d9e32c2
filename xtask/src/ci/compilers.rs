//! The jobs that compile the libraries with another compiler or for another platform.

use anyhow::{Context, Result};
use cargo_metadata::Metadata;

use crate::checkout;
use crate::shell::{cargo, program, run};
use crate::stopwatch::Outcome;

use super::jobs::{metadata, passed};
use super::rustup;

const WASM: &str = "wasm32-unknown-unknown";

/// Compiles every library with the oldest compiler that the manifests promise.
pub(super) fn oldest() -> Result<Outcome> {
    let oldest = oldest_compiler(&metadata()?)?;
    if let Err(why) = rustup::toolchain(&oldest, &[]) {
        return Ok(Outcome::Skipped(why));
    }
    let mut command = program("rustup");
    command.args(["run", &oldest, "cargo", "check", "--workspace", "--lib"]);
    // A folder of its own, or each of the two compilers would undo the other's work.
    command.args(["--locked", "--target-dir"]);
    passed(run(command.arg(checkout::target().join("msrv"))))
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

/// The one `rust-version` of the published crates, as a name for a toolchain.
fn oldest_compiler(metadata: &Metadata) -> Result<String> {
    let packages = metadata.workspace_packages();
    let version = packages
        .iter()
        .find_map(|package| package.rust_version.as_ref());
    let version = version.context("no crate states its rust-version")?;
    Ok(format!("{}.{}", version.major, version.minor))
}
