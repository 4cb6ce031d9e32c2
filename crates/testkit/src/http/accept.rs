//! Which form of an answer a client accepts.
//!
//! Whole objects as JSON, or their metadata. Tables and protobuf are not served; a client that
//! accepts nothing else gets 406, and one that offers JSON as well gets JSON.

use http::{HeaderMap, header::ACCEPT};

use crate::{Rejection, wire::Form};

/// The first form in the header that we have.
pub(super) fn form(headers: &HeaderMap) -> Result<Form, Rejection> {
    let Some(accept) = headers.get(ACCEPT).and_then(|value| value.to_str().ok()) else {
        return Ok(Form::Whole);
    };
    accept.split(',').find_map(served).ok_or_else(|| {
        let message = "only the following media types are accepted: application/json";
        Rejection::new(406, "NotAcceptable", message)
    })
}

fn served(entry: &str) -> Option<Form> {
    let mut parts = entry.split(';').map(str::trim);
    let media_type = parts.next().unwrap_or_default();
    if !matches!(media_type, "application/json" | "application/*" | "*/*") {
        return None;
    }
    match parts.find_map(|part| part.strip_prefix("as=")) {
        None => Some(Form::Whole),
        Some("PartialObjectMetadata" | "PartialObjectMetadataList") => Some(Form::Metadata),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn the_first_form_we_have_is_served() {
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
        let partial = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
        let cases = [
            ("*/*", Ok(Form::Whole)),
            (partial, Ok(Form::Metadata)),
            (&format!("{table},application/json"), Ok(Form::Whole)),
            (table, Err(406)),
            ("application/vnd.kubernetes.protobuf", Err(406)),
        ];
        for (accept, expected) in cases {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, HeaderValue::from_str(accept).unwrap());
            assert_eq!(
                form(&headers).map_err(|error| error.code),
                expected,
                "{accept}"
            );
        }
    }
}
