//! One running server: started with a log file and a lifeline, stopped by its process id.

use std::fs::{self, File, OpenOptions};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::clock;

/// Asks the servers built here to exit when their standard input ends. A xtask that is killed
/// cannot stop anything, but the kernel closes its end of the pipe.
const LIFELINE: (&str, &str) = ("INFORMER_LIFELINE", "stdin");

/// How many lines of a log are worth a person's attention after a failure.
const TAIL_LINES: usize = 40;

/// A child process, killed when this is dropped.
#[derive(Debug)]
pub(super) struct Server {
    name: &'static str,
    child: Child,
    log: PathBuf,
}

impl Server {
    /// Starts `program`, which appends what it says to `log`.
    pub(super) fn spawn(
        name: &'static str,
        program: &Path,
        arguments: &[String],
        log: &Path,
    ) -> Result<Self> {
        let output = append_to(log)?;
        let errors = output.try_clone().context("cannot share the log file")?;
        let child = Command::new(program)
            .args(arguments)
            .env(LIFELINE.0, LIFELINE.1)
            .stdin(Stdio::piped())
            .stdout(output)
            .stderr(errors)
            // Ctrl-C in a terminal goes to our group; the servers have to outlive it until we
            // stop them in order.
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        Ok(Self {
            name,
            child,
            log: log.to_owned(),
        })
    }

    /// The process id.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Fails if the process has ended, and says how.
    pub(super) fn check_running(&mut self) -> Result<()> {
        match self.exit_status()? {
            None => Ok(()),
            Some(status) => bail!("{} ended by itself ({status})", self.name),
        }
    }

    /// SIGKILL: the process gets no chance to say goodbye to its clients.
    pub(super) fn kill(&mut self) -> Result<()> {
        self.child
            .kill()
            .with_context(|| format!("cannot kill {}", self.name))?;
        self.child
            .wait()
            .with_context(|| format!("cannot wait for {}", self.name))?;
        Ok(())
    }

    /// SIGSTOP: the process stands still, its connections stay open.
    pub(super) fn pause(&mut self) -> Result<()> {
        self.signal(Signal::STOP)
    }

    /// SIGCONT: it goes on.
    pub(super) fn resume(&mut self) -> Result<()> {
        self.signal(Signal::CONT)
    }

    /// SIGTERM, and SIGKILL when that took longer than `grace`.
    ///
    /// # Errors
    /// Also when it had to be killed, since a test that asked for an orderly end did not get one.
    pub(super) fn stop(&mut self, grace: Duration) -> Result<()> {
        if self.exit_status()?.is_some() {
            return Ok(());
        }
        self.signal(Signal::TERM)?;
        let deadline = clock::now() + grace;
        while clock::now() < deadline {
            if self.exit_status()?.is_some() {
                return Ok(());
            }
            clock::pause();
        }
        self.kill()?;
        bail!(
            "{} did not stop within {} s and was killed",
            self.name,
            grace.as_secs()
        )
    }

    /// The end of the log, with a heading.
    pub(super) fn log_tail(&self) -> String {
        tail(self.name, &self.log)
    }

    fn signal(&mut self, signal: Signal) -> Result<()> {
        // A process that has ended and was waited for may have given its number to another.
        self.check_running()?;
        kill_process(Pid::from_child(&self.child), signal)
            .with_context(|| format!("cannot signal {}", self.name))
    }

    fn exit_status(&mut self) -> Result<Option<ExitStatus>> {
        // Not `wait`: that would close the lifeline first.
        self.child
            .try_wait()
            .with_context(|| format!("cannot ask about {}", self.name))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Err(error) = self.kill() {
            eprintln!("{} (process {}): {error:#}", self.name, self.id());
        }
    }
}

/// The end of the log at `path`, under a heading with `name`.
pub(super) fn tail(name: &str, path: &Path) -> String {
    let text = match fs::read(path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => format!("(cannot read {}: {error})", path.display()),
    };
    let lines: Vec<&str> = text.lines().collect();
    let last = lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n");
    format!("--- last lines of {name} ---\n{last}\n--- end of {name} ---")
}

fn append_to(log: &Path) -> Result<File> {
    let opened = OpenOptions::new().create(true).append(true).open(log);
    opened.with_context(|| format!("cannot open {}", log.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(10);

    fn shell(script: &str, log: &Path) -> Server {
        let arguments = ["-c".to_owned(), script.to_owned()];
        Server::spawn("shell", Path::new("/bin/sh"), &arguments, log).expect("sh can be started")
    }

    fn log_in(folder: &tempfile::TempDir) -> PathBuf {
        folder.path().join("log")
    }

    #[test]
    fn a_server_stops_in_order_and_its_log_remains() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let mut server = shell("echo ready; exec cat", &log_in(&folder));
        server.stop(PATIENCE).expect("cat ends on SIGTERM");
        assert!(server.check_running().is_err());
    }

    #[test]
    fn a_server_that_ignores_the_signal_is_killed_and_reported() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let log = log_in(&folder);
        let mut server = shell(
            "trap '' TERM; echo deaf; while :; do read _ || :; done",
            &log,
        );
        while !server.log_tail().contains("deaf") {
            clock::pause();
        }
        let error = server
            .stop(Duration::from_millis(200))
            .expect_err("it is deaf");
        assert!(error.to_string().contains("was killed"), "{error}");
        assert!(server.check_running().is_err());
    }

    #[test]
    fn a_paused_server_does_nothing_until_it_is_resumed() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let log = log_in(&folder);
        let mut server = shell("read _; echo went on", &log);
        server.pause().expect("it runs");
        server.check_running().expect("it has not ended");
        drop(server.child.stdin.take());
        assert!(!server.log_tail().contains("went on"));
        server.resume().expect("it is there");
        let deadline = clock::now() + PATIENCE;
        while server.check_running().is_ok() && clock::now() < deadline {
            clock::pause();
        }
        assert!(server.log_tail().contains("went on"));
        assert!(server.pause().is_err(), "it has ended");
    }

    #[test]
    fn dropping_a_server_ends_its_process() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let server = shell("exec cat", &log_in(&folder));
        let id = Pid::from_child(&server.child);
        drop(server);
        assert!(
            rustix::process::test_kill_process(id).is_err(),
            "the process is still there"
        );
    }

    #[test]
    fn the_lifeline_is_open_while_the_server_is_watched() {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let log = log_in(&folder);
        let mut server = shell("cat; echo cut", &log);
        server.check_running().expect("nothing ended it");
        assert!(!server.log_tail().contains("cut"));
        // What happens to the pipe when xtask dies.
        drop(server.child.stdin.take());
        let deadline = clock::now() + PATIENCE;
        while server.check_running().is_ok() && clock::now() < deadline {
            clock::pause();
        }
        assert!(server.log_tail().contains("cut"));
    }
}
