//! Lists with items that are no objects, or that have no key.

use bytes::Bytes;
use futures::{StreamExt, stream};
use informer_reflector::FailureKind;

use super::{requests::*, scripted};

/// SEC-17: a page of nulls is given up with the first of them, not held as items until its end.
#[tokio::test]
async fn a_page_of_nulls_is_given_up_at_once() {
    let endless = always(|| {
        let head = Bytes::from_static(br#"{"kind":"PodList","apiVersion":"v1","items":[null"#);
        let piece = Bytes::from(",null".repeat(1000));
        let more = stream::repeat_with(move || Ok(piece.clone()));
        scripted::pieces(stream::once(async { Ok(head) }).chain(more))
    });
    let pods = pods_with(endless, |source| source.limits.page_bytes = 10_000_000);
    let failure = list(&pods).await.expect_err("no list");
    assert_eq!(
        (failure.kind, &*failure.reason),
        (FailureKind::Protocol, "NamelessObject")
    );
}

/// FM-52: what has no name cannot be quarantined under it; the list is of no use.
#[tokio::test]
async fn an_item_without_a_name_is_the_affair_of_its_list() {
    let good = r#"{"metadata":{"name":"a"}}"#;
    for bad in [
        "null",
        "[1]",
        r#"{"spec":{}}"#,
        r#"{"metadata":{"uid":"u"}}"#,
    ] {
        let items = format!("{good},{bad},{good}");
        let body = format!(r#"{{"kind":"PodList","apiVersion":"v1","items":[{items}]}}"#);
        let failure = list_of(body).await.expect_err("no list");
        assert_eq!(failure.reason, "NamelessObject", "{bad}");
    }
}

/// KY-01, FM-10: an object whose name has a slash is left out alone, and is JSON or spoils the
/// list.
#[tokio::test]
async fn an_item_without_a_key_is_left_out() {
    let list_with = |item: &str| {
        let items = format!(r#"{item},{{"metadata":{{"name":"a"}}}}"#);
        list_of(format!(
            r#"{{"kind":"PodList","apiVersion":"v1","items":[{items}]}}"#
        ))
    };
    for keyless in [
        r#"{"metadata":{"name":"x/y"}}"#,
        r#"{"metadata":{"namespace":"x\u002fy","name":"b"}}"#,
    ] {
        let page = list_with(keyless).await.expect("a page");
        let keys: Vec<&str> = page
            .items
            .iter()
            .map(|item| item.identity.key.as_str())
            .collect();
        assert_eq!(keys, ["a"], "{keyless}");
    }
    let malformed = r#"{"metadata":{"name":"x/y"},"spec":nul}"#;
    let failure = list_with(malformed).await.expect_err("no list");
    assert_eq!(failure.kind, FailureKind::Protocol);
}
