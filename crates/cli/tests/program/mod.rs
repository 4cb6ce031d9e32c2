//! What the tests of the program share: how it is run, and a kubeconfig.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use tempfile::TempDir;

/// A command line, with nothing of the environment that could lead to a cluster.
pub(crate) fn command(kubeconfig: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-informer"));
    command.args(arguments).env("KUBECONFIG", kubeconfig);
    for variable in [
        "RUST_LOG",
        "KUBERNETES_SERVICE_HOST",
        "KUBERNETES_SERVICE_PORT",
    ] {
        command.env_remove(variable);
    }
    command.stdin(Stdio::null());
    command
}

/// What the program did.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the program writes UTF-8");
        Self {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

impl Done {
    #[track_caller]
    pub(crate) fn assert_code(&self, code: i32) {
        assert_eq!(self.code, Some(code), "{self:#?}");
        assert!(!self.stderr.contains("panicked"), "{self:#?}");
    }

    #[track_caller]
    pub(crate) fn assert_says(&self, text: &str) {
        assert!(
            self.stderr.contains(text),
            "{text:?} is missing in {self:#?}"
        );
    }

    pub(crate) fn lines(&self) -> Vec<&str> {
        self.stdout.lines().collect()
    }
}

pub(crate) fn run(kubeconfig: &Path, arguments: &[&str]) -> Done {
    let output = command(kubeconfig, arguments).output();
    output.expect("the program can be run").into()
}

/// A kubeconfig in a folder that goes with it.
pub(crate) struct Kubeconfig {
    folder: TempDir,
}

impl Kubeconfig {
    pub(crate) fn for_server(url: &str) -> Self {
        Self::with_text(&format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: c\n\
             clusters:\n- name: k\n  cluster: {{server: \"{url}\"}}\n\
             users:\n- name: u\n  user: {{token: t0ken}}\n\
             contexts:\n- name: c\n  context: {{cluster: k, user: u, namespace: team}}\n"
        ))
    }

    pub(crate) fn with_text(text: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("config"), text).expect("written");
        Self { folder }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("config")
    }
}

/// A program that runs; every one of them is given `--for`, so that none runs for ever.
pub(crate) struct Running {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Running {
    pub(crate) fn start(kubeconfig: &Path, arguments: &[&str]) -> Self {
        let mut command = command(kubeconfig, arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program can be run");
        let stdout = child.stdout.take().expect("it is piped");
        Self {
            child,
            lines: BufReader::new(stdout),
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The next line of stdout; an empty one when it has ended.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("it writes UTF-8");
        line.trim_end_matches('\n').to_owned()
    }

    /// Lines of stderr, until one contains `text`; that one is returned.
    pub(crate) fn stderr_until(&mut self, text: &str) -> String {
        let stderr = self
            .child
            .stderr
            .take()
            .expect("it is piped and asked once");
        let mut lines = BufReader::new(stderr).lines().map_while(Result::ok);
        lines
            .find(|line| line.contains(text))
            .unwrap_or_else(|| panic!("{text:?} never came"))
    }

    /// Closes the reading end of stdout, and waits for the end.
    pub(crate) fn close_stdout(self) -> Done {
        let Self { child, lines } = self;
        drop(lines);
        child.wait_with_output().expect("it ends").into()
    }

    #[cfg(unix)]
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).expect("it runs");
    }

    /// Waits for the end.
    pub(crate) fn end(self) -> Done {
        self.child.wait_with_output().expect("it ends").into()
    }
}
