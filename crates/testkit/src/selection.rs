//! What part of a collection a list or a watch is about: a namespace and two selectors.

use crate::{FieldSelector, LabelSelector, Object};

/// Which objects of a collection are meant. The default is all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Selection {
    /// Only this namespace.
    pub namespace: Option<String>,
    /// Only these labels.
    pub labels: LabelSelector,
    /// Only these fields.
    pub fields: FieldSelector,
}

impl Selection {
    /// Whether the object is meant.
    pub fn matches(&self, object: &Object) -> bool {
        let namespace = self.namespace.as_deref();
        namespace.is_none_or(|namespace| object.namespace() == Some(namespace))
            && self.labels.matches(object.labels())
            && self.fields.matches(object)
    }
}
