//! Queries of a reconciler: all objects, those of a namespace, those that match a predicate.
//!
//! A lister can be filled by hand, so that a reconciler that takes a lister is tested without a
//! store and its writer. Selection is by predicate; labels are a matter of `informer-factory`.

use std::fmt;
use std::sync::Arc;

use derive_where::derive_where;

use crate::{Batch, Entry, ObjectKey, StoreReader, store};

// LI-01..05.
/// Lists and gets the objects of a store.
///
/// ```
/// use informer_store::{Lister, ObjectKey};
///
/// let objects = [(ObjectKey::new(Some("web"), "a")?, 1), (ObjectKey::new(Some("db"), "b")?, 2)];
/// let lister = Lister::from_objects(objects);
/// assert_eq!(lister.matching(|object| *object > 1).len(), 1);
/// assert_eq!(lister.namespace("web").get("a").as_deref(), Some(&1));
/// # Ok::<(), informer_store::KeyError>(())
/// ```
#[doc(alias = "GenericLister")]
#[derive_where(Clone)]
pub struct Lister<T> {
    reader: StoreReader<T>,
}

impl<T> Lister<T> {
    /// A lister over a store.
    #[must_use]
    pub fn new(reader: StoreReader<T>) -> Self {
        Self { reader }
    }

    /// The store's reader, for queries that a lister does not have.
    #[must_use]
    pub fn reader(&self) -> &StoreReader<T> {
        &self.reader
    }

    /// All objects, in key order.
    #[must_use]
    #[doc(alias = "ListAll")]
    pub fn all(&self) -> Vec<Arc<T>> {
        self.reader.list()
    }

    // LI-01.
    /// The objects for which a predicate holds, in key order. Only these are cloned.
    #[must_use]
    pub fn matching(&self, predicate: impl Fn(&T) -> bool) -> Vec<Arc<T>> {
        self.namespace("").matching(predicate)
    }

    /// The object stored under a key (`namespace/name`, or `name` for cluster scope).
    ///
    /// `None` where client-go returns a not-found error.
    // LI-03.
    #[must_use]
    pub fn get(&self, key: impl AsRef<str>) -> Option<Arc<T>> {
        self.reader.get(key)
    }

    /// A lister for one namespace; "" stands for all namespaces.
    // LI-02.
    #[must_use]
    #[doc(alias = "ByNamespace")]
    pub fn namespace(&self, namespace: impl Into<Arc<str>>) -> NamespaceLister<T> {
        NamespaceLister {
            reader: self.reader.clone(),
            namespace: namespace.into(),
        }
    }
}

impl<T: Send + Sync + 'static> Lister<T> {
    /// Makes a lister over the given objects, for tests of code that takes a lister.
    ///
    /// The last of several objects with one key wins.
    pub fn from_objects(objects: impl IntoIterator<Item = (ObjectKey, T)>) -> Self {
        let (mut writer, reader) = store();
        let mut batch = Batch::new();
        for (key, object) in objects {
            batch.upsert(key, Entry::anonymous(object));
        }
        writer.commit(batch);
        Self { reader }
    }
}

impl<T> fmt::Debug for Lister<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lister")
            .field("objects", &self.reader.len())
            .finish_non_exhaustive()
    }
}

/// Lists and gets the objects of one namespace.
#[doc(alias = "GenericNamespaceLister")]
#[derive_where(Clone, Debug)]
pub struct NamespaceLister<T> {
    namespace: Arc<str>,
    #[derive_where(skip(Debug))]
    reader: StoreReader<T>,
}

impl<T> NamespaceLister<T> {
    /// The objects of the namespace, in key order; the others are not visited.
    #[must_use]
    #[doc(alias = "ListAllByNamespace")]
    pub fn all(&self) -> Vec<Arc<T>> {
        self.matching(|_| true)
    }

    /// The objects of the namespace for which a predicate holds, in key order.
    #[must_use]
    pub fn matching(&self, predicate: impl Fn(&T) -> bool) -> Vec<Arc<T>> {
        let snapshot = self.reader.snapshot();
        let entries = if self.namespace.is_empty() {
            snapshot.iter()
        } else {
            snapshot.namespace(&self.namespace)
        };
        let matching = entries.filter(|(_, entry)| predicate(&entry.object));
        matching
            .map(|(_, entry)| Arc::clone(&entry.object))
            .collect()
    }

    /// The object of this name. Where the namespace is "", an object of cluster scope.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Arc<T>> {
        if self.namespace.is_empty() {
            return self.reader.get(name);
        }
        self.reader.get(format!("{}/{name}", self.namespace))
    }
}
