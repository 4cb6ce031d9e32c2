//! A pod with eight fields: the smallest cache, as the facade documents it.
//!
//! Name, namespace, uid, version, labels, node, phase and address; a projection skips the rest of
//! the metadata, the type skips the rest of the pod.

use std::borrow::Cow;

use informer_factory::Projection;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_core::{Resource, ResourceExt};
use serde::Deserialize;

/// What the module says.
#[derive(Clone, Debug, Deserialize)]
pub struct SmallPod {
    metadata: ObjectMeta,
    spec: SmallSpec,
    status: SmallStatus,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SmallSpec {
    node_name: Option<Box<str>>,
}

#[derive(Clone, Debug, Deserialize)]
struct SmallStatus {
    phase: Option<Box<str>>,
    #[serde(rename = "podIP")]
    pod_ip: Option<Box<str>>,
}

impl SmallPod {
    /// What is skipped of the metadata, which has to be whole as a type.
    pub fn projection() -> Projection {
        [
            "annotations",
            "creationTimestamp",
            "generateName",
            "generation",
            "managedFields",
            "ownerReferences",
        ]
        .iter()
        .fold(Projection::new(), |projection, field| {
            projection.drop_field(["metadata", field])
        })
    }

    /// Whether all eight are there; what nobody reads might not be kept.
    pub fn is_whole(&self) -> bool {
        let metadata = [
            self.metadata.name.is_some(),
            self.metadata.namespace.is_some(),
            self.metadata.uid.is_some(),
            self.metadata.resource_version.is_some(),
            !self.labels().is_empty(),
        ];
        metadata.iter().all(|present| *present)
            && self.spec.node_name.is_some()
            && self.status.phase.is_some()
            && self.status.pod_ip.is_some()
    }
}

impl Resource for SmallPod {
    type DynamicType = ();
    type Scope = <Pod as Resource>::Scope;

    fn kind(dynamic: &()) -> Cow<'_, str> {
        Pod::kind(dynamic)
    }

    fn group(dynamic: &()) -> Cow<'_, str> {
        Pod::group(dynamic)
    }

    fn version(dynamic: &()) -> Cow<'_, str> {
        Pod::version(dynamic)
    }

    fn plural(dynamic: &()) -> Cow<'_, str> {
        Pod::plural(dynamic)
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}
