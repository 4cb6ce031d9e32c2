//! Where it was measured, and with which versions: without that a figure says nothing.

use std::fs;

use anyhow::{Context, Result};

use super::Allocator;
use super::programs::{Program, Programs};
use super::trial::cores;
use crate::checkout;
use crate::shell::{output_of, program};

/// Name and value, a line each.
pub(super) type Description = Vec<(&'static str, String)>;

/// This machine, and what was built.
pub(super) fn describe(programs: &Programs) -> Result<Description> {
    let pinned = match (programs.can_pin, cores()) {
        (false, _) => "nothing is pinned: no taskset",
        (true, 1) => "one core for all",
        (true, 2..4) => "server on the last core, drivers on all",
        (true, _) => "server on the last core, drivers on the others",
    };
    let mut description = describe_ours(programs.allocator);
    description.insert(1, ("cores", format!("{}; {pinned}", cores())));
    description.push(("kube-runtime", kube_runtime()?));
    match programs.missing(Program::ClientGo) {
        None => {
            description.push(("go", said("go", "version")));
            description.push(("client-go", client_go()?));
        }
        Some(why) => description.push(("client-go", format!("skipped: {why}"))),
    }
    Ok(description)
}

/// This machine, and what was built of ours.
pub(super) fn describe_ours(allocator: Allocator) -> Description {
    vec![
        ("processor", processor()),
        ("memory", line_of("/proc/meminfo", "MemTotal:")),
        ("system", first_line("/proc/sys/kernel/osrelease")),
        ("rustc", said("rustc", "--version")),
        ("allocator", format!("{allocator:?}").to_lowercase()),
        ("ours", said_of_git()),
    ]
}

fn processor() -> String {
    let line = line_of("/proc/cpuinfo", "model name");
    line.trim_start_matches(':').trim().to_owned()
}

fn line_of(path: &str, beginning: &str) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(beginning));
    line.unwrap_or("unknown").trim().to_owned()
}

fn first_line(path: &str) -> String {
    line_of(path, "")
}

fn said(name: &str, argument: &str) -> String {
    let said = output_of(program(name).arg(argument));
    said.map_or_else(|_| "unknown".to_owned(), |said| said.trim().to_owned())
}

fn said_of_git() -> String {
    let mut git = program("git");
    let said = output_of(git.args(["describe", "--always", "--dirty", "--exclude=*"]));
    said.map_or_else(|_| "unknown".to_owned(), |said| said.trim().to_owned())
}

/// As its lock file has it.
fn kube_runtime() -> Result<String> {
    let lock = "crates/bench/peers/kube-runtime/Cargo.lock";
    let lock = fs::read_to_string(checkout::root().join(lock)).context(lock)?;
    let mut lines = lock
        .lines()
        .skip_while(|line| *line != "name = \"kube-runtime\"");
    let version = lines.nth(1).context("kube-runtime is locked")?;
    Ok(version.trim_start_matches("version = ").replace('"', ""))
}

fn client_go() -> Result<String> {
    let path = "crates/bench/peers/client-go/go.mod";
    let module = fs::read_to_string(checkout::root().join(path)).context(path)?;
    let mut lines = module.lines().map(str::trim);
    let version = lines.find_map(|line| line.strip_prefix("k8s.io/client-go "));
    Ok(version.context("client-go is required")?.to_owned())
}
