//! Reads a page of a list: its frame first, then each item on its own.
//!
//! Pure. The frame finds the items without decoding them, so that the version is known before the
//! first item whatever the order of the fields, and one bad item spoils no other (FM-53). A page
//! that is not complete, well-formed and of the right kind is a failure, never a short page
//! (FM-10, FM-33).

use std::sync::Arc;

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use super::{
    answer::short,
    object::ObjectDecoder,
    status::{HttpParts, WireStatus},
    wire::{Envelope, LastNamespace, Text, WireMeta, version_of},
};
use crate::{
    Body, DecodeError, DecodeErrorCategory, Failure, FailureKind, Item, ListRequest, ObjectMeta,
    Page, ResourceVersion, Reuse,
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WirePage<'a> {
    #[serde(borrow, default)]
    api_version: Text<'a>,
    #[serde(borrow, default)]
    kind: Text<'a>,
    #[serde(borrow, default)]
    metadata: Option<WirePageMeta<'a>>,
    /// `None` for `null`, which is how Go writes an empty list; absent is `Err` below.
    #[serde(borrow, default)]
    items: Items<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WirePageMeta<'a> {
    #[serde(borrow)]
    resource_version: Text<'a>,
    #[serde(borrow, rename = "continue")]
    continue_token: Text<'a>,
    remaining_item_count: Option<i64>,
}

/// The items, or that there is no such field.
#[derive(Default)]
struct Items<'a>(Option<Vec<&'a RawValue>>);

impl<'de: 'a, 'a> Deserialize<'de> for Items<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let items = Option::<Vec<&'a RawValue>>::deserialize(deserializer)?;
        Ok(Self(Some(items.unwrap_or_default())))
    }
}

/// A page whose items are found and not decoded.
pub(super) struct UndecodedPage<'a> {
    items: Vec<&'a RawValue>,
    pub(super) version: ResourceVersion,
    continue_token: Option<Arc<str>>,
    remaining: Option<u64>,
}

impl<'a> UndecodedPage<'a> {
    /// Finds the items in a complete body.
    pub(super) fn find<T>(body: &'a [u8], decoder: &ObjectDecoder<T>) -> Result<Self, Failure> {
        let body = text(body)?;
        let page: WirePage<'a> = serde_json::from_str(body).map_err(|error| not_json(&error))?;
        if page.kind.as_str() == "Status" {
            return Err(status_instead(body));
        }
        if !decoder.expects_list(page.api_version.as_str(), page.kind.as_str()) {
            return Err(wrong_kind(&page.api_version, &page.kind));
        }
        // A list that names no items is not an empty one: it would delete everything.
        let Some(items) = page.items.0 else {
            return Err(Failure::new(
                FailureKind::Protocol,
                "NoItems",
                "the list has no items",
            ));
        };
        let metadata = page.metadata.unwrap_or_default();
        let token = metadata.continue_token.as_str();
        Ok(Self {
            items,
            version: version_of(&metadata.resource_version),
            continue_token: (!token.is_empty()).then(|| token.into()),
            remaining: metadata
                .remaining_item_count
                .and_then(|count| count.try_into().ok()),
        })
    }

    pub(super) fn items(&self) -> &[&'a RawValue] {
        &self.items
    }

    /// Puts the page together.
    pub(super) fn with<T>(self, items: Vec<Item<T>>) -> Page<T> {
        Page {
            items,
            version: self.version,
            continue_token: self.continue_token,
            remaining: self.remaining,
        }
    }
}

/// Decodes the items of one page.
pub(super) struct ItemReader<'r, T> {
    decoder: &'r ObjectDecoder<T>,
    reuse: Option<&'r dyn Reuse<T>>,
    namespaces: LastNamespace,
}

impl<'r, T: DeserializeOwned> ItemReader<'r, T> {
    /// Nothing is reused if that was not asked for, or from a list that is older than what we
    /// already have: its history may be another one (design 6.7).
    pub(super) fn new(
        decoder: &'r ObjectDecoder<T>,
        request: &ListRequest,
        listed: &ResourceVersion,
        reuse: &'r dyn Reuse<T>,
    ) -> Self {
        let goes_back = |resume| listed.is_older_than(resume);
        let may_reuse = request.reuse && !request.resume.as_ref().is_some_and(goes_back);
        Self {
            decoder,
            reuse: may_reuse.then_some(reuse),
            namespaces: LastNamespace::default(),
        }
    }

    /// Never fails: an item without readable metadata comes back nameless, and it is the machine
    /// that rejects the list then (FM-52).
    pub(super) fn read(&mut self, json: &str) -> Item<T> {
        let envelope = Envelope::of_list_item(json);
        let Some(wire) = &envelope.meta else {
            return Item {
                meta: WireMeta::default().to_owned_meta(&mut self.namespaces),
                body: Body::Undecodable(misfit("metadata")),
            };
        };
        let meta = wire.to_owned_meta(&mut self.namespaces);
        if !self.decoder.expects(&envelope) {
            let body = Body::Undecodable(misfit("kind"));
            return Item { meta, body };
        }
        let body = match at_hand(self.reuse, &meta) {
            Some(object) => Body::Reused(object),
            None => self.decoder.decode(json, envelope.is_typed()),
        };
        Item { meta, body }
    }
}

/// Asks for the object at hand, unless its identity is not complete.
pub(super) fn at_hand<T>(reuse: Option<&dyn Reuse<T>>, meta: &ObjectMeta) -> Option<Arc<T>> {
    let reuse = reuse.filter(|_| !meta.uid.is_empty() && !meta.version.is_unset())?;
    reuse.reuse(meta)
}

fn misfit(path: &str) -> DecodeError {
    DecodeError::new(DecodeErrorCategory::Data, path.to_owned(), 0, 0)
}

fn status_instead(body: &str) -> Failure {
    match serde_json::from_str::<WireStatus<'_>>(body) {
        Ok(status) => status.judge(HttpParts::default()),
        Err(error) => not_json(&error),
    }
}

/// JSON is UTF-8 throughout, in what we skip as well; one look at all of it is the quickest way.
pub(super) fn text(bytes: &[u8]) -> Result<&str, Failure> {
    std::str::from_utf8(bytes).map_err(|error| {
        let message = format!("the answer is not UTF-8 at byte {}", error.valid_up_to());
        Failure::new(FailureKind::Protocol, "Malformed", message)
    })
}

/// Not JSON, or not of this shape. Says where, never what (SEC-7).
pub(super) fn not_json(error: &serde_json::Error) -> Failure {
    let what = match error.classify() {
        serde_json::error::Category::Eof => "ends early",
        serde_json::error::Category::Data => "has an unexpected shape",
        _ => "is not well-formed JSON",
    };
    let (line, column) = (error.line(), error.column());
    let message = format!("the answer {what} at line {line}, column {column}");
    Failure::new(FailureKind::Protocol, "Malformed", message)
}

pub(super) fn wrong_kind(api_version: &Text<'_>, kind: &Text<'_>) -> Failure {
    let (api_version, kind) = (short(api_version.as_str()), short(kind.as_str()));
    let message = format!("unexpected type {api_version:?}, {kind:?}");
    Failure::new(FailureKind::Protocol, "WrongKind", message)
}
