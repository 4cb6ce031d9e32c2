//! The handler that prints: a write for each line, on a thread of its own, since a pipe may block.

use std::io::{self, ErrorKind, Write};
use std::sync::Arc;

use informer_factory::{Handler, Notification, ObjectKey};
use tokio::sync::watch;

use super::line::Lines;
use super::printable::ToJson;

/// How writing to stdout ended.
#[derive(Clone, Debug, Default)]
pub(super) enum Ended {
    /// It has not.
    #[default]
    No,
    /// Nobody reads any more.
    BrokenPipe,
    /// Something else is wrong.
    Failed(Arc<io::Error>),
}

/// Prints what it is told, until stdout ends.
pub(super) struct Printer<W> {
    lines: Lines,
    out: W,
    ended: watch::Sender<Ended>,
}

impl<W: Write + Send + 'static> Printer<W> {
    /// A printer, and where it tells that writing has ended.
    pub(super) fn new(lines: Lines, out: W) -> (Self, watch::Receiver<Ended>) {
        let (ended, receiver) = watch::channel(Ended::No);
        (Self { lines, out, ended }, receiver)
    }

    fn print(&mut self, mut line: String) -> io::Result<()> {
        line.push('\n');
        self.out.write_all(line.as_bytes())?;
        self.out.flush()
    }
}

impl<T, W> Handler<ObjectKey, T> for Printer<W>
where
    T: ToJson,
    W: Write + Send + 'static,
{
    fn on_notification(&mut self, notification: &Notification<ObjectKey, T>) {
        if !matches!(*self.ended.borrow(), Ended::No) {
            return;
        }
        let Some(line) = self.lines.line(notification) else {
            return;
        };
        if let Err(error) = self.print(line) {
            self.ended.send_replace(match error.kind() {
                ErrorKind::BrokenPipe => Ended::BrokenPipe,
                _ => Ended::Failed(Arc::new(error)),
            });
        }
    }
}
