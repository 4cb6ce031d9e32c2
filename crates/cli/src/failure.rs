//! Why a command ends without success: what went wrong, what to do, and with which exit status.

use std::fmt;
use std::process::ExitCode;

/// The end of a command that did not succeed.
#[derive(Debug)]
pub(crate) struct Failure {
    what: String,
    advice: Option<String>,
    exit: Exit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exit {
    /// 1: asked for rightly, did not work.
    Failed,
    /// 2: the command line or the setup is wrong.
    Setup,
}

impl Failure {
    /// Asked for rightly, did not work. `what` must be free of control characters.
    pub(crate) fn failed(what: impl Into<String>) -> Self {
        Self::new(what.into(), Exit::Failed)
    }

    /// The command line or the setup is wrong. `what` must be free of control characters.
    pub(crate) fn setup(what: impl Into<String>) -> Self {
        Self::new(what.into(), Exit::Setup)
    }

    fn new(what: String, exit: Exit) -> Self {
        Self {
            what,
            advice: None,
            exit,
        }
    }

    /// Adds what to do about it.
    pub(crate) fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }

    /// The exit status.
    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self.exit {
            Exit::Failed => 1,
            Exit::Setup => 2,
        })
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.what)?;
        match &self.advice {
            Some(advice) => write!(f, "\n  {advice}"),
            None => Ok(()),
        }
    }
}
