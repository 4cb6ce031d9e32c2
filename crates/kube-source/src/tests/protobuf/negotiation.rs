//! Which format is requested, and which was received.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::stream;
use http::{Request, StatusCode};
use informer_reflector::FailureKind;
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::value::RawValue;

use super::*;
use crate::{ReceivedWire, WireFormat};

/// A server whose answers are chosen by what the requests accept; and the requests.
fn negotiating<A>(choose: A) -> (Client, Arc<Mutex<Vec<String>>>)
where
    A: Fn(&str) -> Scripted + Send + Sync + Clone + 'static,
{
    let requests = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&requests);
    let service = tower::service_fn(move |request: Request<kube_client::client::Body>| {
        let accept = request.headers()[header::ACCEPT].to_str();
        let accept = accept.expect("a text").to_owned();
        let answer = choose(&accept);
        seen.lock().expect("no panic").push(accept);
        async move { Ok::<_, std::convert::Infallible>(answer) }
    });
    (Client::new(service, "default"), requests)
}

fn with_status(status: u16, mut answer: Scripted) -> Scripted {
    *answer.status_mut() = StatusCode::from_u16(status).expect("a status");
    answer
}

const BOTH: &str = "application/vnd.kubernetes.protobuf,application/json";
const JSON: &str = "application/json";

fn empty_list() -> Value {
    json!({"apiVersion": "v1", "kind": "PodList", "metadata": {"resourceVersion": "1"}, "items": []})
}

/// Lists as often as there are results, ten seconds apart, and compares what was accepted.
async fn check_negotiation<T: Send + Sync + 'static>(
    source: KubeSource<T>,
    choose: impl Fn(&str) -> Scripted + Send + Sync + Clone + 'static,
    expected: &[(&str, bool)],
) {
    let (client, requests) = negotiating(choose);
    let lists = KubeListWatch::new(client, source);
    for (number, (_, is_ok)) in expected.iter().enumerate() {
        let page = lists.list(list_request(), Arc::new(())).await;
        assert_eq!(page.is_ok(), *is_ok, "request {number}");
        tokio::time::advance(Duration::from_secs(10)).await;
    }
    let accepted: Vec<&str> = expected.iter().map(|(accept, _)| *accept).collect();
    assert_eq!(*requests.lock().expect("no panic"), accepted);
}

/// A server that cannot answer in protobuf is asked for JSON for ten minutes.
#[tokio::test(start_paused = true)]
async fn a_server_without_protobuf_is_asked_for_json() {
    let empty = || scripted::json(empty_list().to_string());
    let or_refusal = |status| {
        move |accept: &str| match accept {
            JSON => empty(),
            _ => with_status(status, empty()),
        }
    };
    let mut expected = vec![(BOTH, false)];
    expected.extend([(JSON, true); 59]);
    expected.push((BOTH, false));
    check_negotiation(pods(), or_refusal(406), &expected).await;
    let twice = [(BOTH, false), (BOTH, false), (JSON, true)];
    check_negotiation(pods(), or_refusal(500), &twice).await;
    let nonsense = |accept: &str| match accept {
        JSON => scripted::json(empty_list().to_string()),
        _ => answer(PROTOBUF, "nonsense"),
    };
    check_negotiation(pods(), nonsense, &twice).await;
    // It fails in either format: protobuf is not the cause.
    let down = |_: &str| with_status(500, scripted::json("{}"));
    let again = [
        (BOTH, false),
        (BOTH, false),
        (JSON, false),
        (BOTH, false),
        (BOTH, false),
    ];
    check_negotiation(pods(), down, &again).await;
    // A server that is throttled has shown nothing.
    let busy = [(BOTH, false), (BOTH, false), (BOTH, false)];
    check_negotiation(pods(), or_refusal(429), &busy).await;
}

/// The answer's content type decides, and the option what is requested.
#[tokio::test(start_paused = true)]
async fn the_option_decides_what_is_requested() {
    let json = |_: &str| scripted::json(empty_list().to_string());
    let protobuf = |_: &str| answer(PROTOBUF, body_of(&empty_list()));
    check_negotiation(pods(), json, &[(BOTH, true)]).await;
    check_negotiation(pods(), protobuf, &[(BOTH, true)]).await;
    let of = |wire| pods().wire(wire);
    check_negotiation(of(WireFormat::Json), json, &[(JSON, true)]).await;
    // Protobuf that was not requested is not read.
    check_negotiation(of(WireFormat::Json), protobuf, &[(JSON, false)]).await;
    check_negotiation(of(WireFormat::Protobuf), protobuf, &[(PROTOBUF, true)]).await;
    let refused = |_: &str| with_status(406, scripted::json("{}"));
    let again = [(PROTOBUF, false), (PROTOBUF, false)];
    check_negotiation(of(WireFormat::Protobuf), refused, &again).await;
    // No schema: a custom resource.
    let custom = KubeSource::<Value>::new("/x", "a.b/v1", "C", Arc::new(SerdeDecoder::default()));
    check_negotiation(custom, |_: &str| scripted::json("{}"), &[(JSON, false)]).await;
}

/// FM-35: a page for people that claims to be a watch in protobuf is nonsense, and not a large
/// event: after two, JSON is requested.
#[tokio::test(start_paused = true)]
async fn a_page_that_claims_to_be_a_watch_is_followed_by_json() {
    for page in [
        "<html>log in</html>",
        "\n\t<html>",
        "{\"kind\":",
        "\u{feff}<html>",
    ] {
        let (client, requests) = negotiating(move |accept: &str| match accept {
            JSON => scripted::json(String::new()),
            _ => answer(PROTOBUF, page),
        });
        let watches = KubeListWatch::new(client, pods());
        for _ in 0..2 {
            let events = watches.watch(watch_request(), Arc::new(())).await;
            let events: Vec<_> = events.expect("a watch").collect().await;
            let [Err(failure)] = &events[..] else {
                panic!("{} events", events.len());
            };
            assert_eq!(failure.kind, FailureKind::Protocol, "{page:?}");
        }
        drop(watches.watch(watch_request(), Arc::new(())).await);
        assert_eq!(*requests.lock().expect("no panic"), [BOTH, BOTH, JSON]);
    }
}

/// A type that only serde_json can decode is requested in JSON once that is known.
#[tokio::test(start_paused = true)]
async fn a_type_for_json_alone_is_requested_in_json() {
    #[derive(serde::Deserialize)]
    struct Raw {
        #[expect(dead_code, reason = "only decoded")]
        spec: Box<RawValue>,
    }
    let source = source_of::<Raw>("Pod", SerdeDecoder::default());
    let list = pod_list(&[pod("a", 6)]);
    let either = move |accept: &str| match accept {
        JSON => scripted::json(list.to_string()),
        _ => answer(PROTOBUF, body_of(&list)),
    };
    check_negotiation(source, either, &[(BOTH, false), (JSON, true), (JSON, true)]).await;
}

/// The format that was received last is known, of a list and of a watch.
#[tokio::test]
async fn the_received_format_is_known() {
    let frame = frame_of(
        "ADDED",
        &json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "resourceVersion": "2"}
        }),
    );
    let client = scripted::client(move |uri| {
        let frame = Bytes::from(frame.clone());
        std::future::ready(match uri.contains("watch=true") {
            true => {
                let mut watch = scripted::pieces(stream::iter([Ok(frame)]));
                let value = HeaderValue::from_static(PROTOBUF);
                watch.headers_mut().insert(header::CONTENT_TYPE, value);
                watch
            }
            false => scripted::json(
                json!({
                    "apiVersion": "v1", "kind": "ConfigMapList", "metadata": {}, "items": []
                })
                .to_string(),
            ),
        })
    });
    let maps = KubeListWatch::new(
        client,
        source_of::<ConfigMap>("ConfigMap", SerdeDecoder::default()),
    );
    assert_eq!(maps.received_wire(), None);
    drop(
        maps.list(list_request(), Arc::new(()))
            .await
            .expect("a page"),
    );
    assert_eq!(maps.received_wire(), Some(ReceivedWire::Json));
    let events = maps
        .watch(watch_request(), Arc::new(()))
        .await
        .expect("a watch");
    assert_eq!(events.collect::<Vec<_>>().await.len(), 1);
    assert_eq!(maps.received_wire(), Some(ReceivedWire::Protobuf));
}
