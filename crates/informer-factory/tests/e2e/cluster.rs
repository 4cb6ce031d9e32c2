//! The server under test: clients for it, and faults of it on request.

use std::env;
use std::path::PathBuf;
use std::time::Duration;

use informer_factory::{Consistency, FactoryBuilder, OnMismatch, QueueKind, SharedInformerFactory};
use k8s_openapi::api::core::v1::Namespace;
use kube_client::api::PostParams;
use kube_client::config::{KubeConfigOptions, Kubeconfig};
use kube_client::{Api, Client, Config};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

use crate::granted::User;
use crate::request_log::RequestLog;

const KUBECONFIG: &str = "INFORMER_E2E_KUBECONFIG";
/// Short, so that every case has some checks.
const CHECK_PERIOD: Duration = Duration::from_secs(2);
const CONTROL: &str = "INFORMER_E2E_CONTROL";

/// The control plane that `cargo xtask e2e` or `cargo xtask control-plane run` has started.
pub(crate) struct Cluster {
    config: Config,
    /// Who the informers are.
    user: User,
    control: PathBuf,
}

impl Cluster {
    pub(crate) async fn from_environment() -> Self {
        let path = |name: &str| -> PathBuf {
            let value = env::var_os(name);
            let value = value.unwrap_or_else(|| panic!("{name} is not set: run `cargo xtask e2e`"));
            value.into()
        };
        let kubeconfig = Kubeconfig::read_from(path(KUBECONFIG)).expect("the kubeconfig is read");
        let options = KubeConfigOptions::default();
        let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
        let config = config.expect("the kubeconfig is complete");
        Self {
            user: User::new(config.clone()),
            config,
            control: path(CONTROL),
        }
    }

    /// A client for the tests' own reads and writes.
    pub(crate) fn client(&self) -> Client {
        informer_factory::client(self.config.clone()).expect("the configuration has a client")
    }

    /// A client for informers, which may do nothing before [`grant`](Self::grant), and a log of
    /// what they ask.
    pub(crate) fn logged_client(&self) -> (Client, RequestLog) {
        Self::logged(self.user.config.clone())
    }

    /// As [`logged_client`](Self::logged_client), by way of another port of this machine.
    pub(crate) fn logged_client_through(&self, port: u16) -> (Client, RequestLog) {
        let mut config = self.user.config.clone();
        let uri = format!("https://127.0.0.1:{port}");
        config.cluster_url = uri.parse().expect("a loopback address is a URI");
        Self::logged(config)
    }

    fn logged(config: Config) -> (Client, RequestLog) {
        RequestLog::over(informer_factory::client(config).expect("the configuration has a client"))
    }

    /// Lets the informers' user do what those of the factory need, and nothing else (SEC-15).
    pub(crate) async fn grant(&self, factory: &SharedInformerFactory) {
        self.user.grant(&self.client(), factory).await;
    }

    /// A factory whose informers check themselves all the time; what they find is judged by
    /// [`Followed`](crate::followed::Followed) (FM-40).
    pub(crate) fn checked_factory(client: Client, queue: QueueKind) -> FactoryBuilder {
        SharedInformerFactory::builder(client)
            .queue(queue)
            .check_consistency(Consistency::every(CHECK_PERIOD).on_mismatch(OnMismatch::Report))
    }

    /// Where the server listens.
    pub(crate) fn address(&self) -> String {
        let url = &self.config.cluster_url;
        let port = url.port_u16().expect("the server's address has a port");
        format!("127.0.0.1:{port}")
    }

    /// Asks the control socket; see `control` of xtask's control plane for what it knows.
    pub(crate) async fn ask(&self, command: &str) -> String {
        let mut stream = UnixStream::connect(&self.control)
            .await
            .expect("the control socket is served");
        let line = format!("{command}\n");
        let written = stream.write_all(line.as_bytes()).await;
        written.expect("the control socket takes a command");
        let mut answer = String::new();
        let read = BufReader::new(stream).read_line(&mut answer).await;
        read.expect("the control socket answers");
        match answer.trim().strip_prefix("ok") {
            Some(text) => text.trim().to_owned(),
            None => panic!("{command} failed: {answer}"),
        }
    }

    /// A namespace that nobody has used before.
    pub(crate) async fn fresh_namespace(&self, case: &str) -> String {
        let mut namespace = Namespace::default();
        namespace.metadata.generate_name = Some(format!("e2e-{case}-"));
        let made = Api::<Namespace>::all(self.client())
            .create(&PostParams::default(), &namespace)
            .await
            .expect("the namespace is made");
        made.metadata.name.expect("the server gave it a name")
    }
}
