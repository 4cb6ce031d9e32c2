//! Hostile input: no panic, no wrong event or item, and no content in a message.
//!
//! The oracles of the fuzz targets `watch_event`, `list_page` and `status_classify`, on bytes that
//! are nearly right.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::judge::{judge_event, judge_list, judge_status};

const CANARY: &str = "CANARY";

fn object(name: &str, version: u32) -> Value {
    json!({
        "kind": "Pod", "apiVersion": "v1",
        "metadata": {
            "name": name, "namespace": "x", "uid": "u", "resourceVersion": version.to_string(),
            "annotations": {"secret": CANARY}, "generation": 1
        },
        "data": {"token": CANARY, "list": [CANARY, 1, true, null, {"a": CANARY}]}
    })
}

/// Bytes cut out, put in and changed.
pub(super) fn damaged(whole: Vec<u8>) -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![any::<u8>(), prop::sample::select(&b"\"\\{}[],:0 \n"[..])];
    let damage = (
        any::<prop::sample::Index>(),
        0_usize..4,
        prop::option::of(byte),
    );
    prop::collection::vec(damage, 0..4).prop_map(move |damages| {
        let mut bytes = whole.clone();
        for (at, removed, inserted) in damages {
            let at = at.index(bytes.len() + 1);
            let end = (at + removed).min(bytes.len());
            bytes.splice(at..end, inserted);
        }
        bytes
    })
}

const KINDS: [&str; 6] = ["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR", "FOO"];

fn event_line() -> impl Strategy<Value = Vec<u8>> {
    let line = prop::sample::select(&KINDS[..]).prop_map(|kind| {
        let line = json!({"type": kind, "object": object("a", 7)});
        line.to_string().into_bytes()
    });
    line.prop_flat_map(damaged)
}

fn list_body() -> impl Strategy<Value = Vec<u8>> {
    (0_usize..4).prop_flat_map(|count| {
        let items: Vec<_> = (0..count).map(|index| object("a", index as u32)).collect();
        let list = json!({
            "kind": "PodList", "apiVersion": "v1",
            "metadata": {"resourceVersion": "9"}, "items": items
        });
        damaged(list.to_string().into_bytes())
    })
}

fn status() -> impl Strategy<Value = Vec<u8>> {
    let status = json!({
        "kind": "Status", "reason": "Expired", "message": "too old", "code": 410,
        "details": {"causes": [{"reason": "a", "message": "b"}], "retryAfterSeconds": 7}
    });
    damaged(status.to_string().into_bytes())
}

proptest! {
    /// Fuzz property 2: never a panic; an event only from a whole JSON value that says the same.
    #[test]
    fn a_damaged_event_is_an_event_or_a_failure(line in event_line()) {
        let shown = judge_event(&line);
        prop_assert!(!shown.contains(CANARY), "{shown}");
    }

    /// Fuzz property 4: item by item gives what decoding the whole gives, or a failure.
    #[test]
    fn a_damaged_list_is_the_whole_list_or_a_failure(body in list_body(), size in 1_usize..99) {
        let shown = judge_list(&body, body.chunks(size));
        prop_assert!(!shown.contains(CANARY), "{shown}");
    }

    /// Fuzz property 3: every status has one class.
    #[test]
    fn a_damaged_status_has_one_class(text in status(), code in 400_u16..600) {
        judge_status(&String::from_utf8_lossy(&text), code);
    }

    /// Fuzz properties 2 and 4 on bytes of no shape at all.
    #[test]
    fn noise_is_a_failure(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        prop_assert!(!judge_event(&bytes).is_empty());
        prop_assert!(!judge_list(&bytes, bytes.chunks(7)).is_empty());
    }
}
