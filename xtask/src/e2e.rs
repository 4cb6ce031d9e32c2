//! `cargo xtask e2e`: the facade and the command line program against a real API server.
//!
//! One control plane is started for the whole run. The tests find it by two environment variables:
//! a kubeconfig, and a Unix socket on which they ask for faults (`control_plane::control`).

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::clock;
use crate::control_plane::{
    Availability, Binaries, CONTROL_VARIABLE, Control, ControlPlane, KUBECONFIG_VARIABLE,
    find_or_build,
};
use crate::shell;
use crate::stop_signal::StopSignal;
use crate::stopwatch::{Outcome, Report};

/// The packages with an end-to-end test: a test target `e2e` behind a feature `e2e`.
const PACKAGES: [&str; 2] = ["informer-factory", "informer-cli"];

/// Runs everything, prints the time split, and fails if a part did.
pub(crate) fn run() -> Result<()> {
    let mut report = Report::default();
    let stop = StopSignal::install()?;
    let result = run_parts(&mut report, &stop);
    println!("{}", report.summary());
    result?;
    if !report.is_good() {
        bail!("end-to-end tests failed");
    }
    Ok(())
}

fn run_parts(report: &mut Report, stop: &StopSignal) -> Result<()> {
    let start = clock::now();
    let binaries = match noted(report, "build control plane", find_or_build)? {
        Availability::Ready(binaries) => binaries,
        Availability::Missing(reason) => {
            *report = Report::default();
            report.note("e2e", Outcome::Skipped(reason), start);
            return Ok(());
        }
    };
    println!("control plane: {}", binaries.origin);
    // Compiled before anything runs, so that the servers do not compete with the compiler.
    for package in PACKAGES {
        noted(report, &format!("compile {package}"), || {
            compile(package, stop)
        })?;
    }
    with_control_plane(report, binaries, stop)
}

fn with_control_plane(report: &mut Report, binaries: Binaries, stop: &StopSignal) -> Result<()> {
    let plane = noted(report, "start control plane", || {
        ControlPlane::start(binaries, stop.clone())
    })?;
    let kubeconfig = plane.kubeconfig();
    let control = Control::serve(plane)?;
    for package in PACKAGES {
        let tested = noted(report, package, || {
            test(package, &kubeconfig, control.path(), stop)
        });
        if tested.is_err() {
            eprintln!("{}", control.log_tails());
            return tested;
        }
    }
    Ok(())
}

/// Runs one part and notes how it ended.
fn noted<T>(report: &mut Report, name: &str, part: impl FnOnce() -> Result<T>) -> Result<T> {
    let start = clock::now();
    let result = part();
    let outcome = if result.is_ok() {
        Outcome::Passed
    } else {
        Outcome::Failed
    };
    report.note(name, outcome, start);
    result
}

fn compile(package: &str, stop: &StopSignal) -> Result<()> {
    run_cargo(&mut cargo_test(package, &["--no-run"]), stop)
}

fn test(package: &str, kubeconfig: &Path, control: &Path, stop: &StopSignal) -> Result<()> {
    let mut command = cargo_test(package, &["--", "--nocapture", "--test-threads", "1"]);
    command
        .env(KUBECONFIG_VARIABLE, kubeconfig)
        .env(CONTROL_VARIABLE, control);
    run_cargo(&mut command, stop)
}

fn cargo_test(package: &str, more: &[&str]) -> Command {
    let mut command = shell::cargo(["test", "--locked", "--release", "-p", package]);
    command
        .args(["--features", "e2e", "--test", "e2e"])
        .args(more);
    command
}

/// Runs cargo in a process group of its own, so that an interruption reaches the tests below it.
fn run_cargo(command: &mut Command, stop: &StopSignal) -> Result<()> {
    let words: Vec<_> = command
        .get_args()
        .map(|word| word.to_string_lossy())
        .collect();
    println!("$ cargo {}", words.join(" "));
    let mut child = command
        .process_group(0)
        .spawn()
        .context("cannot run cargo")?;
    loop {
        if let Some(status) = child.try_wait().context("cannot wait for cargo")? {
            if status.success() {
                return Ok(());
            }
            bail!("the command above failed ({status})");
        }
        if stop.is_raised() {
            end_group(&mut child)?;
            bail!("interrupted");
        }
        clock::pause();
    }
}

fn end_group(child: &mut Child) -> Result<()> {
    kill_process_group(Pid::from_child(child), Signal::TERM).context("cannot stop cargo")?;
    child.wait().context("cannot wait for cargo")?;
    Ok(())
}
