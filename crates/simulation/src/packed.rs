//! Packed config maps: a view of what handlers, index and oracle read, beside the packed bytes.

use std::{
    collections::{HashMap, HashSet},
    fmt,
    sync::Arc,
};

use informer_factory::{
    ApiResource, DynamicObject, Identity, InformerError, InformerOptions, Labels, PackedObject,
    PartialObjectMetadata, ReadError, SharedInformer, SharedInformerFactory,
};
use k8s_openapi::api::core::v1::ConfigMap;
use serde::{Deserialize, de::DeserializeOwned};

use crate::{
    evidence::Evidence,
    object::{Content, Form, Held, Packing},
};

/// What became of packed objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Packings {
    /// How many runs had them.
    pub runs: u64,
    /// How many were seen.
    pub objects: u64,
    /// How many of these had a dictionary.
    pub with_dictionary: u64,
    /// How many dictionaries there were.
    pub dictionaries: u64,
    /// How often the store was seen to hold another object of the same version than before.
    pub repacked: u64,
}

impl Packings {
    pub(crate) fn of(evidence: &Evidence) -> Self {
        let mut all = Self::default();
        if evidence.plan.informer.packed.is_none() {
            return all;
        }
        all.runs = 1;
        let mut dictionaries = HashSet::new();
        for (_, seen) in evidence.distinct_sightings() {
            let dictionary = seen.packed().and_then(Packing::dictionary);
            all.objects += 1;
            all.with_dictionary += u64::from(dictionary.is_some());
            dictionaries.extend(dictionary);
        }
        all.dictionaries = dictionaries.len() as u64;
        for samples in evidence.samples.windows(2) {
            let before: HashMap<_, _> = samples[0].held.iter().cloned().collect();
            let is_repacked = |(key, now): &&Held| {
                let before = before.get(key);
                before.is_some_and(|old| old.is_same(now) && old.address() != now.address())
            };
            all.repacked += samples[1].held.iter().filter(is_repacked).count() as u64;
        }
        all
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.runs += other.runs;
        self.objects += other.objects;
        self.with_dictionary += other.with_dictionary;
        self.dictionaries += other.dictionaries;
        self.repacked += other.repacked;
    }
}

impl fmt::Display for Packings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            runs,
            objects,
            with_dictionary,
            dictionaries,
            repacked,
        } = self;
        write!(
            f,
            "{runs} packed: {objects} objects, {with_dictionary} by {dictionaries} dictionaries, \
             {repacked} packed again"
        )
    }
}

/// A config map that is held packed, as a `K`.
pub(crate) type PackedForm<K> = PackedObject<K, View>;

/// A type that packed config maps are unpacked as.
pub(crate) trait Unpacked: DeserializeOwned + Send + Sync + 'static {
    fn into_config_map(self) -> ConfigMap;

    fn informer(
        factory: &SharedInformerFactory,
        options: InformerOptions<PackedForm<Self>>,
    ) -> Result<SharedInformer<PackedForm<Self>>, InformerError>;
}

impl Unpacked for ConfigMap {
    fn into_config_map(self) -> ConfigMap {
        self
    }

    fn informer(
        factory: &SharedInformerFactory,
        options: InformerOptions<PackedForm<Self>>,
    ) -> Result<SharedInformer<PackedForm<Self>>, InformerError> {
        factory.packed_with(options)
    }
}

impl Unpacked for DynamicObject {
    fn into_config_map(self) -> ConfigMap {
        let object = serde_json::to_value(self).expect("JSON");
        serde_json::from_value(object).expect("the view has the same data")
    }

    fn informer(
        factory: &SharedInformerFactory,
        options: InformerOptions<PackedForm<Self>>,
    ) -> Result<SharedInformer<PackedForm<Self>>, InformerError> {
        factory.packed_dynamic(&ApiResource::erase::<ConfigMap>(&()), options)
    }
}

impl Unpacked for PartialObjectMetadata {
    fn into_config_map(self) -> ConfigMap {
        ConfigMap {
            metadata: self.metadata,
            ..ConfigMap::default()
        }
    }

    fn informer(
        factory: &SharedInformerFactory,
        options: InformerOptions<PackedForm<Self>>,
    ) -> Result<SharedInformer<PackedForm<Self>>, InformerError> {
        factory.packed_metadata(&ApiResource::erase::<ConfigMap>(&()), options)
    }
}

/// What is kept decoded. The metadata repeat the identity, so that one of another object shows.
#[derive(Deserialize)]
pub(crate) struct View {
    #[serde(default)]
    metadata: MetadataView,
    data: Option<Labels>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct MetadataView {
    namespace: Box<str>,
    name: Box<str>,
    uid: Box<str>,
    resource_version: Box<str>,
    labels: Labels,
    annotations: Labels,
}

impl View {
    fn said(&self, name: &str) -> Option<&str> {
        let annotations = &self.metadata.annotations;
        self.data.as_ref().unwrap_or(annotations).get(name)
    }
}

impl<K: Unpacked> Content for PackedForm<K> {
    fn uid(&self) -> &str {
        &self.view().metadata.uid
    }

    fn version(&self) -> u64 {
        self.view().metadata.resource_version.parse().unwrap_or(0)
    }

    fn serial(&self) -> u64 {
        let serial = self.view().said("serial");
        serial.and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    fn key(&self) -> String {
        let MetadataView {
            namespace, name, ..
        } = &self.view().metadata;
        format!("{namespace}/{name}")
    }

    fn group(&self) -> Option<String> {
        self.view().said("group").map(str::to_owned)
    }

    fn transformed(&self) -> usize {
        0
    }

    fn packed(&self) -> Option<&dyn Packing> {
        Some(self)
    }
}

impl<K: Unpacked> Packing for PackedForm<K> {
    fn unpacked(&self) -> Result<ConfigMap, ReadError> {
        Ok(self.unpack()?.into_config_map())
    }

    fn identity(&self) -> &Identity {
        self.identity()
    }

    fn tier(&self) -> &str {
        self.view().metadata.labels.get("tier").unwrap_or_default()
    }

    fn dictionary(&self) -> Option<usize> {
        let dictionary = self.content().dictionary()?;
        Some(Arc::as_ptr(dictionary).addr())
    }
}

impl<K: Unpacked> Form for PackedForm<K> {
    fn informer(
        factory: &SharedInformerFactory,
        options: InformerOptions<Self>,
    ) -> Result<SharedInformer<Self>, InformerError> {
        // Collections are small here: only early dictionaries are ever trained.
        #[cfg(sim)]
        let options = options.dictionary(informer_factory::DictionaryUse::Early);
        K::informer(factory, options)
    }

    fn mark_transformed(&mut self) {
        unreachable!("a transform of packed objects is refused");
    }
}
