//! Lists and watches in protobuf, and which format is requested.

mod limits;
mod list;
mod metadata;
mod negotiation;
mod watch;

use std::sync::Arc;

use bytes::Bytes;
use futures::StreamExt;
use http::{HeaderValue, header};
use informer_kube_protobuf::{seal, to_body, to_frame};
use informer_reflector::{Failure, Item, ListWatch, Page, WatchEvent};
use k8s_openapi::api::core::v1::Pod;
use kube_client::Client;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{
    requests::{list_request, watch_request},
    scripted::{self, Scripted},
};
use crate::{KubeListWatch, KubeSource, SerdeDecoder, http::request::PROTOBUF};

fn pod(name: &str, version: u32) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": name, "namespace": "x", "uid": "u", "resourceVersion": version.to_string(),
            "managedFields": [{"manager": "kubectl", "fieldsV1": {"f:spec": {}}}]
        },
        "spec": {"nodeName": "node-1", "containers": [{"name": "c", "image": "i", "resources": {}}]},
        "status": {"phase": "Running"}
    })
}

fn pod_list(pods: &[Value]) -> Value {
    json!({
        "apiVersion": "v1", "kind": "PodList",
        "metadata": {"resourceVersion": "9", "continue": "t", "remainingItemCount": 3},
        "items": pods
    })
}

fn body_of(value: &Value) -> Vec<u8> {
    to_body(value).expect("a built-in kind")
}

fn frame_of(event_type: &str, object: &Value) -> Vec<u8> {
    to_frame(event_type, &body_of(object))
}

fn answer(content_type: &str, body: impl Into<Bytes>) -> Scripted {
    let mut answer = scripted::json(body);
    let value = HeaderValue::from_str(content_type).expect("a header");
    answer.headers_mut().insert(header::CONTENT_TYPE, value);
    answer
}

fn source_of<T: DeserializeOwned + 'static>(kind: &str, decoder: SerdeDecoder) -> KubeSource<T> {
    KubeSource::new("/api/v1/things", "v1", kind, Arc::new(decoder))
}

fn answering(answer: impl Fn() -> Scripted + Send + Sync + Clone + 'static) -> Client {
    scripted::client(move |_| std::future::ready(answer()))
}

async fn list_as<T: Send + Sync + 'static>(
    source: KubeSource<T>,
    body: Vec<u8>,
) -> Result<Page<T>, Failure> {
    let client = answering(move || answer(PROTOBUF, body.clone()));
    let lists = KubeListWatch::new(client, source);
    lists.list(list_request(), Arc::new(())).await
}

async fn watch_as<T: Send + Sync + 'static>(
    source: KubeSource<T>,
    body: Vec<u8>,
) -> Vec<Result<WatchEvent<T>, Failure>> {
    let client = answering(move || answer(&format!("{PROTOBUF};stream=watch"), body.clone()));
    let watches = KubeListWatch::new(client, source);
    let events = watches.watch(watch_request(), Arc::new(())).await;
    events.expect("an answer").collect().await
}

fn pods() -> KubeSource<Pod> {
    source_of("Pod", SerdeDecoder::default())
}

fn object<T>(item: &Item<T>) -> &T {
    item.body.object().expect("it is decoded")
}

/// Fields of metadata by number.
type Fields<'a> = &'a [(u8, &'a [u8])];

/// The message of a pod with these fields of its metadata, and these bytes behind it.
fn message(fields: Fields<'_>, behind: &[u8]) -> Vec<u8> {
    let mut metadata = Vec::new();
    for (number, bytes) in fields {
        metadata.extend([number << 3 | 2, bytes.len() as u8]);
        metadata.extend_from_slice(bytes);
    }
    let mut message = vec![0x0a, metadata.len() as u8];
    message.extend(metadata);
    message.extend_from_slice(behind);
    message
}

fn list_of(items: &[Vec<u8>]) -> Vec<u8> {
    let mut list = vec![0x0a, 3, 0x12, 1, b'9'];
    for item in items {
        list.extend([0x12, item.len() as u8]);
        list.extend_from_slice(item);
    }
    seal("v1", "PodList", &list)
}
