//! The queue's own transform, for use without a layer that decodes.
//!
//! Runs once per object received, in the producer's call, before anybody else sees the
//! object; never on tombstones or resyncs. An object that cannot be
//! transformed does not poison the rest: it is left out and reported, and the
//! call goes on. client-go refuses the whole call instead, so that one such object in a list
//! makes every relist fail for ever.

// DF-14, FQ-12, FM-57, FM-53

use std::collections::VecDeque;
use std::error::Error;

use thiserror::Error;

use crate::tombstone::Final;

/// Shrinks or changes an object before it is queued.
pub(crate) type TransformFn<V> = Box<dyn FnMut(V) -> Result<V, TransformError> + Send>;

/// Why an object could not be transformed.
#[derive(Debug, Error)]
#[error("the object could not be transformed")]
pub struct TransformError {
    #[source]
    cause: Box<dyn Error + Send + Sync>,
}

impl TransformError {
    /// An error with its cause: another error, or a text.
    pub fn new(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            cause: cause.into(),
        }
    }
}

/// An object that was left out because it could not be transformed. Its key keeps the state
/// that the consumer holds, until the next change or relist.
#[derive(Debug)]
#[non_exhaustive]
pub struct Rejected<K> {
    /// Whose object it was.
    pub key: K,
    /// Why.
    pub error: TransformError,
}

/// How many rejections are kept until they are taken; older ones go first.
const REJECTED: usize = 1024;

/// The transform of one queue, and what it rejected.
pub(crate) struct Intake<K, V> {
    transform: Option<TransformFn<V>>,
    rejected: VecDeque<Rejected<K>>,
}

impl<K: Clone, V> Intake<K, V> {
    pub(crate) fn new(transform: Option<TransformFn<V>>) -> Self {
        Self {
            transform,
            rejected: VecDeque::new(),
        }
    }

    /// The object as it is to be queued, or nothing if it was rejected.
    #[inline]
    pub(crate) fn admit(&mut self, key: &K, value: V) -> Option<V> {
        match &mut self.transform {
            None => Some(value),
            Some(_) => self.transformed(key, value),
        }
    }

    #[cold]
    fn transformed(&mut self, key: &K, value: V) -> Option<V> {
        let error = match self.transform.as_mut()?(value) {
            Ok(value) => return Some(value),
            Err(error) => error,
        };
        let key = key.clone();
        if self.rejected.len() == REJECTED {
            self.rejected.pop_front();
        }
        self.rejected.push_back(Rejected { key, error });
        None
    }

    /// The last state of a deleted object as it is to be queued, or nothing if it was rejected.
    pub(crate) fn admit_last(&mut self, key: &K, last: Final<V>) -> Option<Final<V>> {
        match last {
            Final::Observed(value) => self.admit(key, value).map(Final::Observed),
            unknown @ Final::Unknown(_) => Some(unknown),
        }
    }

    /// The objects of a list as they are to be queued, in the memory of the list.
    pub(crate) fn admit_all(&mut self, items: Vec<(K, V)>) -> Vec<(K, Option<V>)> {
        let admit = |(key, value)| {
            let value = self.admit(&key, value);
            (key, value)
        };
        items.into_iter().map(admit).collect()
    }

    pub(crate) fn take_rejected(&mut self) -> Vec<Rejected<K>> {
        self.rejected.drain(..).collect()
    }
}
