//! Reads the frame of a list, and its items one by one.
//!
//! Pure. `cut` has cut the list: the frame is a list without items, and each item is a text of its
//! own, so that a bad item does not affect others. A page that is not complete, well-formed
//! and of the right kind is a failure, never a short page.

// FM-53, FM-10, FM-33

use std::sync::Arc;

use bytes::Bytes;
use derive_where::derive_where;
use informer_reflector::{
    Body, DecodeError, DecodeErrorCategory, Failure, FailureKind, Item, ListRequest, Page,
    ResourceVersion, Reuse,
};
use serde::{Deserialize, Deserializer, de::IgnoredAny};

use crate::{
    KubeSource, ReceivedWire,
    decode::{
        decoder::Buffers,
        envelope::{Envelope, Text, version_of},
        json_text::{not_json, protocol, text, wrong_kind},
        object::cached,
    },
    http::status::{HttpParts, WireStatus},
    list::cut::CutError,
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireFrame<'a> {
    #[serde(borrow, default)]
    api_version: Text<'a>,
    #[serde(borrow, default)]
    kind: Text<'a>,
    #[serde(borrow, default)]
    metadata: Option<WirePageMeta<'a>>,
    /// The number of items that were not cut out; `None` without the field.
    #[serde(default, deserialize_with = "count")]
    items: Option<usize>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct WirePageMeta<'a> {
    #[serde(borrow)]
    resource_version: Text<'a>,
    #[serde(borrow, rename = "continue")]
    continue_token: Text<'a>,
    remaining_item_count: Option<i64>,
}

impl WirePageMeta<'_> {
    /// The page without its items.
    pub(crate) fn page<T>(&self) -> Page<T> {
        let token = self.continue_token.as_str();
        let remaining = self.remaining_item_count;
        Page::new(Vec::new(), version_of(&self.resource_version))
            .continued((!token.is_empty()).then(|| token.into()))
            .remaining(remaining.and_then(|count| count.try_into().ok()))
    }
}

/// The number of items in a frame. `null` is how Go writes an empty list.
fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    let items = Option::<Vec<IgnoredAny>>::deserialize(deserializer)?;
    Ok(Some(items.map_or(0, |items| items.len())))
}

/// Reads the text outside the items as a page without items.
pub(crate) fn read_frame<T: 'static>(
    frame: &[u8],
    source: &KubeSource<T>,
) -> Result<Page<T>, Failure> {
    let frame = text(frame)?;
    let wire: WireFrame<'_> = serde_json::from_str(frame).map_err(|error| not_json(&error))?;
    if wire.kind.as_str() == "Status" {
        let status = serde_json::from_str::<WireStatus<'_>>(frame);
        let status = status.map_err(|error| not_json(&error))?;
        return Err(status.judge(HttpParts::default()));
    }
    if !source.expects_list(wire.api_version.as_str(), wire.kind.as_str()) {
        return Err(wrong_kind(wire.api_version.as_str(), wire.kind.as_str()));
    }
    match wire.items {
        Some(0) => {}
        // `cut` does not find them if the name of the field is written with escapes.
        Some(_) => return Err(protocol("Malformed", "the list hides its items")),
        // A list without the field is not an empty list: it would delete everything.
        None => return Err(protocol("NoItems", "the list has no items")),
    }
    Ok(wire.metadata.unwrap_or_default().page())
}

/// Whether a list is older than the resume version. Its history may then be another one, and cached
/// objects must not be used for its items.
pub(crate) fn goes_back(listed: &ResourceVersion, request: &ListRequest) -> bool {
    let resume = request.resume.as_ref();
    resume.is_some_and(|resume| listed.is_older_than(resume))
}

/// Decodes the items of one page.
#[derive_where(Clone)]
pub(crate) struct ItemReader<T> {
    pub(crate) source: Arc<KubeSource<T>>,
    /// The format of the items.
    pub(crate) format: ReceivedWire,
    /// `None` if no cached object may be used.
    pub(crate) reuse: Option<Arc<dyn Reuse<T>>>,
}

impl<T: 'static> ItemReader<T> {
    /// Reads items that follow one another, until `abandoned` says that nobody wants them.
    ///
    /// Fails if an item makes the list useless.
    // FM-10
    pub(crate) fn read(
        &self,
        items: &[Bytes],
        buffers: &mut Buffers,
        abandoned: impl Fn() -> bool,
    ) -> Result<Vec<Item<T>>, Failure> {
        let wanted = items.iter().take_while(|_| !abandoned());
        wanted
            .filter_map(|item| match self.format {
                ReceivedWire::Json => self.item(item, buffers).transpose(),
                ReceivedWire::Protobuf => {
                    let (names, reuse) = (self.source.names(), self.reuse.as_deref());
                    let item = self.source.message_item(item, names, reuse, buffers);
                    item.transpose()
                }
            })
            .collect()
    }

    /// A list with a nameless item is of no use, so it fails immediately: otherwise a page of nulls
    /// would take thirty times its size in memory before the machine rejected it.
    ///
    /// `None` for an object that no key can be made for.
    // FM-52, SEC-17
    fn item(&self, json: &[u8], buffers: &mut Buffers) -> Result<Option<Item<T>>, Failure> {
        let envelope = Envelope::of_list_item(json);
        let identity = envelope.identity();
        let Ok(Some(identity)) = identity else {
            let json = text(json)?;
            return identity.and_then(|_| is_json(json)).map(|()| None);
        };
        let is_expected = self.source.expects(envelope.names());
        if is_expected && let Some(object) = cached(self.reuse.as_deref(), &identity) {
            // Only the identity of the text is used, so the rest is not checked.
            return Ok(Some(Item::new(identity, Body::Reused(object))));
        }
        let json = text(json)?;
        let body = if !is_expected {
            let path = "kind".to_owned();
            let error = DecodeError::new(DecodeErrorCategory::Data, path, 0, 0);
            Body::Undecodable(Box::new(error))
        } else {
            let is_typed = envelope.is_typed();
            self.source.decode(json, is_typed, &identity, buffers)
        };
        if matches!(body, Body::Undecodable(_)) {
            // A type error is an error of the object; a syntax error is one of the list.
            is_json(json)?;
        }
        Ok(Some(Item::new(identity, body)))
    }
}

/// Fails unless an item that was not decoded is well-formed.
fn is_json(item: &str) -> Result<(), Failure> {
    let well_formed = serde_json::from_str::<IgnoredAny>(item);
    well_formed.map(drop).map_err(|error| not_json(&error))
}

/// The failure of a body that could not be cut into items.
pub(crate) fn not_cut(error: CutError) -> Failure {
    match error {
        CutError::Malformed => protocol("Malformed", "the list is not well formed"),
        CutError::ItemTooLong => too_big("an item of the list is larger than the limit"),
        CutError::FrameTooLong => too_big("the list is larger than the limit outside its items"),
    }
}

fn too_big(message: &str) -> Failure {
    Failure::new(FailureKind::TooBig, "PageTooBig", message)
}
