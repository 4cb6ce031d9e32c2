//! The programs that are run: the fixture server, and a driver for each peer.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::Allocator;
use crate::checkout;
use crate::shell::{cargo, go_build, has_go, words};

/// Where the peers are.
const PEERS: &str = "crates/bench/peers";

/// The beginning of each build; the folder follows.
const BUILD: [&str; 4] = ["build", "--release", "--locked", "--target-dir"];

/// One of the drivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Program {
    Ours,
    KubeRuntime,
    ClientGo,
}

/// All programs, built.
#[derive(Debug)]
pub(super) struct Programs {
    pub(super) server: PathBuf,
    ours: PathBuf,
    kube_runtime: PathBuf,
    client_go: Option<PathBuf>,
    pub(super) allocator: Allocator,
    /// Whether programs can be kept on cores of their own.
    pub(super) can_pin: bool,
}

impl Programs {
    pub(super) fn build(allocator: Allocator) -> Result<Self> {
        let target = checkout::target();
        Self::build_ours(allocator, &[])?;
        let mut peer = cargo(BUILD);
        let manifest = Path::new(PEERS).join("kube-runtime/Cargo.toml");
        peer.arg(&target).arg("--manifest-path").arg(manifest);
        say_and_run(peer.args(allocator.features()))?;
        let release = target.join("release");
        Ok(Self {
            server: release.join("bench-server"),
            ours: release.join("bench-informer"),
            kube_runtime: release.join("bench-kube-runtime"),
            client_go: build_client_go(&target)?,
            allocator,
            can_pin: is_installed("taskset", "--version"),
        })
    }

    /// Builds the programs of the workspace, or only those that `which` selects.
    pub(super) fn build_ours(allocator: Allocator, which: &[&str]) -> Result<()> {
        let mut workspace = cargo(BUILD);
        workspace.arg(checkout::target());
        workspace.args(["-p", "informer-bench"]).args(which);
        say_and_run(workspace.args(allocator.features()))
    }

    /// Why a program cannot be run, if it cannot.
    pub(super) fn missing(&self, program: Program) -> Option<&'static str> {
        (program == Program::ClientGo && self.client_go.is_none()).then_some("Go is not installed")
    }

    /// Where the driver is; empty if it is missing.
    pub(super) fn path(&self, program: Program) -> &Path {
        match program {
            Program::Ours => &self.ours,
            Program::KubeRuntime => &self.kube_runtime,
            Program::ClientGo => self.client_go.as_deref().unwrap_or(Path::new("")),
        }
    }
}

fn build_client_go(target: &Path) -> Result<Option<PathBuf>> {
    if !has_go() {
        return Ok(None);
    }
    let path = target.join("release/bench-client-go");
    let mut build = go_build(&["build"]);
    build.arg("-o").arg(&path).arg(".");
    build.current_dir(checkout::root().join(PEERS).join("client-go"));
    say_and_run(&mut build)?;
    Ok(Some(path))
}

/// Standard output is for the table.
fn say_and_run(command: &mut Command) -> Result<()> {
    let shown = words(command);
    eprintln!("$ {shown}");
    let status = command.status().with_context(|| shown.clone())?;
    anyhow::ensure!(status.success(), "`{shown}` failed ({status})");
    Ok(())
}

/// Whether a program can be run at all.
pub(super) fn is_installed(name: &str, argument: &str) -> bool {
    let output = Command::new(name).arg(argument).output();
    output.is_ok_and(|output| output.status.success())
}
