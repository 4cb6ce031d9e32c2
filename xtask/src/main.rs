//! The project's own tasks, so that a laptop and continuous integration do exactly the same.
//!
//! `cargo xtask --help` lists them. Nothing here is published; the crates do not know of it.

mod checkout;
mod clock;
mod control_plane;
mod e2e;
mod stop_signal;
mod stopwatch;

use std::process::ExitCode;

use clap::Parser;

use control_plane::ControlPlaneCommand;

/// The project's own tasks.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask")]
enum Task {
    /// A real etcd and kube-apiserver on this machine.
    #[command(subcommand)]
    ControlPlane(ControlPlaneCommand),
    /// The end-to-end tests, against a real API server.
    E2e,
}

fn main() -> ExitCode {
    let result = match Task::parse() {
        Task::ControlPlane(command) => control_plane::run(command),
        Task::E2e => e2e::run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Without a backtrace: these errors are for whoever runs the task, not for xtask.
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
