//! Which form and encoding of an answer a client accepts.
//!
//! Whole objects or their metadata, as JSON or as protobuf. Of the types in the header the first
//! one that can be served is; weights are not read. Tables are not served. A client that accepts
//! nothing else gets 406.

use http::{HeaderMap, header::ACCEPT};

use crate::{
    ProtobufSupport, Rejection, Resource,
    protobuf::schema_of,
    wire::{Encoding, Form, Format},
};

/// The format for an answer about objects of a resource.
pub(super) fn format(
    headers: &HeaderMap,
    resource: &Resource,
    support: ProtobufSupport,
) -> Result<Format, Rejection> {
    let is_served = |format: Format| {
        let has_schema = || schema_of(resource, format.form).is_some();
        format.encoding == Encoding::Json || (support != ProtobufSupport::JsonOnly && has_schema())
    };
    let format = first(headers, is_served)?;
    match (format.encoding, support) {
        (Encoding::Protobuf, ProtobufSupport::NotAcceptable) => Err(not_acceptable()),
        (Encoding::Protobuf, ProtobufSupport::Broken) => {
            let message = "the object does not implement the protobuf marshalling interface";
            Err(Rejection::new(500, "InternalError", message))
        }
        _ => Ok(format),
    }
}

/// Refuses a client that does not accept JSON, for answers that have no other format.
pub(super) fn json(headers: &HeaderMap) -> Result<(), Rejection> {
    first(headers, |format| format.encoding == Encoding::Json).map(drop)
}

/// The encoding of a `Status`. One that the client does not accept is JSON, because the refusal
/// itself matters more.
pub(super) fn status(headers: &HeaderMap, support: ProtobufSupport) -> Encoding {
    let is_protobuf_served = support == ProtobufSupport::Served;
    let is_served = |format: Format| {
        // A `Status` is whole; kube-apiserver passes over types that ask for less.
        format.form == Form::Whole && (format.encoding == Encoding::Json || is_protobuf_served)
    };
    first(headers, is_served).unwrap_or_default().encoding
}

/// The first format in the header that is served; whole objects as JSON without a header.
fn first(headers: &HeaderMap, is_served: impl Fn(Format) -> bool) -> Result<Format, Rejection> {
    let Some(accept) = headers.get(ACCEPT).and_then(|value| value.to_str().ok()) else {
        return Ok(Format::default());
    };
    let mut formats = accept.split(',').filter_map(parse);
    let served = formats.find(|format| is_served(*format));
    served.ok_or_else(not_acceptable)
}

fn not_acceptable() -> Rejection {
    let message = "only the following media types are accepted: application/json, and for \
                   built-in kinds and metadata application/vnd.kubernetes.protobuf";
    Rejection::new(406, "NotAcceptable", message)
}

/// A type of the header, if any answer has it.
fn parse(entry: &str) -> Option<Format> {
    let mut parts = entry.split(';').map(str::trim);
    let encoding = match parts.next().unwrap_or_default() {
        "application/json" | "application/*" | "*/*" => Encoding::Json,
        "application/vnd.kubernetes.protobuf" => Encoding::Protobuf,
        _ => return None,
    };
    let form = match parts.find_map(|part| part.strip_prefix("as=")) {
        None => Form::Whole,
        Some("PartialObjectMetadata" | "PartialObjectMetadataList") => Form::Metadata,
        Some(_) => return None,
    };
    Some(Format { form, encoding })
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";
    const PARTIAL: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
    const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
    const PARTIAL_PROTOBUF: &str =
        "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

    fn accepting(accept: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_str(accept).unwrap());
        headers
    }

    #[test]
    fn the_first_format_that_can_be_served_is() {
        let json = |form| Ok(Format::json(form));
        let encoding = Encoding::Protobuf;
        let protobuf = |form| Ok(Format { form, encoding });
        let (pods, widgets) = (
            Resource::pods(),
            Resource::custom("example.org", "v1", "Widget", "widgets", true),
        );
        let cases = [
            (&pods, "*/*".to_owned(), json(Form::Whole)),
            (&pods, PARTIAL.to_owned(), json(Form::Metadata)),
            (
                &pods,
                format!("{TABLE},application/json"),
                json(Form::Whole),
            ),
            (&pods, TABLE.to_owned(), Err(406)),
            (&pods, PROTOBUF.to_owned(), protobuf(Form::Whole)),
            (
                &pods,
                format!("{PROTOBUF}, application/json"),
                protobuf(Form::Whole),
            ),
            (
                &pods,
                format!("application/json, {PROTOBUF}"),
                json(Form::Whole),
            ),
            (&widgets, PROTOBUF.to_owned(), Err(406)),
            (
                &widgets,
                format!("{PROTOBUF},application/json"),
                json(Form::Whole),
            ),
            (
                &widgets,
                PARTIAL_PROTOBUF.to_owned(),
                protobuf(Form::Metadata),
            ),
        ];
        for (resource, accept, expected) in cases {
            let format = format(&accepting(&accept), resource, ProtobufSupport::Served);
            let format = format.map_err(|error| error.code);
            assert_eq!(format, expected, "{} {accept}", resource.kind);
        }
    }

    #[test]
    fn a_server_without_protobuf_serves_json_or_fails() {
        let both = accepting(&format!("{PROTOBUF},application/json"));
        let json = accepting("application/json");
        let code = |headers, support| {
            let format = format(headers, &Resource::pods(), support);
            format.map_or_else(|error| error.code, |_| 200)
        };
        let cases = [
            (ProtobufSupport::Served, 200),
            (ProtobufSupport::JsonOnly, 200),
            (ProtobufSupport::NotAcceptable, 406),
            (ProtobufSupport::Broken, 500),
        ];
        for (support, expected) in cases {
            assert_eq!(code(&both, support), expected, "{support:?}");
            assert_eq!(code(&json, support), 200, "{support:?}");
            let is_served = support == ProtobufSupport::Served;
            let encoding = status(&both, support);
            assert_eq!(encoding == Encoding::Protobuf, is_served, "{support:?}");
        }
    }

    #[test]
    fn a_status_is_not_reduced_to_metadata() {
        let cases = [
            (PROTOBUF.to_owned(), Encoding::Protobuf),
            (PARTIAL_PROTOBUF.to_owned(), Encoding::Json),
            (format!("{PARTIAL_PROTOBUF},{PROTOBUF}"), Encoding::Protobuf),
            ("text/html".to_owned(), Encoding::Json),
        ];
        for (accept, expected) in cases {
            let encoding = status(&accepting(&accept), ProtobufSupport::Served);
            assert_eq!(encoding, expected, "{accept}");
        }
    }
}
