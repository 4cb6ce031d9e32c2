//! The collection to list and watch, its representation and its bounds.

use std::{sync::Arc, time::Duration};

use derive_where::derive_where;

use crate::{Decode, Transform};

/// One collection of an API server, and how its objects are decoded.
///
/// ```
/// use std::{sync::Arc, time::Duration};
/// use informer_kube_source::{Deadlines, SerdeDecoder, KubeSource, Projection};
/// use k8s_openapi::api::core::v1::Pod;
///
/// let decoder = Arc::new(SerdeDecoder::new(Projection::lean()));
/// let source = KubeSource::<Pod>::new("/api/v1/pods", "v1", "Pod", decoder)
///     .labels("app=web")
///     .deadlines(Deadlines::default().list_headers(Duration::from_secs(10)));
/// assert_eq!(source.label_selector.as_deref(), Some("app=web"));
/// ```
#[derive_where(Clone, Debug)]
#[non_exhaustive]
pub struct KubeSource<T> {
    /// The path of the collection, such as `/api/v1/pods` or
    /// `/apis/apps/v1/namespaces/web/deployments`.
    pub path: String,
    /// The `apiVersion` of its objects, such as `apps/v1`.
    pub api_version: String,
    /// The `kind` of its objects, such as `Deployment`.
    pub kind: String,
    /// Whether whole objects are requested, or their metadata only.
    pub representation: Representation,
    /// The format in which objects are requested.
    pub wire: WireFormat,
    /// Only objects with these labels, such as `app=web,tier!=test`.
    pub label_selector: Option<String>,
    /// Only objects with these fields, such as `spec.nodeName=node-17`.
    pub field_selector: Option<String>,
    /// A change that is applied to each decoded object.
    #[derive_where(skip(Debug))]
    pub transform: Option<Transform<T>>,
    /// Turns received objects into values of `T`.
    #[derive_where(skip(Debug))]
    pub decoder: Arc<dyn Decode<T>>,
    /// Bounds on sizes.
    pub limits: Limits,
    /// Bounds on waiting.
    pub deadlines: Deadlines,
}

impl<T> KubeSource<T> {
    /// Creates a source of whole objects, without selectors or a transform, with the default limits
    /// and deadlines.
    ///
    /// The other options have a setter each.
    pub fn new(
        path: impl Into<String>,
        api_version: impl Into<String>,
        kind: impl Into<String>,
        decoder: Arc<dyn Decode<T>>,
    ) -> Self {
        Self {
            path: path.into(),
            api_version: api_version.into(),
            kind: kind.into(),
            representation: Representation::default(),
            wire: WireFormat::default(),
            label_selector: None,
            field_selector: None,
            transform: None,
            decoder,
            limits: Limits::default(),
            deadlines: Deadlines::default(),
        }
    }
}

impl<T> KubeSource<T> {
    setters! {
        /// Sets whether whole objects are requested, or their metadata only.
        representation(part: Representation) => representation = part;
        /// Sets the format in which objects are requested.
        wire(format: WireFormat) => wire = format;
        /// Requests only objects with these labels, such as `app=web,tier!=test`.
        labels(selector: impl Into<String>) => label_selector = Some(selector.into());
        /// Requests only objects with these fields, such as `spec.nodeName=node-17`.
        fields(selector: impl Into<String>) => field_selector = Some(selector.into());
        /// Sets the change that is applied to each decoded object.
        transform(transform: Transform<T>) => transform = Some(transform);
        /// Sets the bounds on sizes.
        limits(limits: Limits) => limits = limits;
        /// Sets the bounds on waiting.
        deadlines(deadlines: Deadlines) => deadlines = deadlines;
    }
}

/// The part of each object that is requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Representation {
    /// Whole objects.
    #[default]
    Full,
    /// Metadata only, to be decoded into [`crate::PartialObjectMetadata`].
    MetadataOnly,
}

/// The format in which objects are requested from the server.
///
/// An object decodes to the same value from either format. Protobuf costs the server a fraction of
/// the time to encode JSON, and has fewer bytes. API servers offer it for the built-in kinds, and
/// for the metadata of all kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WireFormat {
    /// Protobuf where the decoder and the kind allow it, and JSON otherwise.
    ///
    /// After a refusal (406, 415), JSON alone is requested for ten minutes. The same applies after
    /// two consecutive failures (500, or an answer that is not protobuf), unless JSON then fails in
    /// the same way. For a type that can only be decoded from JSON, JSON alone is requested from
    /// then on.
    #[default]
    Auto,
    /// JSON only.
    Json,
    /// Protobuf only. A server without it refuses the request.
    Protobuf,
}

/// The format of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReceivedWire {
    /// JSON.
    Json,
    /// Protobuf.
    Protobuf,
}

/// Bounds on the sizes of answers and objects, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// One event of a watch. A larger one ends the watch as too big. Default: 16 MiB, ten times the
    /// largest object that etcd stores.
    // SEC-16
    pub event_bytes: usize,
    /// One page of a list, decompressed. A larger one fails as too big. A page is cut and decoded
    /// while it arrives, so this bounds the length of the page and not the bytes held at a time. It
    /// must leave room for a whole collection, because a watch cache answers with one page: 150,000
    /// pods of a large cluster are 2 GB. Default: 16 GiB, or `usize::MAX` where that is less.
    // SEC-17, SEC-20
    pub page_bytes: usize,
    /// One object as received. A larger one is undecodable. Default: 16 MiB.
    // FM-56
    pub object_bytes: usize,
    /// One object in memory, estimated from its structure. A larger one is undecodable. Default:
    /// 32 MiB.
    // SEC-18
    pub decoded_bytes: usize,
}

impl Limits {
    setters! {
        /// Sets the largest event of a watch.
        event_bytes(bytes: usize) => event_bytes = bytes;
        /// Sets the largest page of a list.
        page_bytes(bytes: usize) => page_bytes = bytes;
        /// Sets the largest object as received.
        object_bytes(bytes: usize) => object_bytes = bytes;
        /// Sets the largest object in memory.
        decoded_bytes(bytes: usize) => decoded_bytes = bytes;
    }
}

const MIB: usize = 1024 * 1024;

impl Default for Limits {
    fn default() -> Self {
        Self {
            event_bytes: 16 * MIB,
            page_bytes: MIB.saturating_mul(16 * 1024),
            object_bytes: 16 * MIB,
            decoded_bytes: 32 * MIB,
        }
    }
}

/// Bounds on waiting for a silent server.
// R6, RFX-11
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Deadlines {
    /// From the request to the headers of a list. Default: 60 s.
    pub list_headers: Duration,
    /// From one piece of a list's body to the next. Default: 30 s.
    pub list_progress: Duration,
    /// How long after its requested timeout a watch is given up, counted from the request. It
    /// covers headers that never come, silence, and a server that ignores the timeout. Default: 5
    /// s.
    // FM-16, FM-17, FM-20
    pub watch_margin: Duration,
}

impl Deadlines {
    setters! {
        /// Sets the time from the request to the headers of a list.
        list_headers(time: Duration) => list_headers = time;
        /// Sets the time from one piece of a list's body to the next.
        list_progress(time: Duration) => list_progress = time;
        /// Sets the time that a watch may exceed its requested timeout by.
        watch_margin(time: Duration) => watch_margin = time;
    }
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            list_headers: Duration::from_secs(60),
            list_progress: Duration::from_secs(30),
            watch_margin: Duration::from_secs(5),
        }
    }
}
