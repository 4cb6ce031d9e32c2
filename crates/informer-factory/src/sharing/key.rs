//! What makes two requests the same informer (FAX-1).

use std::any::TypeId;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use informer_reflector::{Projection, Representation};
use informer_store::Scope;
use kube_core::Resource;

use crate::options::{InformerOptions, Namespaces};
use crate::rbac_role::Needs;
use crate::status::board::Identity;

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
    metadata_only: bool,
}

impl SharingKey {
    pub(crate) fn new<R: Resource, T: 'static>(
        resource: &R::DynamicType,
        representation: Representation,
        options: &InformerOptions<T>,
    ) -> Self {
        Self {
            object: TypeId::of::<T>(),
            group: R::group(resource).into_owned(),
            version: R::version(resource).into_owned(),
            plural: R::plural(resource).into_owned(),
            namespaces: options.namespaces.normal(),
            label_selector: options.label_selector.clone(),
            field_selector: options.field_selector.clone(),
            projection: options.projection.clone(),
            metadata_only: representation == Representation::MetadataOnly,
        }
    }

    /// Adds what the informer of this key needs; `scopes` is what it follows now, nothing if it has
    /// not been started.
    pub(crate) fn need<'s>(&self, scopes: impl Iterator<Item = &'s Scope>, needs: &mut Needs) {
        let mut add = |namespace: Option<&str>| needs.add(&self.group, &self.plural, namespace);
        let mut scopes = scopes.peekable();
        match &self.namespaces {
            Namespaces::All => add(None),
            Namespaces::These(names) if scopes.peek().is_none() => {
                names.iter().for_each(|name| add(Some(name)));
            }
            Namespaces::These(_) => scopes.for_each(|scope| match scope {
                Scope::All => add(None),
                Scope::Namespace(name) => add(Some(name)),
            }),
        }
    }

    /// The informer's name and label. The label must not show a namespace or a selector, and yet
    /// be its own: what restricts the informer goes into a short hash.
    pub(crate) fn identity(&self) -> Identity {
        // SEC-10
        let restrictions = self.restrictions();
        if restrictions.is_empty() {
            return Identity::named(self.resource().into());
        }
        let mut hasher = DefaultHasher::new();
        (&restrictions, &self.projection).hash(&mut hasher);
        let label = format!("{}#{:08x}", self.resource(), hasher.finish() as u32);
        Identity {
            name: format!("{label} [{}]", restrictions.join("; ")).into(),
            label: label.into(),
        }
    }

    /// The resource as people write it: `pods`, `deployments.apps`.
    fn resource(&self) -> String {
        match &*self.group {
            "" => self.plural.clone(),
            group => format!("{}.{group}", self.plural),
        }
    }

    /// What tells it from other informers of the resource; empty if nothing does.
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
        if !self.projection.is_empty() {
            restrictions.push("projected".to_owned());
        }
        restrictions
    }
}

/// What was asked for: `pods`, `deployments.apps`, with what restricts it in brackets.
impl fmt::Display for SharingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.resource())?;
        let restrictions = self.restrictions();
        if !restrictions.is_empty() {
            write!(f, " [{}]", restrictions.join("; "))?;
        }
        Ok(())
    }
}
