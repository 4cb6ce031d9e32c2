//! The few messages of Kubernetes that stand around an object in protobuf: envelope, list, watch
//! event.
//!
//! All lengths are known beforehand, since versions have a fixed number of digits; so a list of any
//! size is written piece by piece.

use crate::resource::Resource;

/// What every encoded object begins with.
const MAGIC: [u8; 4] = *b"k8s\0";

/// Appends the beginning of a list whose items follow as [`item_head`] and item.
pub fn list_head(resource: Resource, items: usize, metadata: &[u8], into: &mut Vec<u8>) {
    let length = field_length(metadata.len()) + items;
    let kind = format!("{}List", resource.kind());
    envelope_head(resource.api_version(), &kind, length, into);
    field(1, metadata, into);
}

/// The metadata of a list: version (2), token (3), and how many are left (4).
pub fn list_metadata(version: u64, next: Option<(&str, usize)>) -> Vec<u8> {
    let mut metadata = Vec::new();
    field(2, version.to_string().as_bytes(), &mut metadata);
    if let Some((token, remaining)) = next {
        field(3, token.as_bytes(), &mut metadata);
        metadata.push(4 << 3);
        varint(remaining as u64, &mut metadata);
    }
    metadata
}

/// How long an item is in a list, with its head.
pub fn field_length(length: usize) -> usize {
    1 + varint_length(length as u64) + length
}

/// Appends what stands before an item of a list.
pub fn item_head(length: usize, into: &mut Vec<u8>) {
    head(2, length, into);
}

/// Appends what stands before the object in a frame of a watch: four bytes of length, `WatchEvent`,
/// `RawExtension`, envelope.
pub fn event_head(resource: Resource, event: &str, object: usize, into: &mut Vec<u8>) {
    let mut envelope = Vec::with_capacity(64);
    envelope_head(
        resource.api_version(),
        resource.kind(),
        object,
        &mut envelope,
    );
    let enveloped = envelope.len() + object;
    let length = field_length(event.len()) + field_length(field_length(enveloped));
    into.extend_from_slice(&(length as u32).to_be_bytes());
    field(1, event.as_bytes(), into);
    head(2, field_length(enveloped), into);
    head(1, enveloped, into);
    into.extend_from_slice(&envelope);
}

/// An object that has a version and the annotation that ends a streaming list, and nothing else.
pub fn bookmark(version: u64, ends_initial: bool) -> Vec<u8> {
    let mut metadata = Vec::new();
    field(6, version.to_string().as_bytes(), &mut metadata);
    if ends_initial {
        let mut annotation = Vec::new();
        field(1, b"k8s.io/initial-events-end", &mut annotation);
        field(2, b"true", &mut annotation);
        field(12, &annotation, &mut metadata);
    }
    let mut object = Vec::new();
    field(1, &metadata, &mut object);
    object
}

/// A whole frame of a watch that says the version has expired: a `Status`, enveloped.
pub fn expired_event(message: &str, into: &mut Vec<u8>) {
    let mut status = Vec::new();
    field(2, b"Failure", &mut status);
    field(3, message.as_bytes(), &mut status);
    field(4, b"Expired", &mut status);
    status.push(6 << 3);
    varint(410, &mut status);
    let mut object = Vec::new();
    envelope_head("v1", "Status", status.len(), &mut object);
    object.extend_from_slice(&status);
    let mut raw = Vec::new();
    field(1, &object, &mut raw);
    let mut event = Vec::new();
    field(1, b"ERROR", &mut event);
    field(2, &raw, &mut event);
    into.extend_from_slice(&(event.len() as u32).to_be_bytes());
    into.extend_from_slice(&event);
}

/// `runtime.Unknown`: which type (1), and the bytes (2) that follow.
fn envelope_head(api_version: &str, kind: &str, length: usize, into: &mut Vec<u8>) {
    let mut meta = Vec::with_capacity(48);
    field(1, api_version.as_bytes(), &mut meta);
    field(2, kind.as_bytes(), &mut meta);
    into.extend_from_slice(&MAGIC);
    field(1, &meta, into);
    head(2, length, into);
}

fn field(number: u8, value: &[u8], into: &mut Vec<u8>) {
    head(number, value.len(), into);
    into.extend_from_slice(value);
}

/// The tag of a field with a length, and the length. All fields here have a tag of one byte.
fn head(number: u8, length: usize, into: &mut Vec<u8>) {
    into.push(number << 3 | 2);
    varint(length as u64, into);
}

fn varint(mut value: u64, into: &mut Vec<u8>) {
    while value >= 0x80 {
        into.push(value as u8 | 0x80);
        value >>= 7;
    }
    into.push(value as u8);
}

fn varint_length(value: u64) -> usize {
    let bits = u64::BITS - (value | 1).leading_zeros();
    bits.div_ceil(7) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_known_before_anything_is_written() {
        for value in [0, 1, 127, 128, 16_383, 16_384, u64::MAX] {
            let mut bytes = Vec::new();
            varint(value, &mut bytes);
            assert_eq!(bytes.len(), varint_length(value), "{value}");
        }
        let mut bytes = Vec::new();
        field(2, &[7; 300], &mut bytes);
        assert_eq!(bytes.len(), field_length(300));
    }

    #[test]
    fn a_frame_is_as_long_as_it_says() {
        for pod in [0, 5, 3_000, 20_000] {
            let mut frame = Vec::new();
            event_head(Resource::Pods, "MODIFIED", pod, &mut frame);
            frame.resize(frame.len() + pod, 7);
            let (length, rest) = frame.split_first_chunk::<4>().expect("it has a length");
            assert_eq!(u32::from_be_bytes(*length) as usize, rest.len());
        }
    }

    #[test]
    fn the_magic_is_at_the_beginning() {
        let mut list = Vec::new();
        list_head(Resource::Pods, 0, &list_metadata(5, None), &mut list);
        // type meta: v1, PodList; then 3 bytes of a list with nothing but a version.
        let wanted = b"k8s\0\x0a\x0d\x0a\x02v1\x12\x07PodList\x12\x05\x0a\x03\x12\x015";
        assert_eq!(list, wanted);
    }
}
