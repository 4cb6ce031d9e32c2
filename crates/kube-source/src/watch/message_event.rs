//! Reads one event of a watch in protobuf.
//!
//! The rules are those of [`super::event`]. An object is delimited by its length, so it is
//! undecodable whatever its damage is, unless no name can be read in it.

// FM-30, FM-31, FM-33, FM-52, FM-54

use informer_kube_protobuf::{self as protobuf, Envelope, Identity, from_slice};
use informer_reflector::{Failure, Item, WatchEvent};

use crate::{
    decode::{
        json_text::wrong_kind,
        message::{not_protobuf, schema_of},
        object::PARTIAL,
        shape::TypeNames,
    },
    http::status::{HttpParts, WireStatus},
    watch::event::{EventReader, WireBookmark, change, left_out_at, unknown_type},
};

impl<T: 'static> EventReader<T> {
    pub(super) fn read_message(&mut self, frame: &[u8]) -> Result<WatchEvent<T>, Failure> {
        let malformed = |error: protobuf::Error| not_protobuf(&error);
        let event = protobuf::WatchEvent::parse(frame).map_err(malformed)?;
        if event.event_type == "ERROR" {
            // FM-27: an error is one even without a `Status`.
            let status = WireStatus::read(event.object).unwrap_or_default();
            return Ok(WatchEvent::Error(status.judge(HttpParts::default())));
        }
        let object = Envelope::parse(event.object).map_err(malformed)?;
        planted!(WrongKindIsSkipped => if self.expected(object).is_err() {
            return left_out(object);
        });
        if let Some((about, may_reuse)) = change(event.event_type) {
            let item = self.message_item(object, may_reuse)?;
            return item.map(about).map_or_else(|| left_out(object), Ok);
        }
        match event.event_type {
            "BOOKMARK" => self.message_bookmark(object),
            _ if planted!(UnknownTypeIsSkipped) => self.message_bookmark(object),
            event_type => Err(unknown_type(event_type)),
        }
    }

    /// `None` for an object that no key can be made for.
    fn message_item(
        &mut self,
        object: Envelope<'_>,
        may_reuse: bool,
    ) -> Result<Option<Item<T>>, Failure> {
        let names = self.expected(object)?;
        // An object without a type is one of the collection.
        let names = match names.kind {
            "" => self.source.names(),
            _ => names,
        };
        let reuse = self.reuse.as_deref().filter(|_| may_reuse);
        self.source
            .message_item(object.raw, names, reuse, &mut self.buffers)
    }

    fn message_bookmark(&mut self, object: Envelope<'_>) -> Result<WatchEvent<T>, Failure> {
        self.expected(object)?;
        // Metadata is the first field of every kind.
        let schema = schema_of(PARTIAL).expect("PartialObjectMetadata is built in");
        let bookmark: WireBookmark<'_> =
            from_slice(schema, object.raw).map_err(|error| not_protobuf(&error))?;
        self.bookmarked(&bookmark)
    }

    /// Fails unless the object is of the kind of the collection.
    fn expected<'a>(&self, object: Envelope<'a>) -> Result<TypeNames<'a>, Failure> {
        let names = TypeNames::new(object.api_version, object.kind);
        match self.source.expects(names) {
            true => Ok(names),
            false => Err(wrong_kind(names.api_version, names.kind)),
        }
    }
}

/// The event of an object without a key: there is nothing to store, and nothing to receive again.
fn left_out<T>(object: Envelope<'_>) -> Result<WatchEvent<T>, Failure> {
    let identity = Identity::read(object.raw).map_err(|error| not_protobuf(&error))?;
    let version = std::str::from_utf8(identity.resource_version).unwrap_or_default();
    left_out_at(version.into())
}
