//! The parts of an object that index functions, label selectors and listers read: a trait for each,
//! so that what a type does not have cannot be asked for.

use std::collections::BTreeSet;

use informer_object::{KeyError, ObjectKey};
use k8s_openapi::api::core::v1::Pod;
use kube_core::{Expression, Resource, Selector};

/// An object with a key, for [`lister_of`](crate::lister_of) and [`index_of`](crate::index_of).
///
/// Every type that implements `kube_core::Resource` implements it, [`HasLabels`] and [`HasOwners`].
/// Implement them for a type without an `ObjectMeta`, such as one that a decoder of yours makes or
/// the view of packed objects, to use label selectors and the functions of [`index`](crate::index).
///
/// ```
/// use informer_factory::{HasLabels, KeyError, Object, ObjectKey};
///
/// struct Slim {
///     namespace: String,
///     name: String,
///     app: Option<String>,
/// }
///
/// impl Object for Slim {
///     fn key(&self) -> Result<ObjectKey, KeyError> {
///         ObjectKey::new(Some(&self.namespace), &self.name)
///     }
/// }
///
/// impl HasLabels for Slim {
///     fn label(&self, name: &str) -> Option<&str> {
///         self.app.as_deref().filter(|_| name == "app")
///     }
/// }
/// # let _ = |slim: Slim| slim.key();
/// ```
pub trait Object {
    /// The key under which the object is stored.
    ///
    /// # Errors
    ///
    /// [`KeyError`] for an object without a valid name.
    fn key(&self) -> Result<ObjectKey, KeyError>;
}

/// An object with labels, for [`labelled`](crate::labelled) and
/// [`index::label`](crate::index::label).
pub trait HasLabels {
    /// The value of a label; `None` if the object does not have it.
    fn label(&self, name: &str) -> Option<&str>;
}

/// An object with owners, for [`index::owner_uid`](crate::index::owner_uid) and
/// [`index::controller_uid`](crate::index::controller_uid).
pub trait HasOwners {
    /// The owners of the object, in their order.
    fn owners(&self) -> impl Iterator<Item = Owner<'_>>;
}

/// An object that runs on a node, for [`index::node`](crate::index::node).
pub trait HasNode {
    /// The name of the node; `None` if the object is on no node.
    fn node(&self) -> Option<&str>;
}

/// One owner of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Owner<'a> {
    /// Its uid.
    pub uid: &'a str,
    /// Whether it is the one that manages the object.
    pub is_controller: bool,
}

impl<'a> Owner<'a> {
    /// An owner with this uid.
    pub fn new(uid: &'a str, is_controller: bool) -> Self {
        Self { uid, is_controller }
    }
}

impl<T: Resource> Object for T {
    fn key(&self) -> Result<ObjectKey, KeyError> {
        ObjectKey::of(self)
    }
}

impl<T: Resource> HasLabels for T {
    fn label(&self, name: &str) -> Option<&str> {
        self.meta().labels.as_ref()?.get(name).map(String::as_str)
    }
}

impl<T: Resource> HasOwners for T {
    fn owners(&self) -> impl Iterator<Item = Owner<'_>> {
        let owners = self.meta().owner_references.iter().flatten();
        owners.map(|owner| Owner::new(&owner.uid, owner.controller == Some(true)))
    }
}

impl HasNode for Pod {
    fn node(&self) -> Option<&str> {
        self.spec.as_ref()?.node_name.as_deref()
    }
}

/// The expressions of a selector, collected once for many objects.
pub(crate) struct LabelFilter(Vec<Expression>);

impl LabelFilter {
    pub(crate) fn new(selector: &Selector) -> Self {
        Self(selector.clone().into_iter().collect())
    }

    pub(crate) fn matches<T: HasLabels>(&self, object: &T) -> bool {
        let is_in = |name: &str, values: &BTreeSet<String>| {
            object
                .label(name)
                .is_some_and(|label| values.contains(label))
        };
        self.0.iter().all(|expression| match expression {
            Expression::In(name, values) => is_in(name, values),
            Expression::NotIn(name, values) => !is_in(name, values),
            Expression::Equal(name, value) => object.label(name) == Some(value),
            Expression::NotEqual(name, value) => object.label(name) != Some(value),
            Expression::Exists(name) => object.label(name).is_some(),
            Expression::DoesNotExist(name) => object.label(name).is_none(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use kube_core::SelectorExt;

    use super::*;

    #[test]
    fn a_selector_matches_as_it_does_for_kube() {
        let set = |values: &[&str]| values.iter().map(|&value| value.to_owned()).collect();
        let expressions = [
            Expression::In("a".into(), set(&["x", "y"])),
            Expression::NotIn("a".into(), set(&["x", "y"])),
            Expression::Equal("a".into(), "x".into()),
            Expression::NotEqual("a".into(), "x".into()),
            Expression::Exists("a".into()),
            Expression::DoesNotExist("a".into()),
        ];
        let labels = [None, Some(("a", "x")), Some(("a", "z")), Some(("b", "x"))];
        for (one, other) in expressions.iter().zip(expressions.iter().cycle().skip(2)) {
            for label in labels {
                let selector = Selector::from_iter([one.clone(), other.clone()]);
                let labels = label.map(|(name, value)| (name.to_owned(), value.to_owned()));
                let labels = BTreeMap::from_iter(labels);
                let mut pod = Pod::default();
                pod.metadata.labels = Some(labels.clone());
                let matches = LabelFilter::new(&selector).matches(&pod);
                assert_eq!(
                    matches,
                    selector.matches(&labels),
                    "{selector} on {labels:?}"
                );
            }
        }
    }
}
