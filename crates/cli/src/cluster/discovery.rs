//! Requests that discover what a server has, all under one deadline.

use std::time::Duration;

use kube_client::Error;
use tokio::time::Instant;

use super::explain;
use crate::status;

/// The server discovery is about, and the time by which it has to be over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Discovery<'a> {
    /// The server's address, for messages.
    server: &'a str,
    timeout: Duration,
    deadline: Instant,
}

/// A request of discovery failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DiscoveryError {
    /// The server refused the request, or could not be reached.
    #[error("cannot discover the resources of {server}: GET {path}: {}", explain::client_error(.cause))]
    Failed {
        server: String,
        path: String,
        cause: Error,
    },
    /// The deadline passed first.
    #[error(
        "cannot discover the resources of {server}: no answer to GET {path} within {}",
        status::brief(*.waited)
    )]
    NoAnswer {
        server: String,
        path: String,
        waited: Duration,
    },
}

impl<'a> Discovery<'a> {
    /// Discovery that begins now and may take as long as `timeout`.
    pub(crate) fn begin(server: &'a str, timeout: Duration) -> Self {
        Self {
            server,
            timeout,
            deadline: Instant::now() + timeout,
        }
    }

    /// Waits for the answer to one request, until the deadline of all of them.
    pub(crate) async fn request<T>(
        &self,
        path: &str,
        request: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, DiscoveryError> {
        let (server, path) = (self.server.to_owned(), path.to_owned());
        match tokio::time::timeout_at(self.deadline, request).await {
            Ok(answer) => answer.map_err(|cause| DiscoveryError::Failed {
                server,
                path,
                cause,
            }),
            Err(_) => Err(DiscoveryError::NoAnswer {
                server,
                path,
                waited: self.timeout,
            }),
        }
    }
}

/// Whether the server answered, but not with what was requested.
pub(crate) fn is_refusal(error: &DiscoveryError) -> bool {
    matches!(
        error,
        DiscoveryError::Failed {
            cause: Error::Api(_) | Error::SerdeError(_),
            ..
        }
    )
}

#[cfg(test)]
mod tests {
    use informer_testkit::{ApiServer, Fault, Match, Times};
    use kube_client::Client;

    use super::*;
    use crate::cluster::catalog::Catalog;

    const TIMEOUT: Duration = Duration::from_secs(10);

    fn client(server: &ApiServer) -> Client {
        Client::new(server.service(), "default")
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_never_answers_is_given_up_at_the_deadline() {
        let server = ApiServer::new();
        server.fault(Match::any(), Fault::HangHeaders, Times::Always);
        let start = Instant::now();
        let discovery = Discovery::begin("https://x", TIMEOUT);
        let error = Catalog::fetch(&client(&server), &discovery).await;
        let text = error.expect_err("no answer").to_string();
        let expected = "cannot discover the resources of https://x: \
                        no answer to GET /api within 10.0 s";
        assert_eq!(text, expected);
        assert_eq!(start.elapsed(), TIMEOUT);
    }

    /// Slow answers share the deadline: each is in time, all together are not.
    #[tokio::test(start_paused = true)]
    async fn the_deadline_is_that_of_all_requests_together() {
        let server = ApiServer::new();
        let slow = Fault::Delay(Duration::from_secs(4));
        server.fault(Match::any(), slow, Times::Always);
        let start = Instant::now();
        let discovery = Discovery::begin("https://x", TIMEOUT);
        let error = Catalog::fetch(&client(&server), &discovery).await;
        let text = error.expect_err("too slow").to_string();
        assert!(text.ends_with("within 10.0 s"), "{text}");
        assert!(server.requests().len() > 1, "{:?}", server.requests());
        assert_eq!(start.elapsed(), TIMEOUT);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_in_time_is_used() {
        let server = ApiServer::new();
        let discovery = Discovery::begin("https://x", TIMEOUT);
        let catalog = Catalog::fetch(&client(&server), &discovery).await;
        assert!(catalog.expect("it answers").resolve("pods").is_ok());
    }
}
