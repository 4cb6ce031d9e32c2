//! The only hand that changes a store.
//!
//! A mutation is made on a private clone of the state and becomes visible by swapping one pointer,
//! so that readers see all of it or nothing (STX-4), and neither side waits for the other. There
//! is one writer per store and it cannot be cloned: order among writes is the order of calls.

use std::fmt;
use std::sync::Arc;

use crate::index::{Definition, IndexState};
use crate::published::ArcSwap;
use crate::state::State;
use crate::{Batch, Commit, Entry, Index, IndexError, ObjectKey, Scope, StoreReader};

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
    pub fn version(&self, scope: &Scope) -> Option<&Arc<str>> {
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
        self.step(|state, commit| state.apply_all(batch.operations, commit))
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
        self.step(|state, commit| state.upsert(key, entry, commit))
    }

    /// Removes one object; nothing happens if it is not stored (ST-03).
    pub fn delete(&mut self, key: &ObjectKey) -> Commit {
        self.step(|state, commit| state.delete(key.as_str(), commit))
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
        version: Arc<str>,
    ) -> Commit {
        self.step(|state, commit| {
            state.replace(&scope, entries, commit);
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
        let name = name.into();
        if self.state.index(&name).is_ok() {
            return Err(IndexError::NameTaken { name });
        }
        let definition = Arc::new(Definition {
            id: self.next_index,
            name: Arc::clone(&name),
            function: Box::new(move |object: &T, visit: &mut dyn FnMut(Arc<str>)| {
                for value in f(object) {
                    visit(value.into());
                }
            }),
        });
        let mut next = State::clone(&self.state);
        next.add_index(IndexState::new(definition));
        self.publish(next);
        let handle = Index::new(self.reader(), self.next_index, name);
        self.next_index += 1;
        Ok(handle)
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
        self.step(|state, commit| {
            for operation in batch.operations {
                state.apply(operation, commit);
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

    fn step(&mut self, change: impl FnOnce(&mut State<T>, &mut Commit)) -> Commit {
        let mut next = State::clone(&self.state);
        next.sequence += 1;
        let mut commit = Commit {
            sequence: next.sequence,
            ..Commit::default()
        };
        change(&mut next, &mut commit);
        self.publish(next);
        commit
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
