//! Runs other programs in the checkout, and says first what it runs.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::checkout;

/// The arguments behind the name of the task, for a program that reads them itself.
///
/// Only for a task whose arguments were parsed, which refuses what is not UTF-8.
pub(crate) fn arguments_of_task() -> Vec<String> {
    std::env::args().skip(2).collect()
}

/// `cargo` with these arguments, in the checkout. It is the cargo that runs xtask, so that a
/// toolchain chosen on the command line holds for everything.
pub(crate) fn cargo<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Command {
    let mut command = program(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments);
    // Nothing that is built here is built a second time with one line changed, nor debugged.
    command.env("CARGO_INCREMENTAL", "0");
    command.env("CARGO_PROFILE_DEV_DEBUG", "false");
    command
}

/// Whether Go programs can be built here.
pub(crate) fn has_go() -> bool {
    program("go").arg("version").output().is_ok()
}

/// `go` with these arguments, in the checkout. Neither flags of the user's nor a workspace file
/// around the checkout have an effect.
pub(crate) fn go<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Command {
    let mut command = program("go");
    command.args(arguments);
    command.env_remove("GOFLAGS").env("GOWORK", "off");
    command
}

/// `go` with a verb that builds. The result depends on nothing but the module.
pub(crate) fn go_build(verb: &[&str]) -> Command {
    let mut command = go(verb);
    command.args(["-mod=readonly", "-trimpath", "-buildvcs=false"]);
    command
}

/// Any other program, in the checkout.
pub(crate) fn program(name: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(name);
    command.current_dir(checkout::root());
    // Cargo tells us about xtask's package. Build scripts that look at these variables would
    // believe it is about theirs, and build everything again when it goes.
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_about_a_package(name)) {
        command.env_remove(name);
    }
    command
}

fn is_about_a_package(variable: &OsStr) -> bool {
    let name = variable.to_string_lossy();
    ["CARGO_PKG_", "CARGO_MANIFEST_"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

/// Prints the command and runs it.
///
/// # Errors
/// When it cannot be started or does not succeed.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    println!("$ {}", words(command));
    let status = command
        .status()
        .with_context(|| format!("cannot run {}", words(command)))?;
    if !status.success() {
        bail!("`{}` failed ({status})", words(command));
    }
    Ok(())
}

/// Like [`run`], and shows each line of the output to `look` on its way to the terminal.
pub(crate) fn run_watched(command: &mut Command, mut look: impl FnMut(&str)) -> Result<()> {
    println!("$ {}", words(command));
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot run {}", words(command)))?;
    let output = child.stdout.take().context("the output was asked for")?;
    for line in BufReader::new(output).split(b'\n') {
        let line = line.context("cannot read the output")?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        look(&line);
    }
    let status = child.wait().context("cannot wait for the command")?;
    if !status.success() {
        bail!("`{}` failed ({status})", words(command));
    }
    Ok(())
}

/// Runs the command silently and returns what it wrote.
pub(crate) fn output_of(command: &mut Command) -> Result<String> {
    let output = command
        .output()
        .with_context(|| format!("cannot run {}", words(command)))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        bail!("`{}` failed ({}):\n{errors}", words(command), output.status);
    }
    String::from_utf8(output.stdout).context("the output is not UTF-8")
}

/// The command as a person would type it, with the variables it sets.
pub(crate) fn words(command: &Command) -> String {
    let mut words: Vec<String> = command
        .get_envs()
        .filter_map(|(name, value)| value.map(|value| format!("{}={value:?}", name.display())))
        .collect();
    let program = std::path::Path::new(command.get_program());
    let program = program.file_name().unwrap_or(command.get_program());
    words.push(program.to_string_lossy().into_owned());
    words.extend(
        command
            .get_args()
            .map(|word| word.to_string_lossy().into_owned()),
    );
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_it_would_be_typed() {
        let mut command = cargo(["doc", "--workspace"]);
        command.env("RUSTDOCFLAGS", "-D warnings");
        let shown = words(&command);
        assert!(
            shown.contains("RUSTDOCFLAGS=\"-D warnings\" cargo"),
            "{shown}"
        );
        assert!(shown.ends_with(" doc --workspace"), "{shown}");
    }

    #[test]
    fn a_nested_cargo_does_not_hear_of_our_package() {
        let command = cargo(["check"]);
        let is_removed = |wanted: &str| command.get_envs().any(|(n, v)| n == wanted && v.is_none());
        assert!(is_removed("CARGO_PKG_NAME") && is_removed("CARGO_MANIFEST_DIR"));
    }

    #[test]
    fn output_is_watched_line_by_line_and_failure_is_reported() {
        let mut seen = Vec::new();
        let mut command = Command::new("sh");
        command.args(["-c", "echo one; echo two; exit 3"]);
        let result = run_watched(&mut command, |line| seen.push(line.to_owned()));
        assert_eq!(seen, ["one", "two"]);
        assert!(
            result
                .expect_err("it exits with 3")
                .to_string()
                .contains("exit status: 3")
        );
    }
}
