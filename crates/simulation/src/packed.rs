//! Packed config maps: a view of what handlers, index and oracle read, beside the packed bytes.

use std::{
    collections::{HashMap, HashSet},
    fmt,
    sync::Arc,
};

use informer_factory::{
    Identity, InformerError, InformerOptions, Labels, PackedObject, ReadError, SharedInformer,
    SharedInformerFactory,
};
use k8s_openapi::api::core::v1::ConfigMap;
use serde::Deserialize;

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

/// A config map that is held packed.
pub(crate) type PackedConfigMap = PackedObject<ConfigMap, View>;

/// What is kept decoded. The metadata repeat the identity, so that one of another object shows.
#[derive(Deserialize)]
pub(crate) struct View {
    #[serde(default)]
    metadata: MetadataView,
    #[serde(default)]
    data: DataView,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct MetadataView {
    namespace: Box<str>,
    name: Box<str>,
    uid: Box<str>,
    resource_version: Box<str>,
    labels: Labels,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct DataView {
    serial: Box<str>,
    group: Option<Box<str>>,
}

impl Content for PackedConfigMap {
    fn uid(&self) -> &str {
        &self.view().metadata.uid
    }

    fn version(&self) -> u64 {
        self.view().metadata.resource_version.parse().unwrap_or(0)
    }

    fn serial(&self) -> u64 {
        self.view().data.serial.parse().unwrap_or(0)
    }

    fn key(&self) -> String {
        let MetadataView {
            namespace, name, ..
        } = &self.view().metadata;
        format!("{namespace}/{name}")
    }

    fn group(&self) -> Option<String> {
        self.view().data.group.as_deref().map(str::to_owned)
    }

    fn transformed(&self) -> usize {
        0
    }

    fn packed(&self) -> Option<&dyn Packing> {
        Some(self)
    }
}

impl Packing for PackedConfigMap {
    fn unpacked(&self) -> Result<ConfigMap, ReadError> {
        self.unpack()
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

impl Form for PackedConfigMap {
    fn informer(
        factory: &SharedInformerFactory,
        options: InformerOptions<Self>,
    ) -> Result<SharedInformer<Self>, InformerError> {
        // Collections are small here: only early dictionaries are ever trained.
        #[cfg(sim)]
        let options = options.dictionary(informer_factory::DictionaryUse::Early);
        factory.packed_with(options)
    }

    fn mark_transformed(&mut self) {
        unreachable!("a transform of packed objects is refused");
    }
}
