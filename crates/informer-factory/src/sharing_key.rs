//! What makes two requests the same informer (FAX-1).

use std::any::TypeId;
use std::fmt;

use informer_reflector::Projection;
use kube_core::Resource;

use crate::options::{InformerOptions, Namespaces};

/// Two requests with equal keys get one informer, one watch and one cache.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SharingKey {
    /// The Rust type: the same objects as `Pod` and as metadata are two caches.
    object: TypeId,
    group: String,
    version: String,
    pub(crate) plural: String,
    namespaces: Namespaces,
    label_selector: Option<String>,
    field_selector: Option<String>,
    projection: Projection,
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
        }
    }
}

/// The part of the options that decides about sharing.
pub(crate) struct Scoping<'a> {
    namespaces: &'a Namespaces,
    label_selector: Option<&'a str>,
    field_selector: Option<&'a str>,
    projection: &'a Projection,
}

impl<'a, T> From<&'a InformerOptions<T>> for Scoping<'a> {
    fn from(options: &'a InformerOptions<T>) -> Self {
        Self {
            namespaces: &options.namespaces,
            label_selector: options.label_selector.as_deref(),
            field_selector: options.field_selector.as_deref(),
            projection: &options.projection,
        }
    }
}

/// The informer's name in status, logs and metrics: `pods`, `deployments.apps`, with what restricts
/// it in brackets.
impl fmt::Display for SharingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.plural)?;
        if !self.group.is_empty() {
            write!(f, ".{}", self.group)?;
        }
        let mut restrictions = Vec::new();
        if let Namespaces::These(names) = &self.namespaces {
            restrictions.push(format!("in {}", names.join(", ")));
        }
        restrictions.extend(self.label_selector.clone());
        restrictions.extend(self.field_selector.clone());
        if !restrictions.is_empty() {
            write!(f, " [{}]", restrictions.join("; "))?;
        }
        Ok(())
    }
}
