//! `cargo xtask chaos`: informers under load while a real API server fails in every way.
//!
//! The program is `crates/chaos`; here are the servers it runs against. They are found as by the
//! end-to-end tests: a kubeconfig, and the socket on which faults are asked for.

use anyhow::Result;

use crate::control_plane::{
    Availability, CONTROL_VARIABLE, Control, ControlPlane, KUBECONFIG_VARIABLE, Wanted,
    find_or_build,
};
use crate::e2e::run_until;
use crate::shell::{arguments_of_task, cargo};
use crate::stop_signal::StopSignal;

// The program's own file: its options are described here without building it.
#[allow(dead_code, reason = "the program reads them")]
#[path = "../../crates/chaos/src/arguments.rs"]
mod arguments;

/// What `--help` prints, and what is checked before anything is built or started.
pub(crate) use arguments::Arguments;

/// Runs it; fails if anything was not as it must be. Without a control plane it is skipped, and
/// said to be.
pub(crate) fn run() -> Result<()> {
    let stop = StopSignal::install()?;
    let binaries = match find_or_build(Wanted::Servers)? {
        Availability::Ready(binaries) => binaries,
        Availability::Missing(reason) => {
            println!("chaos: skipped ({reason})");
            return Ok(());
        }
    };
    println!("control plane: {}", binaries.origin);
    // Compiled before anything runs, so that the servers do not compete with the compiler.
    run_until(cargo(["build"]).args(PROGRAM), &stop)?;
    let plane = ControlPlane::start(binaries, stop.clone())?;
    let kubeconfig = plane.kubeconfig();
    let control = Control::serve(plane)?;
    let mut chaos = cargo(["run", "--quiet"]);
    chaos
        .args(PROGRAM)
        .arg("--")
        .args(arguments_of_task())
        .env(KUBECONFIG_VARIABLE, &kubeconfig)
        .env(CONTROL_VARIABLE, control.path());
    run_until(&mut chaos, &stop)
}

const PROGRAM: [&str; 6] = [
    "--release",
    "--locked",
    "-p",
    "informer-chaos",
    "--bin",
    "chaos",
];
