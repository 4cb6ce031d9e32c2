//! Lists by label selector, and listers over given objects for tests.

use std::sync::Arc;

use informer_store::{KeyError, Lister, NamespaceLister};
use kube_core::Selector;

use crate::object::{LabelFilter, Object};

/// Lists by label selector.
// LI-01
pub trait ListByLabels<T> {
    /// The objects whose labels match, from one snapshot, in key order.
    ///
    /// Scans all objects; for a frequent lookup, add an index.
    fn labelled(&self, selector: &Selector) -> Vec<Arc<T>>;
}

macro_rules! list_by_labels {
    ($($lister:ident)*) => {$(
        impl<T: Object + Send + Sync + 'static> ListByLabels<T> for $lister<T> {
            fn labelled(&self, selector: &Selector) -> Vec<Arc<T>> {
                if selector.selects_all() {
                    return self.all();
                }
                let filter = LabelFilter::new(selector);
                self.matching(|object| filter.matches(object))
            }
        }
    )*};
}

list_by_labels!(Lister NamespaceLister);

/// Builds a lister over given objects, for unit tests of a reconciler: no client, no runtime.
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
pub fn lister_of<T: Object + Send + Sync + 'static>(
    objects: impl IntoIterator<Item = T>,
) -> Result<Lister<T>, KeyError> {
    let keyed = objects.into_iter();
    let keyed = keyed.map(|object| object.key().map(|key| (key, object)));
    Ok(Lister::from_objects(keyed.collect::<Result<Vec<_>, _>>()?))
}
