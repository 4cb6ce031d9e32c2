//! What to list and watch, and within which bounds: data, chosen by the caller.

use std::{fmt, sync::Arc, time::Duration};

use crate::Projection;

/// Changes an object, or refuses it, before anyone sees it (TF-01).
///
/// It runs once for each object received, and not for objects that are reused (design 6.8). What
/// it says when it refuses is not kept, since it may quote the object (SEC-7).
#[doc(alias = "TransformFunc")]
pub type Transform<T> = Arc<dyn Fn(T) -> Result<T, String> + Send + Sync>;

/// One collection, and how its objects are wanted.
pub struct KubeSource<T> {
    /// The path of the collection, such as `/api/v1/pods` or
    /// `/apis/apps/v1/namespaces/web/deployments`.
    pub path: String,
    /// The `apiVersion` of its objects, such as `apps/v1`.
    pub api_version: String,
    /// The `kind` of its objects, such as `Deployment`.
    pub kind: String,
    /// Whole objects, or their metadata only.
    pub representation: Representation,
    /// Only objects with these labels, such as `app=web,tier!=test`.
    pub label_selector: Option<String>,
    /// Only objects with these fields, such as `spec.nodeName=node-17`.
    pub field_selector: Option<String>,
    /// Applied to each object as it is decoded.
    pub transform: Option<Transform<T>>,
    /// Fields that are never decoded.
    pub projection: Projection,
    /// How much is accepted.
    pub limits: Limits,
    /// How long is waited.
    pub deadlines: Deadlines,
}

impl<T> Clone for KubeSource<T> {
    fn clone(&self) -> Self {
        Self {
            path: self.path.clone(),
            api_version: self.api_version.clone(),
            kind: self.kind.clone(),
            representation: self.representation,
            label_selector: self.label_selector.clone(),
            field_selector: self.field_selector.clone(),
            transform: self.transform.clone(),
            projection: self.projection.clone(),
            limits: self.limits,
            deadlines: self.deadlines,
        }
    }
}

impl<T> fmt::Debug for KubeSource<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KubeSource")
            .field("path", &self.path)
            .field("api_version", &self.api_version)
            .field("kind", &self.kind)
            .field("representation", &self.representation)
            .field("label_selector", &self.label_selector)
            .field("field_selector", &self.field_selector)
            .field("transform", &self.transform.is_some())
            .field("projection", &self.projection)
            .field("limits", &self.limits)
            .field("deadlines", &self.deadlines)
            .finish()
    }
}

/// How much of each object is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Representation {
    /// Whole objects.
    #[default]
    Full,
    /// Metadata only, to be decoded into [`crate::PartialObjectMetadata`].
    MetadataOnly,
}

/// How much is accepted, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// One event of a watch; more ends the watch as too big (SEC-16).
    pub event_bytes: usize,
    /// One page of a list, decompressed; more fails it as too big (SEC-17, SEC-20). It is cut and
    /// decoded as it arrives, so this bounds what is decoded and not what is held as bytes; it has
    /// to leave room for a whole collection, which is what a watch cache answers with.
    pub page_bytes: usize,
    /// One object as JSON; a larger one is undecodable (FM-56).
    pub object_bytes: usize,
    /// One object in memory, estimated from its structure; a larger one is undecodable (SEC-18).
    pub decoded_bytes: usize,
}

const MIB: usize = 1024 * 1024;

/// 16 MiB for an event and for an object, 2 GiB for a page, 32 MiB for a decoded object.
impl Default for Limits {
    fn default() -> Self {
        Self {
            event_bytes: 16 * MIB,
            page_bytes: 2048 * MIB,
            object_bytes: 16 * MIB,
            decoded_bytes: 32 * MIB,
        }
    }
}

/// How long is waited for a server that says nothing (R6, RFX-11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadlines {
    /// From the request to the headers of a list.
    pub list_headers: Duration,
    /// From one piece of a list's body to the next.
    pub list_progress: Duration,
    /// How much longer than the timeout asked for a watch may live, headers included. It covers
    /// headers that never come (FM-17), silence (FM-16) and a server that ignores the timeout
    /// (FM-20).
    pub watch_margin: Duration,
}

/// 60 s, 30 s and 5 s.
impl Default for Deadlines {
    fn default() -> Self {
        Self {
            list_headers: Duration::from_secs(60),
            list_progress: Duration::from_secs(30),
            watch_margin: Duration::from_secs(5),
        }
    }
}
