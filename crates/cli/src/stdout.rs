//! Stdout, which has what was asked for and nothing else.

use std::io::{self, ErrorKind, Write};

use crate::failure::Failure;

/// Prints the whole answer of a command. A reader that has closed the pipe does not want it.
pub(crate) fn print(answer: &str) -> Result<(), Failure> {
    match io::stdout().lock().write_all(answer.as_bytes()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::failed(format!("cannot write to stdout: {error}")))
        }
        _ => Ok(()),
    }
}
