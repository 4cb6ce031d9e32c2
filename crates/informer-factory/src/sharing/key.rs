//! The key under which requests share an informer.

// FAX-1

use std::any::TypeId;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use informer_kube_source::{Projection, Representation, WireFormat};
use informer_store::Scope;
use kube_core::Resource;

use crate::options::{InformerOptions, Namespaces};
use crate::status::SourceStatus;
use crate::status::shared::Identity;

/// Two requests with equal keys get one informer, one watch and one cache.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SharingKey {
    /// The Rust type: the same objects as `Pod` and as metadata are two caches.
    object: TypeId,
    group: String,
    version: String,
    plural: String,
    namespaces: Namespaces,
    label_selector: Option<String>,
    field_selector: Option<String>,
    projection: Projection,
    wire: WireFormat,
    metadata_only: bool,
    /// The type name of the view, if the objects are packed.
    pub(super) view: Option<&'static str>,
}

impl SharingKey {
    pub(crate) fn new<R: Resource, T: 'static>(
        resource: &R::DynamicType,
        representation: Representation,
        namespaces: &Namespaces,
        options: &InformerOptions<T>,
    ) -> Self {
        Self {
            object: TypeId::of::<T>(),
            group: R::group(resource).into_owned(),
            version: R::version(resource).into_owned(),
            plural: R::plural(resource).into_owned(),
            namespaces: namespaces.normal(),
            label_selector: options.label_selector.clone(),
            field_selector: options.field_selector.clone(),
            projection: options.dropped_fields(),
            wire: options.wire,
            metadata_only: representation == Representation::MetadataOnly,
            view: None,
        }
    }

    /// What the informer of this key reads: group, plural and namespace, `None` for all. `sources`
    /// is what it follows now; none if it has not been started.
    pub(crate) fn reads(
        &self,
        sources: &[SourceStatus],
    ) -> impl Iterator<Item = (String, String, Option<String>)> {
        let namespaces: Vec<Option<String>> = match &self.namespaces {
            Namespaces::All => vec![None],
            Namespaces::These(names) if sources.is_empty() => {
                names.iter().cloned().map(Some).collect()
            }
            Namespaces::These(_) => {
                let namespace = |source: &SourceStatus| match &source.scope {
                    Scope::All => None,
                    Scope::Namespace(name) => Some(name.to_string()),
                };
                sources.iter().map(namespace).collect()
            }
        };
        let of = |namespace| (self.group.clone(), self.plural.clone(), namespace);
        namespaces.into_iter().map(of)
    }

    /// The informer's name and label, which begin with the resource as people write it: `pods`,
    /// `deployments.apps`. The label must not show a namespace or a selector, and yet
    /// be its own: what restricts the informer goes into a short hash.
    pub(crate) fn identity(&self) -> Identity {
        // SEC-10
        let resource = match &*self.group {
            "" => self.plural.clone(),
            group => format!("{}.{group}", self.plural),
        };
        let restrictions = self.restrictions();
        if restrictions.is_empty() {
            return Identity::named(resource.into());
        }
        let hashing = BuildHasherDefault::<DefaultHasher>::default();
        let hash = hashing.hash_one((&restrictions, &self.projection)) as u32;
        let label = format!("{resource}#{hash:08x}");
        Identity {
            name: format!("{label} [{}]", restrictions.join("; ")).into(),
            label: label.into(),
        }
    }

    /// The differences to an unrestricted informer of the resource.
    fn restrictions(&self) -> Vec<String> {
        let mut restrictions = Vec::new();
        if let Namespaces::These(names) = &self.namespaces {
            restrictions.push(format!("in {}", names.join(", ")));
        }
        restrictions.extend(self.label_selector.clone());
        restrictions.extend(self.field_selector.clone());
        if self.metadata_only {
            restrictions.push("metadata".to_owned());
        }
        match self.view {
            Some(view) => restrictions.push(format!("packed with {view}")),
            None if !self.projection.is_empty() => restrictions.push("projected".to_owned()),
            None => {}
        }
        match self.wire {
            WireFormat::Json => restrictions.push("as JSON".to_owned()),
            WireFormat::Protobuf => restrictions.push("as protobuf".to_owned()),
            _ => {}
        }
        restrictions
    }
}
