//! A client without hidden retries, whose connections have TCP keep-alive.
//!
//! kube-client's own stack retries 429, 503 and 504 up to 15 times, so a failure may stay invisible
//! for minutes. It sets no keep-alive, so a half-open connection is never detected. Here back-off
//! and deadlines are the reflector's, and the kernel detects a dead peer within 45 s. TLS runs
//! over the same connections: `tls.rs`.

// R5

use std::time::Duration;

use http::{Request, Uri};
use hyper_util::client::legacy::Client as HyperClient;
use hyper_util::client::legacy::connect::{Connect, HttpConnector};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use kube_client::client::{Body, ClientBuilder, ConfigExt};
use kube_client::{Client, Config};
use tower::{BoxError, ServiceBuilder};

use crate::http::credentials::Credentials;
use crate::http::tls;

/// Idle time before the first keep-alive probe. Less than the 60 s after which common load
/// balancers silently drop a flow.
// FM-19
const KEEP_ALIVE_IDLE: Duration = Duration::from_secs(25);
/// Time between probes. With three probes a dead peer is detected after 25 + 3 x 5 = 40 s. The
/// kernel's timers may be late by an eighth, which makes 45 s.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(5);
const KEEP_ALIVE_PROBES: u32 = 3;
/// The same bound for a peer that stops acknowledging while we send.
const USER_TIMEOUT: Duration = Duration::from_secs(40);
/// How long an unused connection is kept for the next request. It is shorter than the detection of
/// a dead peer. A request after such an outage therefore gets no connection that died with the
/// peer, on which it would wait as long again.
// R5
const POOL_IDLE: Duration = Duration::from_secs(5);
/// The bytes that a watch reads from its connection at a time. The connection keeps a buffer of up
/// to twice that while it is open, and each idle watch has one.
const WATCH_BUFFER: usize = 16 * 1024;
/// The bytes that any other request reads at a time. With less, a list pays for more system calls:
/// a relist of 400 MB takes a quarter less processor time than with [`WATCH_BUFFER`].
const LIST_BUFFER: usize = 256 * 1024;

/// Builds a client for lists and watches from a kube configuration.
///
/// Credentials from a file or a plugin are read again as soon as the server refuses them. A client
/// certificate is read once, also if a plugin hands it out: make another client before it expires.
///
/// Watches have separate connections. Their buffers are small, because these connections stay open.
/// The connections of lists and other requests are closed after 5 s without a request.
///
/// TLS is provided by kube-client: the feature `rustls-tls` turns on rustls, and any TLS feature of
/// kube-client serves as well. If several are on, rustls is used.
///
/// With a proxy in the configuration, the connections and the credentials are kube-client's own.
/// kube-client does not set keep-alive, so a dead proxy may stay undetected until the deadline of
/// the watch, and a rejected credential is not replaced early. A warning says so. The hidden retry
/// is off in this case too.
///
/// # Errors
///
/// kube-client's error for the configuration: [`TlsRequired`](kube_client::Error::TlsRequired) for
/// an https address if kube-client is built without TLS, credentials that cannot be read, a proxy
/// protocol that is not compiled in.
pub fn client(mut config: Config) -> Result<Client, kube_client::Error> {
    config.default_retry = false;
    if config.accept_invalid_certs {
        // SEC-1: a warning, so that it is not left on by accident.
        tracing::warn!(server = %config.cluster_url, "the server's certificate is not verified");
    }
    // A read deadline here would cut healthy idle watches; the reflector has its own.
    config.read_timeout = None;
    if config.proxy_url.is_some() {
        tracing::warn!(
            server = %config.cluster_url,
            "connections through a proxy have no keep-alive: a dead proxy may stay undetected until \
             the deadline of the watch, and a rotated token may be rejected for up to a minute",
        );
        return Client::try_from(config);
    }
    let connector = tls::connector(&&config, tuned(HttpConnector::new(), &config))?;
    over(config, &connector)
}

/// Sets the timeouts and keep-alive of new connections.
fn tuned<R>(mut connector: HttpConnector<R>, config: &Config) -> HttpConnector<R> {
    connector.enforce_http(false);
    connector.set_nodelay(true);
    connector.set_connect_timeout(config.connect_timeout);
    connector.set_keepalive(Some(KEEP_ALIVE_IDLE));
    connector.set_keepalive_interval(Some(KEEP_ALIVE_INTERVAL));
    connector.set_keepalive_retries(Some(KEEP_ALIVE_PROBES));
    #[cfg(target_os = "linux")]
    connector.set_tcp_user_timeout(Some(USER_TIMEOUT));
    connector
}

/// Builds a client over this connector. The address is resolved again for each connection.
///
/// A connection keeps the longest buffer it has read with. Watches, which are open for long, have
/// connections of their own; those of lists are closed when no further page follows.
// FM-85
fn over<C>(config: Config, connector: &C) -> Result<Client, kube_client::Error>
where
    C: Connect + Clone + Send + Sync + 'static,
{
    let connections = |buffer| -> HyperClient<C, Body> {
        HyperClient::builder(TokioExecutor::new())
            .pool_idle_timeout(POOL_IDLE)
            .pool_timer(TokioTimer::new())
            .http1_max_buf_size(buffer)
            .build(connector.clone())
    };
    let (watches, others) = (connections(WATCH_BUFFER), connections(LIST_BUFFER));
    let http = tower::service_fn(move |request: Request<Body>| {
        let connections = match is_watch(request.uri()) {
            true => &watches,
            false => &others,
        };
        connections.request(request)
    });
    let http = ServiceBuilder::new()
        .layer(config.extra_headers_layer()?)
        .map_err(BoxError::from)
        .service(http);
    let (base_uri, namespace) = (config.base_uri_layer(), config.default_namespace.clone());
    let service = ServiceBuilder::new()
        .layer(base_uri)
        .service(Credentials::new(config, http)?);
    Ok(ClientBuilder::new(service, namespace).build())
}

/// Whether the answer is a stream of events that stays open.
fn is_watch(uri: &Uri) -> bool {
    let mut parameters = uri.query().unwrap_or_default().split('&');
    parameters.any(|parameter| matches!(parameter, "watch=true" | "watch=1"))
}

#[cfg(test)]
mod tests {
    use std::future::ready;
    use std::io;
    use std::net::SocketAddr;
    use std::sync::{Arc, Mutex};

    use hyper_util::client::legacy::connect::dns::Name;
    use informer_reflector::{Config as ReflectorConfig, FailureKind};
    use informer_testkit::{ApiServer, Resource, Verb};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};

    use super::*;
    use crate::tests::followed::{Followed, SOON, create};
    use crate::tests::requests::{list, pods};

    /// Of the kernel's timers in `/proc`.
    #[cfg(target_os = "linux")]
    const TICKS_PER_SECOND: u32 = 100;

    async fn follow(client: Client) -> Followed {
        // Real time passes here; the delays themselves are proved under a paused clock.
        let mut reflector = ReflectorConfig::default();
        reflector.backoff.base = Duration::from_millis(5);
        reflector.backoff.cap = Duration::from_millis(50);
        Followed::start(client, reflector).await
    }

    /// Connections with short buffers are for watches alone.
    #[test]
    fn watches_are_known_by_their_query() {
        let is_watch = |uri: &str| super::is_watch(&uri.parse().expect("a URI"));
        assert!(is_watch("/api/v1/pods?resourceVersion=7&watch=true"));
        assert!(is_watch("/api/v1/pods?watch=1&allowWatchBookmarks=true"));
        assert!(!is_watch("/api/v1/pods?limit=500"));
        assert!(!is_watch("/api/v1/pods?watch=false"));
        assert!(!is_watch("/api/v1/watch=true"));
        assert!(!is_watch("/api/v1/pods?labelSelector=watch%3Dtrue"));
    }

    /// FM-85: the name of the server leads to another address than before. The next connection
    /// goes there, and the watch goes on from its version.
    #[tokio::test]
    async fn a_server_that_moves_is_found_by_its_name() {
        let server = ApiServer::new();
        let first = server.serve().await.expect("loopback is there");
        let second = server.serve().await.expect("loopback is there");
        let address = Arc::new(Mutex::new(first.addr));
        let moves = Arc::clone(&address);
        let resolver = tower::service_fn(move |_: Name| {
            let found: SocketAddr = *address.lock().expect("whole");
            ready(Ok::<_, io::Error>([found].into_iter()))
        });
        let config = Config::new("http://api.test".parse().expect("a URL"));
        let connector = tuned(HttpConnector::new_with_resolver(resolver), &config);
        let followed = follow(over(config, &connector).expect("plain HTTP")).await;
        server.wait_for_watches(&Resource::pods(), 1).await;

        *moves.lock().expect("whole") = second.addr;
        first.shutdown().await;
        followed.reach(&create(&server, "a")).await;
        let whole = |verb: Verb, initial: bool| verb == Verb::List || initial;
        let requests = server.requests().into_iter();
        let lists =
            requests.filter(|request| whole(request.line.verb, request.line.wants_initial_events));
        assert_eq!(lists.count(), 1);
    }

    /// A host that is off does not refuse: the time for the connection passes. That says as little
    /// about the version of a watch as a refusal.
    #[tokio::test]
    async fn a_connection_that_is_not_made_in_time_is_none() {
        let resolver = tower::service_fn(|_: Name| {
            ready(Err::<std::iter::Empty<_>, _>(io::Error::from(
                io::ErrorKind::TimedOut,
            )))
        });
        let config = Config::new("http://api.test".parse().expect("a URL"));
        let connector = tuned(HttpConnector::new_with_resolver(resolver), &config);
        let pods = pods(over(config, &connector).expect("plain HTTP"));
        let failure = list(&pods).await.expect_err("no connection");
        assert_eq!(failure.kind, FailureKind::Connect, "{failure}");
    }

    /// The kernel's timer of our end of a connection to this address: which, and how long it has.
    #[cfg(target_os = "linux")]
    fn timer(peer: SocketAddr) -> Option<(u8, u32)> {
        let table = std::fs::read_to_string("/proc/self/net/tcp").expect("on Linux");
        let port = format!(":{:04X}", peer.port());
        table.lines().skip(1).find_map(|line| {
            let columns: Vec<_> = line.split_whitespace().collect();
            let established = columns[2].ends_with(&port) && columns[3] == "01";
            let (kind, left) = columns[5].split_once(':')?;
            let parse = |text| u32::from_str_radix(text, 16).expect("hexadecimal");
            established.then(|| (u8::try_from(parse(kind)).expect("small"), parse(left)))
        })
    }

    /// R5, as measured with a peer that had vanished: 30 s and three probes were found in 45.6 s.
    #[test]
    fn a_dead_peer_is_found_in_time_although_timers_are_late() {
        let probed = KEEP_ALIVE_IDLE + KEEP_ALIVE_PROBES * KEEP_ALIVE_INTERVAL;
        let promised = Duration::from_secs(45);
        assert!(probed * 9 / 8 <= promised && USER_TIMEOUT * 9 / 8 <= promised);
    }

    /// R5: a connection that has been idle for as long as no dead one is found is not used again.
    #[tokio::test]
    async fn an_idle_connection_is_not_kept_for_long() {
        let (requests, connections) = (5, 3);
        let peer = Peer::listen().await;
        for at in 0..requests {
            peer.get("/version").await;
            // By the second and the fourth, which goes beyond what is kept.
            if at % 2 == 1 {
                tokio::time::pause();
                tokio::time::advance(POOL_IDLE + Duration::from_millis(1)).await;
                tokio::time::resume();
            }
        }
        assert_eq!(peer.accepted(), connections);
    }

    /// The connection of a list has a long buffer, and the watch that follows stays open.
    #[tokio::test]
    async fn a_watch_does_not_use_the_connection_of_a_list() {
        let peer = Peer::listen().await;
        peer.get("/api/v1/pods?limit=500").await;
        peer.get("/api/v1/pods?limit=500&continue=next").await;
        assert_eq!(peer.accepted(), 1);
        peer.get("/api/v1/pods?resourceVersion=7&watch=true").await;
        assert_eq!(peer.accepted(), 2);
    }

    /// A server that counts connections, and its client.
    struct Peer {
        client: Client,
        accepted: Arc<Mutex<usize>>,
    }

    impl Peer {
        async fn listen() -> Self {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback");
            let addr = listener.local_addr().expect("bound");
            let accepted = Arc::new(Mutex::new(0));
            let count = Arc::clone(&accepted);
            tokio::spawn(async move {
                while let Ok((stream, _)) = listener.accept().await {
                    *count.lock().expect("whole") += 1;
                    tokio::spawn(answer_all(stream));
                }
            });
            let url = format!("http://{addr}").parse().expect("a URL");
            let client = client(Config::new(url)).expect("plain HTTP");
            Self { client, accepted }
        }

        async fn get(&self, path: &str) {
            let request = http::Request::get(path).body(Vec::new());
            let answer = self.client.request_text(request.expect("a request")).await;
            assert_eq!(answer.expect("answered"), "{}");
        }

        fn accepted(&self) -> usize {
            *self.accepted.lock().expect("whole")
        }
    }

    /// Answers whatever comes, one request after the other.
    async fn answer_all(mut stream: TcpStream) {
        const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
        let mut request = Vec::new();
        while let Ok(read) = stream.read_buf(&mut request).await
            && read > 0
        {
            if request.ends_with(b"\r\n\r\n") {
                request.clear();
                stream
                    .write_all(ANSWER)
                    .await
                    .expect("somebody waits for it");
            }
        }
    }

    /// Waits until the kernel will probe the connection to this address; the ticks until then.
    #[cfg(target_os = "linux")]
    async fn probed(peer: SocketAddr) -> u32 {
        const KEEP_ALIVE: u8 = 2;
        let probed = async {
            loop {
                match timer(peer) {
                    Some((KEEP_ALIVE, left)) => return left,
                    // There is no connection yet, or the peer has not acknowledged all data.
                    _ => tokio::task::yield_now().await,
                }
            }
        };
        let left = tokio::time::timeout(SOON, probed).await;
        left.expect("the connection is kept alive")
    }

    // FM-19, R5: TLS may come from kube-client's feature without one of ours (dev-dependencies).
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_tls_connection_is_probed_whichever_crate_turns_tls_on() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback");
        let addr = listener.local_addr().expect("bound");
        let mut config = Config::new(format!("https://{addr}").parse().expect("a URL"));
        config.root_cert = Some(Vec::new());
        let client = client(config).expect("kube-client has TLS");
        let request = http::Request::get("/version").body(Vec::new());
        let request = request.expect("a request");
        // The peer never answers the handshake, so the connection stays idle.
        let handshake = tokio::spawn(async move { client.request_text(request).await });
        let left = probed(addr).await;
        assert!(left <= 25 * TICKS_PER_SECOND, "{left} ticks");
        handshake.abort();
    }

    /// FM-19, FM-16: an idle watch is probed before the 60 s after which middle-boxes forget it.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn an_idle_connection_is_probed_within_a_minute() {
        let server = ApiServer::new();
        let handle = server.serve().await.expect("loopback is there");
        let url = handle.url.parse().expect("a URL");
        let _followed = follow(client(Config::new(url)).expect("plain HTTP")).await;
        server.wait_for_watches(&Resource::pods(), 1).await;
        let left = probed(handle.addr).await;
        assert!(left <= 25 * TICKS_PER_SECOND, "{left} ticks");
    }
}
