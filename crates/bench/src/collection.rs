//! The objects as bytes that are only copied from now on, in one of two encodings.
//!
//! An event is the object as listed with another version and another stamp written over the old
//! ones.
//! Both have ten digits always, so nothing moves and nothing is encoded again.

use std::fmt;

use anyhow::{Context, Result, bail};
use informer_kube_protobuf::{Schema, to_vec};

use crate::pod::{self, FIRST_VERSION};
use crate::resource::Resource;

/// How many digits versions and stamps have.
pub const DIGITS: usize = 10;

/// Items of a list, each where it can be copied from.
pub struct Collection {
    resource: Resource,
    bytes: Vec<u8>,
    items: Vec<Place>,
}

/// Where an item is, and where in it the digits are.
struct Place {
    start: usize,
    length: usize,
    version: usize,
    stamp: usize,
}

impl Collection {
    /// The pods as JSON.
    ///
    /// # Errors
    /// When a pod has its version at other than the two places where it belongs.
    pub fn json(seed: u64, count: usize) -> Result<Self> {
        let mut collection = Self::empty(Resource::Pods, count * 4_100, count);
        for index in 0..count {
            collection.push(pod::json(seed, index).as_bytes())?;
        }
        Ok(collection)
    }

    /// The metadata of widgets as JSON, which is that of the pods.
    ///
    /// # Errors
    /// As [`json`](Self::json).
    pub fn metadata_json(seed: u64, count: usize) -> Result<Self> {
        let mut collection = Self::empty(Resource::WidgetMetadata, count * 2_500, count);
        for index in 0..count {
            collection.push(pod::metadata_json(seed, index).as_bytes())?;
        }
        Ok(collection)
    }

    /// The same metadata in protobuf, encoded by our own encoder.
    ///
    /// # Errors
    /// As [`json`](Self::json).
    pub fn metadata_protobuf(seed: u64, count: usize) -> Result<Self> {
        let resource = Resource::WidgetMetadata;
        let schema = Schema::of(resource.api_version(), resource.kind());
        let schema = schema.context("metadata has a schema")?;
        let mut collection = Self::empty(resource, count * 2_500, count);
        for index in 0..count {
            let object = serde_json::from_str(&pod::metadata_json(seed, index))?;
            collection.push(&to_vec(schema, &object)?)?;
        }
        Ok(collection)
    }

    fn empty(resource: Resource, bytes: usize, count: usize) -> Self {
        Self {
            resource,
            bytes: Vec::with_capacity(bytes),
            items: Vec::with_capacity(count),
        }
    }

    /// The same pods in another encoding: each as its length in four bytes, most significant first,
    /// and then the bytes.
    ///
    /// # Errors
    /// When the file is cut short, holds another number of pods, or other pods.
    pub fn from_frames(mut file: &[u8], count: usize) -> Result<Self> {
        let mut collection = Self::empty(Resource::Pods, file.len(), count);
        while let Some((length, rest)) = file.split_first_chunk::<4>() {
            let length = u32::from_be_bytes(*length) as usize;
            let item = rest.get(..length).context("the file is cut short")?;
            collection.push(item)?;
            file = &rest[length..];
        }
        if collection.items.len() != count || !file.is_empty() {
            bail!("{} pods instead of {count}", collection.items.len());
        }
        Ok(collection)
    }

    fn push(&mut self, item: &[u8]) -> Result<()> {
        let index = self.items.len();
        let digits = (FIRST_VERSION + index as u64).to_string();
        let found: Vec<usize> = item
            .windows(DIGITS)
            .enumerate()
            .filter_map(|(at, window)| (window == digits.as_bytes()).then_some(at))
            .collect();
        // Both encodings have the version before the annotations.
        let [version, stamp] = found[..] else {
            bail!("pod {index} has its version at {found:?}");
        };
        let start = self.bytes.len();
        self.bytes.extend_from_slice(item);
        self.items.push(Place {
            start,
            length: item.len(),
            version,
            stamp,
        });
        Ok(())
    }

    /// Returns the resource of the items.
    pub fn resource(&self) -> Resource {
        self.resource
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The length of one item.
    pub fn length_of(&self, index: usize) -> usize {
        self.items[index].length
    }

    /// Appends one item as it is at `version`.
    pub fn copy(&self, index: usize, version: u64, stamp: u64, into: &mut Vec<u8>) {
        let place = &self.items[index];
        let begin = into.len();
        into.extend_from_slice(&self.bytes[place.start..place.start + place.length]);
        write_digits(&mut into[begin + place.version..][..DIGITS], version);
        write_digits(&mut into[begin + place.stamp..][..DIGITS], stamp);
    }
}

fn write_digits(into: &mut [u8], mut value: u64) {
    for digit in into.iter_mut().rev() {
        *digit = b'0' + (value % 10) as u8;
        value /= 10;
    }
}

impl fmt::Debug for Collection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collection")
            .field("items", &self.items.len())
            .field("bytes", &self.bytes.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_item_is_copied_with_its_version_and_stamp() {
        let collection = Collection::json(1, 3).expect("pods are well formed");
        let mut bytes = Vec::new();
        collection.copy(2, FIRST_VERSION + 2, FIRST_VERSION + 2, &mut bytes);
        assert_eq!(bytes, pod::json(1, 2).as_bytes(), "as it was made");
        bytes.clear();
        collection.copy(2, 1_000_000_777, 42, &mut bytes);
        let pod: serde_json::Value = serde_json::from_slice(&bytes).expect("it is JSON");
        assert_eq!(pod["metadata"]["resourceVersion"], "1000000777");
        assert_eq!(pod["metadata"]["annotations"][pod::STAMP], "0000000042");
        assert_eq!(bytes.len(), collection.length_of(2));
    }

    #[test]
    fn metadata_is_the_same_in_both_encodings() {
        let json = Collection::metadata_json(1, 3).expect("metadata is well formed");
        let protobuf = Collection::metadata_protobuf(1, 3).expect("metadata can be encoded");
        let mut text = Vec::new();
        json.copy(2, 1_000_000_777, 42, &mut text);
        let text: serde_json::Value = serde_json::from_slice(&text).expect("it is JSON");
        assert_eq!(text["kind"], "PartialObjectMetadata");
        let fields = text["metadata"]["managedFields"].as_array();
        assert_eq!(fields.map(Vec::len), Some(2));
        let mut message = Vec::new();
        protobuf.copy(2, 1_000_000_777, 42, &mut message);
        let schema = Schema::of("meta.k8s.io/v1", "PartialObjectMetadata");
        let schema = schema.expect("metadata has a schema");
        let decoded = informer_kube_protobuf::from_slice::<serde_json::Value>(schema, &message);
        let decoded = decoded.expect("it is metadata");
        assert_eq!(decoded["metadata"], text["metadata"]);
        assert_eq!(decoded["metadata"]["resourceVersion"], "1000000777");
        assert_eq!(decoded["metadata"]["annotations"][pod::STAMP], "0000000042");
    }

    #[test]
    fn a_file_of_other_pods_is_refused() {
        let framed = |item: &str| {
            let mut file = (item.len() as u32).to_be_bytes().to_vec();
            file.extend_from_slice(item.as_bytes());
            file
        };
        let file = framed("1000000001 and 1000000001");
        assert!(Collection::from_frames(&file, 1).is_ok());
        assert!(Collection::from_frames(&file, 2).is_err(), "one is missing");
        assert!(Collection::from_frames(&file[..9], 1).is_err(), "cut");
        assert!(Collection::from_frames(&framed("1000000001"), 1).is_err());
    }
}
