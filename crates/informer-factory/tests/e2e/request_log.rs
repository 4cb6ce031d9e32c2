//! What informers ask the server, seen at the client.

use std::sync::{Arc, Mutex, PoisonError};

use http::Request;
use kube_client::Client;
use kube_client::client::Body;

/// One request.
#[derive(Clone, Debug)]
struct Asked {
    path_and_query: String,
    accept: String,
    /// `None` until there is an answer, or when there was none.
    status: Option<u16>,
}

/// The requests of one client, in the order in which they were sent.
#[derive(Clone, Default)]
pub(crate) struct RequestLog {
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl RequestLog {
    /// A client that sends through `inner`, and the log of what it sends.
    pub(crate) fn over(inner: Client) -> (Client, Self) {
        let log = Self::default();
        let (namespace, writer) = (inner.default_namespace().to_owned(), log.clone());
        let service = tower::service_fn(move |request: Request<Body>| {
            let (inner, log) = (inner.clone(), writer.clone());
            let number = log.note(&request);
            async move {
                let answer = inner.send(request).await?;
                log.note_status(number, answer.status().as_u16());
                Ok::<_, kube_client::Error>(answer)
            }
        });
        (Client::new(service, namespace), log)
    }

    /// How many streaming lists were asked for.
    pub(crate) fn streaming_lists(&self) -> usize {
        self.count(|asked| asked.path_and_query.contains("sendInitialEvents=true"))
    }

    /// How many pages of plain lists of whole objects were asked for; the checker's are not.
    pub(crate) fn pages(&self) -> usize {
        let is_list = |asked: &Asked| !asked.path_and_query.contains("watch=");
        self.count(|asked| is_list(asked) && !asked.accept.contains("as=PartialObjectMetadata"))
    }

    /// How many answers had this status.
    pub(crate) fn answers(&self, status: u16) -> usize {
        self.count(|asked| asked.status == Some(status))
    }

    /// True if each request wanted metadata only.
    pub(crate) fn is_metadata_only(&self) -> bool {
        self.count(|asked| !asked.accept.contains("as=PartialObjectMetadata")) == 0
    }

    /// What was asked, for messages: one line each, the newest last.
    pub(crate) fn text(&self) -> String {
        let lines = |asked: &Asked| format!("  {:?} {}\n", asked.status, asked.path_and_query);
        self.with(|all| all.iter().map(lines).collect())
    }

    fn count(&self, wanted: impl Fn(&Asked) -> bool) -> usize {
        self.with(|all| all.iter().filter(|asked| wanted(asked)).count())
    }

    fn note(&self, request: &Request<Body>) -> usize {
        let accept = request.headers().get(http::header::ACCEPT);
        let accept = accept.and_then(|value| value.to_str().ok());
        let asked = Asked {
            path_and_query: request.uri().to_string(),
            accept: accept.unwrap_or_default().to_owned(),
            status: None,
        };
        self.with(|all| {
            all.push(asked);
            all.len() - 1
        })
    }

    fn note_status(&self, number: usize, status: u16) {
        self.with(|all| all[number].status = Some(status));
    }

    fn with<R>(&self, look: impl FnOnce(&mut Vec<Asked>) -> R) -> R {
        look(&mut self.asked.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
