//! `cargo xtask control-plane`: for a person who wants a server to try things on.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Subcommand;

use super::build::{Availability, Binaries, Wanted, find_or_build};
use super::control::Control;
use super::start::ControlPlane;
use super::{CONTROL_VARIABLE, KUBECONFIG_VARIABLE};
use crate::clock;
use crate::stop_signal::StopSignal;

/// What to do with the control plane.
#[derive(Debug, Subcommand)]
pub(crate) enum ControlPlaneCommand {
    /// Finds or builds etcd, kube-apiserver, kube-controller-manager and kubectl, and prints their
    /// paths.
    Build,
    /// Starts etcd and kube-apiserver, prints how to reach them, and stops them on Ctrl-C.
    Run {
        /// Writes the kubeconfig there as well.
        #[arg(long, value_name = "PATH")]
        kubeconfig: Option<PathBuf>,
    },
}

/// Carries out the command.
pub(crate) fn run(command: ControlPlaneCommand) -> Result<()> {
    let start = clock::now();
    let wanted = match command {
        ControlPlaneCommand::Build => Wanted::All,
        ControlPlaneCommand::Run { .. } => Wanted::Servers,
    };
    let binaries = match find_or_build(wanted)? {
        Availability::Ready(binaries) => binaries,
        Availability::Missing(reason) => bail!("there is no control plane: {reason}"),
    };
    println!("{} ({})", binaries.origin, clock::seconds_since(start));
    match command {
        ControlPlaneCommand::Build => {
            let servers = [&binaries.etcd, &binaries.kube_apiserver];
            let optional = [&binaries.kube_controller_manager, &binaries.kubectl];
            for path in servers.into_iter().chain(optional.into_iter().flatten()) {
                println!("{}", path.display());
            }
            Ok(())
        }
        ControlPlaneCommand::Run { kubeconfig } => serve(binaries, kubeconfig.as_deref()),
    }
}

/// Serves until somebody asks to stop. The control socket is there as well, so that one end-to-end
/// test can be run again and again against the same servers.
fn serve(binaries: Binaries, kubeconfig: Option<&Path>) -> Result<()> {
    let stop = StopSignal::install()?;
    let start = clock::now();
    let mut plane = ControlPlane::start(binaries, stop.clone())?;
    println!(
        "started in {}: {}",
        clock::seconds_since(start),
        plane.status()
    );
    println!("logs and data: {}", plane.folder().display());
    let own = plane.kubeconfig();
    if let Some(path) = kubeconfig {
        fs::copy(&own, path).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let control = Control::serve(plane)?;
    println!("export KUBECONFIG={}", kubeconfig.unwrap_or(&own).display());
    println!("export {KUBECONFIG_VARIABLE}={}", own.display());
    println!("export {CONTROL_VARIABLE}={}", control.path().display());
    println!("Ctrl-C stops it.");
    while !stop.is_raised() {
        if let Err(error) = control.check_running() {
            eprintln!("{}", control.log_tails());
            return Err(error);
        }
        clock::pause();
    }
    println!("stopping");
    Ok(())
}
