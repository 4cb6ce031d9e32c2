//! A client we can keep promises with (design 6.18).
//!
//! kube-client's own stack retries 429, 503 and 504 up to 15 times below everything, so that a
//! failure may stay unseen for minutes, and it sets no keep-alive, so that a silent half-open
//! connection is never found. This one does neither: back-off and deadlines are the reflector's,
//! and the kernel finds a dead peer within 45 s (R5).

use std::time::Duration;

use hyper_util::client::legacy::{Client as HyperClient, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use kube_client::client::{Body, ClientBuilder, ConfigExt};
use kube_client::{Client, Config};
use tower::{BoxError, ServiceBuilder};

/// Idle time before the first keep-alive probe. Below the 60 s after which common load balancers
/// drop a flow without a word (FM-19).
const KEEP_ALIVE_IDLE: Duration = Duration::from_secs(30);
/// Between probes; three of them make 30 + 3 x 5 = 45 s until a dead peer is found.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(5);
const KEEP_ALIVE_PROBES: u32 = 3;
/// The same bound for a peer that stops acknowledging while we send.
const USER_TIMEOUT: Duration = Duration::from_secs(45);

/// Builds a client for informers out of a kube configuration.
///
/// With a proxy in the configuration the connection is kube-client's own, without our keep-alive;
/// the hidden retry is off all the same.
///
/// # Errors
///
/// What kube-client says of the configuration: credentials that cannot be read, an https address
/// without a TLS feature, a proxy protocol that is not compiled in.
pub fn client(mut config: Config) -> Result<Client, kube_client::Error> {
    config.default_retry = false;
    if config.accept_invalid_certs {
        // Said once, so that it is not left on by accident (SEC-1).
        tracing::warn!(server = %config.cluster_url, "the server's certificate is not verified");
    }
    // A read deadline here would cut healthy idle watches; the reflector has its own.
    config.read_timeout = None;
    if config.proxy_url.is_some() {
        return Client::try_from(config);
    }
    let mut connector = HttpConnector::new();
    connector.enforce_http(false);
    connector.set_nodelay(true);
    connector.set_connect_timeout(config.connect_timeout);
    connector.set_keepalive(Some(KEEP_ALIVE_IDLE));
    connector.set_keepalive_interval(Some(KEEP_ALIVE_INTERVAL));
    connector.set_keepalive_retries(Some(KEEP_ALIVE_PROBES));
    #[cfg(target_os = "linux")]
    connector.set_tcp_user_timeout(Some(USER_TIMEOUT));
    build(config, connector)
}

fn build(config: Config, connector: HttpConnector) -> Result<Client, kube_client::Error> {
    #[cfg(feature = "rustls-tls")]
    let connector = config.rustls_https_connector_with_connector(connector)?;
    #[cfg(not(feature = "rustls-tls"))]
    if config.cluster_url.scheme_str() == Some("https") {
        // Another TLS feature of kube-client may be on; then its own connector is the way.
        return Client::try_from(config);
    }
    let http = HyperClient::builder(TokioExecutor::new()).build::<_, Body>(connector);
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .option_layer(config.auth_layer()?)
        .layer(config.extra_headers_layer()?)
        .map_err(BoxError::from)
        .service(http);
    Ok(ClientBuilder::new(service, config.default_namespace).build())
}
