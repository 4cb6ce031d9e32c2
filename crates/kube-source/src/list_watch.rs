//! The reflector's port over a Kubernetes client.

use std::{pin::pin, sync::Arc};

use derive_where::derive_where;
use futures::TryStreamExt;
use informer_reflector::{
    Body, Failure, FailureKind, Item, ListRequest, ListWatch, Page, Reuse, WatchRequest,
};
use kube_client::Client;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use crate::{
    KubeEvents, KubeSource, ReceivedWire, Representation,
    decode::{message::schema_of, ordered_jobs::processors},
    http::{
        answer,
        negotiation::{Accepted, Negotiation},
        request,
    },
    list::{arriving::ArrivingList, page::goes_back},
    watch::stream::{Answer, Received},
};

/// A [`ListWatch`] over [`kube_client::Client`], with framing and decoding of its own.
///
/// `T` is a type of k8s-openapi, a derived custom resource, `DynamicObject`, or
/// [`crate::PartialObjectMetadata`] where the source asks for metadata only. Objects from a list
/// carry `apiVersion` and `kind`, as those from a watch do.
///
/// Use a client without a retry layer, whose connections have keep-alive, such as that of
/// [`crate::client()`]. The retry layer of kube's default configuration hides failures for minutes.
///
/// ```
/// use informer_kube_source::{SerdeDecoder, KubeListWatch, KubeSource, Projection};
/// use std::sync::Arc;
/// use k8s_openapi::api::core::v1::Pod;
///
/// fn pods_of_a_node(client: kube_client::Client, node: &str) -> KubeListWatch<Pod> {
///     let decoder = Arc::new(SerdeDecoder::new(Projection::lean()));
///     let mut source = KubeSource::new("/api/v1/pods", "v1", "Pod", decoder);
///     source.field_selector = Some(format!("spec.nodeName={node}"));
///     KubeListWatch::new(client, source)
/// }
/// # let _ = pods_of_a_node;
/// ```
#[derive_where(Clone, Debug)]
pub struct KubeListWatch<T> {
    #[derive_where(skip(Debug))]
    client: Client,
    source: Arc<KubeSource<T>>,
    /// Read once, because it takes reading files.
    #[derive_where(skip(Debug))]
    processors: usize,
    /// Shared by clones, whose server is the same.
    #[derive_where(skip(Debug))]
    negotiation: Arc<Negotiation>,
}

impl<T: 'static> KubeListWatch<T> {
    /// Creates a source of lists and watches of the collection `source`. Sends no request.
    pub fn new(client: Client, source: KubeSource<T>) -> Self {
        Self {
            client,
            source: Arc::new(source),
            processors: processors(),
            negotiation: Arc::default(),
        }
    }

    /// Returns the format of the list or the event that was received last: JSON or protobuf.
    ///
    /// `None` if nothing has been received. Clones return the same.
    pub fn received_wire(&self) -> Option<ReceivedWire> {
        self.negotiation.last()
    }
}

impl<T: Send + Sync + 'static> ListWatch for KubeListWatch<T> {
    type Object = T;
    type Events = KubeEvents<T>;

    async fn list(
        &self,
        request: ListRequest,
        reuse: Arc<dyn Reuse<T>>,
    ) -> Result<Page<T>, Failure> {
        let reuse = request.reuse.then_some(reuse);
        let page = self.fetch(&request, reuse).await?;
        let reused = |item: &Item<T>| matches!(item.body, Body::Reused(_));
        // A list may carry its version after its items, when some were reused already.
        if goes_back(&page.version, &request) && page.items.iter().any(reused) {
            return self.fetch(&request, None).await;
        }
        Ok(page)
    }

    async fn watch(
        &self,
        request: WatchRequest,
        reuse: Arc<dyn Reuse<T>>,
    ) -> Result<KubeEvents<T>, Failure> {
        let deadlines = self.source.deadlines;
        let accepted = self.accepted();
        let send = self
            .client
            .send(request::watch(&self.source, &request, accepted)?);
        // The server counts from the request as well, so one deadline serves headers and events.
        let lifetime = (!request.timeout.is_zero())
            .then(|| request.timeout.saturating_add(deadlines.watch_margin));
        let deadline = lifetime.and_then(|lifetime| Instant::now().checked_add(lifetime));
        let answer = match deadline {
            Some(deadline) => timeout_at(deadline, send).await.map_err(|_| no_headers())?,
            None => send.await,
        };
        let answer = answer.map_err(|error| answer::unanswered(&error))?;
        let answer = answer::accepted(answer, deadlines.list_progress, accepted).await;
        let (format, body) = answer.inspect_err(|failure| {
            self.negotiation
                .note(accepted, Err(failure), Instant::now());
        })?;
        // Without a lower bound on the version, the history may be another one, and cached objects
        // may not be in it.
        let may_reuse = request.sends_initial_events() && request.version.is_exact();
        let reuse = may_reuse.then_some(reuse);
        let source = Arc::clone(&self.source);
        let deadline = deadline.map(sleep_until);
        let negotiation = Arc::clone(&self.negotiation);
        let received: Received = Box::new(move |failure| {
            negotiation.note(accepted, failure.map_or(Ok(format), Err), Instant::now());
        });
        let answer = Answer {
            format,
            pieces: answer::pieces(body),
            received: Some(received),
        };
        Ok(KubeEvents::new(
            answer,
            source,
            reuse,
            deadline,
            request.sends_initial_events(),
            self.processors,
        ))
    }

    fn describe(&self) -> &str {
        &self.source.path
    }
}

impl<T: Send + Sync + 'static> KubeListWatch<T> {
    /// The formats to request now.
    fn accepted(&self) -> Accepted {
        let source = &self.source;
        let has_schema = source.representation == Representation::MetadataOnly
            || schema_of(source.names()).is_some();
        let is_possible = has_schema && source.decoder.reads_protobuf();
        (self.negotiation).accepted(source.wire, is_possible, Instant::now())
    }

    /// Fetches a page, and notes its format.
    async fn fetch(
        &self,
        request: &ListRequest,
        reuse: Option<Arc<dyn Reuse<T>>>,
    ) -> Result<Page<T>, Failure> {
        let accepted = self.accepted();
        let fetched = self.fetch_accepted(request, reuse, accepted).await;
        let received = fetched.as_ref().map(|(format, _)| *format);
        self.negotiation.note(accepted, received, Instant::now());
        fetched.map(|(_, page)| page)
    }

    /// Fetches a page and decodes it while it arrives.
    async fn fetch_accepted(
        &self,
        request: &ListRequest,
        reuse: Option<Arc<dyn Reuse<T>>>,
        accepted: Accepted,
    ) -> Result<(ReceivedWire, Page<T>), Failure> {
        let deadlines = self.source.deadlines;
        let send = (self.client).send(request::list(&self.source, request, accepted)?);
        let answer = timeout(deadlines.list_headers, send).await;
        let answer = answer.map_err(|_| no_headers())?;
        let answer = answer.map_err(|error| answer::unanswered(&error))?;
        let answer = answer::accepted(answer, deadlines.list_progress, accepted);
        let (format, body) = answer.await?;
        let limit = self.source.limits.page_bytes;
        let mut pieces = pin!(answer::bounded(body, limit, deadlines.list_progress));
        let mut list = ArrivingList::new(&self.source, format, request, reuse, self.processors);
        while let Some(piece) = match pieces.try_next().await {
            Err(_) if planted!(CutListIsComplete) => None,
            piece => piece?,
        } {
            list.push(&piece).await?;
        }
        list.complete().await.map(|page| (format, page))
    }
}

fn no_headers() -> Failure {
    let message = "no response headers came within the deadline";
    Failure::new(FailureKind::TimedOut, "NoHeaders", message)
}
