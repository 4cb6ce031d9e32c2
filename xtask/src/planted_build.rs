//! The compiler of the simulator's build with planted bugs.
//!
//! Cargo calls a wrapper for the crates of the workspace alone, so that `cfg(sim)` costs no second
//! build of everybody else's. The wrapper is this very program, told so by a variable.

use std::{
    env,
    process::{Command, ExitCode},
};

use anyhow::{Context, Result};

const MARK: &str = "INFORMER_PLANTED_BUILD";

/// Has the crates of the workspace built with planted bugs.
pub(crate) fn plant(command: &mut Command) -> Result<()> {
    let this = env::current_exe().context("cannot find xtask itself")?;
    command.env("RUSTC_WORKSPACE_WRAPPER", this).env(MARK, "1");
    Ok(())
}

/// Compiles, if it is cargo that calls us.
pub(crate) fn compile() -> Option<ExitCode> {
    env::var_os(MARK)?;
    let mut arguments = env::args_os().skip(1);
    let mut compiler = Command::new(arguments.next()?);
    let status = compiler.args(arguments).args(["--cfg", "sim"]).status();
    Some(match status {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: cannot run the compiler: {error}");
            ExitCode::FAILURE
        }
    })
}
