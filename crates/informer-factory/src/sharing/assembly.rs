//! Puts one informer together out of what was asked for.

use std::any::TypeId;
use std::sync::Arc;

use informer_kube_source::{Decode, JsonDecoder, KubeListWatch, KubeSource, Representation};
use informer_reflector::Config;
use informer_store::Scope;
use kube_client::Client;
use kube_core::{ClusterResourceScope, Resource};
use serde::de::{DeserializeOwned, IgnoredAny};

use crate::checker::Checking;
use crate::checker::consistency::Consistency;
use crate::error::InformerError;
use crate::options::{InformerOptions, Namespaces, is_namespace};
use crate::running::launch::{Connect, Launch};

/// How the objects of an informer are decoded.
pub(crate) enum Decoder<T> {
    /// As JSON, by the type's `Deserialize`.
    Json(Arc<dyn Decode<T>>),
    /// By a decoder of the caller.
    Own(Arc<dyn Decode<T>>),
}

impl<T: 'static> Decoder<T> {
    pub(crate) fn json(options: &InformerOptions<T>) -> Self
    where
        T: DeserializeOwned,
    {
        Self::Json(Arc::new(JsonDecoder::new(options.projection.clone())))
    }

    /// The decoder of the caller, if it is one.
    pub(crate) fn own(&self) -> Option<&Arc<dyn Decode<T>>> {
        match self {
            Self::Json(_) => None,
            Self::Own(decoder) => Some(decoder),
        }
    }

    pub(crate) fn into_inner(self) -> Arc<dyn Decode<T>> {
        match self {
            Self::Json(decoder) | Self::Own(decoder) => decoder,
        }
    }
}

/// What makes the sources of one informer, one for each scope.
pub(crate) fn connect<R, T>(
    client: Client,
    resource: R::DynamicType,
    representation: Representation,
    decoder: Arc<dyn Decode<T>>,
    options: InformerOptions<T>,
) -> Box<dyn Launch<T>>
where
    R: Resource + 'static,
    R::DynamicType: Send + Sync + 'static,
    T: Send + Sync + 'static,
{
    Box::new(Connect(move |scope: &Scope| {
        let decoder = Arc::clone(&decoder);
        let source = source::<R, T>(&resource, representation, decoder, &options, scope);
        Arc::new(KubeListWatch::new(client.clone(), source))
    }))
}

/// What an informer needs to check itself: it lists the metadata of the same collections.
pub(crate) fn checking<R, T>(
    client: &Client,
    resource: &R::DynamicType,
    options: &InformerOptions<T>,
    reflector: &Config,
    consistency: Consistency,
) -> Checking
where
    R: Resource + 'static,
    R::DynamicType: Clone + Send + Sync + 'static,
{
    let options = InformerOptions::<IgnoredAny> {
        label_selector: options.label_selector.clone(),
        field_selector: options.field_selector.clone(),
        limits: options.limits,
        deadlines: options.deadlines,
        ..InformerOptions::default()
    };
    let (client, resource) = (client.clone(), resource.clone());
    let decoder: Arc<dyn Decode<IgnoredAny>> = Arc::new(JsonDecoder::default());
    let census = Box::new(move |scope: &Scope| {
        let (metadata, decoder) = (Representation::MetadataOnly, Arc::clone(&decoder));
        let source = source::<R, _>(&resource, metadata, decoder, &options, scope);
        KubeListWatch::new(client.clone(), source)
    });
    Checking {
        consistency,
        page_size: reflector.usual_page_size.get(),
        census,
    }
}

/// The collection of one scope.
fn source<R: Resource, T>(
    resource: &R::DynamicType,
    representation: Representation,
    decoder: Arc<dyn Decode<T>>,
    options: &InformerOptions<T>,
    scope: &Scope,
) -> KubeSource<T> {
    let namespace = match scope {
        Scope::All => None,
        Scope::Namespace(namespace) => Some(&**namespace),
    };
    let transform = options.transform.as_ref();
    KubeSource {
        path: R::url_path(resource, namespace),
        api_version: R::api_version(resource).into_owned(),
        kind: R::kind(resource).into_owned(),
        representation,
        label_selector: options.label_selector.clone(),
        field_selector: options.field_selector.clone(),
        transform: transform.map(|transform| transform.0.clone()),
        decoder,
        limits: options.limits,
        deadlines: options.deadlines,
    }
}

/// Whether objects of a type have no namespace. What is known at run time only may have one.
pub(crate) fn is_cluster_scoped<R: Resource>() -> bool
where
    R::Scope: 'static,
{
    TypeId::of::<R::Scope>() == TypeId::of::<ClusterResourceScope>()
}

/// Refuses namespaces that make no sense for the resource.
pub(crate) fn check_scope<R: Resource>(
    resource: &R::DynamicType,
    namespaces: &Namespaces,
) -> Result<(), InformerError>
where
    R::Scope: 'static,
{
    let Namespaces::These(names) = namespaces else {
        return Ok(());
    };
    let kind = R::kind(resource).into_owned();
    if names.is_empty() {
        return Err(InformerError::NoNamespace { kind });
    }
    if let Some(bad) = names.iter().find(|name| !is_namespace(name)) {
        let namespace = bad.clone();
        return Err(InformerError::BadNamespace { namespace });
    }
    match is_cluster_scoped::<R>() {
        true => Err(InformerError::NotNamespaced { kind }),
        false => Ok(()),
    }
}
