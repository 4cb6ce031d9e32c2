//! Lists: complete or a failure, with damaged objects in quarantine.

use informer_reflector::{Body, DecodeErrorCategory, FailureKind, ListWatch};
use k8s_openapi::api::core::v1::Pod;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{
    Projection,
    list::{cut::CutError, message_cut::MessageCutter},
    tests::requests::key,
};

/// A list is the same from either format, with and without a projection.
#[tokio::test]
async fn a_list_is_the_same_from_either_format() {
    let list = pod_list(&[pod("a", 6), pod("b", 7)]);
    for projection in [Projection::default(), Projection::lean()] {
        let source = || source_of::<Pod>("Pod", SerdeDecoder::new(projection.clone()));
        let page = list_as(source(), body_of(&list)).await.expect("a page");
        let json = list.to_string();
        let client = answering(move || scripted::json(json.clone()));
        let lists = KubeListWatch::new(client, source());
        let expected = lists.list(list_request(), Arc::new(())).await;
        let expected = expected.expect("a page");
        assert_eq!(page.version, expected.version);
        assert_eq!(page.continue_token, expected.continue_token);
        assert_eq!(page.remaining, expected.remaining);
        let pods = |page: &Page<Pod>| -> Vec<(String, Pod)> {
            let items = page.items.iter();
            items
                .map(|item| (key(item), object(item).clone()))
                .collect()
        };
        assert_eq!(pods(&page), pods(&expected));
        assert_eq!(pods(&page)[1].0, "x/b@7");
    }
}

/// Items have no type on the wire; a type that shows it has that of the collection.
#[tokio::test]
async fn items_have_the_type_of_the_collection() {
    let body = body_of(&pod_list(&[pod("a", 6)]));
    let page = list_as(source_of::<Value>("Pod", SerdeDecoder::default()), body).await;
    let page = page.expect("a page");
    assert_eq!(object(&page.items[0])["kind"], "Pod");
    assert_eq!(object(&page.items[0])["spec"]["nodeName"], "node-1");
}

/// FM-10: a list that ends anywhere before its end is a failure, never a shorter list.
#[tokio::test]
async fn a_list_cut_anywhere_is_a_failure() {
    let body = body_of(&pod_list(&[pod("a", 6), pod("b", 7)]));
    // The last two fields of the envelope are empty, and nothing is lost without them.
    let end = body.len() - 4;
    for cut in 0..end {
        let page = list_as(pods(), body[..cut].to_vec()).await;
        let failure = page.expect_err("it is not complete");
        assert_eq!(failure.kind, FailureKind::Protocol, "cut at {cut}");
    }
    assert!(list_as(pods(), body[..end].to_vec()).await.is_ok());
}

/// FM-27, FM-33: a list of another kind, and a `Status` in its place.
#[tokio::test]
async fn what_is_no_list_is_a_failure() {
    let nodes = json!({"apiVersion": "v1", "kind": "NodeList", "metadata": {}, "items": []});
    let failure = list_as(pods(), body_of(&nodes)).await.expect_err("nodes");
    assert_eq!(failure.reason, "WrongKind");
    let failure = list_as(pods(), body_of(&pod("a", 1)))
        .await
        .expect_err("a pod");
    assert_eq!(failure.reason, "WrongKind");
    let status = json!({
        "apiVersion": "v1", "kind": "Status", "reason": "Expired", "code": 410, "message": "old"
    });
    let failure = list_as(pods(), body_of(&status))
        .await
        .expect_err("a status");
    assert_eq!(
        (failure.kind, &*failure.message),
        (FailureKind::Expired, "old")
    );
    let failure = list_as(pods(), b"{\"kind\":\"PodList\"}".to_vec()).await;
    assert_eq!(failure.expect_err("JSON").reason, "Malformed");
}

/// FM-52, FM-53, FM-54: an object that is damaged or ambiguous is quarantined by its key; without a
/// key the list fails. The pod behind it is not affected.
#[tokio::test]
async fn a_damaged_object_is_quarantined_by_its_key() {
    let good = message(&[(1, b"good"), (5, b"u"), (6, b"7")], b"");
    let cases: [(Fields<'_>, &[u8], &str); 8] = [
        (
            &[(1, b"a"), (5, b"u"), (6, b"7"), (1, b"b")],
            b"",
            "metadata",
        ),
        (
            &[(1, b"a"), (5, b"u"), (5, b"v"), (6, b"7")],
            b"",
            "metadata",
        ),
        (
            &[(1, b"a"), (5, b"u"), (6, b"7")],
            b"\x0a\x03\x0a\x01b",
            "metadata",
        ),
        (&[(1, b"a"), (5, b"\xff")], b"", "metadata.uid"),
        (&[(1, b"a"), (6, b"\xff")], b"", "metadata.resourceVersion"),
        (&[(1, b"a"), (7, b"\xff")], b"", "?"),
        (&[(1, b"a")], b"\x12\x05\x52", "?"),
        (&[(1, b"a")], b"\x12\x03\x52\x01\xff", "spec.nodeName"),
    ];
    for (fields, behind, path) in cases {
        let body = list_of(&[message(fields, behind), good.clone()]);
        let page = list_as(pods(), body).await.expect("a page");
        let Body::Undecodable(error) = &page.items[0].body else {
            panic!("{fields:?} is decoded");
        };
        if path != "?" {
            assert_eq!(error.path, path, "{fields:?} {behind:?}");
        }
        assert_eq!(
            object(&page.items[1]).metadata.name.as_deref(),
            Some("good")
        );
    }
    for fields in [
        &[(5, &b"u"[..])][..],
        &[(1, b"")],
        &[(1, b"\xff")],
        &[(1, b"a"), (3, b"\xff")],
    ] {
        let page = list_as(pods(), list_of(&[good.clone(), message(fields, b"")])).await;
        let failure = page.expect_err("an object without a key");
        assert_eq!(failure.kind, FailureKind::Protocol, "{fields:?}");
    }
    let slash = list_of(&[message(&[(1, b"a/b")], b""), good]);
    assert_eq!(list_as(pods(), slash).await.expect("a page").items.len(), 1);
}

/// SEC-18, SEC-20: empty messages that would take a thousand times as much decoded.
#[tokio::test]
async fn the_decoded_size_is_bounded_before_decoding() {
    const CONTAINERS: usize = 700_000;
    let mut spec = Vec::new();
    for _ in 0..CONTAINERS {
        spec.extend([0x12, 0]);
    }
    let spec_value = json!({"nodeName": "x".repeat(2 * CONTAINERS - 4)});
    let whole = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"},
        "spec": spec_value});
    let mut encoded = body_of(
        &json!({"apiVersion": "v1", "kind": "PodList", "metadata": {},
        "items": [whole]}),
    );
    // The text of a node's name has as many bytes as the containers: tag, length and all.
    let text = encoded
        .windows(8)
        .position(|bytes| bytes == b"xxxxxxxx")
        .expect("the text")
        - 4;
    encoded.splice(text..text + spec.len(), spec);
    let page = list_as(pods(), encoded).await.expect("a page");
    let Body::Undecodable(error) = &page.items[0].body else {
        panic!("1.4 MB of containers are decoded");
    };
    assert_eq!(error.category, DecodeErrorCategory::Size);
}

/// SEC-17: an item without bytes has no name, and would take memory without any bytes.
#[test]
fn items_without_bytes_are_refused() {
    let mut cutter = MessageCutter::new(100);
    let body = Bytes::from(list_of(&[vec![], vec![]]));
    assert_eq!(cutter.push(body), Err(CutError::Malformed));
    let mut cutter = MessageCutter::new(2);
    assert_eq!(
        cutter.push(Bytes::from(list_of(&[vec![8, 0, 8]]))),
        Err(CutError::ItemTooLong)
    );
}

proptest! {
    /// Any pieces give the same items and the same frame, and damage is the same error.
    #[test]
    fn any_pieces_give_the_same_items(
        pods in prop::collection::vec("[a-z]{1,20}", 0..4),
        damage in prop::option::of((any::<prop::sample::Index>(), any::<u8>())),
        cuts in prop::collection::vec(1_usize..60, 1..6),
    ) {
        let items: Vec<Value> = pods.iter().map(|name| pod(name, 1)).collect();
        let mut body = body_of(&pod_list(&items));
        if let Some((at, byte)) = damage {
            let at = at.index(body.len());
            body[at] = byte;
        }
        let cut = |cuts: &[usize]| {
            let mut cutter = MessageCutter::new(10_000);
            let (mut rest, mut taken) = (&body[..], Vec::new());
            for length in cuts.iter().cycle() {
                let (piece, behind) = rest.split_at((*length).min(rest.len()));
                cutter.push(Bytes::copy_from_slice(piece))?;
                taken.append(&mut cutter.take());
                rest = behind;
                if rest.is_empty() {
                    break;
                }
            }
            Ok::<_, CutError>((taken, cutter.into_frame()))
        };
        let (pieces, whole) = (cut(&cuts), cut(&[body.len()]));
        prop_assert_eq!(&pieces, &whole);
        if damage.is_none() {
            let (taken, frame) = whole.expect("it is well formed");
            prop_assert_eq!(taken.len(), pods.len());
            prop_assert!(frame.is_some());
        }
    }
}
