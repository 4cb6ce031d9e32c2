//! The objects of the demo as its handlers see them: typed, or packed with a view.

use informer_factory::{HasLabels, HasNode, Labels, PackedObject, ResourceVersion, Uid};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube_core::Resource;
use serde::Deserialize;

use super::pod::WRITTEN;

/// An object of the demo.
pub(super) trait DemoObject: Send + Sync + 'static {
    /// Its uid and its version, as it says itself.
    fn uid_and_version(&self) -> (Uid, ResourceVersion);
    /// When it was written, in microseconds since the demo began.
    fn written(&self) -> Option<u64>;
}

/// A pod of the demo: all that informers, handlers and indexes need.
pub(super) trait DemoPod: DemoObject + HasLabels + HasNode {}

impl DemoPod for Pod {}
impl DemoPod for PackedPod {}

/// Implements [`DemoObject`] for types with metadata.
macro_rules! typed {
    ($($type:ty),*) => {$(
        impl DemoObject for $type {
            fn uid_and_version(&self) -> (Uid, ResourceVersion) {
                let meta = self.meta();
                let uid = meta.uid.as_deref().unwrap_or_default();
                let version = meta.resource_version.as_deref().unwrap_or_default();
                (uid.into(), version.into())
            }

            fn written(&self) -> Option<u64> {
                self.meta().annotations.as_ref()?.get(WRITTEN)?.parse().ok()
            }
        }
    )*};
}

typed!(Pod, Node);

/// A packed pod with what is read of every pod beside it.
pub(super) type PackedPod = PackedObject<Pod, PodView>;

/// What indexes and handlers read of a packed pod.
#[derive(Deserialize)]
pub(super) struct PodView {
    metadata: MetadataView,
    spec: SpecView,
}

#[derive(Deserialize)]
struct MetadataView {
    #[serde(default)]
    labels: Labels,
    #[serde(default)]
    annotations: AnnotationsView,
}

#[derive(Default, Deserialize)]
struct AnnotationsView {
    /// The annotation [`WRITTEN`].
    #[serde(rename = "demo.informer/written-us")]
    written: Option<Box<str>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SpecView {
    node_name: Option<Box<str>>,
}

impl DemoObject for PackedPod {
    fn uid_and_version(&self) -> (Uid, ResourceVersion) {
        (self.uid().clone(), self.version().clone())
    }

    fn written(&self) -> Option<u64> {
        let annotations = &self.view().metadata.annotations;
        annotations.written.as_ref()?.parse().ok()
    }
}

impl HasLabels for PodView {
    fn label(&self, name: &str) -> Option<&str> {
        self.metadata.labels.get(name)
    }
}

impl HasNode for PodView {
    fn node(&self) -> Option<&str> {
        self.spec.node_name.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::super::pod;
    use super::*;

    #[test]
    fn the_view_of_a_pod_is_that_of_the_whole_pod() {
        let json = pod::pod(17, 5, 1_234).to_string();
        let whole: Pod = serde_json::from_str(&json).expect("a pod");
        let view: PodView = serde_json::from_str(&json).expect("a view");
        let written = view.metadata.annotations.written.as_deref();
        assert_eq!((written, whole.written()), (Some("1234"), Some(1_234)));
        assert_eq!(view.label("app"), HasLabels::label(&whole, "app"));
        assert!(view.node().is_some());
        assert_eq!(view.node(), whole.node());
    }
}
