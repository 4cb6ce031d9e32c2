//! Applies faults to the body of a list.
//!
//! Pure: a listing in, bytes out. Values are changed in the list as JSON; protobuf is encoded from
//! the changed list.

use serde_json::{Value, json};

use crate::{
    Fault, Listing, Resource,
    protobuf::List,
    tampering::{GARBAGE, GZIP, HTML, enlarge, spoil},
    wire::{Encoding, Form, Format},
};

/// The body of a list, and after how many bytes the connection breaks.
pub(crate) struct ListBody {
    pub(crate) body: Vec<u8>,
    pub(crate) cut: Option<usize>,
    pub(crate) is_html: bool,
}

/// Writes a list as the faults will have it.
pub(crate) fn write_list(
    listing: &Listing,
    resource: &Resource,
    format: Format,
    faults: &[Fault],
) -> ListBody {
    let is_json = format.encoding == Encoding::Json;
    let mut body = match format.encoding {
        Encoding::Json => listing.write(resource, format),
        Encoding::Protobuf => protobuf_body(listing, resource, format.form, faults),
    };
    let (mut cut, mut is_html) = (None, false);
    for fault in faults {
        match fault {
            Fault::CutAfterBytes(bytes) => cut = usize::try_from(*bytes).ok(),
            Fault::TruncatedLine => body.truncate(body.len() / 2),
            Fault::GarbageLine => body = GARBAGE.into(),
            Fault::Html => {
                body = HTML.into();
                is_html = true;
            }
            Fault::Gzip => body = GZIP.into(),
            _ if is_json && changes_values(fault) => {
                let mut list = serde_json::from_slice(&body).unwrap_or_default();
                change_list(fault, &mut list);
                body = list.to_string().into_bytes();
            }
            _ => {}
        }
    }
    ListBody {
        cut: cut.filter(|cut| *cut < body.len()),
        body,
        is_html,
    }
}

/// The body in protobuf, with the faults that change values and those that protobuf alone has.
fn protobuf_body(listing: &Listing, resource: &Resource, form: Form, faults: &[Fault]) -> Vec<u8> {
    let mut body = List::of(listing, resource, form);
    if faults.iter().any(changes_values) {
        let json = listing.write(resource, Format::json(form));
        let mut list = serde_json::from_slice(&json).unwrap_or_default();
        let changes = faults.iter().filter(|fault| changes_values(fault));
        changes.for_each(|fault| change_list(fault, &mut list));
        body = List::of_json(&list, resource, form);
    }
    for fault in faults {
        if let Fault::Protobuf(damage) = fault {
            body.damage(*damage);
        }
    }
    body.write()
}

/// Whether a list has to be written out for its faults to show.
pub(crate) fn changes_lists(fault: &Fault) -> bool {
    let changes_bytes = matches!(
        fault,
        Fault::CutAfterBytes(_)
            | Fault::TruncatedLine
            | Fault::GarbageLine
            | Fault::Html
            | Fault::Gzip
    );
    changes_bytes || changes_values(fault)
}

fn changes_values(fault: &Fault) -> bool {
    matches!(
        fault,
        Fault::WrongKind
            | Fault::Nameless
            | Fault::UndecodableItem
            | Fault::HugeItem(_)
            | Fault::EmptyResourceVersion
            | Fault::DuplicateKey
            | Fault::OlderVersion(_)
    )
}

fn change_list(fault: &Fault, list: &mut Value) {
    let first = list["items"].get(0).cloned();
    match (fault, first) {
        (Fault::WrongKind, _) => {
            list["kind"] = json!("Table");
            list["apiVersion"] = json!("meta.k8s.io/v1");
        }
        (Fault::EmptyResourceVersion, _) => list["metadata"]["resourceVersion"] = json!(""),
        (Fault::OlderVersion(version), _) => {
            list["metadata"]["resourceVersion"] = json!(version.to_string());
        }
        (Fault::Nameless, Some(_)) => list["items"][0]["metadata"]["name"] = json!(""),
        (Fault::HugeItem(bytes), Some(_)) => enlarge(&mut list["items"][0], *bytes),
        (Fault::UndecodableItem, Some(_)) => spoil(&mut list["items"][0]),
        (Fault::DuplicateKey, Some(mut older)) => {
            let version = older["metadata"]["resourceVersion"]
                .as_str()
                .unwrap_or_default();
            let version: u64 = version.parse().unwrap_or(2);
            older["metadata"]["resourceVersion"] = json!((version - 1).max(1).to_string());
            if let Value::Array(items) = &mut list["items"] {
                items.insert(0, older);
            }
        }
        _ => {}
    }
}
