//! `cargo xtask e2e`: the facade and the command line program against a real API server.
//!
//! One control plane is started for the whole run. The tests find it by two environment variables:
//! a kubeconfig, and a Unix socket on which they ask for faults (`control_plane::control`). One of
//! the packages compares us with client-go, whose program it finds by a third; without Go it is
//! left out, and said to be.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::built::Built;
use crate::clock;
use crate::conformance::build_beside;
use crate::control_plane::{
    Availability, Binaries, CONTROL_VARIABLE, Control, ControlPlane, KUBECONFIG_VARIABLE, Wanted,
    find_or_build,
};
use crate::fast_build;
use crate::shell::{has_go, words};
use crate::stop_signal::StopSignal;
use crate::stopwatch::{Outcome, Report};

/// The end-to-end test of a package, behind a feature of the same name.
const TARGET: &str = "e2e";

/// The packages that have one.
const PACKAGES: [&str; 3] = ["informer-factory", "informer-cli", BESIDE_CLIENT_GO];

/// The package that needs a program of client-go's beside it, and how its test finds that.
const BESIDE_CLIENT_GO: &str = "informer-conformance";
const BESIDE_VARIABLE: &str = "INFORMER_E2E_BESIDE";

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
    let binaries = match noted(report, "build control plane", || {
        find_or_build(Wanted::Servers)
    })? {
        Availability::Ready(binaries) => binaries,
        Availability::Missing(reason) => {
            *report = Report::default();
            report.note("e2e", Outcome::Skipped(reason), start);
            return Ok(());
        }
    };
    println!("control plane: {}", binaries.origin);
    let beside = client_go(report)?;
    let is_possible = |package: &&str| beside.is_some() || *package != BESIDE_CLIENT_GO;
    let packages = PACKAGES.into_iter().filter(is_possible);
    // Compiled before anything runs, so that the servers do not compete with the compiler.
    let built = noted(report, "compile", || {
        run_until(&mut fast_build::build_tests(TARGET), stop)?;
        Built::by(&mut fast_build::build_tests(TARGET))
    })?;
    let mut tests = Vec::new();
    for package in packages {
        tests.push((package, built.tests(package, TARGET)?));
    }
    with_control_plane(report, binaries, tests, beside.as_deref(), stop)
}

/// Builds the program around client-go; without Go there is none, and the report says so.
fn client_go(report: &mut Report) -> Result<Option<PathBuf>> {
    if !has_go() {
        let why = "Go is not installed: client-go was not asked";
        let outcome = Outcome::Skipped(why.to_owned());
        report.note(BESIDE_CLIENT_GO, outcome, clock::now());
        return Ok(None);
    }
    noted(report, "build client-go", build_beside).map(Some)
}

fn with_control_plane(
    report: &mut Report,
    binaries: Binaries,
    tests: Vec<(&str, Command)>,
    beside: Option<&Path>,
    stop: &StopSignal,
) -> Result<()> {
    let plane = noted(report, "start control plane", || {
        ControlPlane::start(binaries, stop.clone())
    })?;
    let kubeconfig = plane.kubeconfig();
    let control = Control::serve(plane)?;
    for (package, mut command) in tests {
        let tested = noted(report, package, || {
            command
                .args(["--nocapture", "--test-threads", "1"])
                .env(KUBECONFIG_VARIABLE, &kubeconfig)
                .env(CONTROL_VARIABLE, control.path())
                .envs(beside.map(|program| (BESIDE_VARIABLE, program)));
            run_until(&mut command, stop)
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

/// Runs it in a process group of its own, so that an interruption reaches what is below it.
pub(crate) fn run_until(command: &mut Command, stop: &StopSignal) -> Result<()> {
    println!("$ {}", words(command));
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
