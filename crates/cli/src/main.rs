//! `kubectl informer`: reads the command line, runs one command, and decides how the process ends.
//!
//! Does nothing itself: see `cost`, `demo`, `rbac` and `watch`. Exit status 0 is success, 1 a
//! failure, 2 a mistake in the command line or in the setup.
#![forbid(unsafe_code)]

mod cluster;
mod cost;
mod demo;
mod duration;
mod escape;
mod failure;
mod memory;
mod queue;
mod rbac;
mod screen;
mod signals;
mod status;
mod stdout;
mod watch;

use std::io;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tracing_subscriber::EnvFilter;

use crate::failure::Failure;
use crate::screen::Screen;

const ABOUT: &str = "Shared informers for Kubernetes, from the command line.";

const LONG_ABOUT: &str = "Shared informers for Kubernetes, from the command line.

An informer lists a collection once, follows it by a watch, keeps a copy of it
in memory, and notifies handlers of each addition, change and deletion. `watch`
shows these for a resource of your cluster; `cost` estimates the memory that the
copy takes; `demo` shows an informer at work without any cluster; `rbac` prints
the roles that informers need.

Called kubectl-informer and in your PATH, it is also `kubectl informer`.";

const AFTER_HELP: &str = "\
On SIGUSR1 `watch` and `demo` say where every informer stands: phase, last
error, relists, reconnects.
RUST_LOG sets what is logged to stderr; the default is `error`.

Exit status: 0 done, 1 failed, 2 wrong usage or setup.";

#[derive(Debug, Parser)]
#[command(name = "kubectl-informer", bin_name = "kubectl informer", version)]
#[command(about = ABOUT, long_about = LONG_ABOUT, after_help = AFTER_HELP)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Cost(cost::CostArguments),
    Demo(demo::DemoArguments),
    Rbac(rbac::RbacArguments),
    Watch(watch::WatchArguments),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    log_to_stderr();
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return tell(&Failure::failed(format!("no runtime: {error}"))),
    };
    let result = runtime.block_on(async {
        match &arguments.command {
            Command::Cost(arguments) => cost::run(arguments).await,
            Command::Demo(arguments) => demo::run(arguments).await,
            Command::Rbac(arguments) => rbac::run(arguments).await,
            Command::Watch(arguments) => watch::run(arguments).await,
        }
    });
    // Not waited for: a thread may be stuck in a write to a pipe that nobody reads.
    runtime.shutdown_background();
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => tell(&failure),
    }
}

fn tell(failure: &Failure) -> ExitCode {
    Screen::plain().say(&failure.to_string());
    failure.exit_code()
}

fn log_to_stderr() {
    let asked = std::env::var("RUST_LOG").unwrap_or_else(|_| "error".to_owned());
    // Whatever is asked for: kube-client logs headers at trace level (SEC-5).
    let filter = EnvFilter::new(format!("{asked},kube_client=info"));
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter);
    subscriber.with_writer(io::stderr).init();
}
