//! `cargo xtask chaos`: informers under load while a real API server fails in every way.
//!
//! The program is `crates/chaos`; here are the servers it runs against. They are found as by the
//! end-to-end tests: a kubeconfig, and the socket on which faults are asked for.

use anyhow::Result;
use clap::Args;

use crate::control_plane::{
    Availability, CONTROL_VARIABLE, Control, ControlPlane, KUBECONFIG_VARIABLE, find_or_build,
};
use crate::e2e::run_until;
use crate::shell::cargo;
use crate::stop_signal::StopSignal;

/// What the program is told; `cargo xtask chaos -- --help` shows what it knows.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub(crate) struct ChaosCommand {
    /// As the program takes it, such as `--for 10m --seed 4711`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// Runs it; fails if anything was not as it must be. Without a control plane it is skipped, and
/// said to be.
pub(crate) fn run(command: &ChaosCommand) -> Result<()> {
    let stop = StopSignal::install()?;
    let binaries = match find_or_build()? {
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
        .args(&command.arguments)
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
