//! Credentials that are read again after the server refuses them.
//!
//! kube-client reads a token file at most once a minute, and calls a plugin when its credential
//! expires. A token that is rotated earlier would be refused until then.
//!
//! They are read with the next request, not with the refused one, because a new token may appear
//! in between.

// FM-75, R7

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};
use std::task::{Context, Poll};

use derive_where::derive_where;
use futures::future::BoxFuture;
use http::{Request, Response, StatusCode};
use kube_client::Config;
use kube_client::client::{Body, ConfigExt};
use tokio::sync::Mutex;
use tokio::task::{JoinHandle, spawn_blocking};
use tower::util::{BoxCloneService, BoxCloneSyncService};
use tower::{BoxError, Service, ServiceBuilder, ServiceExt};

/// Requests with credentials.
type Authorized<R> = BoxCloneService<Request<Body>, Response<R>, BoxError>;

/// Requests without credentials.
type Http<R> = BoxCloneSyncService<Request<Body>, Response<R>, BoxError>;

/// A service that adds credentials to each request, and replaces them before the next after a 401.
#[derive_where(Clone)]
pub(crate) struct Credentials<R>(Arc<Shared<R>>);

struct Shared<R> {
    config: Config,
    http: Http<R>,
    /// Locked while credentials are read, because many requests are refused together. A request
    /// that is given up meanwhile leaves the reading to the next one: a login may take longer than
    /// the deadline of a request, and must not begin again.
    current: Mutex<(Current<R>, Option<Reading<R>>)>,
    /// The latest generation that the server refused.
    refused: AtomicU64,
}

#[derive_where(Clone)]
struct Current<R> {
    /// The number of times that credentials were read.
    generation: u64,
    service: Authorized<R>,
}

/// Credentials that are being read.
type Reading<R> = JoinHandle<Result<Authorized<R>, kube_client::Error>>;

impl<R: Send + 'static> Credentials<R> {
    /// Reads the credentials for the first time.
    pub(crate) fn new<S>(config: Config, http: S) -> Result<Self, kube_client::Error>
    where
        S: Service<Request<Body>, Response = Response<R>, Error = BoxError>,
        S: Clone + Send + Sync + 'static,
        S::Future: Send,
    {
        let http = BoxCloneSyncService::new(http);
        let service = authorized(&config, http.clone())?;
        Ok(Self(Arc::new(Shared {
            config,
            http,
            current: Mutex::new((
                Current {
                    generation: 1,
                    service,
                },
                None,
            )),
            refused: AtomicU64::new(0),
        })))
    }
}

fn authorized<R: Send + 'static>(
    config: &Config,
    http: Http<R>,
) -> Result<Authorized<R>, kube_client::Error> {
    let layers = ServiceBuilder::new().option_layer(config.auth_layer()?);
    Ok(BoxCloneService::new(layers.service(http)))
}

impl<R: Send + 'static> Shared<R> {
    /// The credentials for the next request; new ones if the server refused those it has.
    async fn current(self: &Arc<Self>) -> Current<R> {
        let mut locked = self.current.lock().await;
        let (current, reading) = &mut *locked;
        if self.refused.load(Ordering::Relaxed) == current.generation && may_change(&self.config) {
            let read = reading.get_or_insert_with(|| {
                let shared = Arc::clone(self);
                // Reading a file or running a program must not block the runtime.
                spawn_blocking(move || authorized(&shared.config, shared.http.clone()))
            });
            let read = read.await;
            *reading = None;
            match read {
                Ok(Ok(service)) => {
                    current.generation += 1;
                    current.service = service;
                }
                // SEC-7: the error may quote the credential, so it is not logged.
                Ok(Err(_)) | Err(_) => tracing::warn!("credentials could not be read again"),
            }
        }
        current.clone()
    }
}

/// Whether credentials that are read again may be others. The provider `oidc` keeps in memory what
/// it was given last, and the configuration has what it was given first.
fn may_change(config: &Config) -> bool {
    let provider = config.auth_info.auth_provider.as_ref();
    provider.is_none_or(|provider| provider.name != "oidc")
}

impl<R: Send + 'static> Service<Request<Body>> for Credentials<R> {
    type Response = Response<R>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Response<R>, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let shared = Arc::clone(&self.0);
        Box::pin(async move {
            let current = shared.current().await;
            let answer = current.service.oneshot(request).await?;
            if answer.status() == StatusCode::UNAUTHORIZED {
                let refused = current.generation;
                shared.refused.fetch_max(refused, Ordering::Relaxed);
            }
            Ok(answer)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::{path::PathBuf, sync::Mutex, time::Duration};

    use informer_reflector::Config as ReflectorConfig;
    #[cfg(unix)]
    use informer_reflector::FailureKind;
    use informer_testkit::{ApiServer, Fault, Match, Resource, Times};
    use kube_client::Client;
    use tokio::time::Instant;

    use super::{Arc, Body, BoxError, Config, Credentials, Request, ServiceExt, may_change};
    use crate::tests::followed::{Followed, SOON, create};
    #[cfg(unix)]
    use crate::tests::requests::{list, pods};

    /// A server that accepts one token, and one that refuses whoever comes with another.
    struct Gate {
        server: ApiServer,
        refused: ApiServer,
        accepted: Arc<Mutex<&'static str>>,
        file: PathBuf,
        followed: Followed,
    }

    /// A client of `server` with these credentials. Without the accepted token, it gets 401 from
    /// `refused`.
    fn gated(
        config: Config,
        server: &ApiServer,
        refused: &ApiServer,
        accepted: &Arc<Mutex<&'static str>>,
    ) -> Client {
        let fault = Fault::status(401, "Unauthorized", "who are you");
        refused.fault(Match::any(), fault, Times::Always);
        let (server, refused) = (server.clone(), refused.clone());
        let accepted = Arc::clone(accepted);
        let http = tower::service_fn(move |request: Request<Body>| {
            let accepted = *accepted.lock().expect("whole");
            let token = request.headers().get(http::header::AUTHORIZATION);
            let is_accepted = token.is_some_and(|token| token == accepted);
            let server = if is_accepted { &server } else { &refused };
            let answer = server.service().oneshot(request);
            async move { answer.await.map_err(BoxError::from) }
        });
        let service = Credentials::new(config, http).expect("the credentials are there");
        Client::new(service, "default")
    }

    impl Gate {
        /// With the token `one`, and a reflector that watches with it.
        async fn open(name: &str) -> Self {
            let accepted = Arc::new(Mutex::new("Bearer one"));
            let (server, refused) = (ApiServer::new(), ApiServer::new());
            let file = format!("informer-token-{name}-{}", std::process::id());
            let file = std::env::temp_dir().join(file);
            std::fs::write(&file, "one").expect("a temporary file");
            let mut config = Config::new("http://api.test".parse().expect("a URL"));
            config.auth_info.token_file = Some(file.display().to_string());
            let client = gated(config, &server, &refused, &accepted);
            create(&server, "a");
            let followed = Followed::start(client, ReflectorConfig::default()).await;
            server.wait_for_watches(&Resource::pods(), 1).await;
            assert!(refused.requests().is_empty());
            Self {
                server,
                refused,
                accepted,
                file,
                followed,
            }
        }

        /// From now on the token is `two`.
        async fn rotate(&self) {
            *self.accepted.lock().expect("whole") = "Bearer two";
            self.server.close_watches();
            self.server.wait_for_watches(&Resource::pods(), 0).await;
        }

        /// Which the client is told.
        fn hand_out(&self) {
            std::fs::write(&self.file, "two").expect("a temporary file");
        }

        /// Waits until the reflector received what the server has.
        async fn reach(&self) -> Duration {
            let start = Instant::now();
            let version = create(&self.server, "b");
            assert_eq!(self.followed.count(), 1);
            self.followed.reach(&version).await;
            start.elapsed()
        }
    }

    impl Drop for Gate {
        fn drop(&mut self) {
            std::fs::remove_file(&self.file).expect("a temporary file");
        }
    }

    /// FM-75, R7: a token is rotated. One request is refused, the next one carries the new token;
    /// what is stored can be read meanwhile.
    #[tokio::test(start_paused = true)]
    async fn a_rotated_token_is_used_by_the_next_attempt() {
        let gate = Gate::open("rotated").await;
        gate.hand_out();
        gate.rotate().await;
        assert!(gate.reach().await <= Duration::from_secs(5), "R7");
        let refused = gate.refused.requests();
        assert_eq!(refused.len(), 1, "{refused:#?}");
    }

    /// A client with a credential plugin, which is a shell script, and a server that accepts no
    /// token but `two`.
    #[cfg(unix)]
    fn with_plugin(name: &str, script: &str) -> (Client, PathBuf) {
        let folder = format!("informer-plugin-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        let credential = serde_json::json!({
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": "sh",
            "args": ["-c", script, folder],
            "env": [{"name": "PASSWORD", "value": "hunter2"}],
        });
        let mut config = Config::new("http://api.test".parse().expect("a URL"));
        config.auth_info.exec = Some(serde_json::from_value(credential).expect("a plugin"));
        let accepted = Arc::new(Mutex::new("Bearer two"));
        let (server, refused) = (ApiServer::new(), ApiServer::new());
        (gated(config, &server, &refused, &accepted), folder)
    }

    /// SEC-8: neither the output of a plugin nor its environment is shown.
    #[cfg(unix)]
    #[tokio::test]
    async fn a_plugin_that_fails_is_not_quoted() {
        let script = r#"
            mkdir "$0" 2>/dev/null || { echo hunter2; exit 1; }
            echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",
                "status":{"token":"one","expirationTimestamp":"2020-01-01T00:00:00Z"}}'"#;
        let (client, folder) = with_plugin("fails", script);
        let failure = list(&pods(client)).await.expect_err("no credentials");
        std::fs::remove_dir(folder).expect("a temporary folder");
        assert_eq!(failure.kind, FailureKind::Unauthorized, "{failure}");
        assert!(
            !format!("{failure} {failure:?}").contains("hunter2"),
            "{failure:?}"
        );
    }

    /// A login may take longer than a request waits for it.
    #[cfg(unix)]
    #[tokio::test]
    async fn what_a_slow_plugin_answers_is_used_by_the_next_request() {
        let script = r#"
            answer='{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",
                "status":{"token":"TOKEN"}}'
            if mkdir "$0" 2>/dev/null; then
                mkfifo "$0/login" && echo "$answer" | sed s/TOKEN/one/
            else
                mkdir "$0/run" && echo "$answer" | sed "s/TOKEN/$(cat "$0/login")/"
            fi"#;
        let (client, folder) = with_plugin("slow", script);
        let pods = pods(client);
        let failure = list(&pods).await.expect_err("refused");
        assert_eq!(failure.kind, FailureKind::Unauthorized, "{failure}");
        let given_up = async {
            while !folder.join("run").exists() {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            _ = list(&pods) => panic!("the plugin waits for a login"),
            () = given_up => {}
        }
        let login = folder.join("login");
        let login = tokio::task::spawn_blocking(move || std::fs::write(login, "two"));
        // A second run of the plugin would fail.
        list(&pods).await.expect("accepted");
        login.await.expect("no panic").expect("the plugin reads");
        std::fs::remove_dir_all(folder).expect("a temporary folder");
    }

    #[test]
    fn what_a_provider_keeps_in_memory_is_not_thrown_away() {
        let mut config = Config::new("http://api.test".parse().expect("a URL"));
        assert!(may_change(&config));
        for (name, expected) in [("gcp", true), ("oidc", false)] {
            let provider = serde_json::json!({"name": name, "config": {}});
            let provider = serde_json::from_value(provider).expect("a provider");
            config.auth_info.auth_provider = Some(provider);
            assert_eq!(may_change(&config), expected, "{name}");
        }
    }

    /// FM-75, R7: the new token comes after a request was refused, and is used by the next one.
    #[tokio::test(start_paused = true)]
    async fn a_token_that_comes_late_is_used_by_the_next_attempt() {
        let gate = Gate::open("late").await;
        gate.rotate().await;
        let refused = async {
            while gate.refused.requests().is_empty() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        let waited = tokio::time::timeout(SOON, refused).await;
        waited.expect("a request is refused");
        tokio::time::sleep(Duration::from_millis(100)).await;
        gate.hand_out();
        assert!(gate.reach().await <= Duration::from_secs(5), "R7");
        let refused = gate.refused.requests();
        assert_eq!(refused.len(), 1, "{refused:#?}");
    }
}
