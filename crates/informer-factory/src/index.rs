//! Common index functions.
//!
//! Each returns the values of one object. Pass it to
//! [`SharedInformer::add_index`](crate::SharedInformer::add_index), or to
//! [`index_of`](crate::index_of) in a unit test.

use std::sync::Arc;

use crate::{HasLabels, HasNode, HasOwners};

/// The uids of all owners, so that "who belongs to this ReplicaSet" is one look-up.
///
/// ```
/// use informer_factory::{AddIndexError, Index, SharedInformer, index};
/// use k8s_openapi::api::core::v1::Pod;
///
/// pub fn pods_by_owner(pods: &SharedInformer<Pod>) -> Result<Index<Pod>, AddIndexError> {
///     pods.add_index("owner", index::owner_uid)
/// }
/// # let _ = pods_by_owner;
/// ```
pub fn owner_uid<T: HasOwners>(object: &T) -> impl IntoIterator<Item = Arc<str>> + use<T> {
    let mut uids = object.owners().map(|owner| Arc::from(owner.uid));
    // Most objects have one owner, or none, and need no vector.
    let first = uids.next();
    first.into_iter().chain(uids.collect::<Vec<_>>())
}

/// The uid of the one owner that is the controller, if there is one.
///
/// ```
/// use informer_factory::{index, index_of};
/// use k8s_openapi::api::core::v1::Pod;
///
/// let owner = serde_json::json!({"uid": "u-1", "controller": true, "name": "web",
///     "apiVersion": "apps/v1", "kind": "ReplicaSet"});
/// let pod = serde_json::json!({"metadata": {"name": "web-0", "ownerReferences": [owner]}});
/// let by_controller = index_of([serde_json::from_value::<Pod>(pod)?], index::controller_uid)?;
/// assert_eq!(by_controller.get("u-1").len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn controller_uid<T: HasOwners>(object: &T) -> Option<Arc<str>> {
    let controller = object.owners().find(|owner| owner.is_controller);
    controller.map(|owner| owner.uid.into())
}

/// The value of one label; objects without it are not in the index.
///
/// ```
/// use informer_factory::{index, index_of};
/// use k8s_openapi::api::core::v1::Pod;
///
/// let pod = serde_json::json!({"metadata": {"name": "web-0", "labels": {"app": "web"}}});
/// let by_app = index_of([serde_json::from_value::<Pod>(pod)?], index::label("app"))?;
/// assert_eq!(by_app.keys("web")[0].as_str(), "web-0");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn label<T: HasLabels>(name: impl Into<String>) -> impl Fn(&T) -> Option<Arc<str>> {
    let name = name.into();
    move |object| object.label(&name).map(Arc::from)
}

/// The node a pod runs on; a pod that is not scheduled is not in the index.
pub fn node<T: HasNode>(object: &T) -> Option<Arc<str>> {
    object.node().map(Arc::from)
}
