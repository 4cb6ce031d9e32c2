//! `cargo xtask bench --real`: what initial states and events cost a real API server.
//!
//! The measurements are those of `bench-real`; this file starts the server for it.

use std::fs::File;

use anyhow::{Context, Result, bail, ensure};

use super::programs::Programs;
use super::{Allocator, machine};
use crate::checkout;
use crate::control_plane::{Availability, ControlPlane, Wanted, find_or_build};
use crate::e2e::run_until;
use crate::shell::{program, words};
use crate::stop_signal::StopSignal;

/// The number of pods; with 13 KB each it is a collection of 200 MB.
const PODS: u64 = 15_000;

/// Builds the programs, starts the server and measures. The tables go to standard output.
///
/// # Errors
/// Also when there is no control plane.
pub(super) fn run(allocator: Allocator, pods: Option<u64>, rounds: Option<usize>) -> Result<()> {
    let stop = StopSignal::install()?;
    let binaries = match find_or_build(Wanted::Servers)? {
        Availability::Ready(binaries) => binaries,
        Availability::Missing(reason) => bail!("there is no control plane: {reason}"),
    };
    let which = [
        "--features",
        "real",
        "--bin",
        "bench-real",
        "--bin",
        "bench-shapes",
    ];
    Programs::build_ours(allocator, &which)?;
    println!("- control plane: {}", binaries.origin);
    for (name, value) in machine::describe_ours(allocator) {
        println!("- {name}: {value}");
    }
    println!();
    let workshop = tempfile::tempdir()?;
    let collection = workshop.path().join("pods");
    let release = checkout::target().join("release");
    let mut shapes = program(release.join("bench-shapes"));
    shapes.args(["--print", "--objects", &pods.unwrap_or(PODS).to_string()]);
    let shown = words(&shapes);
    let status = shapes
        .stdout(File::create(&collection)?)
        .status()
        .with_context(|| shown.clone())?;
    ensure!(status.success(), "`{shown}` failed ({status})");
    let plane = ControlPlane::start(binaries, stop.clone())?;
    let process = plane
        .api_server_process()
        .context("kube-apiserver is not running")?;
    let mut real = program(release.join("bench-real"));
    real.arg("--kubeconfig").arg(plane.kubeconfig());
    real.arg("--pods").arg(&collection);
    real.args(["--server-process", &process.to_string()]);
    if let Some(rounds) = rounds {
        real.args(["--rounds", &rounds.to_string()]);
    }
    let measured = run_until(&mut real, &stop);
    if measured.is_err() {
        eprintln!("{}", plane.log_tails());
    }
    measured
}
