//! What makes two requests the same informer (FAX-1).

use std::any::TypeId;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use informer_kube_source::{Projection, Representation};
use informer_store::Scope;
use kube_core::Resource;

use crate::options::{InformerOptions, Namespaces};
use crate::rbac_role::Needs;

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
    pub(crate) fn new<R>(resource: &R::DynamicType, object: TypeId, scope: &Scoping<'_>) -> Self
    where
        R: Resource,
    {
        Self {
            object,
            group: R::group(resource).into_owned(),
            version: R::version(resource).into_owned(),
            plural: R::plural(resource).into_owned(),
            namespaces: scope.namespaces.normal(),
            label_selector: scope.label_selector.map(str::to_owned),
            field_selector: scope.field_selector.map(str::to_owned),
            projection: scope.projection.clone(),
            metadata_only: scope.metadata_only,
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

/// What an informer is called: in status and logs, and in metrics.
pub(crate) struct Identity {
    /// The label, and what restricts the informer: `pods#1c9d03f7 [in web]`.
    pub(crate) name: Arc<str>,
    pub(crate) label: Arc<str>,
}

impl Identity {
    /// The label must not show a namespace or a selector (SEC-10), and yet be its own: what
    /// restricts the informer goes into a short hash.
    pub(crate) fn new(key: &SharingKey) -> Self {
        let restrictions = key.restrictions();
        if restrictions.is_empty() {
            return Self::named(key.resource().into());
        }
        let mut hasher = DefaultHasher::new();
        (&restrictions, &key.projection).hash(&mut hasher);
        let label = format!("{}#{:08x}", key.resource(), hasher.finish() as u32);
        Self {
            name: format!("{label} [{}]", restrictions.join("; ")).into(),
            label: label.into(),
        }
    }

    /// One name for both.
    pub(crate) fn named(name: Arc<str>) -> Self {
        Self {
            label: Arc::clone(&name),
            name,
        }
    }
}

/// The part of a request that decides about sharing.
pub(crate) struct Scoping<'a> {
    namespaces: &'a Namespaces,
    label_selector: Option<&'a str>,
    field_selector: Option<&'a str>,
    projection: &'a Projection,
    metadata_only: bool,
}

impl<'a> Scoping<'a> {
    pub(crate) fn new<T>(options: &'a InformerOptions<T>, representation: Representation) -> Self {
        Self {
            namespaces: &options.namespaces,
            label_selector: options.label_selector.as_deref(),
            field_selector: options.field_selector.as_deref(),
            projection: &options.projection,
            metadata_only: representation == Representation::MetadataOnly,
        }
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
