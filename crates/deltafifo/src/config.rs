//! What a queue is made with.

use std::num::NonZeroU32;

use derive_where::derive_where;

use crate::transform::{TransformError, TransformFn};

/// Options of [`DeltaFifo`](crate::DeltaFifo) and [`InOrderQueue`](crate::InOrderQueue).
#[derive_where(Debug)]
#[non_exhaustive]
pub struct Config<V> {
    /// How often an item is leased before it leaves the queue as [`Exhausted`](crate::Exhausted).
    /// Default 5: what fails five times in a row on the same input will not succeed by itself, and
    /// until it is settled nothing behind it is handed out.
    pub max_attempts: NonZeroU32,
    #[derive_where(skip)]
    pub(crate) transform: Option<TransformFn<V>>,
}

impl<V> Config<V> {
    /// Sets how often an item is leased before it leaves the queue.
    #[must_use]
    pub fn max_attempts(mut self, attempts: NonZeroU32) -> Self {
        self.max_attempts = attempts;
        self
    }

    /// Sets a change that is applied once to every object received, before it is queued. Default:
    /// none.
    // DF-14, FQ-12
    #[must_use]
    pub fn transform(
        mut self,
        transform: impl FnMut(V) -> Result<V, TransformError> + Send + 'static,
    ) -> Self {
        self.transform = Some(Box::new(transform));
        self
    }
}

impl<V> Default for Config<V> {
    fn default() -> Self {
        Self {
            max_attempts: MAX_ATTEMPTS,
            transform: None,
        }
    }
}

const MAX_ATTEMPTS: NonZeroU32 = NonZeroU32::new(5).expect("five is not zero");
