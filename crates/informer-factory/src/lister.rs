//! Listers that know Kubernetes: by label selector, and over objects of one's own for tests.

use std::sync::Arc;

use informer_store::{KeyError, Lister, NamespaceLister, ObjectKey};
use kube_core::{Resource, Selector, SelectorExt};

/// Lists by label selector (LI-01).
pub trait ListByLabels<T> {
    /// The objects whose labels match, from one snapshot, in key order.
    ///
    /// A scan; for a question asked often, add an index.
    fn labelled(&self, selector: &Selector) -> Vec<Arc<T>>;
}

impl<T: Resource + Send + Sync + 'static> ListByLabels<T> for Lister<T> {
    fn labelled(&self, selector: &Selector) -> Vec<Arc<T>> {
        if selector.selects_all() {
            return self.all();
        }
        self.matching(|object| matches(object, selector))
    }
}

impl<T: Resource + Send + Sync + 'static> ListByLabels<T> for NamespaceLister<T> {
    fn labelled(&self, selector: &Selector) -> Vec<Arc<T>> {
        if selector.selects_all() {
            return self.all();
        }
        self.matching(|object| matches(object, selector))
    }
}

fn matches<T: Resource>(object: &T, selector: &Selector) -> bool {
    match &object.meta().labels {
        Some(labels) => selector.matches(labels),
        None => selector.matches(&std::collections::BTreeMap::new()),
    }
}

/// A lister over objects of your own, for unit tests of a reconciler: no client, no runtime.
///
/// # Errors
///
/// [`KeyError`] for an object without a name.
///
/// ```
/// use informer_factory::{ListByLabels, lister_of};
/// use k8s_openapi::api::core::v1::Pod;
/// use kube_core::Selector;
///
/// let mut pod = Pod::default();
/// pod.metadata.name = Some("nginx".into());
/// pod.metadata.namespace = Some("default".into());
/// let pods = lister_of([pod])?;
/// assert!(pods.namespace("default").get("nginx").is_some());
/// assert_eq!(pods.labelled(&Selector::from_iter([("app", "web")])).len(), 0);
/// # Ok::<(), informer_store::KeyError>(())
/// ```
pub fn lister_of<T: Resource + Send + Sync + 'static>(
    objects: impl IntoIterator<Item = T>,
) -> Result<Lister<T>, KeyError> {
    let keyed = objects.into_iter().map(|object| {
        let meta = object.meta();
        let name = meta.name.as_deref().unwrap_or_default();
        ObjectKey::new(meta.namespace.as_deref(), name).map(|key| (key, object))
    });
    Ok(Lister::from_objects(keyed.collect::<Result<Vec<_>, _>>()?))
}
