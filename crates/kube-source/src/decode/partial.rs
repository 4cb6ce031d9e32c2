//! An object of which only the metadata is decoded.
//!
//! kube-core has such a type too, but its flattened type fields make serde buffer each object
//! before decoding it; this one decodes directly.

use std::{borrow::Cow, fmt};

use kube_core::{ApiResource, DynamicResourceScope, ObjectMeta, Resource};
use serde::{Deserialize, Serialize};

/// The metadata of an object, as `PartialObjectMetadata` of `meta.k8s.io/v1`.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[non_exhaustive]
pub struct PartialObjectMetadata {
    /// `meta.k8s.io/v1`, unless the server sent the whole object.
    pub api_version: String,
    /// `PartialObjectMetadata`, unless the server sent the whole object.
    pub kind: String,
    /// The metadata.
    pub metadata: ObjectMeta,
}

impl PartialObjectMetadata {
    /// An object with this metadata, as the API server sends it.
    pub fn new(metadata: ObjectMeta) -> Self {
        Self {
            api_version: "meta.k8s.io/v1".to_owned(),
            kind: "PartialObjectMetadata".to_owned(),
            metadata,
        }
    }
}

// SEC-6: shows the identity only, because annotations may hold whole objects.
impl fmt::Debug for PartialObjectMetadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PartialObjectMetadata")
            .field("namespace", &self.metadata.namespace)
            .field("name", &self.metadata.name)
            .field("uid", &self.metadata.uid)
            .field("resource_version", &self.metadata.resource_version)
            .finish_non_exhaustive()
    }
}

// The type of the object is known at run time only, as for a dynamic object.
impl Resource for PartialObjectMetadata {
    type DynamicType = ApiResource;
    type Scope = DynamicResourceScope;

    fn kind(resource: &ApiResource) -> Cow<'_, str> {
        Cow::Borrowed(&resource.kind)
    }

    fn group(resource: &ApiResource) -> Cow<'_, str> {
        Cow::Borrowed(&resource.group)
    }

    fn version(resource: &ApiResource) -> Cow<'_, str> {
        Cow::Borrowed(&resource.version)
    }

    fn api_version(resource: &ApiResource) -> Cow<'_, str> {
        Cow::Borrowed(&resource.api_version)
    }

    fn plural(resource: &ApiResource) -> Cow<'_, str> {
        Cow::Borrowed(&resource.plural)
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SEC-6: annotations stay out of logs.
    #[test]
    fn debug_shows_no_annotation() {
        let json = r#"{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata","spec":{},
            "metadata":{"name":"n","uid":"u","annotations":{"a":"CANARY"}}}"#;
        let object: PartialObjectMetadata = serde_json::from_str(json).expect("decodes");
        assert_eq!(object.meta().name.as_deref(), Some("n"));
        let shown = format!("{object:?}");
        assert!(
            shown.contains("\"n\"") && !shown.contains("CANARY"),
            "{shown}"
        );
    }
}
