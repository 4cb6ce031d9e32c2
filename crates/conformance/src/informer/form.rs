//! The forms in which the informer holds objects: typed, and packed.

use std::borrow::Cow;

use informer_factory::{
    InformerError, InformerOptions, Labels, PackedObject, SharedInformer, SharedInformerFactory,
    Transform,
};
use k8s_openapi::api::core::v1::ConfigMap;
use serde::Deserialize;

use super::settings::{Settings, data};
use crate::scenario::Malformed;

/// A form of a config map.
pub(super) trait Form: Sized + Send + Sync + 'static {
    /// The whole object. One that cannot be read is empty, which no trace of client-go shows.
    fn whole(&self) -> Cow<'_, ConfigMap>;

    /// What the index `data` is over.
    fn data(&self) -> Option<String>;

    /// The transform that the scenario sets.
    fn transform(settings: &Settings<'_>) -> Result<Option<Transform<Self>>, Malformed>;

    /// The informer with these options.
    fn informer(
        factory: &SharedInformerFactory,
        options: InformerOptions<Self>,
    ) -> Result<SharedInformer<Self>, InformerError>;
}

impl Form for ConfigMap {
    fn whole(&self) -> Cow<'_, ConfigMap> {
        Cow::Borrowed(self)
    }

    fn data(&self) -> Option<String> {
        data(self).map(str::to_owned)
    }

    fn transform(settings: &Settings<'_>) -> Result<Option<Transform<Self>>, Malformed> {
        settings.transform()
    }

    fn informer(
        factory: &SharedInformerFactory,
        options: InformerOptions<Self>,
    ) -> Result<SharedInformer<Self>, InformerError> {
        factory.informer_with(options)
    }
}

/// A packed config map.
pub(super) type PackedConfigMap = PackedObject<ConfigMap, View>;

/// What is kept decoded.
#[derive(Deserialize)]
pub(super) struct View {
    #[serde(default)]
    data: Labels,
}

impl Form for PackedConfigMap {
    fn whole(&self) -> Cow<'_, ConfigMap> {
        Cow::Owned(self.unpack().unwrap_or_default())
    }

    fn data(&self) -> Option<String> {
        let value = self.view().data.get("v");
        value.filter(|value| !value.is_empty()).map(str::to_owned)
    }

    fn transform(_: &Settings<'_>) -> Result<Option<Transform<Self>>, Malformed> {
        Ok(None)
    }

    fn informer(
        factory: &SharedInformerFactory,
        options: InformerOptions<Self>,
    ) -> Result<SharedInformer<Self>, InformerError> {
        factory.packed_with(options)
    }
}
