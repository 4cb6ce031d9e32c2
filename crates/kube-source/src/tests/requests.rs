//! Requests of a source whose client is scripted.

use std::sync::Arc;

use futures::StreamExt;
use informer_object::{Identity, ObjectKey};
use informer_reflector::{
    Body, Failure, Item, ListRequest, ListVersion, ListWatch, Page, Reuse, WatchEvent, WatchRequest,
};
use kube_client::Client;
use kube_core::DynamicObject;

use super::scripted;
use crate::{Buffers, KubeListWatch, KubeSource};

pub(super) type Pods = KubeListWatch<DynamicObject>;

pub(crate) fn pods(client: Client) -> Pods {
    Pods::new(client, scripted::source())
}

pub(super) fn pods_with(
    client: Client,
    adjust: impl FnOnce(&mut KubeSource<DynamicObject>),
) -> Pods {
    let mut source = scripted::source();
    adjust(&mut source);
    Pods::new(client, source)
}

pub(super) fn list_request() -> ListRequest {
    let mut request = ListRequest::new(ListVersion::Any);
    request.reuse = true;
    request
}

pub(super) fn watch_request() -> WatchRequest {
    WatchRequest::new("5", std::time::Duration::from_secs(300))
}

pub(crate) async fn list(pods: &Pods) -> Result<Page<DynamicObject>, Failure> {
    pods.list(list_request(), Arc::new(())).await
}

/// Everything a server says in answer to one list.
pub(super) async fn list_of(body: impl Into<bytes::Bytes>) -> Result<Page<DynamicObject>, Failure> {
    let body = body.into();
    let client = scripted::client(move |_| std::future::ready(scripted::json(body.clone())));
    list(&pods(client)).await
}

/// What one watch hands out until it ends.
pub(super) async fn watch(pods: &Pods, reuse: Arc<dyn Reuse<DynamicObject>>) -> Watched {
    watch_as(pods, watch_request(), reuse).await
}

pub(super) async fn watch_as(
    pods: &Pods,
    request: WatchRequest,
    reuse: Arc<dyn Reuse<DynamicObject>>,
) -> Watched {
    match pods.watch(request, reuse).await {
        Ok(events) => events.collect().await,
        Err(failure) => vec![Err(failure)],
    }
}

pub(super) type Watched = Vec<Result<WatchEvent<DynamicObject>, Failure>>;

pub(super) async fn watch_of(body: impl Into<bytes::Bytes>) -> Watched {
    let body = body.into();
    let client = scripted::client(move |_| std::future::ready(scripted::json(body.clone())));
    watch(&pods(client), Arc::new(())).await
}

/// Answers each request with the same thing, made anew.
pub(super) fn always(
    answer: impl Fn() -> scripted::Scripted + Send + Sync + Clone + 'static,
) -> Client {
    scripted::client(move |_| std::future::ready(answer()))
}

pub(super) fn key<T>(item: &Item<T>) -> String {
    let key = &item.identity.key;
    let namespace = key.namespace().unwrap_or("-");
    format!("{namespace}/{}@{}", key.name(), item.identity.version)
}

/// Decodes an object of any identity, in new buffers.
pub(super) fn decode<T: 'static>(source: &KubeSource<T>, json: &str, is_typed: bool) -> Body<T> {
    let key = ObjectKey::new(None, "any").expect("well formed");
    let identity = Identity::new(key, "", "");
    source.decode(json, is_typed, &identity, &mut Buffers::default())
}
