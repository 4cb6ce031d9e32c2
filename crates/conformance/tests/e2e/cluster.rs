//! The server under test, by two environment variables: a kubeconfig, and a socket for faults.

use std::env;
use std::path::PathBuf;

use k8s_openapi::api::core::v1::Namespace;
use kube_client::api::PostParams;
use kube_client::config::{KubeConfigOptions, Kubeconfig};
use kube_client::{Api, Client, Config};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

const KUBECONFIG: &str = "INFORMER_E2E_KUBECONFIG";
const CONTROL: &str = "INFORMER_E2E_CONTROL";
const BESIDE: &str = "INFORMER_E2E_BESIDE";

/// The control plane that `cargo xtask e2e` has started, and the program that stands beside us.
pub(crate) struct Cluster {
    config: Config,
    pub(crate) kubeconfig: PathBuf,
    control: PathBuf,
    pub(crate) beside: PathBuf,
}

impl Cluster {
    pub(crate) async fn from_environment() -> Self {
        let path = |name: &str| -> PathBuf {
            let value = env::var_os(name);
            let value = value.unwrap_or_else(|| panic!("{name} is not set: run `cargo xtask e2e`"));
            value.into()
        };
        let kubeconfig = path(KUBECONFIG);
        let read = Kubeconfig::read_from(&kubeconfig).expect("the kubeconfig is read");
        let options = KubeConfigOptions::default();
        let config = Config::from_custom_kubeconfig(read, &options).await;
        Self {
            config: config.expect("the kubeconfig is complete"),
            kubeconfig,
            control: path(CONTROL),
            beside: path(BESIDE),
        }
    }

    /// A client that goes to the server directly.
    pub(crate) fn client(&self) -> Client {
        informer_factory::client(self.config.clone()).expect("the configuration has a client")
    }

    /// A client by way of another address of this machine.
    pub(crate) fn client_through(&self, address: &str) -> Client {
        let mut config = self.config.clone();
        config.cluster_url = address.parse().expect("a loopback address is a URI");
        informer_factory::client(config).expect("the configuration has a client")
    }

    /// Where the server listens.
    pub(crate) fn address(&self) -> String {
        let port = self.config.cluster_url.port_u16();
        format!(
            "127.0.0.1:{}",
            port.expect("the server's address has a port")
        )
    }

    /// Asks the control socket; see `control` of xtask's control plane for what it knows.
    pub(crate) async fn ask(&self, command: &str) {
        let stream = UnixStream::connect(&self.control).await;
        let mut stream = stream.expect("the control socket is served");
        let written = stream.write_all(format!("{command}\n").as_bytes()).await;
        written.expect("the control socket takes a command");
        let mut answer = String::new();
        let read = BufReader::new(stream).read_line(&mut answer).await;
        read.expect("the control socket answers");
        assert!(answer.starts_with("ok"), "{command} failed: {answer}");
    }

    /// A namespace that nobody has used before.
    pub(crate) async fn fresh_namespace(&self) -> String {
        let mut namespace = Namespace::default();
        namespace.metadata.generate_name = Some("e2e-beside-".to_owned());
        let made = Api::<Namespace>::all(self.client())
            .create(&PostParams::default(), &namespace)
            .await
            .expect("the namespace is made");
        made.metadata.name.expect("the server gave it a name")
    }
}
