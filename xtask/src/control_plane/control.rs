//! The control socket: how a test asks for faults of the server it runs against.
//!
//! One line is one command, one line is its answer, in UTF-8. A connection may ask any number of
//! times. Commands of several connections are carried out one after the other.
//!
//! | command | what happens | answer |
//! | --- | --- | --- |
//! | `kill-apiserver` | SIGKILL | `ok` |
//! | `stop-apiserver` | SIGTERM, and waits until the process ended | `ok` |
//! | `start-apiserver` | same port, certificate and data; waits until it is ready | `ok` |
//! | `pause-apiserver` | SIGSTOP: connections stay open, and nothing comes | `ok` |
//! | `resume-apiserver` | SIGCONT | `ok` |
//! | `compact` | etcd forgets its history up to the newest revision | `ok REVISION` |
//! | `save-etcd` | etcd's data is copied, as of now; an earlier copy goes | `ok REVISION` |
//! | `restore-etcd` | the API server is killed, etcd comes back with the copy | `ok REVISION` |
//! | `status` | nothing | `ok TEXT` |
//!
//! Whatever goes wrong is answered as `error TEXT`.

use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use anyhow::{Context, Result, bail};

use super::start::ControlPlane;
use crate::clock;
use crate::stop_signal::StopSignal;

/// What the protocol can do to a control plane.
pub(crate) trait Faults: Send {
    /// See the module's table.
    fn kill_api_server(&mut self) -> Result<()>;
    /// See the module's table.
    fn stop_api_server(&mut self) -> Result<()>;
    /// See the module's table.
    fn start_api_server(&mut self) -> Result<()>;
    /// See the module's table.
    fn pause_api_server(&mut self) -> Result<()>;
    /// See the module's table.
    fn resume_api_server(&mut self) -> Result<()>;
    /// See the module's table.
    fn compact(&mut self) -> Result<u64>;
    /// See the module's table.
    fn save_etcd(&mut self) -> Result<u64>;
    /// See the module's table.
    fn restore_etcd(&mut self) -> Result<u64>;
    /// See the module's table.
    fn status(&mut self) -> String;
}

impl Faults for ControlPlane {
    fn kill_api_server(&mut self) -> Result<()> {
        Self::kill_api_server(self)
    }

    fn stop_api_server(&mut self) -> Result<()> {
        Self::stop_api_server(self)
    }

    fn start_api_server(&mut self) -> Result<()> {
        Self::start_api_server(self)
    }

    fn pause_api_server(&mut self) -> Result<()> {
        Self::pause_api_server(self)
    }

    fn resume_api_server(&mut self) -> Result<()> {
        Self::resume_api_server(self)
    }

    fn compact(&mut self) -> Result<u64> {
        Self::compact(self)
    }

    fn save_etcd(&mut self) -> Result<u64> {
        Self::save_etcd(self)
    }

    fn restore_etcd(&mut self) -> Result<u64> {
        Self::restore_etcd(self)
    }

    fn status(&mut self) -> String {
        Self::status(self)
    }
}

/// A control plane with its socket. Dropping it ends both.
#[derive(Debug)]
pub(crate) struct Control<F = ControlPlane> {
    target: Arc<Mutex<F>>,
    path: PathBuf,
    done: StopSignal,
    server: Option<thread::JoinHandle<()>>,
}

impl Control {
    /// Puts the socket beside the control plane's data and begins to answer.
    pub(crate) fn serve(plane: ControlPlane) -> Result<Self> {
        let path = plane.folder().join("control.sock");
        Self::serve_at(path, plane)
    }

    /// Fails if a server ended that should run; one that a command stopped should not.
    pub(crate) fn check_running(&self) -> Result<()> {
        locked(&self.target).check_running()
    }

    /// The ends of the servers' logs.
    pub(crate) fn log_tails(&self) -> String {
        locked(&self.target).log_tails()
    }
}

impl<F: Faults + 'static> Control<F> {
    fn serve_at(path: PathBuf, target: F) -> Result<Self> {
        let listener = UnixListener::bind(&path)
            .with_context(|| format!("cannot listen on {}", path.display()))?;
        // A thread that is blocked in `accept` could not be asked to end.
        listener.set_nonblocking(true)?;
        let target = Arc::new(Mutex::new(target));
        let done = StopSignal::default();
        let (shared, until) = (Arc::clone(&target), done.clone());
        let server = thread::spawn(move || accept(&listener, &shared, &until));
        Ok(Self {
            target,
            path,
            done,
            server: Some(server),
        })
    }

    /// Where the socket is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl<F> Drop for Control<F> {
    fn drop(&mut self) {
        self.done.raise();
        if self
            .server
            .take()
            .is_some_and(|server| server.join().is_err())
        {
            eprintln!("the control socket's thread panicked");
        }
    }
}

/// Serves connections until `done`; returns when the last of them has ended.
fn accept<F: Faults>(listener: &UnixListener, target: &Mutex<F>, done: &StopSignal) {
    thread::scope(|scope| {
        while !done.is_raised() {
            match listener.accept() {
                Ok((stream, _)) => {
                    scope.spawn(move || {
                        if let Err(error) = converse(&stream, target, done) {
                            eprintln!("control socket: {error:#}");
                        }
                    });
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => clock::pause(),
                Err(error) => {
                    eprintln!("control socket: {error}");
                    return;
                }
            }
        }
    });
}

/// Answers the lines of one connection until it ends, or until `done`.
fn converse<F: Faults>(stream: &UnixStream, target: &Mutex<F>, done: &StopSignal) -> Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(clock::POLL_PERIOD))?;
    let mut reader = BufReader::new(stream);
    let mut writer = stream;
    // Bytes, since a timeout may cut a line anywhere and what was read of it must be kept.
    let mut line = Vec::new();
    while !done.is_raised() {
        match reader.read_until(b'\n', &mut line) {
            Ok(0) if line.is_empty() => return Ok(()),
            Ok(_) => {
                let command = String::from_utf8_lossy(&line).trim().to_owned();
                line.clear();
                let start = clock::now();
                let answer = answer(&command, target);
                println!(
                    "control: {command} -> {answer} ({})",
                    clock::seconds_since(start)
                );
                writeln!(writer, "{answer}")?;
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn answer<F: Faults>(command: &str, target: &Mutex<F>) -> String {
    match carry_out(command, &mut *locked(target)) {
        Ok(text) if text.is_empty() => "ok".to_owned(),
        Ok(text) => format!("ok {text}"),
        // The whole chain of reasons, on one line whatever is in it.
        Err(error) => format!("error {error:#}").replace(['\n', '\r'], " "),
    }
}

fn carry_out(command: &str, target: &mut impl Faults) -> Result<String> {
    match command {
        "kill-apiserver" => target.kill_api_server()?,
        "stop-apiserver" => target.stop_api_server()?,
        "start-apiserver" => target.start_api_server()?,
        "pause-apiserver" => target.pause_api_server()?,
        "resume-apiserver" => target.resume_api_server()?,
        "compact" => return target.compact().map(|revision| revision.to_string()),
        "save-etcd" => return target.save_etcd().map(|revision| revision.to_string()),
        "restore-etcd" => return target.restore_etcd().map(|revision| revision.to_string()),
        "status" => return Ok(target.status()),
        unknown => bail!(
            "unknown command {unknown:?}; known are kill-apiserver, stop-apiserver, \
             start-apiserver, pause-apiserver, resume-apiserver, compact, save-etcd, \
             restore-etcd, status"
        ),
    }
    Ok(String::new())
}

/// A command that panicked leaves processes behind, not half-written memory: go on with them.
fn locked<F>(target: &Mutex<F>) -> MutexGuard<'_, F> {
    target.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Remembers whether it runs, and counts compactions.
    #[derive(Debug, Default)]
    struct Fake {
        stopped: bool,
        revision: u64,
        saved: u64,
    }

    impl Faults for Fake {
        fn kill_api_server(&mut self) -> Result<()> {
            self.stop_api_server()
        }

        fn stop_api_server(&mut self) -> Result<()> {
            if self.stopped {
                bail!("not\nrunning");
            }
            self.stopped = true;
            Ok(())
        }

        fn start_api_server(&mut self) -> Result<()> {
            self.stopped = false;
            Ok(())
        }

        fn pause_api_server(&mut self) -> Result<()> {
            self.stop_api_server()
        }

        fn resume_api_server(&mut self) -> Result<()> {
            self.start_api_server()
        }

        fn compact(&mut self) -> Result<u64> {
            self.revision += 1;
            Ok(self.revision)
        }

        fn save_etcd(&mut self) -> Result<u64> {
            self.saved = self.revision;
            Ok(self.saved)
        }

        fn restore_etcd(&mut self) -> Result<u64> {
            self.revision = self.saved;
            Ok(self.revision)
        }

        fn status(&mut self) -> String {
            format!("stopped: {}", self.stopped)
        }
    }

    fn fake() -> (tempfile::TempDir, Control<Fake>) {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let control = Control::serve_at(folder.path().join("control.sock"), Fake::default());
        (folder, control.expect("the folder is empty and writable"))
    }

    struct Client(BufReader<UnixStream>);

    impl Client {
        fn connect(control: &Control<Fake>) -> Self {
            let stream = UnixStream::connect(control.path()).expect("the socket is served");
            Self(BufReader::new(stream))
        }

        fn ask(&mut self, command: &str) -> String {
            self.0
                .get_mut()
                .write_all(command.as_bytes())
                .expect("the server reads");
            let mut answer = String::new();
            self.0.read_line(&mut answer).expect("the server answers");
            answer
        }
    }

    #[test]
    fn every_command_has_a_one_line_answer() {
        let (_folder, control) = fake();
        let mut client = Client::connect(&control);
        assert_eq!(client.ask("status\n"), "ok stopped: false\n");
        assert_eq!(client.ask("kill-apiserver\n"), "ok\n");
        assert_eq!(client.ask("stop-apiserver\r\n"), "error not running\n");
        assert_eq!(client.ask("start-apiserver\n"), "ok\n");
        assert_eq!(client.ask("pause-apiserver\n"), "ok\n");
        assert_eq!(client.ask("pause-apiserver\n"), "error not running\n");
        assert_eq!(client.ask("resume-apiserver\n"), "ok\n");
        assert_eq!(client.ask("compact\n"), "ok 1\n");
        assert_eq!(client.ask("save-etcd\n"), "ok 1\n");
        assert_eq!(client.ask("compact\n"), "ok 2\n");
        assert_eq!(client.ask("restore-etcd\n"), "ok 1\n");
        assert!(
            client
                .ask("reboot\n")
                .starts_with("error unknown command \"reboot\"")
        );
        assert!(client.ask("\n").starts_with("error unknown command"));
    }

    #[test]
    fn connections_share_one_control_plane_and_none_blocks_another() {
        let (_folder, control) = fake();
        let mut idle = Client::connect(&control);
        let mut busy = Client::connect(&control);
        assert_eq!(busy.ask("stop-apiserver\n"), "ok\n");
        assert_eq!(idle.ask("status\n"), "ok stopped: true\n");
    }

    #[test]
    fn dropping_the_control_ends_open_connections() {
        let (_folder, control) = fake();
        let mut client = Client::connect(&control);
        assert_eq!(client.ask("compact\n"), "ok 1\n");
        drop(control);
        assert_eq!(client.ask(""), "", "the connection has ended");
    }

    #[test]
    fn a_line_that_comes_in_pieces_is_one_command() {
        let (_folder, control) = fake();
        let mut client = Client::connect(&control);
        client
            .0
            .get_mut()
            .write_all(b"comp")
            .expect("the server reads");
        // Longer than the server's read timeout, so that it meets the cut.
        for _ in 0..3 {
            clock::pause();
        }
        assert_eq!(client.ask("act\n"), "ok 1\n");
    }
}
