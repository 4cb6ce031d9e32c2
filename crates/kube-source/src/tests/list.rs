//! Lists: truncated, late, large, refused or wrong; reused items and bad items.

use std::{
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use futures::{StreamExt, stream};
use http::HeaderValue;
use informer_reflector::{
    Body, DecodeErrorCategory, FailureKind, Identity, ListRequest, ListWatch, Page, Reuse,
};
use kube_core::DynamicObject;
use tokio::time::{Instant, sleep};

use super::{requests::*, scripted};

const THREE: &str = r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9",
"continue":"next","remainingItemCount":2},"items":[
{"metadata":{"namespace":"x","name":"a","uid":"u1","resourceVersion":"1"},"spec":{"n":1}},
{"metadata":{"namespace":"x","name":"b","uid":"u2","resourceVersion":"2"}},
{"metadata":{"name":"c","uid":"u3","resourceVersion":"3"}}]}"#;

fn keys(page: &Page<DynamicObject>) -> Vec<String> {
    page.items.iter().map(key).collect()
}

/// The page as the server meant it, types supplied.
#[tokio::test]
async fn a_page_is_read() {
    let page = list_of(THREE).await.expect("a page");
    assert_eq!(keys(&page), ["x/a@1", "x/b@2", "-/c@3"]);
    assert_eq!((page.version, page.remaining), ("9".into(), Some(2)));
    assert_eq!(page.continue_token.as_deref(), Some("next"));
    let object = page.items[0].body.object().expect("decoded");
    assert_eq!(object.types.as_ref().expect("supplied").kind, "Pod");
    assert_eq!(object.data["spec"]["n"], 1);
}

/// FM-10: cut at every byte, cleanly or not, a list is a failure and never a shorter list.
#[tokio::test]
async fn a_list_cut_anywhere_is_a_failure() {
    for cut in 0..THREE.len() {
        let failure = list_of(&THREE[..cut]).await.expect_err("cut");
        assert_eq!(failure.kind, FailureKind::Protocol, "cut at {cut}");
        let client = always(move || {
            let reset = io::Error::from(io::ErrorKind::ConnectionReset);
            scripted::pieces(stream::iter([
                Ok(Bytes::from_static(&THREE.as_bytes()[..cut])),
                Err(reset),
            ]))
        });
        let failure = list(&pods(client)).await.expect_err("cut");
        assert_eq!(failure.kind, FailureKind::Cut, "reset at {cut}");
        assert!(!failure.message.is_empty());
    }
}

/// FM-33, FM-35: what is not a list of the right kind is refused, above all what looks empty.
#[tokio::test]
async fn what_is_not_the_list_is_refused() {
    for body in [
        "{}",
        "[]",
        "null",
        "<html>log in</html>",
        r#"{"items":[]}"#,
        r#"{"kind":"PodList","apiVersion":"v1","metadata":{}}"#,
        r#"{"kind":"Table","apiVersion":"meta.k8s.io/v1","rows":[],"items":[]}"#,
        r#"{"kind":"ServiceList","apiVersion":"v1","items":[]}"#,
        r#"{"kind":"PodList","apiVersion":"v2","items":[]}"#,
        r#"{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","items":[]}"#,
        r#"{"kind":"Pod","apiVersion":"v1","items":[]}"#,
        r#"{"kind":"PodList","apiVersion":"v1","items":{}}"#,
        r#"{"kind":"PodList","apiVersion":"v1","items":[]}{}"#,
        r#"{"kind":"PodList","apiVersion":"v1","items":[],"items":[]}"#,
    ] {
        let failure = list_of(body).await.expect_err(body);
        assert_eq!(failure.kind, FailureKind::Protocol, "{body}");
    }
    let status = r#"{"kind":"Status","apiVersion":"v1","reason":"Expired","code":410}"#;
    let failure = list_of(status).await.expect_err("a status");
    assert_eq!(failure.kind, FailureKind::Expired);
    let empty = r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},
        "items":null}"#;
    assert!(
        list_of(empty)
            .await
            .expect("Go's empty list")
            .items
            .is_empty()
    );
}

/// A CRD may name its list as it likes.
#[tokio::test]
async fn a_custom_list_kind_is_accepted() {
    let body = r#"{"kind":"Cattle","apiVersion":"farm.io/v1","items":[]}"#;
    let pods = pods_with(always(move || scripted::json(body)), |source| {
        source.api_version = "farm.io/v1".into();
        source.kind = "Cow".into();
    });
    assert!(list(&pods).await.is_ok());
}

/// FM-35: the content type is judged before the body.
#[tokio::test]
async fn the_content_type_comes_first() {
    let typed = |content_type: &'static str| {
        pods(always(move || {
            let mut answer = scripted::json(THREE);
            let value = HeaderValue::from_static(content_type);
            answer.headers_mut().insert("content-type", value);
            answer
        }))
    };
    for wrong in ["text/html; charset=utf-8", "application/cbor", ""] {
        let failure = list(&typed(wrong)).await.expect_err(wrong);
        assert_eq!(
            (failure.kind, &*failure.reason),
            (FailureKind::Protocol, "ContentType")
        );
    }
    for right in [
        "application/json",
        "Application/JSON;charset=utf-8",
        "application/x+json",
    ] {
        assert!(list(&typed(right)).await.is_ok(), "{right}");
    }
}

/// FM-28, FM-29: one typed failure for each refusal, the cause never empty.
#[tokio::test]
async fn refusals_are_typed() {
    let cases: [(u16, &str, &str, FailureKind, &str); 6] = [
        (
            403,
            "",
            "",
            FailureKind::Forbidden,
            "Forbidden (403): the answer holds no Status",
        ),
        (
            404,
            "text/plain",
            "404 page not found\nmore",
            FailureKind::NotFound,
            "Not Found (404): 404 page not found",
        ),
        (
            502,
            "text/html",
            "<p>",
            FailureKind::Unavailable,
            "Bad Gateway (502)",
        ),
        (302, "", "", FailureKind::Other, "Found (302)"),
        (599, "", "{}", FailureKind::Internal, "HTTP (599)"),
        (
            410,
            "application/json",
            "{\n \"reason\": \"Expired\",\n \"message\": \"too old\"\n}",
            FailureKind::Expired,
            "Expired (410): too old",
        ),
    ];
    for (code, content_type, body, kind, text) in cases {
        let failure = list(&pods(always(move || {
            let mut answer = scripted::refusal(code, body);
            let value = HeaderValue::from_static(content_type);
            answer.headers_mut().insert("content-type", value);
            answer
        })))
        .await
        .expect_err("refused");
        assert_eq!(failure.kind, kind, "{code}");
        assert!(failure.to_string().starts_with(text), "{failure}");
    }
}

/// FM-12: the header, as seconds or as a date by the server's own clock.
#[tokio::test]
async fn retry_after_reaches_the_failure() {
    let wait = |after: &'static str| async move {
        let answer = move || {
            let mut answer = scripted::refusal(429, "{}");
            let headers = answer.headers_mut();
            headers.insert("retry-after", HeaderValue::from_static(after));
            let date = HeaderValue::from_static("Wed, 21 Oct 2015 07:28:00 GMT");
            headers.insert("date", date);
            answer
        };
        let failure = list(&pods(always(answer))).await.expect_err("throttled");
        assert_eq!(failure.kind, FailureKind::Throttled);
        failure.retry_after
    };
    assert_eq!(wait("3").await, Some(Duration::from_secs(3)));
    assert_eq!(
        wait("Wed, 21 Oct 2015 07:28:09 GMT").await,
        Some(Duration::from_secs(9))
    );
    assert_eq!(wait("later").await, None);
}

/// FM-09, R6: no headers for 60 s, or no byte for 30 s, is a failure; slow but steady is not.
#[tokio::test(start_paused = true)]
async fn a_list_that_hangs_is_given_up() {
    let start = Instant::now();
    let silent = scripted::client(|_| std::future::pending());
    let failure = list(&pods(silent)).await.expect_err("no headers");
    assert_eq!(
        (failure.kind, start.elapsed().as_secs()),
        (FailureKind::TimedOut, 60)
    );
    let start = Instant::now();
    let stalled = always(|| {
        let first = stream::iter([Ok(Bytes::from_static(b"{"))]);
        scripted::pieces(first.chain(stream::pending()))
    });
    let failure = list(&pods(stalled)).await.expect_err("stalled");
    assert_eq!(
        (failure.kind, start.elapsed().as_secs()),
        (FailureKind::TimedOut, 30)
    );
    let steady = always(|| {
        let bytes = stream::iter(THREE.as_bytes().chunks(100).map(Bytes::from_static));
        scripted::pieces(bytes.then(|piece| async {
            sleep(Duration::from_secs(29)).await;
            Ok(piece)
        }))
    });
    assert_eq!(list(&pods(steady)).await.expect("a page").items.len(), 3);
}

/// SEC-17: what a watch cache answers with for a large cluster is no attack.
#[test]
fn a_page_has_room_for_a_large_cluster() {
    // A million pods of the size that real ones have; as many as can be addressed on 32 bits.
    let collection = 1_000_000_usize.saturating_mul(13_000);
    assert!(crate::Limits::default().page_bytes >= collection);
}

/// SEC-17, SEC-20: a page over the limit fails before it is held whole.
#[tokio::test]
async fn a_page_over_the_limit_is_too_big() {
    let endless = always(|| {
        let piece = Bytes::from(vec![b' '; 1000]);
        scripted::pieces(stream::repeat_with(move || Ok(piece.clone())))
    });
    let pods = pods_with(endless, |source| source.limits.page_bytes = 100_000);
    let failure = list(&pods).await.expect_err("too big");
    assert_eq!(failure.kind, FailureKind::TooBig);
}

/// A connection that cannot be made says why.
#[tokio::test]
async fn no_connection_is_told_apart() {
    let service = tower::service_fn(|_: http::Request<kube_client::client::Body>| async {
        let refused = io::Error::new(io::ErrorKind::ConnectionRefused, "nobody there");
        Err::<scripted::Scripted, _>(refused)
    });
    let pods = pods(kube_client::Client::new(service, "default"));
    let failure = list(&pods).await.expect_err("refused");
    assert_eq!(failure.kind, FailureKind::Connect);
    assert!(failure.message.contains("nobody there"), "{failure}");
}

/// FM-53: a bad item at each place leaves the others alone.
#[tokio::test]
async fn a_bad_item_spoils_no_other() {
    let bad = [
        (
            r#"{"metadata":{"name":"b","labels":5}}"#,
            "b",
            "metadata.labels",
        ),
        (
            r#"{"metadata":{"name":"b"},"kind":"Pod","apiVersion":7}"#,
            "b",
            "",
        ),
        (
            r#"{"kind":"Service","apiVersion":"v1","metadata":{"name":"b"}}"#,
            "b",
            "kind",
        ),
    ];
    let good = r#"{"metadata":{"name":"a"}}"#;
    for at in 0..3 {
        for (item, name, path) in bad {
            let mut items = [good; 3];
            items[at] = item;
            let body = format!(
                r#"{{"kind":"PodList","apiVersion":"v1","items":[{}]}}"#,
                items.join(",")
            );
            let page = list_of(body).await.expect("a page");
            assert_eq!(page.items.len(), 3);
            for (index, item) in page.items.iter().enumerate() {
                match (&item.body, index == at) {
                    (Body::Undecodable(error), true) if !path.is_empty() => {
                        assert_eq!(error.category, DecodeErrorCategory::Data);
                        assert_eq!((item.identity.key.name(), &*error.path), (name, path));
                    }
                    (_, true) => assert_eq!(item.identity.key.name(), name),
                    (body, false) => assert!(body.object().is_some()),
                }
            }
        }
    }
}

/// Remembers what it was asked for; has everything.
#[derive(Default)]
struct Hoard(Mutex<Vec<String>>);

impl Reuse<DynamicObject> for Hoard {
    fn reuse(&self, identity: &Identity) -> Option<Arc<DynamicObject>> {
        self.0
            .lock()
            .expect("not poisoned")
            .push(identity.key.name().to_owned());
        Some(Arc::new(DynamicObject {
            types: None,
            metadata: kube_core::ObjectMeta::default(),
            data: serde_json::Value::Null,
        }))
    }
}

/// A cached object is not decoded, even if it could not be. No object is looked up where none may
/// be reused.
#[tokio::test]
async fn unchanged_objects_are_reused() {
    let bodies = [
        r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},
            "items":[ITEMS]}"#,
        r#"{"items":[ITEMS],"metadata":{"resourceVersion":"9"},"apiVersion":"v1",
            "kind":"PodList"}"#,
    ];
    let items = r#"{"metadata":{"name":"a","uid":"u","resourceVersion":"1","labels":5}},
        {"metadata":{"name":"b","resourceVersion":"1"}},
        {"metadata":{"name":"c","uid":"u"}}"#;
    for (body, version_first) in bodies.into_iter().zip([true, false]) {
        let body = body.replace("ITEMS", items);
        let pods = pods(always(move || scripted::json(body.clone())));
        let asked = |adjust: fn(&mut ListRequest)| {
            let (mut request, hoard) = (list_request(), Arc::new(Hoard::default()));
            adjust(&mut request);
            let listed = pods.list(request, Arc::clone(&hoard) as Arc<dyn Reuse<_>>);
            async move {
                let page = listed.await.expect("a page");
                let asked = std::mem::take(&mut *hoard.0.lock().expect("not poisoned"));
                (asked, matches!(page.items[0].body, Body::Reused(_)))
            }
        };
        let reused = (vec!["a".to_owned()], true);
        assert_eq!(asked(|_| {}).await, reused);
        assert_eq!(
            asked(|request| request.resume = Some("9".into())).await,
            reused
        );
        assert_eq!(
            asked(|request| request.resume = Some("odd".into())).await,
            reused
        );
        let nothing = (vec![], false);
        assert_eq!(asked(|request| request.reuse = false).await, nothing);
        let (seen, reused) = asked(|request| request.resume = Some("10".into())).await;
        assert!(!reused);
        // Where the version comes last, the list is fetched once more without asking.
        assert_eq!(seen.is_empty(), version_first);
    }
}

/// Of an unchanged object only the identity is read. Whatever else is read must be UTF-8.
#[tokio::test]
async fn an_unchanged_object_is_not_checked() {
    let item = |before: &str, name: &[u8], after: &[u8]| {
        let mut body = br#"{"kind":"PodList","apiVersion":"v1","metadata":{},"items":["#.to_vec();
        body.extend_from_slice(br#"{"metadata":{"uid":"u","resourceVersion":"1",""#);
        body.extend([before.as_bytes(), name, br#""},"a":""#, after, br#""}]}"#].concat());
        body
    };
    let listed = async |body: Vec<u8>, is_cached: bool| {
        let pods = pods(always(move || scripted::json(body.clone())));
        let mut request = list_request();
        request.reuse = is_cached;
        pods.list(request, Arc::new(Hoard::default())).await
    };
    let bad = [0xc3];
    let changed = listed(item("name\":\"", b"a", &bad), false).await;
    let failure = changed.expect_err("it is not UTF-8");
    assert!(failure.message.contains("not UTF-8"), "{failure:?}");
    let unchanged = listed(item("name\":\"", b"a", &bad), true).await;
    let page = unchanged.expect("it is cached");
    assert!(matches!(page.items[0].body, Body::Reused(_)));
    for before in ["name\":\"", "name\":\"a\",\"namespace\":\""] {
        let failure = listed(item(before, &bad, b""), true).await;
        let failure = failure.expect_err("the key is not UTF-8");
        assert!(failure.message.contains("not UTF-8"), "{failure:?}");
    }
}

/// FM-10, FM-53: a list of many batches, in pieces of any size, is the list, in order.
#[tokio::test]
async fn a_long_list_is_read_in_order() {
    let filler = "x".repeat(3000);
    let items = (0..300).map(|number| {
        format!(r#"{{"metadata":{{"name":"n{number}"}},"spec":{{"a":"{filler}"}}}}"#)
    });
    let items = items.collect::<Vec<_>>().join(",");
    let body = format!(r#"{{"kind":"PodList","apiVersion":"v1","items":[{items}]}}"#);
    for size in [1000, 16_384, 10_000_000] {
        let pieces: Vec<_> = body
            .as_bytes()
            .chunks(size)
            .map(Bytes::copy_from_slice)
            .collect();
        let client = always(move || scripted::pieces(stream::iter(pieces.clone()).map(Ok)));
        let page = list(&pods(client)).await.expect("a page");
        let names: Vec<_> = page
            .items
            .iter()
            .map(|item| item.identity.key.name().to_owned())
            .collect();
        let expected: Vec<_> = (0..300).map(|number| format!("n{number}")).collect();
        assert_eq!(names, expected);
        assert!(page.items.iter().all(|item| item.body.object().is_some()));
    }
}
