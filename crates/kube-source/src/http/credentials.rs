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
    /// Locked while credentials are read, because many requests are refused together.
    current: Mutex<Current<R>>,
    /// The latest generation that the server refused.
    refused: AtomicU64,
}

#[derive_where(Clone)]
struct Current<R> {
    /// The number of times that credentials were read.
    generation: u64,
    service: Authorized<R>,
}

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
            current: Mutex::new(Current {
                generation: 1,
                service,
            }),
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
        let mut current = self.current.lock().await;
        if self.refused.load(Ordering::Relaxed) == current.generation {
            let shared = Arc::clone(self);
            // Reading a file or running a program must not block the runtime.
            let read = move || authorized(&shared.config, shared.http.clone());
            match tokio::task::spawn_blocking(read).await {
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
    use informer_testkit::{ApiServer, Fault, Match, Resource, Times};
    use kube_client::Client;
    use tokio::time::Instant;

    use super::{Arc, Body, BoxError, Config, Credentials, Request, ServiceExt};
    use crate::tests::followed::{Followed, SOON, create};

    /// A server that accepts one token, and one that refuses whoever comes with another.
    struct Gate {
        server: ApiServer,
        refused: ApiServer,
        accepted: Arc<Mutex<&'static str>>,
        file: PathBuf,
        followed: Followed,
    }

    impl Gate {
        /// With the token `one`, and a reflector that watches with it.
        async fn open(name: &str) -> Self {
            let (server, refused) = (ApiServer::new(), ApiServer::new());
            let fault = Fault::status(401, "Unauthorized", "who are you");
            refused.fault(Match::any(), fault, Times::Always);
            let accepted = Arc::new(Mutex::new("Bearer one"));
            let http = tower::service_fn({
                let (server, refused) = (server.clone(), refused.clone());
                let accepted = Arc::clone(&accepted);
                move |request: Request<Body>| {
                    let accepted = *accepted.lock().expect("whole");
                    let token = request.headers().get(http::header::AUTHORIZATION);
                    let is_accepted = token.is_some_and(|token| token == accepted);
                    let server = if is_accepted { &server } else { &refused };
                    let answer = server.service().oneshot(request);
                    async move { answer.await.map_err(BoxError::from) }
                }
            });
            let file = format!("informer-token-{name}-{}", std::process::id());
            let file = std::env::temp_dir().join(file);
            std::fs::write(&file, "one").expect("a temporary file");
            let mut config = Config::new("http://api.test".parse().expect("a URL"));
            config.auth_info.token_file = Some(file.display().to_string());
            let service = Credentials::new(config, http).expect("the file is there");
            create(&server, "a");
            let client = Client::new(service, "default");
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
