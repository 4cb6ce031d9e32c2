//! Connects one informer to its collections, as requested.

use std::any::TypeId;
use std::sync::Arc;

use informer_kube_source::{
    Decode, KubeListWatch, KubeSource, Representation, SerdeDecoder, WireFormat,
};
use informer_store::Scope;
use kube_client::Client;
use kube_core::{ClusterResourceScope, DynamicObject, Resource};
use serde::de::DeserializeOwned;

use crate::error::InformerError;
use crate::options::{InformerOptions, Namespaces, is_namespace};
use crate::running::renewal::Renew;
use crate::status::memory::MemoryMeter;

/// The decoder of an informer's objects.
pub(super) struct Decoder<T> {
    pub(super) decode: Arc<dyn Decode<T>>,
    /// Whether the caller brought it.
    pub(super) is_own: bool,
    /// What replaces objects that it has decoded.
    pub(super) renew: Option<Arc<dyn Renew<T>>>,
    /// The type name of the view, if the objects are packed.
    pub(super) view: Option<&'static str>,
    /// Whether the objects have every field that a server sends, known or not.
    pub(super) is_dynamic: bool,
}

impl<T: DeserializeOwned + 'static> Decoder<T> {
    pub(super) fn json(options: &InformerOptions<T>) -> Self {
        Self {
            decode: Arc::new(SerdeDecoder::new(options.dropped_fields())),
            is_own: false,
            renew: None,
            view: None,
            is_dynamic: is_dynamic::<T>(),
        }
    }
}

/// Whether a type has every field that a server sends, known or not.
pub(super) fn is_dynamic<T: 'static>() -> bool {
    TypeId::of::<T>() == TypeId::of::<DynamicObject>()
}

impl<T: 'static> Decoder<T> {
    /// The decoder, if the caller brought it.
    pub(super) fn own(&self) -> Option<Arc<dyn Decode<T>>> {
        self.is_own.then(|| Arc::clone(&self.decode))
    }

    /// The format to request. Protobuf does not have the names of unknown fields, so dynamic
    /// objects come as JSON unless the caller chooses.
    pub(super) fn wire(&self, wanted: WireFormat) -> WireFormat {
        match wanted {
            WireFormat::Auto if self.is_dynamic => WireFormat::Json,
            wanted => wanted,
        }
    }

    /// A meter of the memory of what it decodes.
    pub(super) fn meter(&self, limit: Option<usize>) -> MemoryMeter {
        let decode = Arc::clone(&self.decode);
        let measure = move || (decode.object_bytes(), decode.shared_bytes());
        MemoryMeter::new::<T>(measure, limit)
    }
}

/// Makes the function that connects an informer to the collection of a scope.
pub(crate) fn connect<R, T>(
    client: Client,
    resource: R::DynamicType,
    representation: Representation,
    decoder: Arc<dyn Decode<T>>,
    options: InformerOptions<T>,
) -> impl Fn(&Scope) -> KubeListWatch<T> + Send + Sync + 'static
where
    R: Resource + 'static,
    R::DynamicType: Send + Sync + 'static,
    T: Send + Sync + 'static,
{
    move |scope| {
        let namespace = match scope {
            Scope::All => None,
            Scope::Namespace(namespace) => Some(&**namespace),
        };
        let mut source = KubeSource::new(
            R::url_path(&resource, namespace),
            R::api_version(&resource),
            R::kind(&resource),
            Arc::clone(&decoder),
        );
        source.representation = representation;
        source.wire = options.wire;
        source.label_selector = options.label_selector.clone();
        source.field_selector = options.field_selector.clone();
        source.transform = options.transform.clone();
        source.limits = options.limits;
        source.deadlines = options.deadlines;
        KubeListWatch::new(client.clone(), source)
    }
}

/// Whether objects of a type have no namespace. A type that is chosen at run time may have one.
pub(crate) fn is_cluster_scoped<R: Resource>() -> bool
where
    R::Scope: 'static,
{
    TypeId::of::<R::Scope>() == TypeId::of::<ClusterResourceScope>()
}

/// Refuses namespaces that no informer can watch.
pub(crate) fn check_namespaces(namespaces: &Namespaces) -> Result<(), InformerError> {
    let Namespaces::These(names) = namespaces else {
        return Ok(());
    };
    if names.is_empty() {
        return Err(InformerError::NoNamespace);
    }
    match names.iter().find(|name| !is_namespace(name)) {
        None => Ok(()),
        Some(invalid) => Err(InformerError::InvalidNamespace {
            namespace: invalid.clone(),
        }),
    }
}

/// Refuses namespaces that make no sense for the resource.
pub(crate) fn check_scope<R: Resource>(
    resource: &R::DynamicType,
    namespaces: &Namespaces,
) -> Result<(), InformerError>
where
    R::Scope: 'static,
{
    check_namespaces(namespaces)?;
    match namespaces {
        Namespaces::These(_) if is_cluster_scoped::<R>() => Err(InformerError::NotNamespaced {
            kind: R::kind(resource).into_owned(),
        }),
        Namespaces::These(_) | Namespaces::All => Ok(()),
    }
}
