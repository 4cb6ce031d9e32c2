//! A packed informer beside a typed one of the same objects: both must hold the same.

use std::collections::BTreeMap;
use std::time::Duration;

use informer_factory::{
    InformerOptions, PackedObject, Projection, ResourceVersion, SharedInformer, WaitForVersionError,
};
use kube_core::Resource;
use serde::de::DeserializeOwned;

use crate::collection::{Identity, Truth};

/// A type whose packed objects can be compared with others.
pub(crate) trait Packable:
    Resource + DeserializeOwned + PartialEq + Send + Sync + 'static
{
}

impl<T: Resource + DeserializeOwned + PartialEq + Send + Sync + 'static> Packable for T {}

/// Options of an informer whose packed objects are whole, as typed ones are.
pub(crate) fn whole<T>() -> InformerOptions<PackedObject<T>> {
    InformerOptions::new().projection(Projection::new())
}

/// The packed informer.
pub(crate) struct Beside<T: Packable>(pub(crate) SharedInformer<PackedObject<T>>);

impl<T: Packable> Beside<T> {
    /// Waits until a version of everything, or of a namespace, has been applied.
    pub(crate) async fn reach(
        &self,
        namespace: Option<&str>,
        version: &ResourceVersion,
        limit: Duration,
    ) -> Result<(), WaitForVersionError> {
        match namespace {
            None => self.0.wait_for_version(version, limit).await,
            Some(namespace) => {
                let reached = self.0.wait_for_version_in(namespace, version, limit);
                reached.await
            }
        }
    }

    /// Compares the keys and versions with the truth, and the contents with those of the other
    /// informer where it has the same version.
    pub(crate) fn compare(&self, truth: &Truth, typed: &SharedInformer<T>) -> Result<(), String> {
        let (packed, typed) = (self.0.reader().snapshot(), typed.reader().snapshot());
        let mut found = BTreeMap::new();
        for (key, entry) in packed.iter() {
            let object = &entry.object;
            let identity =
                Identity::from_parts(&object.uid().to_string(), &object.version().to_string());
            let whole = object.unpack().map_err(|error| format!("{key}: {error}"))?;
            if identity != Identity::of(&whole) {
                return Err(format!("{key} is kept as {identity}, its bytes are not"));
            }
            let same = typed.get(key.as_str());
            let same = same.filter(|same| same.version == *object.version());
            if same.is_some_and(|same| *same.object != whole) {
                return Err(format!("{key}@{} has another content", object.version()));
            }
            found.insert(key.to_string(), identity);
        }
        truth.compare(&found)
    }

    /// Everything was decoded, and nothing panicked.
    pub(crate) fn check_rules(&self) {
        let status = self.0.status();
        let mismatches = status.sources.iter();
        let mismatches = mismatches.filter_map(|source| source.consistency.as_ref());
        let mismatches: u64 = mismatches.map(|found| found.mismatches).sum();
        let wrong = (mismatches, status.task_panics, status.quarantined);
        assert_eq!(wrong, (0, 0, 0), "of packed objects: {status:#?}");
    }
}
