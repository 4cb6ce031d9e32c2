//! A decoder of the caller.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use informer_object::Identity;
use informer_reflector::{Body, DecodeError};
use kube_core::DynamicObject;

use crate::tests::{
    requests::{list, pods_with},
    scripted,
};
use crate::{Buffers, Decode, Encoded, SerdeDecoder};

const TWO: &str = r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"9"},
"items":[{"metadata":{"name":"a","uid":"u1","resourceVersion":"1"}},
{"metadata":{"name":"b","uid":"u2","resourceVersion":"2"}}]}"#;

/// Names objects anew when the page is complete, and panics at the one of this name.
struct Renaming {
    json: SerdeDecoder,
    panics_at: &'static str,
    decoded: AtomicUsize,
}

impl Decode<DynamicObject> for Renaming {
    fn decode(
        &self,
        object: Encoded<'_>,
        buffers: &mut Buffers,
    ) -> Result<DynamicObject, DecodeError> {
        assert!(object.type_names.is_some_and(|names| names.kind == "Pod"));
        // The buffers come back: whoever asks for another type gets new ones of it.
        let count = buffers.get::<usize>();
        *count += 1;
        self.decoded.fetch_max(*count, Ordering::Relaxed);
        self.json.decode(object, &mut Buffers::default())
    }

    fn finish<'a>(
        &self,
        items: &mut dyn Iterator<Item = (&'a Identity, &'a mut Body<DynamicObject>)>,
    ) where
        DynamicObject: 'a,
    {
        for (identity, body) in items {
            assert_ne!(identity.key.name(), self.panics_at);
            let mut object = DynamicObject::clone(body.object().expect("decoded"));
            object.data = serde_json::json!({"finished": identity.key.as_str()});
            *body = Body::Decoded(Arc::new(object));
        }
    }
}

async fn finished(panics_at: &'static str) -> (Vec<serde_json::Value>, usize) {
    let renaming = Arc::new(Renaming {
        json: SerdeDecoder::default(),
        panics_at,
        decoded: AtomicUsize::new(0),
    });
    let client = scripted::client(|_| std::future::ready(scripted::json(TWO)));
    let decoder = Arc::clone(&renaming);
    let pods = pods_with(client, |source| source.decoder = decoder);
    let page = list(&pods).await.expect("a page");
    let objects = page.items.iter().filter_map(|item| item.body.object());
    let objects = objects.map(|object| object.data["finished"].clone());
    (objects.collect(), renaming.decoded.load(Ordering::Relaxed))
}

#[tokio::test]
async fn a_decoder_may_replace_the_objects_of_a_complete_page() {
    let (objects, decoded) = finished("").await;
    assert_eq!(objects, ["a", "b"]);
    assert_eq!(decoded, 2, "both with the same buffers");
}

#[tokio::test]
async fn a_panic_at_the_end_of_a_page_leaves_the_rest_as_it_was() {
    let (objects, _) = finished("b").await;
    assert_eq!(objects, [serde_json::json!("a"), serde_json::Value::Null]);
}

/// Keeps the first objects as they are, and marks the others. Marks the first ones when asked.
#[derive(Default)]
struct Learning {
    json: SerdeDecoder,
    decoded: AtomicUsize,
    /// The number of objects decoded before the first ones were finished.
    before: AtomicUsize,
}

impl Learning {
    const FIRST: usize = 1_500;
}

impl Decode<DynamicObject> for Learning {
    fn decode(
        &self,
        object: Encoded<'_>,
        buffers: &mut Buffers,
    ) -> Result<DynamicObject, DecodeError> {
        let mut decoded: DynamicObject = self.json.decode(object, buffers)?;
        let number = self.decoded.fetch_add(1, Ordering::Relaxed);
        decoded.data["isMarked"] = (number >= Self::FIRST).into();
        Ok(decoded)
    }

    fn is_learning(&self) -> bool {
        self.decoded.load(Ordering::Relaxed) < Self::FIRST
    }

    fn finish<'a>(
        &self,
        items: &mut dyn Iterator<Item = (&'a Identity, &'a mut Body<DynamicObject>)>,
    ) where
        DynamicObject: 'a,
    {
        let decoded = self.decoded.load(Ordering::Relaxed);
        self.before.fetch_min(decoded, Ordering::Relaxed);
        for (_, body) in items {
            let mut object = DynamicObject::clone(body.object().expect("decoded"));
            object.data["isMarked"] = true.into();
            *body = Body::Decoded(Arc::new(object));
        }
    }
}

#[tokio::test]
async fn what_was_decoded_while_learning_is_finished_before_the_list_is_complete() {
    const ITEMS: usize = 20_000;
    let item = |n| {
        let (name, filler) = (format!("o{n:06}"), "x".repeat(40));
        format!(
            r#"{{"metadata":{{"name":"{name}","uid":"u{n}","resourceVersion":"1"}},"f":"{filler}"}}"#
        )
    };
    let items = (0..ITEMS).map(item).collect::<Vec<_>>().join(",");
    let body = format!(
        r#"{{"kind":"PodList","apiVersion":"v1","metadata":{{"resourceVersion":"9"}},"items":[{items}]}}"#
    );
    let client = scripted::client(move |_| std::future::ready(scripted::json(body.clone())));
    let learning = Arc::new(Learning {
        before: AtomicUsize::new(usize::MAX),
        ..Learning::default()
    });
    let decoder = Arc::clone(&learning);
    let page = list(&pods_with(client, |source| source.decoder = decoder)).await;
    let page = page.expect("a page");
    let names = page.items.iter().map(|item| item.identity.key.to_string());
    assert!(names.eq((0..ITEMS).map(|n| format!("o{n:06}"))));
    let objects = page.items.iter().filter_map(|item| item.body.object());
    assert!(
        objects
            .clone()
            .all(|object| object.data["isMarked"] == true)
    );
    assert_eq!(objects.count(), ITEMS);
    let before = learning.before.load(Ordering::Relaxed);
    assert!((Learning::FIRST..ITEMS).contains(&before), "{before}");
}
