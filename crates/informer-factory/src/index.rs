//! Index functions that nearly every controller wants, ready made.
//!
//! Each answers the values of one object; hand it to [`crate::SharedInformer::add_index`].

use k8s_openapi::api::core::v1::Pod;
use kube_core::Resource;

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
pub fn owner_uid<T: Resource>(object: &T) -> Vec<String> {
    let owners = object.meta().owner_references.iter().flatten();
    owners.map(|owner| owner.uid.clone()).collect()
}

/// The uid of the one owner that is the controller, if there is one.
pub fn controller_uid<T: Resource>(object: &T) -> Option<String> {
    let mut owners = object.meta().owner_references.iter().flatten();
    owners
        .find(|owner| owner.controller == Some(true))
        .map(|owner| owner.uid.clone())
}

/// The value of one label; objects without it are not in the index.
pub fn label<T: Resource>(name: impl Into<String>) -> impl Fn(&T) -> Option<String> {
    let name = name.into();
    move |object| object.meta().labels.as_ref()?.get(&name).cloned()
}

/// The node a pod runs on; a pod that is not scheduled is not in the index.
pub fn node(pod: &Pod) -> Option<String> {
    pod.spec.as_ref()?.node_name.clone()
}
