//! From the server's bytes to the reflector's items, for the skin without HTTP.
//!
//! Kept lenient exactly where the protocol is: an object that does not fit its type is an item that
//! says so; everything else that is not the protocol is a failure.

// FM-53

use std::sync::Arc;

use informer_reflector::{
    Body, DecodeError, DecodeErrorCategory, Failure, FailureKind, Identity, Item, ObjectKey, Page,
    ResourceVersion, Reuse, StatusParts, WatchEvent,
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};

use crate::{EventKind, Object, Resource, wire::Form};

/// How the objects of one source are decoded.
pub(crate) struct Decoder<T> {
    pub(crate) resource: Resource,
    pub(crate) form: Form,
    pub(crate) reuse: Arc<dyn Reuse<T>>,
}

impl<T: DeserializeOwned> Decoder<T> {
    /// An object of the history.
    pub(crate) fn item(&self, object: &Object, may_reuse: bool) -> Item<T> {
        let identity = object.identity().clone();
        if may_reuse && let Some(known) = self.reuse.reuse(&identity) {
            return Item::new(identity, Body::Reused(known));
        }
        Item::new(identity, body(&object.bytes_in(self.form)))
    }

    pub(crate) fn event(&self, kind: EventKind, item: Item<T>) -> WatchEvent<T> {
        match kind {
            EventKind::Added => WatchEvent::Added(item),
            EventKind::Modified => WatchEvent::Modified(item),
            EventKind::Deleted => WatchEvent::Deleted(item),
        }
    }

    /// An object that a fault has changed.
    fn raw_item(&self, object: &RawValue) -> Result<Item<T>, Failure> {
        let head: Head = serde_json::from_str(object.get()).map_err(|_| protocol("no metadata"))?;
        let expected = match self.form {
            Form::Whole => &*self.resource.kind,
            Form::Metadata => "PartialObjectMetadata",
        };
        if head.kind.as_deref().is_some_and(|kind| kind != expected) {
            return Err(protocol("an object of another kind"));
        }
        let meta = head.metadata;
        let key = ObjectKey::new(meta.namespace.as_deref(), &meta.name)
            .map_err(|_| protocol("an object without a valid name"))?;
        let identity = Identity::new(key, meta.uid, meta.resource_version);
        Ok(Item::new(identity, body(object.get().as_bytes())))
    }
}

fn body<T: DeserializeOwned>(bytes: &[u8]) -> Body<T> {
    match serde_json::from_slice(bytes) {
        Ok(object) => Body::Decoded(Arc::new(object)),
        Err(error) => {
            let category = match error.classify() {
                serde_json::error::Category::Data => DecodeErrorCategory::Data,
                _ => DecodeErrorCategory::Syntax,
            };
            let (line, column) = (error.line(), error.column());
            let error = DecodeError::new(category, "?".to_owned(), line, column);
            Body::Undecodable(Box::new(error))
        }
    }
}

#[derive(Deserialize)]
struct Head {
    kind: Option<String>,
    metadata: HeadMeta,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct HeadMeta {
    namespace: Option<String>,
    name: String,
    uid: String,
    resource_version: String,
}

#[derive(Deserialize)]
struct RawEvent<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(borrow)]
    object: &'a RawValue,
}

/// Reads one line of a watch.
pub(crate) fn decode_line<T: DeserializeOwned>(
    line: &[u8],
    decoder: &Decoder<T>,
) -> Result<WatchEvent<T>, Failure> {
    let event: RawEvent<'_> =
        serde_json::from_slice(line).map_err(|_| protocol("a line that is not an event"))?;
    let kind = match event.kind.as_str() {
        "ADDED" => EventKind::Added,
        "MODIFIED" => EventKind::Modified,
        "DELETED" => EventKind::Deleted,
        "ERROR" => return Ok(WatchEvent::Error(status(event.object))),
        "BOOKMARK" => return bookmark(event.object),
        _ => return Err(protocol("an event of unknown type")),
    };
    Ok(decoder.event(kind, decoder.raw_item(event.object)?))
}

fn bookmark<T>(object: &RawValue) -> Result<WatchEvent<T>, Failure> {
    let object: Value = serde_json::from_str(object.get()).map_err(|_| protocol("a bookmark"))?;
    let metadata = &object["metadata"];
    Ok(WatchEvent::Bookmark {
        version: metadata["resourceVersion"]
            .as_str()
            .unwrap_or_default()
            .into(),
        initial_events_end: metadata["annotations"]["k8s.io/initial-events-end"] == "true",
    })
}

fn status(object: &RawValue) -> Failure {
    let object: Value = serde_json::from_str(object.get()).unwrap_or_default();
    let code = object["code"]
        .as_u64()
        .and_then(|code| u16::try_from(code).ok());
    let text = |field: &str| object[field].as_str().unwrap_or_default();
    let code = code.unwrap_or_default();
    Failure::from_status(StatusParts::new(code, text("reason"), text("message")))
}

#[derive(Deserialize)]
struct RawList<'a> {
    kind: String,
    #[serde(default)]
    metadata: ListMeta,
    #[serde(borrow)]
    items: Vec<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ListMeta {
    resource_version: String,
    r#continue: String,
    remaining_item_count: Option<u64>,
}

/// Reads the body of a list.
pub(crate) fn decode_list<T: DeserializeOwned>(
    body: &[u8],
    decoder: &Decoder<T>,
) -> Result<Page<T>, Failure> {
    let list: RawList<'_> =
        serde_json::from_slice(body).map_err(|_| protocol("a body that is not a list"))?;
    if !list.kind.ends_with("List") {
        return Err(protocol("a list of another kind"));
    }
    let items = list.items.into_iter().map(|item| decoder.raw_item(item));
    let token = Some(list.metadata.r#continue).filter(|token| !token.is_empty());
    let version = ResourceVersion::from(list.metadata.resource_version);
    Ok(Page::new(items.collect::<Result<_, _>>()?, version)
        .continued(token.map(Arc::from))
        .remaining(list.metadata.remaining_item_count))
}

fn protocol(what: &str) -> Failure {
    Failure::new(
        FailureKind::Protocol,
        "Protocol",
        format!("the server sent {what}"),
    )
}
