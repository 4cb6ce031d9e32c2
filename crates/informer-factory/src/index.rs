//! Index functions that nearly every controller wants, ready made.
//!
//! Each answers the values of one object; hand it to [`crate::SharedInformer::add_index`].

use k8s_openapi::api::core::v1::Pod;

use crate::Object;

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
pub fn owner_uid<T: Object>(object: &T) -> Vec<String> {
    let uids = object.owners().map(|owner| owner.uid.to_owned());
    uids.collect()
}

/// The uid of the one owner that is the controller, if there is one.
pub fn controller_uid<T: Object>(object: &T) -> Option<String> {
    let controller = object.owners().find(|owner| owner.is_controller);
    controller.map(|owner| owner.uid.to_owned())
}

/// The value of one label; objects without it are not in the index.
pub fn label<T: Object>(name: impl Into<String>) -> impl Fn(&T) -> Option<String> {
    let name = name.into();
    move |object| object.label(&name).map(ToOwned::to_owned)
}

/// The node a pod runs on; a pod that is not scheduled is not in the index.
pub fn node(pod: &Pod) -> Option<String> {
    pod.spec.as_ref()?.node_name.clone()
}
