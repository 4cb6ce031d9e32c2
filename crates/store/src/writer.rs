//! The only hand that changes a store.
//!
//! A mutation is made on a private clone of the state and becomes visible by swapping one pointer,
//! so that readers see all of it or nothing (STX-4), and neither side waits for the other. There
//! is one writer per store and it cannot be cloned: order among writes is the order of calls.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;

use crate::index::{Definition, IndexState, Visit};
use crate::published::ArcSwap;
use crate::state::{State, Step};
use crate::{
    Batch, Commit, Entry, Index, IndexError, ObjectKey, ResourceVersion, Scope, StoreReader,
    TooManyValues,
};

/// Makes an empty store without indexes.
#[must_use]
#[doc(alias = "NewStore")]
#[doc(alias = "NewIndexer")]
#[doc(alias = "NewThreadSafeStore")]
pub fn store<T: Send + Sync + 'static>() -> (StoreWriter<T>, StoreReader<T>) {
    let state = Arc::new(State::empty());
    let published = Arc::new(ArcSwap::from(Arc::clone(&state)));
    let reader = StoreReader::new(Arc::clone(&published));
    (
        StoreWriter {
            state,
            published,
            next_index: 0,
        },
        reader,
    )
}

/// The writing half of a store; there is exactly one.
///
/// Dropping it leaves the last state to the readers.
#[doc(alias = "ThreadSafeStore")]
#[doc(alias = "Indexer")]
pub struct StoreWriter<T> {
    /// What readers see.
    state: Arc<State<T>>,
    published: Arc<ArcSwap<State<T>>>,
    next_index: u64,
}

impl<T: Send + Sync + 'static> StoreWriter<T> {
    /// The entry stored under a key, as of the last commit.
    #[must_use]
    pub fn get(&self, key: &ObjectKey) -> Option<&Entry<T>> {
        self.state
            .items
            .get(key.as_str())
            .map(|record| &record.entry)
    }

    /// The number of objects, as of the last commit.
    #[must_use]
    pub fn len(&self) -> usize {
        self.state.items.len()
    }

    /// Whether nothing is stored, as of the last commit.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.state.items.is_empty()
    }

    /// The number of the last commit, 0 before the first.
    #[must_use]
    pub fn sequence(&self) -> u64 {
        self.state.sequence
    }

    /// Up to which version a source has been applied; `None` if it was never marked.
    #[must_use]
    pub fn version(&self, scope: &Scope) -> Option<&ResourceVersion> {
        self.state.versions.get(scope)
    }

    /// Another reader of this store.
    #[must_use]
    pub fn reader(&self) -> StoreReader<T> {
        StoreReader::new(Arc::clone(&self.published))
    }

    /// Makes a batch visible in one step: items, indexes, applied versions and the sequence.
    ///
    /// An empty batch is a commit too, and has a sequence number.
    ///
    /// # Panics
    ///
    /// If an index function panics; the store is then as it was before (STX-10).
    #[doc(alias = "Transaction")]
    pub fn commit(&mut self, batch: Batch<T>) -> Commit {
        planted!(BatchIsTorn => return self.commit_torn(batch));
        self.step(|state, step| state.apply_all(batch.operations, step))
    }

    /// Makes a batch visible in one step, unless an object in it gives an index more than `most`
    /// values.
    ///
    /// Duplicates count. Use it where the objects come from somebody who may choose what an index
    /// finds in them: each value costs memory for as long as the object is stored.
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
        Ok(step.commit)
    }

    /// Stores one object; the same as [`update`](Self::update) (ST-02).
    ///
    /// # Panics
    ///
    /// As [`commit`](Self::commit).
    pub fn add(&mut self, key: ObjectKey, entry: Entry<T>) -> Commit {
        self.update(key, entry)
    }

    /// Stores one object, whether or not its key is known (ST-02).
    ///
    /// # Panics
    ///
    /// As [`commit`](Self::commit).
    pub fn update(&mut self, key: ObjectKey, entry: Entry<T>) -> Commit {
        self.step(|state, step| state.upsert(key, entry, step))
    }

    /// Removes one object; nothing happens if it is not stored (ST-03).
    pub fn delete(&mut self, key: &ObjectKey) -> Commit {
        self.step(|state, step| state.delete(key.as_str(), step))
    }

    /// Makes the keys of a scope those of the list and marks its version; see [`Batch::replace`].
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

    /// Adds an index, at any time, and fills it from what is stored before readers can see it.
    ///
    /// The function gives every value the object is to be found under; duplicates collapse, and
    /// none is a good answer. It runs on the writer's thread, once for each stored object. It does
    /// not count as a commit (IX-10, FM-60). The store keeps it: a function that holds a reader or
    /// an index of the same store keeps all of it alive for ever.
    ///
    /// # Errors
    ///
    /// [`IndexError::NameTaken`]; nothing is added then.
    ///
    /// # Panics
    ///
    /// If the function panics; the store is then as it was before (STX-10).
    #[doc(alias = "AddIndexers")]
    pub fn add_index<F, I, V>(
        &mut self,
        name: impl Into<Arc<str>>,
        f: F,
    ) -> Result<Index<T>, IndexError>
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
    /// A stored object that gives more stays in the store and has no value in this index; its key
    /// is returned. Everything else is as for [`add_index`](Self::add_index). Later changes are
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
    ) -> Result<(Index<T>, Vec<ObjectKey>), IndexError>
    where
        F: Fn(&T) -> I + Send + Sync + 'static,
        I: IntoIterator<Item = V>,
        V: Into<Arc<str>>,
    {
        let name = name.into();
        if self.state.index(&name).is_ok() {
            return Err(IndexError::NameTaken { name });
        }
        let definition = Arc::new(Definition {
            id: self.next_index,
            name: Arc::clone(&name),
            function: Box::new(move |object: &T, visit: &mut Visit<'_>| {
                for value in f(object) {
                    if visit(value.into()).is_break() {
                        return;
                    }
                }
            }),
        });
        let mut next = State::clone(&self.state);
        let above_bound = next.add_index(IndexState::new(definition), most.get());
        self.publish(next);
        let handle = Index::new(self.reader(), self.next_index, name);
        self.next_index += 1;
        Ok((handle, above_bound))
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

    /// A planted bug shows every operation by itself.
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

    /// Whether the parts of the store agree with each other (STX-2).
    #[cfg(any(test, fuzzing))]
    pub(crate) fn is_sound(&self) -> bool {
        let state = &self.state;
        state.items.is_sound()
            && state.indexes.iter().all(|index| {
                let values = state
                    .items
                    .iter()
                    .map(|record| record.values_of(index.definition.id));
                index.entries() == values.map(<[_]>::len).sum::<usize>()
            })
    }

    fn step(&mut self, change: impl FnOnce(&mut State<T>, &mut Step)) -> Commit {
        let (mut next, mut step) = self.next_step(usize::MAX);
        change(&mut next, &mut step);
        self.publish(next);
        step.commit
    }

    /// A state that nobody sees yet, and an account of what becomes of it.
    fn next_step(&self, most: usize) -> (State<T>, Step) {
        let mut next = State::clone(&self.state);
        next.sequence += 1;
        let step = Step::new(next.sequence, most);
        (next, step)
    }

    fn publish(&mut self, next: State<T>) {
        self.state = Arc::new(next);
        self.published.store(Arc::clone(&self.state));
    }
}

impl<T> fmt::Debug for StoreWriter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreWriter")
            .field("sequence", &self.state.sequence)
            .field("objects", &self.state.items.len())
            .finish_non_exhaustive()
    }
}
