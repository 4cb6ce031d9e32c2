//! A typed handle to one index.
//!
//! A caller that added an index queries it through the handle, without its name and without an
//! error for an unknown index.

use std::sync::Arc;

use derive_where::derive_where;

use crate::ObjectKey;
use crate::index::definition::Definition;
use crate::published::Published;
use crate::table::shape::{Shape, Shipped};

/// One index of a store. Every query is answered from one state; no query fails.
///
/// After the index is removed, every query returns nothing.
///
/// ```
/// use informer_store::{Entry, ObjectKey, store};
///
/// let (mut writer, _reader) = store::<&str>();
/// let by_first = writer.add_index("first letter", |text: &&str| [text[..1].to_owned()])?;
/// writer.upsert(ObjectKey::new(None, "x")?, Entry::anonymous("apple"));
/// assert_eq!(by_first.get("a").len(), 1);
/// assert_eq!(by_first.count("b"), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive_where(Clone, Debug)]
pub struct Index<T, S = Shipped> {
    name: Arc<str>,
    #[derive_where(skip(Debug))]
    id: u64,
    #[derive_where(skip(Debug))]
    published: Published<T, S>,
}

impl<T, S: Shape> Index<T, S> {
    pub(crate) fn new(published: Published<T, S>, definition: &Definition<T>) -> Self {
        Self {
            name: Arc::clone(&definition.name),
            id: definition.id,
            published,
        }
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// The name under which the index was added.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The objects that have this value, in key order.
    #[must_use]
    #[doc(alias = "ByIndex")]
    pub fn get(&self, value: &str) -> Vec<Arc<T>> {
        let state = self.published.load();
        state.bucket(state.index_by_id(self.id), value).objects()
    }

    /// The keys that have this value, sorted.
    #[must_use]
    #[doc(alias = "IndexKeys")]
    pub fn keys(&self, value: &str) -> Vec<ObjectKey> {
        let state = self.published.load();
        let records = state.bucket(state.index_by_id(self.id), value);
        records.map(|record| record.key.clone()).collect()
    }

    /// The values that at least one object has, sorted.
    #[must_use]
    #[doc(alias = "ListIndexFuncValues")]
    pub fn values(&self) -> Vec<Arc<str>> {
        let state = self.published.load();
        let index = state.index_by_id(self.id);
        index.map_or_else(Vec::new, |index| index.values().cloned().collect())
    }

    /// Whether any object has this value.
    #[must_use]
    pub fn contains(&self, value: &str) -> bool {
        self.count(value) > 0
    }

    /// How many objects have this value.
    #[must_use]
    pub fn count(&self, value: &str) -> usize {
        let state = self.published.load();
        state.bucket(state.index_by_id(self.id), value).len()
    }
}
