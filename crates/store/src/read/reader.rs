//! The reading half of a store.
//!
//! Each query is answered from one state, loaded by reading one pointer: a reader never waits for
//! the writer, nor the writer for a reader. Two queries may see two states; take a [`Snapshot`]
//! where they must agree.

use std::fmt;
use std::sync::Arc;

use derive_where::derive_where;

use crate::published::{Guard, Published};
use crate::state::State;
use crate::table::shape::{Shape, Shipped};
use crate::{Entry, Index, IndexError, ObjectKey, ResourceVersion, Scope, Snapshot};

/// The reading half of a store: cheap to clone, usable from any thread.
///
/// ```
/// use informer_store::{Entry, ObjectKey, store};
///
/// let (mut writer, reader) = store::<u32>();
/// writer.upsert(ObjectKey::new(Some("web"), "a")?, Entry::anonymous(1));
/// let elsewhere = reader.clone();
/// assert_eq!(elsewhere.get("web/a").as_deref(), Some(&1));
/// assert_eq!(elsewhere.namespace("web").len(), 1);
/// # Ok::<(), informer_store::KeyError>(())
/// ```
#[doc(alias = "Store")]
#[doc(alias = "Indexer")]
#[derive_where(Clone)]
pub struct StoreReader<T, S = Shipped> {
    published: Published<T, S>,
}

impl<T, S: Shape> StoreReader<T, S> {
    pub(crate) fn new(published: Published<T, S>) -> Self {
        Self { published }
    }

    pub(crate) fn load(&self) -> Guard<Arc<State<T, S>>> {
        self.published.load()
    }

    /// Everything as of now, in O(1); later commits do not change it.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot<T, S> {
        Snapshot::new(self.published.load_full())
    }

    /// The object stored under a key (`namespace/name`, or `name` for cluster scope), to keep.
    ///
    /// A caller that looks up many objects and keeps none borrows them from a [`Snapshot`],
    /// which is faster.
    #[must_use]
    #[doc(alias = "GetByKey")]
    pub fn get(&self, key: impl AsRef<str>) -> Option<Arc<T>> {
        self.look(key, |entry| Arc::clone(&entry.object))
    }

    /// The entry stored under a key.
    #[must_use]
    pub fn get_entry(&self, key: impl AsRef<str>) -> Option<Entry<T>> {
        self.look(key, Entry::clone)
    }

    /// Calls `look` with the entry stored under a key, in place: nothing is cloned, and no
    /// reference count changes. `None` if the key is not stored.
    ///
    /// The state stays in memory until `look` returns.
    #[must_use]
    #[inline]
    pub fn look<R>(&self, key: impl AsRef<str>, look: impl FnOnce(&Entry<T>) -> R) -> Option<R> {
        let state = self.load();
        state
            .items
            .get(key.as_ref())
            .map(|record| look(&record.entry))
    }

    /// Whether a key is stored.
    #[must_use]
    pub fn contains(&self, key: impl AsRef<str>) -> bool {
        self.look(key, |_| ()).is_some()
    }

    /// The number of objects.
    #[must_use]
    pub fn len(&self) -> usize {
        self.load().items.len()
    }

    /// Whether nothing is stored.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.load().items.is_empty()
    }

    /// All keys, sorted.
    #[must_use]
    #[doc(alias = "ListKeys")]
    pub fn keys(&self) -> Vec<ObjectKey> {
        self.load()
            .items
            .iter()
            .map(|record| record.key.clone())
            .collect()
    }

    /// All objects, in key order.
    #[must_use]
    pub fn list(&self) -> Vec<Arc<T>> {
        self.load().items.iter().objects()
    }

    /// The objects of one namespace, in key order.
    #[must_use]
    pub fn namespace(&self, namespace: &str) -> Vec<Arc<T>> {
        self.load().items.namespace(namespace).objects()
    }

    /// Returns the handle of an index that was added before, for code that did not add it itself.
    ///
    /// ```
    /// use informer_store::{Entry, store};
    ///
    /// let (mut writer, reader) = store::<String>();
    /// writer.add_index("length", |text: &String| [text.len().to_string()])?;
    /// writer.upsert("default/greeting".parse()?, Entry::anonymous("hello".to_owned()));
    /// let by_length = reader.index("length")?;
    /// assert_eq!(by_length.count("5"), 1);
    /// assert!(reader.index("width").is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`IndexError::UnknownIndex`], which names the indexes there are.
    // IX-08
    pub fn index(&self, name: &str) -> Result<Index<T, S>, IndexError> {
        let state = self.load();
        let definition = &state.index(name)?.definition;
        Ok(Index::new(self.published.clone(), definition))
    }

    /// The objects that have a value in an index, in key order; none for an unknown value.
    ///
    /// # Errors
    ///
    /// [`IndexError::UnknownIndex`].
    // IX-08
    #[doc(alias = "ByIndex")]
    pub fn by_index(&self, name: &str, value: &str) -> Result<Vec<Arc<T>>, IndexError> {
        let state = self.load();
        if planted!(QueryLooksTwice) {
            let keys = self.index_keys(name, value)?;
            return Ok(keys
                .iter()
                .filter_map(|key| self.get(key.as_str()))
                .collect());
        }
        let records = state.bucket(Some(state.index(name)?), value);
        Ok(records.objects())
    }

    /// The keys that have a value in an index, sorted.
    ///
    /// # Errors
    ///
    /// [`IndexError::UnknownIndex`].
    // IX-08
    #[doc(alias = "IndexKeys")]
    pub fn index_keys(&self, name: &str, value: &str) -> Result<Vec<ObjectKey>, IndexError> {
        let state = self.load();
        let records = state.bucket(Some(state.index(name)?), value);
        Ok(records.map(|record| record.key.clone()).collect())
    }

    /// The values of an index that at least one object has, sorted.
    ///
    /// # Errors
    ///
    /// [`IndexError::UnknownIndex`].
    // IX-09
    #[doc(alias = "ListIndexFuncValues")]
    pub fn index_values(&self, name: &str) -> Result<Vec<Arc<str>>, IndexError> {
        Ok(self.load().index(name)?.values().cloned().collect())
    }

    /// The names of the indexes, in the order in which they were added.
    #[must_use]
    #[doc(alias = "GetIndexers")]
    pub fn index_names(&self) -> Vec<Arc<str>> {
        self.load().index_names()
    }

    /// The number of the last commit, 0 before the first.
    #[must_use]
    pub fn sequence(&self) -> u64 {
        self.load().sequence
    }

    /// Up to which version a source has been applied; `None` if none was set.
    #[must_use]
    #[doc(alias = "LastStoreSyncResourceVersion")]
    pub fn version(&self, scope: &Scope) -> Option<ResourceVersion> {
        self.load().versions.get(scope).cloned()
    }
}

impl<T, S: Shape> fmt::Debug for StoreReader<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.load().debug("StoreReader", f)
    }
}
