//! The metadata of a custom resource, in either format.

use anyhow::Result;
use informer_bench::pod::STAMP;
use informer_factory::{
    InformerOptions, PartialObjectMetadata, Projection, SharedInformer, SharedInformerFactory,
    WireFormat,
};
use kube_core::{ApiResource, GroupVersionKind};

/// Requests an informer of the metadata of widgets, without the fields of a projection.
pub(crate) fn informer(
    wire: WireFormat,
    projection: Projection,
) -> impl FnOnce(&SharedInformerFactory) -> Result<SharedInformer<PartialObjectMetadata>> {
    let kind = GroupVersionKind::gvk("example.org", "v1", "Widget");
    let widgets = ApiResource::from_gvk_with_plural(&kind, "widgets");
    let options = InformerOptions::new().wire(wire).projection(projection);
    move |factory| Ok(factory.metadata(&widgets, options)?)
}

pub(crate) fn stamp(widget: &PartialObjectMetadata) -> Option<&str> {
    let annotations = widget.metadata.annotations.as_ref()?;
    annotations.get(STAMP).map(String::as_str)
}
