//! An index that is computed over a snapshot and installed later.
//!
//! An index function runs once for every stored object, which takes long in a large store. It does
//! not need the writer: a caller whose writer is behind a lock prepares the index without the lock,
//! and the writer computes only the objects that were stored since.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::Arc;

use derive_where::derive_where;

use crate::index::definition::Definition;
use crate::state::State;
use crate::table::join::joined;
use crate::table::record::Record;
use crate::table::shape::{Shape, Shipped};
use crate::table::values::Sharing;
use crate::{IndexError, ObjectKey, Snapshot};

/// An index with the values of all objects of a snapshot.
///
/// Made by [`Snapshot::prepare_index`], and added to the store by
/// [`StoreWriter::install_index`](crate::StoreWriter::install_index). It keeps the snapshot in
/// memory until then.
#[must_use = "an index answers no query before it is installed"]
#[derive_where(Debug)]
pub struct PreparedIndex<T, S = Shipped> {
    pub(crate) definition: Arc<Definition<T>>,
    /// The number of values one object may give the index.
    most: usize,
    /// The keys of objects that give more; they have no value in the index.
    #[derive_where(skip)]
    pub(crate) above_bound: BTreeSet<ObjectKey>,
    #[derive_where(skip)]
    base: Arc<State<T, S>>,
    /// `base` with the index.
    #[derive_where(skip)]
    pub(crate) next: State<T, S>,
}

/// The removed keys and the stored records between two states.
type Changes<'a, T> = (Vec<&'a ObjectKey>, Vec<&'a Arc<Record<T>>>);

impl<T, S: Shape> Snapshot<T, S> {
    /// Computes an index over the objects of this snapshot, in which an object has at most `most`
    /// values.
    ///
    /// Use it where the writer is behind a lock: the function runs here, on the caller's thread,
    /// once for each object, and
    /// [`install_index`](crate::StoreWriter::install_index) computes only what changed since. See
    /// [`StoreWriter::add_index_bounded`](crate::StoreWriter::add_index_bounded) for the function
    /// and the bound. A panic of the function passes through and leaves the store as it was.
    ///
    /// # Errors
    ///
    /// [`IndexError::NameTaken`] if an index of the snapshot has this name.
    pub fn prepare_index<F, I, V>(
        &self,
        name: impl Into<Arc<str>>,
        most: NonZeroUsize,
        f: F,
    ) -> Result<PreparedIndex<T, S>, IndexError>
    where
        F: Fn(&T) -> I + Send + Sync + 'static,
        I: IntoIterator<Item = V>,
        V: Into<Arc<str>>,
    {
        let definition = Arc::new(Definition::new(name.into(), f));
        self.state.check_name(&definition.name)?;
        let mut prepared = PreparedIndex {
            next: State::default().with_index(&definition),
            definition,
            most: most.get(),
            above_bound: BTreeSet::new(),
            base: Arc::default(),
        };
        prepared.catch_up(self);
        Ok(prepared)
    }
}

impl<T, S: Shape> PreparedIndex<T, S> {
    /// Computes what changed up to a later snapshot, as
    /// [`install_index`](crate::StoreWriter::install_index) does.
    ///
    /// Call it shortly before the installation, outside of the lock, so that little is left to be
    /// computed under the lock. The function is not called for objects that did not change.
    ///
    /// # Panics
    ///
    /// If the index function panics; the prepared index is then as it was before.
    pub fn catch_up(&mut self, snapshot: &Snapshot<T, S>) {
        let current = &snapshot.state;
        if Arc::ptr_eq(&self.base, current) {
            return;
        }
        let base = Arc::clone(&self.base);
        // All values are computed before anything changes.
        let mut sharing = Sharing::default();
        let mut extended = |record| self.extended(record, &mut sharing);
        if let Some((removed, stored)) = changes(&base, current) {
            let stored: Vec<_> = stored.into_iter().map(extended).collect();
            for key in removed {
                self.above_bound.remove(key);
                self.next.remove(key.as_str());
            }
            for (record, is_above) in stored {
                self.above_bound.remove(&record.key);
                self.above_bound
                    .extend(is_above.then(|| record.key.clone()));
                match self.next.items.find(record.key.as_str()) {
                    Some((id, _)) => self.next.update(id, &record),
                    None => self.next.insert(&record),
                }
            }
        } else {
            let mut above_bound = BTreeSet::new();
            let records = current.items.iter().map(|record| {
                let (record, is_above) = extended(record);
                above_bound.extend(is_above.then(|| record.key.clone()));
                record
            });
            let records: Vec<_> = records.collect();
            self.next = State::clone(current).with_index(&self.definition);
            self.next.rebuild(&records);
            self.above_bound = above_bound;
        }
        self.base = Arc::clone(current);
    }

    /// A record with the values of this index too, and whether its object gives too many.
    ///
    /// The function is called only for an object that was not prepared yet.
    fn extended(&self, record: &Arc<Record<T>>, sharing: &mut Sharing) -> (Arc<Record<T>>, bool) {
        let (key, entry) = (record.key.clone(), record.entry.clone());
        let mut values = record.values.to_vec();
        let prepared = self.next.items.get(key.as_str());
        let is_above = match prepared.filter(|prepared| prepared.entry.is_same(&entry)) {
            Some(prepared) => {
                values.extend_from_slice(prepared.values_of(self.definition.id));
                values.sort_unstable();
                self.above_bound.contains(&key)
            }
            None if planted!(IndexNotFilled) => false,
            None => {
                let computed = self
                    .definition
                    .compute(&entry.object, self.most, &mut values);
                computed.is_err()
            }
        };
        let values = sharing.share(&mut values);
        (Arc::new(Record { key, entry, values }), is_above)
    }
}

/// The records that differ between two states, found by their addresses. `None` if they are more
/// than a quarter or the indexes differ: it is cheaper to start anew then.
fn changes<'a, T, S: Shape>(
    base: &'a State<T, S>,
    current: &'a State<T, S>,
) -> Option<Changes<'a, T>> {
    let ids = |state: &'a State<T, S>| state.indexes.iter().map(|index| index.definition.id);
    let (mut removed, mut stored) = (Vec::new(), Vec::new());
    let pairs = joined(base.items.iter(), current.items.iter(), |old, new| {
        // The same record has the same key, which need not be read.
        if Arc::ptr_eq(old, new) {
            return Ordering::Equal;
        }
        old.key.cmp(&new.key)
    });
    for pair in pairs {
        match pair {
            (Some(old), Some(new)) if Arc::ptr_eq(old, new) => {}
            (_, Some(new)) => stored.push(new),
            (old, None) => removed.extend(old.map(|old| &old.key)),
        }
    }
    let is_little = (removed.len() + stored.len()) * 4 <= current.items.len();
    (is_little && ids(base).eq(ids(current))).then_some((removed, stored))
}
