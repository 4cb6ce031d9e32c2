//! One packed object.

use std::borrow::Cow;
use std::marker::PhantomData;

use informer_kube_source::ReceivedWire;
use informer_packed::Packed;
use serde::de::DeserializeOwned;

use crate::packing::read::{self, ReadError};
use crate::packing::view::NoView;
use crate::{Identity, ObjectKey, ResourceVersion, Uid};

/// An object of the type `K`, kept as packed bytes beside a small typed view `V`.
///
/// [`SharedInformerFactory::packed`](crate::SharedInformerFactory::packed) makes informers of them.
/// A full `Pod` takes 30 kB of memory decoded and a few hundred bytes packed. Reading what is not
/// in the view costs some microseconds each time, so a view has the fields that indexes, filters
/// and handlers read for every object:
///
/// ```
/// use informer_factory::{Labels, PackedObject};
/// use k8s_openapi::api::core::v1::Pod;
/// use serde::Deserialize;
///
/// #[derive(Deserialize)]
/// struct PodView {
///     metadata: MetadataView,
/// }
///
/// #[derive(Deserialize)]
/// struct MetadataView {
///     #[serde(default)]
///     labels: Labels,
/// }
///
/// fn image_of_web(pod: &PackedObject<Pod, PodView>) -> Option<String> {
///     if pod.view().metadata.labels.get("app") != Some("web") {
///         return None; // Without unpacking anything.
///     }
///     pod.unpack().ok()?.spec?.containers.pop()?.image
/// }
/// # let _ = image_of_web;
/// ```
///
/// An object can be unpacked for as long as it exists, whatever dictionaries its informer has
/// trained since.
pub struct PackedObject<K, V = NoView> {
    identity: Identity,
    view: V,
    /// Bytes in the format of `wire`, as [`read::sealed`] makes them of protobuf.
    content: Packed,
    wire: ReceivedWire,
    stage: Stage,
    kind: PhantomData<fn() -> K>,
}

/// Whether packing has been tried.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// The bytes wait for a dictionary, within the source.
    Raw,
    /// The bytes are packed, or stored because that is smaller.
    Packed,
}

impl<K, V> PackedObject<K, V> {
    pub(super) fn new(
        identity: Identity,
        view: V,
        wire: ReceivedWire,
        (content, stage): (Packed, Stage),
    ) -> Self {
        Self {
            identity,
            view,
            content,
            wire,
            stage,
            kind: PhantomData,
        }
    }

    /// Returns the key under which the object is stored.
    pub fn key(&self) -> &ObjectKey {
        &self.identity.key
    }

    /// Returns the uid.
    pub fn uid(&self) -> &Uid {
        &self.identity.uid
    }

    /// Returns the resource version.
    pub fn version(&self) -> &ResourceVersion {
        &self.identity.version
    }

    /// Returns key, uid and version.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Returns the part of the object that is kept decoded.
    pub fn view(&self) -> &V {
        &self.view
    }

    /// Unpacks the object, and decodes it as a type of your choice.
    ///
    /// Fields that the type does not have are skipped, so a read costs the unpacking and the fields
    /// that the type has. The value is the same from JSON and from protobuf, in whichever format
    /// the object is kept, with two exceptions. A dropped struct that servers always write, such as
    /// `status`, is empty when read from protobuf and absent when read from JSON. Fields of a newer
    /// Kubernetes than this crate knows are only in JSON.
    ///
    /// # Errors
    ///
    /// [`ReadError::Decode`] with the path of a field that does not fit the type. A type that
    /// reaches into serde_json's own deserializer, such as `RawValue`, fits no protobuf.
    ///
    /// ```
    /// use informer_factory::{PackedObject, ReadError};
    /// use k8s_openapi::api::core::v1::Pod;
    /// use serde::Deserialize;
    ///
    /// #[derive(Deserialize)]
    /// struct Phase {
    ///     status: Option<Status>,
    /// }
    ///
    /// #[derive(Deserialize)]
    /// struct Status {
    ///     phase: Option<String>,
    /// }
    ///
    /// fn phase(pod: &PackedObject<Pod>) -> Result<Option<String>, ReadError> {
    ///     Ok(pod.read::<Phase>()?.status.and_then(|status| status.phase))
    /// }
    /// # let _ = phase;
    /// ```
    pub fn read<R: DeserializeOwned + 'static>(&self) -> Result<R, ReadError> {
        read::read(self.wire, &self.content)
    }

    /// Unpacks the object, and decodes all of it.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read).
    pub fn unpack(&self) -> Result<K, ReadError>
    where
        K: DeserializeOwned + 'static,
    {
        self.read()
    }

    /// Returns the bytes of the object, and the format in which it was received and is kept.
    ///
    /// They contain the type names of the object, and no fields that the informer's projection
    /// drops: a JSON text, or a protobuf body as an API server answers with, which `Envelope` of
    /// `informer-kube-protobuf` takes apart. They are borrowed if the object is stored unpacked.
    ///
    /// # Errors
    ///
    /// [`ReadError::Unpack`] if the packed bytes are damaged or there is no memory.
    ///
    /// ```
    /// use informer_factory::{PackedObject, ReadError, ReceivedWire};
    /// use k8s_openapi::api::core::v1::Pod;
    ///
    /// fn summary(pod: &PackedObject<Pod>) -> Result<String, ReadError> {
    ///     let (wire, bytes) = pod.raw()?;
    ///     Ok(match wire {
    ///         ReceivedWire::Json => String::from_utf8_lossy(&bytes).into_owned(),
    ///         _ => format!("{} bytes of protobuf", bytes.len()),
    ///     })
    /// }
    /// # let _ = summary;
    /// ```
    pub fn raw(&self) -> Result<(ReceivedWire, Cow<'_, [u8]>), ReadError> {
        Ok((self.wire, self.content.bytes()?))
    }

    /// Returns the packed bytes, for their size and their dictionary.
    pub fn content(&self) -> &Packed {
        &self.content
    }

    pub(super) fn wire(&self) -> ReceivedWire {
        self.wire
    }

    pub(super) fn is_raw(&self) -> bool {
        self.stage == Stage::Raw
    }

    /// Replaces raw bytes by packed ones.
    pub(super) fn set_packed(&mut self, content: Packed) {
        self.content = content;
        self.stage = Stage::Packed;
    }
}
