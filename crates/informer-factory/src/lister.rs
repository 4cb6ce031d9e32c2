//! Label filters for listers, and listers and indexes over given objects for tests.

use std::sync::Arc;

use informer_store::{Entry, Index, KeyError, Lister, ObjectKey, store};
use kube_core::Selector;

use crate::object::{HasLabels, LabelFilter, Object};

/// Returns a predicate that holds for the objects whose labels match a selector.
///
/// Use it with `matching` of a [`Lister`] or [`NamespaceLister`](crate::NamespaceLister), or with
/// [`Filtered`](crate::Filtered). A lister scans all objects with it; for a frequent query, add
/// an index, such as [`index::label`](crate::index::label).
///
/// ```
/// use informer_factory::{Selector, labelled, lister_of};
/// use k8s_openapi::api::core::v1::Pod;
///
/// let pod = serde_json::json!({"metadata": {"name": "web-0", "labels": {"app": "web"}}});
/// let pods = lister_of([serde_json::from_value::<Pod>(pod)?])?;
/// let web = Selector::from_iter([("app", "web")]);
/// assert_eq!(pods.matching(labelled(&web)).len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
// LI-01
#[doc(alias = "labels.Selector")]
pub fn labelled<T: HasLabels>(selector: &Selector) -> impl Fn(&T) -> bool + Send + Sync + use<T> {
    let filter = LabelFilter::new(selector);
    move |object| filter.matches(object)
}

/// Builds a lister over given objects, for unit tests of a reconciler: no client, no runtime.
///
/// The last of several objects with one key wins.
///
/// # Errors
///
/// [`KeyError`] for an object without a name.
///
/// ```
/// use informer_factory::lister_of;
/// use k8s_openapi::api::core::v1::Pod;
///
/// let mut pod = Pod::default();
/// pod.metadata.name = Some("nginx".into());
/// pod.metadata.namespace = Some("default".into());
/// let pods = lister_of([pod])?;
/// assert!(pods.namespace("default").get("nginx").is_some());
/// # Ok::<(), informer_factory::KeyError>(())
/// ```
pub fn lister_of<T: Object + Send + Sync + 'static>(
    objects: impl IntoIterator<Item = T>,
) -> Result<Lister<T>, KeyError> {
    Ok(Lister::from_objects(keyed(objects)?))
}

/// Builds an index over given objects, for unit tests of a reconciler that reads an [`Index`].
///
/// `values` is the function that the program gives to
/// [`SharedInformer::add_index`](crate::SharedInformer::add_index), so that the test covers it too.
/// The last of several objects with one key wins.
///
/// # Errors
///
/// [`KeyError`] for an object without a name.
///
/// # Panics
///
/// If `values` panics.
///
/// ```
/// use informer_factory::{Index, index, index_of};
/// use k8s_openapi::api::core::v1::Pod;
///
/// /// Part of a reconciler: the number of pods on a node.
/// fn load(pods_by_node: &Index<Pod>, node: &str) -> usize {
///     pods_by_node.count(node)
/// }
///
/// let pod = serde_json::json!({"metadata": {"name": "web-0"}, "spec": {
///     "nodeName": "node-7", "containers": []
/// }});
/// let pods_by_node = index_of([serde_json::from_value::<Pod>(pod)?], index::node)?;
/// assert_eq!((load(&pods_by_node, "node-7"), load(&pods_by_node, "node-8")), (1, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn index_of<T, F, I, V>(
    objects: impl IntoIterator<Item = T>,
    values: F,
) -> Result<Index<T>, KeyError>
where
    T: Object + Send + Sync + 'static,
    F: Fn(&T) -> I + Send + Sync + 'static,
    I: IntoIterator<Item = V>,
    V: Into<Arc<str>>,
{
    let (mut writer, _) = store();
    for (key, object) in keyed(objects)? {
        writer.upsert(key, Entry::anonymous(object));
    }
    let index = writer.add_index("given objects", values);
    Ok(index.expect("the store has no other index"))
}

/// The objects with their keys.
fn keyed<T: Object>(objects: impl IntoIterator<Item = T>) -> Result<Vec<(ObjectKey, T)>, KeyError> {
    let keyed = objects.into_iter();
    let keyed = keyed.map(|object| object.key().map(|key| (key, object)));
    keyed.collect()
}
