//! Requests with an `Accept` header, and their answers as values.
use bytes::Bytes;
use http::{
    Method, Request,
    header::{ACCEPT, CONTENT_TYPE},
};
use http_body_util::{BodyExt, Full};
use informer_kube_protobuf::{Envelope, WatchEvent, split_frame};
use informer_testkit::ApiServer;
use serde_json::{Value, json};
use tower::ServiceExt;

pub(crate) const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
pub(crate) const METADATA: &str =
    "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) media_type: String,
    pub(crate) body: Vec<u8>,
    pub(crate) is_whole: bool,
}

pub(crate) async fn ask(server: &ApiServer, path: &str, accept: &str) -> Answer {
    send(server, Method::GET, path, accept, String::new()).await
}

pub(crate) async fn send(
    server: &ApiServer,
    method: Method,
    path: &str,
    accept: &str,
    body: String,
) -> Answer {
    let request = Request::builder().method(method).uri(path);
    let request = request
        .header(ACCEPT, accept)
        .body(Full::<Bytes>::from(body))
        .unwrap();
    let response = server.service().oneshot(request).await.unwrap();
    let media_type = response.headers()[CONTENT_TYPE]
        .to_str()
        .unwrap()
        .to_owned();
    let code = response.status().as_u16();
    let (mut body, mut bytes, mut is_whole) = (response.into_body(), Vec::new(), true);
    while let Some(frame) = body.frame().await {
        match frame {
            Ok(frame) => bytes.extend_from_slice(&frame.into_data().unwrap()),
            Err(_) => is_whole = false,
        }
    }
    Answer {
        code,
        media_type,
        body: bytes,
        is_whole,
    }
}

/// The value of a body.
pub(crate) fn json_of(body: &[u8]) -> Value {
    Envelope::parse(body).unwrap().decode().unwrap()
}

/// The events of a watch, each as its line in JSON would be.
pub(crate) fn events_of(mut body: &[u8]) -> Vec<Value> {
    let mut events = Vec::new();
    while let Some((frame, rest)) = split_frame(body, 1 << 20).unwrap() {
        let event = WatchEvent::parse(frame).unwrap();
        events.push(json!({"type": event.event_type, "object": json_of(event.object)}));
        body = rest;
    }
    assert!(body.is_empty(), "a frame is not complete");
    events
}
