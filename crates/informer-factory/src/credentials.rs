//! Credentials that are asked for again when the server refuses them (FM-75, R7).
//!
//! kube-client reads a token file at most once a minute, and asks a plugin when its credential runs
//! out. A token that was rotated before that would be refused until then.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use http::{Request, Response, StatusCode};
use kube_client::Config;
use kube_client::client::{Body, ConfigExt};
use tower::util::{BoxCloneService, BoxCloneSyncService};
use tower::{BoxError, Service, ServiceBuilder, ServiceExt};

/// Requests with credentials.
type Authorized<R> = BoxCloneService<Request<Body>, Response<R>, BoxError>;

/// Requests without.
type Http<R> = BoxCloneSyncService<Request<Body>, Response<R>, BoxError>;

/// A service that adds credentials to each request, and replaces them after a 401.
pub(crate) struct Credentials<R>(Arc<Shared<R>>);

struct Shared<R> {
    config: Config,
    http: Http<R>,
    current: Mutex<Current<R>>,
    /// Held while new ones are asked for: many requests are refused together.
    renewing: tokio::sync::Mutex<()>,
}

struct Current<R> {
    /// How often they were replaced.
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
                generation: 0,
                service,
            }),
            renewing: tokio::sync::Mutex::default(),
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
    fn current(&self) -> MutexGuard<'_, Current<R>> {
        // Replaced in one step, so a poisoned one is still whole.
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces what was refused, unless somebody has already.
    async fn renew(self: &Arc<Self>, refused: u64) {
        let _renewing = self.renewing.lock().await;
        if self.current().generation != refused {
            return;
        }
        let shared = Arc::clone(self);
        // A file is read or a program run, which must not hold the runtime up.
        let read = move || authorized(&shared.config, shared.http.clone());
        match tokio::task::spawn_blocking(read).await {
            Ok(Ok(service)) => {
                let mut current = self.current();
                current.generation += 1;
                current.service = service;
            }
            // The error may quote what was read (SEC-7).
            Ok(Err(_)) | Err(_) => tracing::warn!("credentials could not be read again"),
        }
    }
}

impl<R> Clone for Credentials<R> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<R: Send + 'static> Service<Request<Body>> for Credentials<R> {
    type Response = Response<R>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Response<R>, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let shared = Arc::clone(&self.0);
        let (generation, service) = {
            let current = shared.current();
            (current.generation, current.service.clone())
        };
        Box::pin(async move {
            let answer = service.oneshot(request).await?;
            if answer.status() == StatusCode::UNAUTHORIZED {
                shared.renew(generation).await;
            }
            Ok(answer)
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::time::Duration;

    use informer_testkit::{ApiServer, Fault, Match, Resource, Times};
    use k8s_openapi::api::core::v1::Pod;
    use kube_client::Client;
    use serde_json::json;
    use tokio::time::Instant;

    use super::*;
    use crate::SharedInformerFactory;

    /// A pod on the server; its version.
    pub(crate) fn create(server: &ApiServer, name: &str) -> String {
        let pod = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"namespace": "default", "name": name},
        });
        let created = server.create(&Resource::pods(), pod).expect("created");
        created.version().to_string()
    }

    /// FM-75, R7: a token is rotated. One request is refused, the next one carries the new token;
    /// what is stored can be read meanwhile.
    #[tokio::test(start_paused = true)]
    async fn a_rotated_token_is_used_by_the_next_attempt() {
        let (server, gate) = (ApiServer::new(), ApiServer::new());
        let refused = Fault::status(401, "Unauthorized", "who are you");
        gate.fault(Match::any(), refused, Times::Always);
        let accepted = Arc::new(Mutex::new("Bearer one"));
        let http = tower::service_fn({
            let (server, gate, accepted) = (server.clone(), gate.clone(), Arc::clone(&accepted));
            move |request: Request<Body>| {
                let accepted = *accepted.lock().expect("whole");
                let token = request.headers().get(http::header::AUTHORIZATION);
                let is_accepted = token.is_some_and(|token| token == accepted);
                let server = if is_accepted { &server } else { &gate };
                let answer = server.service().oneshot(request);
                async move { answer.await.map_err(BoxError::from) }
            }
        });
        let path = format!("informer-token-{}", std::process::id());
        let path = std::env::temp_dir().join(path);
        std::fs::write(&path, "one").expect("a temporary file");
        let mut config = Config::new("http://api.test".parse().expect("a URL"));
        config.auth_info.token_file = Some(path.display().to_string());
        let service = Credentials::new(config, http).expect("the file is there");
        let factory = SharedInformerFactory::new(Client::new(service, "default"));
        let informer = factory.informer::<Pod>();
        create(&server, "a");
        factory.start().expect("a runtime");
        let soon = Duration::from_secs(120);
        factory.wait_for_sync(soon).await.expect("synced");
        server.wait_for_watches(&Resource::pods(), 1).await;
        assert!(gate.requests().is_empty());

        std::fs::write(&path, "two").expect("a temporary file");
        *accepted.lock().expect("whole") = "Bearer two";
        server.close_watches();
        server.wait_for_watches(&Resource::pods(), 0).await;
        let start = Instant::now();
        let version = create(&server, "b").into();
        assert_eq!(informer.lister().all().len(), 1);
        let reached = informer.wait_for_version(&version, soon).await;
        std::fs::remove_file(&path).expect("a temporary file");
        reached.expect("reached");
        assert!(start.elapsed() <= Duration::from_secs(5), "R7");
        assert_eq!(gate.requests().len(), 1, "{:#?}", gate.requests());
    }
}
