//! Lists and watches through a scripted client, and objects through the decoder.

mod bursts;
mod connection;
mod hostile;
mod list;
mod nulls;
mod object;
mod parsers;
mod retained;
mod watch;

use std::sync::Arc;

use futures::StreamExt;
use kube_client::Client;
use kube_core::DynamicObject;

use super::{KubeListWatch, KubeSource, scripted};
use crate::{
    Failure, Item, ListRequest, ListVersion, ListWatch, Page, Reuse, WatchEvent, WatchRequest,
};

type Pods = KubeListWatch<DynamicObject>;

fn pods(client: Client) -> Pods {
    Pods::new(client, scripted::source())
}

fn pods_with(client: Client, adjust: impl FnOnce(&mut KubeSource<DynamicObject>)) -> Pods {
    let mut source = scripted::source();
    adjust(&mut source);
    Pods::new(client, source)
}

fn list_request() -> ListRequest {
    ListRequest {
        version: ListVersion::Any,
        limit: None,
        continue_token: None,
        resume: None,
        reuse: true,
    }
}

fn watch_request() -> WatchRequest {
    WatchRequest {
        version: "5".into(),
        timeout: std::time::Duration::from_secs(300),
        bookmarks: true,
        send_initial_events: false,
    }
}

async fn list(pods: &Pods) -> Result<Page<DynamicObject>, Failure> {
    pods.list(list_request(), Arc::new(())).await
}

/// Everything a server says in answer to one list.
async fn list_of(body: impl Into<bytes::Bytes>) -> Result<Page<DynamicObject>, Failure> {
    let body = body.into();
    let client = scripted::client(move |_| std::future::ready(scripted::json(body.clone())));
    list(&pods(client)).await
}

/// What one watch hands out until it ends.
async fn watch(pods: &Pods, reuse: Arc<dyn Reuse<DynamicObject>>) -> Watched {
    watch_as(pods, watch_request(), reuse).await
}

async fn watch_as(
    pods: &Pods,
    request: WatchRequest,
    reuse: Arc<dyn Reuse<DynamicObject>>,
) -> Watched {
    match pods.watch(request, reuse).await {
        Ok(events) => events.collect().await,
        Err(failure) => vec![Err(failure)],
    }
}

type Watched = Vec<Result<WatchEvent<DynamicObject>, Failure>>;

async fn watch_of(body: impl Into<bytes::Bytes>) -> Watched {
    let body = body.into();
    let client = scripted::client(move |_| std::future::ready(scripted::json(body.clone())));
    watch(&pods(client), Arc::new(())).await
}

/// Answers each request with the same thing, made anew.
fn always(answer: impl Fn() -> scripted::Scripted + Send + Sync + Clone + 'static) -> Client {
    scripted::client(move |_| std::future::ready(answer()))
}

fn key<T>(item: &Item<T>) -> String {
    let key = &item.identity.key;
    let namespace = key.namespace().unwrap_or("-");
    format!("{namespace}/{}@{}", key.name(), item.identity.version)
}
