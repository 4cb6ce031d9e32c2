//! The compiler of the build with planted bugs, for the simulator, and with tests over shuttle.
//!
//! Cargo calls a wrapper for the crates of the workspace alone, so that `cfg(sim)` and
//! `cfg(shuttle)` cost no second build of the dependencies. The wrapper is this very program, which
//! a variable puts into this mode. Neither flag changes the purpose of the other: a planted bug is
//! off until a test switches it on, and shuttle replaces primitives in tests only.

use std::{
    env,
    process::{Command, ExitCode},
};

use anyhow::{Context, Result};

const MARK: &str = "INFORMER_PROOF_BUILD";
const PROOFS: [&str; 4] = ["--cfg", "sim", "--cfg", "shuttle"];

/// Has the crates of the workspace built for proofs.
pub(crate) fn open(command: &mut Command) -> Result<()> {
    let this = env::current_exe().context("cannot find xtask itself")?;
    command.env("RUSTC_WORKSPACE_WRAPPER", this).env(MARK, "1");
    Ok(())
}

/// Compiles, if it is cargo that calls us.
pub(crate) fn compile() -> Option<ExitCode> {
    env::var_os(MARK)?;
    let mut arguments = env::args_os().skip(1);
    let mut compiler = Command::new(arguments.next()?);
    let status = compiler.args(arguments).args(PROOFS).status();
    Some(match status {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: cannot run the compiler: {error}");
            ExitCode::FAILURE
        }
    })
}
