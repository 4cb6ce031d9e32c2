//! Starts the two servers, and does to them what a test wants done.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use super::build::Binaries;
use super::server::{self, Server};
use super::{data, etcd, kubeconfig, probe};
use crate::clock;
use crate::stop_signal::StopSignal;

/// How long a server may take to be ready. It takes some seconds; a busy machine takes more.
const READY_TIMEOUT: Duration = Duration::from_secs(120);

/// How long the API server may take to end when asked to. It finishes its requests first.
const API_SERVER_GRACE: Duration = Duration::from_secs(30);

/// The ports to choose from: below what Linux (32768) and others give to outgoing connections.
const FIRST_PORT: u16 = 20_000;
const PORTS: u16 = 10_000;

/// What has to answer before a test may begin. The namespace is made shortly after the server
/// calls itself ready, and without it no pod can be created.
const READY_PATHS: [&str; 2] = ["/readyz", "/api/v1/namespaces/default"];

/// A running etcd and kube-apiserver. Dropping it kills both and removes their data.
#[derive(Debug)]
pub(crate) struct ControlPlane {
    // Fields are dropped in this order: the servers first, what they write to last.
    api_server: Option<Server>,
    etcd: Server,
    binaries: Binaries,
    etcd_address: SocketAddr,
    peer_address: SocketAddr,
    api_address: SocketAddr,
    token: String,
    stop: StopSignal,
    folder: TempDir,
}

impl ControlPlane {
    /// Starts both servers on free loopback ports and waits until they are ready.
    ///
    /// # Errors
    /// When a server ends or is not ready in time; the end of its log is printed. Also when `stop`
    /// is raised meanwhile.
    pub(crate) fn start(binaries: Binaries, stop: StopSignal) -> Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("informer-control-plane-")
            .tempdir()?;
        let [etcd_address, peer_address, api_address] = free_addresses()?;
        let token = random_token()?;
        let accounts = format!("{token},admin,admin,\"system:masters\"\n");
        write_secret(&folder.path().join("tokens.csv"), &accounts)?;
        let etcd = spawn_etcd(&binaries, folder.path(), etcd_address, peer_address)?;
        let api_server = None;
        let mut plane = Self {
            api_server,
            etcd,
            binaries,
            etcd_address,
            peer_address,
            api_address,
            token,
            stop,
            folder,
        };
        let kubeconfig = kubeconfig::text(&plane.url(), &plane.certificate(), &plane.token);
        write_secret(&plane.kubeconfig(), &kubeconfig)?;
        plane.until_etcd_is_ready()?;
        plane.start_api_server()?;
        Ok(plane)
    }

    /// Starts the API server again, on the same port with the same certificate and data, and
    /// returns when it is ready.
    pub(crate) fn start_api_server(&mut self) -> Result<()> {
        if self
            .api_server
            .as_mut()
            .is_some_and(|server| server.check_running().is_ok())
        {
            bail!("kube-apiserver is running already");
        }
        let server = Server::spawn(
            "kube-apiserver",
            &self.binaries.kube_apiserver,
            &self.api_server_arguments(),
            &self.api_server_log(),
        )?;
        self.api_server = Some(server);
        self.until_ready("kube-apiserver", |plane| {
            plane.running_api_server()?.check_running()?;
            let ask =
                |path| probe::get(plane.api_address, &plane.certificate(), &plane.token, path);
            Ok(READY_PATHS.into_iter().try_for_each(ask))
        })
    }

    /// SIGKILL to the API server: its clients' connections break without a word.
    pub(crate) fn kill_api_server(&mut self) -> Result<()> {
        self.running_api_server()?.kill()?;
        self.api_server = None;
        Ok(())
    }

    /// SIGTERM to the API server: it ends its clients' watches and then itself.
    pub(crate) fn stop_api_server(&mut self) -> Result<()> {
        let stopped = self.running_api_server()?.stop(API_SERVER_GRACE);
        self.api_server = None;
        stopped
    }

    /// SIGSTOP to the API server: its clients' connections stay open, and nothing comes.
    pub(crate) fn pause_api_server(&mut self) -> Result<()> {
        self.running_api_server()?.pause()
    }

    /// SIGCONT to the API server.
    pub(crate) fn resume_api_server(&mut self) -> Result<()> {
        self.running_api_server()?.resume()
    }

    /// Copies etcd's data, in place of an earlier copy; answers with a revision that is in it.
    ///
    /// The process stands still meanwhile, so the copy is what a kill would have left: etcd reads
    /// that, and no API server notices.
    pub(crate) fn save_etcd(&mut self) -> Result<u64> {
        let revision = etcd::revision(self.etcd_address)?;
        let (data, saved) = (etcd_data(self.folder.path()), self.saved());
        self.etcd.pause()?;
        let copied = data::replace(&data, &saved);
        self.etcd.resume()?;
        copied?;
        Ok(revision)
    }

    /// Ends both servers and brings etcd back with the copy; the API server stays away. Answers
    /// with the newest revision, which is older than the one before: the history is rewound.
    pub(crate) fn restore_etcd(&mut self) -> Result<u64> {
        if !self.saved().is_dir() {
            bail!("nothing was saved");
        }
        if self.api_server.is_some() {
            self.kill_api_server()?;
        }
        self.etcd.kill()?;
        data::replace(&self.saved(), &etcd_data(self.folder.path()))?;
        let (client, peer) = (self.etcd_address, self.peer_address);
        self.etcd = spawn_etcd(&self.binaries, self.folder.path(), client, peer)?;
        self.until_etcd_is_ready()?;
        etcd::revision(self.etcd_address)
    }

    /// Makes etcd forget its history up to now; answers with the revision.
    pub(crate) fn compact(&mut self) -> Result<u64> {
        etcd::compact(self.etcd_address)
    }

    /// Fails if a server that should run has ended.
    pub(crate) fn check_running(&mut self) -> Result<()> {
        self.etcd.check_running()?;
        self.api_server
            .as_mut()
            .map_or(Ok(()), Server::check_running)
    }

    /// One line for people: who runs where.
    pub(crate) fn status(&mut self) -> String {
        let api_server = match self.api_server.as_mut() {
            None => "stopped".to_owned(),
            Some(server) => match server.check_running() {
                Ok(()) => format!("running, process {}", server.id()),
                Err(error) => format!("{error:#}"),
            },
        };
        let etcd = match self.etcd.check_running() {
            Ok(()) => format!("running, process {}", self.etcd.id()),
            Err(error) => format!("{error:#}"),
        };
        format!(
            "kube-apiserver {} ({api_server}); etcd {} ({etcd})",
            self.url(),
            self.etcd_address
        )
    }

    /// The path of the kubeconfig; it stays as long as the control plane does.
    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.folder.path().join("kubeconfig")
    }

    /// The ends of both logs, for a failure that may be the servers' fault.
    pub(crate) fn log_tails(&self) -> String {
        format!(
            "{}\n{}",
            self.etcd.log_tail(),
            server::tail("kube-apiserver", &self.api_server_log())
        )
    }

    /// Returns the process id of the API server, if it was started.
    pub(crate) fn api_server_process(&self) -> Option<u32> {
        self.api_server.as_ref().map(Server::id)
    }

    /// Where this run keeps its things.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn url(&self) -> String {
        format!("https://{}", self.api_address)
    }

    /// Where the copy of etcd's data is.
    fn saved(&self) -> PathBuf {
        self.folder.path().join("etcd-saved")
    }

    fn until_etcd_is_ready(&mut self) -> Result<()> {
        self.until_ready("etcd", |plane| {
            plane.etcd.check_running()?;
            Ok(etcd::revision(plane.etcd_address).map(drop))
        })
    }

    fn certificate(&self) -> PathBuf {
        self.folder.path().join("certificates/apiserver.crt")
    }

    fn api_server_log(&self) -> PathBuf {
        self.folder.path().join("kube-apiserver.log")
    }

    fn running_api_server(&mut self) -> Result<&mut Server> {
        self.api_server
            .as_mut()
            .context("kube-apiserver is not running")
    }

    /// Repeats `ready` until its inner result is fine. Its outer error means that waiting is vain.
    fn until_ready(
        &mut self,
        name: &str,
        ready: impl Fn(&mut Self) -> Result<Result<()>>,
    ) -> Result<()> {
        let deadline = clock::now() + READY_TIMEOUT;
        loop {
            let reason = match ready(self) {
                Ok(Ok(())) => return Ok(()),
                Ok(Err(not_yet)) if clock::now() < deadline => not_yet,
                Ok(Err(late)) => {
                    eprintln!("{}", self.log_tails());
                    return Err(late.context(format!("{name} is not ready in time")));
                }
                Err(vain) => {
                    eprintln!("{}", self.log_tails());
                    return Err(vain);
                }
            };
            if self.stop.is_raised() {
                return Err(reason.context(format!("interrupted while waiting for {name}")));
            }
            clock::pause();
        }
    }

    fn api_server_arguments(&self) -> Vec<String> {
        let folder = self.folder.path().display();
        // The server makes a key for its own certificate. Service accounts need a key too;
        // no program here checks their tokens, so the same key serves.
        let key = format!("{folder}/certificates/apiserver.key");
        [
            format!("--etcd-servers=http://{}", self.etcd_address),
            // Only a test decides when history is forgotten.
            "--etcd-compaction-interval=0".to_owned(),
            format!("--cert-dir={folder}/certificates"),
            "--bind-address=127.0.0.1".to_owned(),
            "--advertise-address=127.0.0.1".to_owned(),
            format!("--secure-port={}", self.api_address.port()),
            // Who is asked to end says so to those who watch, instead of waiting for them.
            "--shutdown-watch-termination-grace-period=2s".to_owned(),
            // A loopback address is no valid endpoint, and nothing here looks for one.
            "--endpoint-reconciler-type=none".to_owned(),
            "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
            format!("--service-account-issuer={}", self.url()),
            format!("--service-account-key-file={key}"),
            format!("--service-account-signing-key-file={key}"),
            format!("--token-auth-file={folder}/tokens.csv"),
            "--authorization-mode=RBAC".to_owned(),
            // Pods of a cluster's own software are privileged. None of them runs here.
            "--allow-privileged=true".to_owned(),
            // No controller makes service accounts, and pods must not wait for one.
            "--disable-admission-plugins=ServiceAccount".to_owned(),
        ]
        .to_vec()
    }
}

fn spawn_etcd(
    binaries: &Binaries,
    folder: &Path,
    client: SocketAddr,
    peer: SocketAddr,
) -> Result<Server> {
    let arguments = etcd_arguments(folder, client, peer);
    Server::spawn("etcd", &binaries.etcd, &arguments, &folder.join("etcd.log"))
}

fn etcd_data(folder: &Path) -> PathBuf {
    folder.join("etcd")
}

fn etcd_arguments(folder: &Path, client: SocketAddr, peer: SocketAddr) -> Vec<String> {
    [
        format!("--data-dir={}", etcd_data(folder).display()),
        format!("--listen-client-urls=http://{client}"),
        format!("--advertise-client-urls=http://{client}"),
        format!("--listen-peer-urls=http://{peer}"),
        format!("--initial-advertise-peer-urls=http://{peer}"),
        format!("--initial-cluster=default=http://{peer}"),
        // The data ends with the run, so waiting for the disk would prove nothing.
        "--unsafe-no-fsync".to_owned(),
    ]
    .to_vec()
}

/// Three different loopback addresses that nobody listens on.
///
/// The API server comes back on its port after minutes without it. A port that the system gives to
/// outgoing connections may be taken by then: even by a client of that server, which on loopback
/// can connect to itself. So they are from below the range that systems use for those.
fn free_addresses() -> Result<[SocketAddr; 3]> {
    let [high, low] = random_bytes()?;
    // Runs side by side begin at different places.
    let offset = u16::from_be_bytes([high, low]) % PORTS;
    let ports = (0..PORTS).map(|step| FIRST_PORT + (offset + step) % PORTS);
    let mut free = ports
        .map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)))
        .filter(|address| TcpListener::bind(address).is_ok());
    let mut next = || free.next().context("no loopback port is free");
    Ok([next()?, next()?, next()?])
}

/// Writes a file that only this user can read.
fn write_secret(path: &Path, text: &str) -> Result<()> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .with_context(|| format!("cannot write {}", path.display()))
}

/// A token that other users of this machine cannot guess; they can connect to loopback ports.
fn random_token() -> Result<String> {
    let bytes: [u8; 16] = random_bytes()?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn random_bytes<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    File::open("/dev/urandom")
        .and_then(|mut file| file.read_exact(&mut bytes))
        .context("cannot read random bytes")?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_ports_differ_and_are_none_that_clients_get() {
        let [a, b, c] = free_addresses().expect("loopback has free ports");
        assert!(a != b && b != c && a != c);
        let range = FIRST_PORT..FIRST_PORT + PORTS;
        assert!(
            [a, b, c]
                .iter()
                .all(|address| range.contains(&address.port()))
        );
    }

    #[test]
    fn tokens_are_long_and_differ() {
        let first = random_token().expect("the system has random bytes");
        let second = random_token().expect("the system has random bytes");
        assert_eq!(first.len(), 32);
        assert_ne!(first, second);
    }
}
