//! Limits on what a server may send. `list.rs` has the decoded size, `watch.rs` absurd lengths.

use std::io;

use futures::{Stream, stream};
use informer_kube_protobuf::{Envelope, to_body, to_frame};
use informer_reflector::{Body, DecodeErrorCategory, FailureKind, WatchEvent};

use super::*;
use crate::{Limits, Projection};

/// The category of the error of the only object of a list.
async fn error_of(source: KubeSource<Pod>, pod: &Value) -> Option<DecodeErrorCategory> {
    let body = body_of(&pod_list(std::slice::from_ref(pod)));
    let page = list_as(source, body).await.expect("a page");
    match &page.items[0].body {
        Body::Undecodable(error) => Some(error.category),
        _ => None,
    }
}

/// FM-56, SEC-18: the size of an object as received is bounded.
#[tokio::test]
async fn the_received_size_is_bounded() {
    let limited = |bytes| pods().limits(Limits::default().object_bytes(bytes));
    let mut large = pod("a", 6);
    large["spec"]["nodeName"] = json!("x".repeat(2_000));
    assert_eq!(
        error_of(limited(1_000), &large).await,
        Some(DecodeErrorCategory::Size)
    );
    assert_eq!(error_of(limited(10_000), &large).await, None);
}

/// FM-55, SEC-19: JSON within a message has no more than 128 levels, and no depth overflows the
/// stack.
#[tokio::test]
async fn depth_is_bounded() {
    // serde_json refuses the 128th level.
    for (depth, is_ok) in [(1, true), (127, true), (128, false), (1_000, false)] {
        let mut fields = json!({});
        for _ in 1..depth {
            fields = json!({ "f:a": fields });
        }
        let mut deep = pod("a", 6);
        deep["metadata"]["managedFields"][0]["fieldsV1"] = fields;
        let source = source_of("Pod", SerdeDecoder::new(Projection::new()));
        let error = error_of(source, &deep).await;
        assert_eq!(error.is_none(), is_ok, "{depth}: {error:?}");
    }
}

/// SEC-17: a page over the limit fails although its items never end. The answer states a length of
/// 2 GiB, the largest there is.
#[tokio::test]
async fn an_endless_page_is_too_big() {
    let client = answering(|| {
        let sealed = seal("v1", "PodList", b"");
        let type_meta = 4 + 2 + usize::from(sealed[5]);
        let mut head = sealed[..type_meta].to_vec();
        head.extend([0x12, 0xff, 0xff, 0xff, 0xff, 0x07]);
        let list = body_of(&pod_list(&[pod("a", 6)]));
        let list = Envelope::parse(&list).expect("a body");
        // The metadata of a list comes first.
        let item = usize::from(list.raw[1]) + 2;
        let item = Bytes::copy_from_slice(&list.raw[item..]);
        let items = stream::repeat_with(move || Ok(item.clone()));
        let head = stream::once(std::future::ready(Ok(Bytes::from(head))));
        let mut endless = scripted::pieces(head.chain(items));
        let value = HeaderValue::from_static(PROTOBUF);
        endless.headers_mut().insert(header::CONTENT_TYPE, value);
        endless
    });
    let source = pods().limits(Limits::default().page_bytes(100_000));
    let lists = KubeListWatch::new(client, source);
    let page = lists.list(list_request(), Arc::new(())).await;
    assert_eq!(page.expect_err("too big").kind, FailureKind::TooBig);
}

/// The events of a watch that begins with these bytes, if an event may have 10,000 bytes.
async fn events_of<S>(first: Vec<u8>, rest: fn() -> S) -> Vec<Result<WatchEvent<Pod>, Failure>>
where
    S: Stream<Item = io::Result<Bytes>> + Send + 'static,
{
    let client = answering(move || {
        let first = stream::iter([Ok(Bytes::from(first.clone()))]);
        let mut endless = scripted::pieces(first.chain(rest()));
        let value = HeaderValue::from_static(PROTOBUF);
        endless.headers_mut().insert(header::CONTENT_TYPE, value);
        endless
    });
    let source = pods().limits(Limits::default().event_bytes(10_000));
    let watches = KubeListWatch::new(client, source);
    let events = watches.watch(watch_request(), Arc::new(())).await;
    events.expect("an answer").collect().await
}

/// The length of a frame of 10,001 bytes.
const TOO_LONG: [u8; 4] = [0, 0, 0x27, 0x11];

/// SEC-16: a frame over the limit ends the watch although none of its bytes ever arrive.
#[tokio::test]
async fn a_frame_over_the_limit_is_too_big() {
    let events = events_of(TOO_LONG.to_vec(), stream::pending).await;
    let [Err(failure)] = &events[..] else {
        panic!("{} events", events.len());
    };
    assert_eq!(failure.kind, FailureKind::TooBig);
}

/// The same with a complete frame before it, and bytes that never end.
#[tokio::test]
async fn a_frame_over_the_limit_behind_another_one_is_too_big() {
    let bookmark = json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"resourceVersion": "7"}});
    let frame = to_frame("BOOKMARK", &to_body(&bookmark).expect("a pod"));
    let zeros = || stream::repeat_with(|| Ok(Bytes::from_static(&[0; 1000])));
    let events = events_of([&frame[..], &TOO_LONG].concat(), zeros).await;
    let [Ok(WatchEvent::Bookmark { .. }), Err(failure)] = &events[..] else {
        panic!("{} events", events.len());
    };
    assert_eq!(failure.kind, FailureKind::TooBig);
}

/// SEC-20: nothing is decompressed, so no answer expands. Compression was not requested, and a
/// compressed answer is refused before its body is read.
#[tokio::test]
async fn a_compressed_answer_is_refused() {
    let client = answering(|| {
        let mut packed = scripted::pieces(stream::pending());
        for (name, value) in [
            (header::CONTENT_TYPE, PROTOBUF),
            (header::CONTENT_ENCODING, "gzip"),
        ] {
            (packed.headers_mut()).insert(name, HeaderValue::from_static(value));
        }
        packed
    });
    let source = KubeListWatch::new(client, pods());
    let page = source.list(list_request(), Arc::new(())).await;
    assert_eq!(page.expect_err("refused").kind, FailureKind::Protocol);
    let events = source.watch(watch_request(), Arc::new(())).await;
    let failure = events.expect_err("it is refused");
    assert_eq!(failure.kind, FailureKind::Protocol);
}
