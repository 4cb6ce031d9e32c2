//! Reads the frame of a protobuf list.
//!
//! Pure, as [`super::page`] is for JSON. A page that is not complete, well-formed and of the right
//! kind is a failure, never a short page. Items are delimited by lengths, so a damaged one does not
//! affect others: it is quarantined, unless no name can be read in it.

// FM-10, FM-33

use informer_kube_protobuf::{self as protobuf, Envelope, ListPart, ListParts, Schema};
use informer_reflector::{Failure, Page};

use crate::{
    KubeSource,
    decode::{
        json_text::{protocol, wrong_kind},
        message::not_protobuf,
    },
    http::status::{HttpParts, WireStatus},
    list::page::WirePageMeta,
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
