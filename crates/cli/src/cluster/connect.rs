//! From a kubeconfig to a client, with errors that say what to do.
//!
//! Errors of libraries are not printed as they are: those about a kubeconfig or about credentials
//! may quote what they could not read (SEC-8).

use std::path::PathBuf;

use kube_client::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube_client::{Client, Config};

use super::explain;
use crate::escape;
use crate::failure::Failure;
use crate::screen::Screen;

/// Which cluster, and as whom.
#[derive(Debug, clap::Args)]
pub(crate) struct ClusterArguments {
    /// The context of the kubeconfig [default: its current one]
    #[arg(long, value_name = "C")]
    context: Option<String>,
    /// The kubeconfig [default: $KUBECONFIG, then ~/.kube/config, then the
    /// pod's service account]
    #[arg(long, value_name = "PATH", verbatim_doc_comment)]
    kubeconfig: Option<PathBuf>,
}

/// A cluster to send requests to.
pub(crate) struct Cluster {
    /// Sends the requests.
    pub(crate) client: Client,
    /// The address of the API server, for messages; without credentials, and escaped.
    pub(crate) server: String,
}

/// The cluster that the command line and the kubeconfig name.
pub(crate) async fn cluster(
    arguments: &ClusterArguments,
    screen: &Screen,
) -> Result<Cluster, Failure> {
    let config = config(arguments).await?;
    let server = address(&config);
    if config.accept_invalid_certs {
        // SEC-1: never without a word.
        screen.say("warning: the kubeconfig says not to verify who the server is");
    }
    let client = informer_factory::client(config).map_err(|error| {
        let why = explain::client_error(&error);
        Failure::setup(format!("the kubeconfig does not lead to a client: {why}"))
    })?;
    Ok(Cluster { client, server })
}

/// Scheme, host, port and path. A user and password in the URL are left out (SEC-8).
fn address(config: &Config) -> String {
    let url = &config.cluster_url;
    let scheme = url.scheme_str().unwrap_or("https");
    let host = url.host().unwrap_or_default();
    let port = url.port_u16().map(|port| format!(":{port}"));
    let path = url.path().trim_end_matches('/');
    let address = format!("{scheme}://{host}{}{path}", port.unwrap_or_default());
    escape::text(&address).into_owned()
}

async fn config(arguments: &ClusterArguments) -> Result<Config, Failure> {
    let options = KubeConfigOptions {
        context: arguments.context.clone(),
        ..KubeConfigOptions::default()
    };
    if let Some(path) = &arguments.kubeconfig {
        let unreadable = |error: &KubeconfigError| {
            let path = path.display().to_string();
            unusable(&format!("the kubeconfig {}", escape::text(&path)), error)
        };
        let kubeconfig = Kubeconfig::read_from(path).map_err(|e| unreadable(&e))?;
        let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
        return config.map_err(|e| unreadable(&e));
    }
    match Config::from_kubeconfig(&options).await {
        Ok(config) => Ok(config),
        // Without a kubeconfig this may be a pod of the cluster; with a context it is not meant.
        Err(error) => match Config::incluster() {
            Ok(config) if arguments.context.is_none() => Ok(config),
            // Why it is no pod either is of no use to a person.
            Ok(_) | Err(_) => Err(unusable("the kubeconfig", &error)),
        },
    }
}

fn unusable(what: &str, error: &KubeconfigError) -> Failure {
    let why = kubeconfig_error(error);
    let advice = match error {
        KubeconfigError::LoadContext(_) | KubeconfigError::CurrentContextNotSet => {
            "`kubectl config get-contexts` lists the contexts; choose one with --context."
        }
        _ => "Name a kubeconfig with --kubeconfig or in KUBECONFIG.",
    };
    Failure::setup(format!("{what} cannot be used: {why}")).advise(advice)
}

/// Why, without quoting the file.
fn kubeconfig_error(error: &KubeconfigError) -> String {
    match error {
        KubeconfigError::ReadConfig(error, path) => {
            let path = path.display().to_string();
            format!("{} cannot be read: {error}", escape::text(&path))
        }
        KubeconfigError::Parse(error) => match error.location() {
            Some(at) => format!(
                "it is no kubeconfig: line {}, column {}",
                at.line(),
                at.column()
            ),
            None => "it is no kubeconfig".to_owned(),
        },
        KubeconfigError::ParseClusterUrl(_) => "the server's URL is wrong".to_owned(),
        KubeconfigError::ParseProxyUrl(_) => "the proxy's URL is wrong".to_owned(),
        KubeconfigError::LoadContext(name) => format!("it has no context {name:?}"),
        KubeconfigError::LoadClusterOfContext(name) => format!("it has no cluster {name:?}"),
        KubeconfigError::CurrentContextNotSet => "it has no current context".to_owned(),
        KubeconfigError::FindPath => "there is none".to_owned(),
        // These name a file or a kind of mistake, never what is in the file.
        error => escape::text(&error.to_string()).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SEC-8.
    #[test]
    fn the_address_of_a_server_shows_no_credentials() {
        for (url, expected) in [
            ("https://u:c4n4ry@host:6443/", "https://host:6443"),
            ("https://host/k8s/clusters/c", "https://host/k8s/clusters/c"),
            ("http://[::1]:8080", "http://[::1]:8080"),
        ] {
            let config = Config::new(url.parse().expect("a URL"));
            assert_eq!(address(&config), expected);
        }
    }
}
