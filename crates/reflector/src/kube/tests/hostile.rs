//! Hostile input: whatever the bytes, no panic, no guess, no content in a message.
//!
//! The properties of the fuzz targets `watch_event`, `list_page` and `status_classify`, on bytes
//! that are nearly right.

use std::sync::Arc;

use kube_core::DynamicObject;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::scripted;
use crate::{
    Body, Failure, Item, Page, ResourceVersion, WatchEvent,
    kube::{
        cut::{Cutter, Items},
        event::EventReader,
        object::ObjectDecoder,
        page::{Frame, ItemReader, not_cut},
        tape::Scratch,
    },
};

fn decoder() -> ObjectDecoder<DynamicObject> {
    ObjectDecoder::new(&scripted::source())
}

fn read_event(line: &[u8]) -> Result<WatchEvent<DynamicObject>, Failure> {
    EventReader::new(Arc::new(decoder()), None).read(line)
}

fn read_page(body: &[u8]) -> Result<Page<DynamicObject>, Failure> {
    let decoder = Arc::new(decoder());
    let mut cutter = Cutter::new(usize::MAX);
    cutter.push(body).map_err(not_cut)?;
    let items = cutter.take(Items::default());
    let frame = Frame::read(&cutter.into_frame(), &decoder)?;
    let items = ItemReader::new(decoder, None).read(&items, &mut Scratch::default(), || false)?;
    Ok(frame.with(items))
}

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

/// What a caller may trust about an item that came through.
fn judge_item(item: &Item<DynamicObject>) -> Result<(), TestCaseError> {
    if let Body::Undecodable(error) = &item.body {
        let shown = format!("{error} {error:?}");
        prop_assert!(!shown.contains(CANARY), "{shown}");
    }
    Ok(())
}

fn judge_failure(failure: &Failure) -> Result<(), TestCaseError> {
    let shown = format!("{failure} {failure:?}");
    prop_assert!(
        !failure.reason.is_empty() && !shown.contains(CANARY),
        "{shown}"
    );
    Ok(())
}

proptest! {
    /// Fuzz property 2: never a panic; an event only from a whole JSON value that says the same.
    #[test]
    fn a_damaged_event_is_an_event_or_a_failure(line in event_line()) {
        let whole = serde_json::from_slice::<Value>(&line);
        match read_event(&line) {
            Ok(
                WatchEvent::Added(item) | WatchEvent::Modified(item) | WatchEvent::Deleted(item),
            ) => {
                judge_item(&item)?;
                let value = whole.expect("an event is JSON");
                let meta = &value["object"]["metadata"];
                prop_assert_eq!(meta["name"].as_str(), Some(&*item.meta.name));
                let version = meta["resourceVersion"].as_str().unwrap_or_default();
                prop_assert_eq!(item.meta.version, ResourceVersion::from(version));
            }
            Ok(WatchEvent::Bookmark { version, .. }) => {
                let value = whole.expect("a bookmark is JSON");
                let wire = value["object"]["metadata"]["resourceVersion"].as_str();
                prop_assert_eq!(wire, Some(version.as_str()));
            }
            Ok(WatchEvent::Error(failure)) => judge_failure(&failure)?,
            Err(failure) => judge_failure(&failure)?,
        }
    }

    /// Fuzz property 4: item by item gives what decoding the whole gives, or a failure.
    #[test]
    fn a_damaged_list_is_the_whole_list_or_a_failure(body in list_body()) {
        match read_page(&body) {
            Ok(page) => {
                let whole: Value = serde_json::from_slice(&body).expect("a page is JSON");
                let items = whole["items"].as_array().map_or(&[][..], Vec::as_slice);
                prop_assert_eq!(page.items.len(), items.len());
                for (item, value) in page.items.iter().zip(items) {
                    judge_item(item)?;
                    let Some(object) = item.body.object() else { continue };
                    let expected: DynamicObject = serde_json::from_value(value.clone())
                        .expect("what decodes from text decodes from a value");
                    prop_assert_eq!(&object.metadata, &expected.metadata);
                    prop_assert_eq!(&object.data, &expected.data);
                }
            }
            Err(failure) => judge_failure(&failure)?,
        }
    }

    /// Fuzz properties 2 and 4 on bytes of no shape at all.
    #[test]
    fn noise_is_a_failure(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        prop_assert!(read_event(&bytes).is_err());
        prop_assert!(read_page(&bytes).is_err());
    }
}
