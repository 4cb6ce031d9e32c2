//! Reads the frame of a protobuf list, and its items one by one.
//!
//! Pure, as [`super::page`] is for JSON. A page that is not complete, well-formed and of the right
//! kind is a failure, never a short page. Items are delimited by lengths, so a damaged one does not
//! affect others: it is quarantined, unless no name can be read in it.

// FM-10, FM-33, FM-52, FM-53

use informer_kube_protobuf::{self as protobuf, Envelope, ListPart, ListParts, Schema};
use informer_reflector::{Body, Failure, Item, Page};

use crate::{
    KubeSource,
    decode::{
        decoder::{Buffers, Encoded},
        json_text::{protocol, wrong_kind},
        message::{identify, not_protobuf},
        object::at_hand,
    },
    http::status::{HttpParts, WireStatus},
    list::page::{ItemReader, WirePageMeta},
};

/// Reads the body without its items as a page without items.
pub(crate) fn read_message_frame<T: 'static>(
    frame: &[u8],
    source: &KubeSource<T>,
) -> Result<Page<T>, Failure> {
    let malformed = |error: protobuf::Error| not_protobuf(&error);
    let envelope = Envelope::parse(frame).map_err(malformed)?;
    if envelope.kind == "Status" {
        let status: WireStatus<'_> = envelope.decode().map_err(malformed)?;
        return Err(status.judge(HttpParts::default()));
    }
    if !source.expects_list(envelope.api_version, envelope.kind) {
        return Err(wrong_kind(envelope.api_version, envelope.kind));
    }
    let mut metadata = WirePageMeta::default();
    for part in ListParts::new(envelope.raw) {
        if let ListPart::Metadata(message) = part.map_err(malformed)? {
            let schema = Schema::message("meta/v1.ListMeta").expect("it is in the table");
            metadata = protobuf::from_slice(schema, message).map_err(malformed)?;
        }
    }
    Ok(metadata.page())
}

/// The failure of a body that ends within the list.
pub(crate) fn ends_early() -> Failure {
    protocol("Malformed", "the answer ends early")
}

impl<T: 'static> ItemReader<T> {
    /// Reads an item. Fails if it has no name: then the list is of no use.
    ///
    /// `None` for an object that no key can be made for.
    pub(crate) fn message_item(
        &self,
        message: &[u8],
        buffers: &mut Buffers,
    ) -> Result<Option<Item<T>>, Failure> {
        let Some(found) = identify(message)? else {
            return Ok(None);
        };
        let identity = found.identity;
        let body = if let Some(error) = found.error {
            Body::Undecodable(error)
        } else if let Some(object) = at_hand(self.reuse.as_deref(), &identity) {
            Body::Reused(object)
        } else {
            let object = Encoded::protobuf(message, self.source.names(), &identity);
            self.source.decode_message(object, buffers)?
        };
        Ok(Some(Item::new(identity, body)))
    }
}
