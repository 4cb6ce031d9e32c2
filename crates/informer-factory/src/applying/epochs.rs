//! Which of the server's histories each object in the store belongs to.

// FM-39, RFX-15

use std::collections::HashMap;

use informer_store::ObjectKey;

/// The epochs of what the store holds of one source.
///
/// A relist takes all of it into a new epoch at once. A change that was leased before the relist it
/// was received after is ahead of the others until then.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Epochs {
    store: u32,
    ahead: HashMap<ObjectKey, u32>,
}

impl Epochs {
    /// The epoch of one key.
    pub(crate) fn of(&self, key: &ObjectKey) -> u32 {
        // Usually nothing is ahead, and a look into an empty map hashes nothing.
        self.ahead.get(key).copied().unwrap_or(self.store)
    }

    /// One key is of this epoch.
    pub(crate) fn put(&mut self, key: &ObjectKey, epoch: u32) {
        if epoch > self.store {
            self.ahead.insert(key.clone(), epoch);
        } else {
            self.remove(key);
        }
    }

    /// One key is gone.
    pub(crate) fn remove(&mut self, key: &ObjectKey) {
        if !self.ahead.is_empty() {
            self.ahead.remove(key);
        }
    }

    /// The epoch of what is not ahead.
    pub(crate) fn store(&self) -> u32 {
        self.store
    }

    /// Everything is of this epoch, or a later one.
    pub(crate) fn advance(&mut self, epoch: u32) {
        self.store = self.store.max(epoch);
        self.ahead.retain(|_, ahead| *ahead > self.store);
    }
}
