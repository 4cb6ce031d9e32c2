//! Looks at the store from within its index function: a reader in the middle of a commit.
//!
//! Whatever it sees must be a whole state. Everything of a run is polled on one thread, so nobody
//! else could ever look at that moment (STX-4, FM-13, FM-74).

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
};

use informer_factory::{
    StoreReader,
    store::{Scope, Snapshot},
};
use tokio::time::Instant;

use crate::{evidence::Glimpse, object::Content};

pub(crate) struct Lookout<T> {
    reader: StoreReader<T>,
    start: Instant,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    /// The number of the commit that was seen last.
    sequence: u64,
    glimpses: Vec<Glimpse>,
}

impl<T: Content> Lookout<T> {
    pub(crate) fn new(reader: StoreReader<T>, start: Instant) -> Self {
        Self {
            reader,
            start,
            seen: Mutex::default(),
        }
    }

    /// Notes what is there, once for each commit that can be seen.
    pub(crate) fn look(&self) {
        let snapshot = self.reader.snapshot();
        let mut seen = self.lock();
        if seen.sequence == snapshot.sequence() {
            return;
        }
        seen.sequence = snapshot.sequence();
        let glimpse = self.glimpse(&snapshot);
        seen.glimpses.extend(glimpse);
    }

    pub(crate) fn take(&self) -> Vec<Glimpse> {
        std::mem::take(&mut self.lock().glimpses)
    }

    fn glimpse(&self, snapshot: &Snapshot<T>) -> Option<Glimpse> {
        let applied = snapshot.version(&Scope::All)?.as_number()?;
        let held = snapshot.iter();
        let held = held.map(|(key, entry)| (key.clone(), entry.object.serial()));
        Some(Glimpse {
            at: self.start.elapsed(),
            applied,
            held: held.collect(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> fmt::Debug for Lookout<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lookout").finish_non_exhaustive()
    }
}
