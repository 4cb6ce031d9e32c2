//! The writing half of a store.
//!
//! A change is made to a private clone of the state and becomes visible when one pointer is
//! swapped, so readers see all of it or nothing, and neither side waits for the other. A store has
//! one writer, which cannot be cloned: writes happen in the order of calls.
//!
//! User code runs in the writer at two places: index functions run in commits and in
//! [`StoreWriter::add_index`], before anything changes; destructors of displaced objects run at the
//! end of a commit, unless a [`Snapshot`] keeps the state before.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;

use crate::published::{ArcSwap, Published};
use crate::state::State;
use crate::table::record::Draft;
use crate::table::shape::{Shape, Shipped};
use crate::table::values::IndexedValue;
use crate::write::apply::{Commit, Step};
use crate::{
    Batch, Entry, Index, IndexError, ObjectKey, PreparedIndex, ResourceVersion, Scope, Snapshot,
    StoreReader, TooManyValues,
};

/// Makes an empty store without indexes.
#[must_use]
#[doc(alias = "NewStore")]
#[doc(alias = "NewIndexer")]
#[doc(alias = "NewThreadSafeStore")]
pub fn store<T: Send + Sync + 'static>() -> (StoreWriter<T>, StoreReader<T>) {
    let writer = StoreWriter::new();
    let reader = writer.reader();
    (writer, reader)
}

/// The writing half of a store; there is exactly one.
///
/// Dropping it leaves the last state to the readers.
///
/// ```
/// use informer_store::{Entry, ObjectKey, Scope, store};
///
/// let (mut writer, reader) = store::<u32>();
/// let key = ObjectKey::new(None, "a")?;
/// let list = vec![(key.clone(), Entry::anonymous(1))];
/// assert_eq!(writer.replace(Scope::All, list, "7".into()).inserted, 1);
/// assert_eq!(writer.remove(&key).removed, 1);
/// assert!(reader.is_empty());
/// # Ok::<(), informer_store::KeyError>(())
/// ```
#[doc(alias = "ThreadSafeStore")]
#[doc(alias = "Indexer")]
pub struct StoreWriter<T, S = Shipped> {
    /// What readers see.
    pub(crate) state: Arc<State<T, S>>,
    published: Published<T, S>,
    /// The room of the last commit, for the next one.
    values: Vec<IndexedValue>,
}

impl<T: Send + Sync + 'static, S: Shape> StoreWriter<T, S> {
    pub(crate) fn new() -> Self {
        let state = Arc::new(State::default());
        let published = Arc::new(ArcSwap::from(Arc::clone(&state)));
        Self {
            state,
            published,
            values: Vec::new(),
        }
    }

    /// Everything as of the last commit.
    ///
    /// A caller that commits under a lock of its own takes a snapshot before the commit, and drops
    /// it after it released the lock: what the commit displaces is then dropped with the snapshot,
    /// and no destructor of an object runs under the lock.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot<T, S> {
        Snapshot::new(Arc::clone(&self.state))
    }

    /// Another reader of this store.
    #[must_use]
    pub fn reader(&self) -> StoreReader<T, S> {
        StoreReader::new(Arc::clone(&self.published))
    }

    /// Makes a batch visible in one step: items, indexes, applied versions and the sequence.
    ///
    /// An empty batch is a commit too, and has a sequence number. Objects that the batch displaces
    /// are dropped here; see [`snapshot`](Self::snapshot) to drop them elsewhere.
    ///
    /// # Panics
    ///
    /// If an index function panics; the store is then as it was before.
    // STX-10.
    #[doc(alias = "Transaction")]
    pub fn commit(&mut self, batch: Batch<T>) -> Commit {
        planted!(BatchIsTorn => return self.commit_torn(batch));
        self.step(|state, step| state.apply_all(batch.operations, step))
    }

    /// Makes a batch visible in one step, unless an object in it gives an index more than `most`
    /// values.
    ///
    /// Duplicates count. Use it where clients choose the values that an index finds in their
    /// objects: each value costs memory as long as the object is stored.
    ///
    /// # Errors
    ///
    /// [`TooManyValues`] names all such objects; the store is then as it was before.
    ///
    /// # Panics
    ///
    /// As [`commit`](Self::commit).
    pub fn commit_bounded(
        &mut self,
        batch: Batch<T>,
        most: NonZeroUsize,
    ) -> Result<Commit, TooManyValues> {
        planted!(BatchIsTorn => return Ok(self.commit_torn(batch)));
        let (mut next, mut step) = self.next_step(most.get());
        next.apply_all(batch.operations, &mut step);
        if !step.above_bound.is_empty() {
            let mut keys = step.above_bound;
            keys.sort_unstable();
            keys.dedup();
            return Err(TooManyValues { most, keys });
        }
        self.publish(next);
        self.values = step.values;
        Ok(step.commit)
    }

    /// Stores one object, whether or not its key is stored.
    // ST-02.
    ///
    /// # Panics
    ///
    /// As [`commit`](Self::commit).
    #[doc(alias = "Add")]
    #[doc(alias = "Update")]
    pub fn upsert(&mut self, key: ObjectKey, entry: Entry<T>) -> Commit {
        self.step(|state, step| state.upsert(Draft::new(key, entry), step))
    }

    /// Removes one object; nothing happens if it is not stored.
    // ST-03.
    #[doc(alias = "Delete")]
    pub fn remove(&mut self, key: &ObjectKey) -> Commit {
        self.step(|state, step| state.delete(key, step))
    }

    /// Makes the keys of a scope those of the list and sets its version; see [`Batch::replace`].
    ///
    /// # Panics
    ///
    /// As [`commit`](Self::commit).
    pub fn replace(
        &mut self,
        scope: Scope,
        entries: Vec<(ObjectKey, Entry<T>)>,
        version: ResourceVersion,
    ) -> Commit {
        self.step(|state, step| {
            state.replace(&scope, entries, step);
            state.versions.insert(scope, version);
        })
    }

    /// Adds an index, at any time, and fills it with the stored objects before readers see it.
    ///
    /// The function returns the values under which an object is found: any number, also none;
    /// duplicates collapse. It runs on the caller's thread, once for each stored object. Where that
    /// is too long for the writer, use [`Snapshot::prepare_index`] and
    /// [`install_index`](Self::install_index). Adding an index is not a commit. The store keeps the
    /// function: one that holds a reader or an index of the same store keeps the store alive.
    // IX-10, FM-60.
    ///
    /// # Errors
    ///
    /// [`IndexError::NameTaken`]; nothing is added then.
    ///
    /// # Panics
    ///
    /// If the function panics; the store is then as it was before.
    #[doc(alias = "AddIndexers")]
    pub fn add_index<F, I, V>(
        &mut self,
        name: impl Into<Arc<str>>,
        f: F,
    ) -> Result<Index<T, S>, IndexError>
    where
        F: Fn(&T) -> I + Send + Sync + 'static,
        I: IntoIterator<Item = V>,
        V: Into<Arc<str>>,
    {
        // No object can give more values than that.
        let (index, _) = self.add_index_bounded(name, NonZeroUsize::MAX, f)?;
        Ok(index)
    }

    /// Adds an index in which an object has at most `most` values.
    ///
    /// A stored object that has more stays in the store and has no value in this index; its key is
    /// returned. Everything else is as for [`add_index`](Self::add_index). Later changes are
    /// held to the bound by [`commit_bounded`](Self::commit_bounded).
    ///
    /// # Errors
    ///
    /// [`IndexError::NameTaken`]; nothing is added then.
    ///
    /// # Panics
    ///
    /// As [`add_index`](Self::add_index).
    pub fn add_index_bounded<F, I, V>(
        &mut self,
        name: impl Into<Arc<str>>,
        most: NonZeroUsize,
        f: F,
    ) -> Result<(Index<T, S>, Vec<ObjectKey>), IndexError>
    where
        F: Fn(&T) -> I + Send + Sync + 'static,
        I: IntoIterator<Item = V>,
        V: Into<Arc<str>>,
    {
        self.install_index(self.snapshot().prepare_index(name, most, f)?)
    }

    /// Adds an index that was prepared over a snapshot of this store, in one step.
    ///
    /// The index function runs here only for objects that were stored since the snapshot; the rest
    /// costs a comparison of two addresses for each stored object. Everything else is as for
    /// [`add_index_bounded`](Self::add_index_bounded).
    ///
    /// # Errors
    ///
    /// [`IndexError::NameTaken`]; nothing is added then.
    ///
    /// # Panics
    ///
    /// If the function panics; the store is then as it was before.
    pub fn install_index(
        &mut self,
        mut prepared: PreparedIndex<T, S>,
    ) -> Result<(Index<T, S>, Vec<ObjectKey>), IndexError> {
        self.state.check_name(&prepared.definition.name)?;
        if !planted!(InstallSkipsCatchUp) {
            prepared.catch_up(&self.snapshot());
        }
        let index = Index::new(Arc::clone(&self.published), &prepared.definition);
        self.publish(State {
            sequence: self.state.sequence,
            versions: self.state.versions.clone(),
            ..prepared.next
        });
        Ok((index, prepared.above_bound.into_iter().collect()))
    }

    /// Removes an index; handles to it answer nothing from now on.
    ///
    /// # Errors
    ///
    /// [`IndexError::UnknownIndex`].
    pub fn remove_index(&mut self, name: &str) -> Result<(), IndexError> {
        let id = self.state.index(name)?.definition.id;
        let mut next = State::clone(&self.state);
        Arc::make_mut(&mut next.indexes).retain(|index| index.definition.id != id);
        self.publish(next);
        Ok(())
    }

    /// The planted bug: every operation becomes visible by itself.
    #[cfg(any(test, sim))]
    fn commit_torn(&mut self, batch: Batch<T>) -> Commit {
        let published = Arc::clone(&self.published);
        self.step(|state, step| {
            for operation in batch.operations {
                state.apply(operation, step);
                published.store(Arc::new(state.clone()));
            }
        })
    }

    fn step(&mut self, change: impl FnOnce(&mut State<T, S>, &mut Step)) -> Commit {
        let (mut next, mut step) = self.next_step(usize::MAX);
        change(&mut next, &mut step);
        self.publish(next);
        self.values = step.values;
        step.commit
    }

    /// A state that nobody sees yet, and an account of what becomes of it.
    fn next_step(&mut self, most: usize) -> (State<T, S>, Step) {
        let mut next = State::clone(&self.state);
        next.sequence += 1;
        let commit = Commit {
            sequence: next.sequence,
            ..Commit::default()
        };
        let step = Step {
            commit,
            most,
            above_bound: Vec::new(),
            values: std::mem::take(&mut self.values),
        };
        (next, step)
    }

    fn publish(&mut self, next: State<T, S>) {
        self.state = Arc::new(next);
        self.published.store(Arc::clone(&self.state));
    }
}

impl<T, S: Shape> fmt::Debug for StoreWriter<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.state.debug("StoreWriter", f)
    }
}
