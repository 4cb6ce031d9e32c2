//! The estimated memory of an informer, and the warning when it exceeds a limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use informer_processor::ListenerStatus;
use informer_store::StoreMemory;
use metrics::gauge;

use crate::status::telemetry;

/// The estimated memory of an informer in bytes, by what takes it.
///
/// The size of an object is the average of objects that were decoded, before a
/// [`Transform`](crate::Transform): one of 1,024 is measured. A decoder of your own reports it by
/// [`Decode::object_bytes`](crate::Decode::object_bytes). The estimate leaves out what allocators
/// add, and objects that only a reader still holds.
///
/// ```
/// # use informer_factory::SharedInformer;
/// # use k8s_openapi::api::core::v1::Pod;
/// # fn example(pods: &SharedInformer<Pod>) {
/// let memory = pods.status().memory;
/// println!("{} bytes, {} of them for objects", memory.total(), memory.objects);
/// # }
/// # let _ = example;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryStatus {
    /// The stored objects, and what they share, such as dictionaries.
    pub objects: usize,
    /// Keys, uids and versions of the stored objects, and the tables that lead to them.
    pub keys: usize,
    /// Indexes.
    pub indexes: usize,
    /// Changes waiting in the queue, each with an object. A list counts as one, since its objects
    /// are those of the store as soon as it has been applied.
    pub queue: usize,
    /// Notifications pending for handlers, each counted with an object: at most this much, since
    /// handlers share notifications, and the store may still hold the object.
    pub handlers: usize,
}

impl MemoryStatus {
    /// The sum of all parts.
    pub fn total(&self) -> usize {
        let parts = self.parts().into_iter();
        parts.fold(0, |total, (_, bytes)| total.saturating_add(bytes))
    }

    /// The part that takes most, and its bytes.
    pub fn largest(&self) -> (&'static str, usize) {
        let largest = self.parts().into_iter().max_by_key(|(_, bytes)| *bytes);
        largest.expect("there are five parts")
    }

    fn parts(&self) -> [(&'static str, usize); 5] {
        [
            ("objects", self.objects),
            ("keys", self.keys),
            ("indexes", self.indexes),
            ("queue", self.queue),
            ("handlers", self.handlers),
        ]
    }
}

/// Estimates the memory of one informer.
pub(crate) struct MemoryMeter {
    /// The average bytes of an object, if the decoder measures it, and what all objects share.
    object_bytes: Box<dyn Fn() -> (Option<usize>, usize) + Send + Sync>,
    /// The size of the object's type, which is taken otherwise.
    object_size: usize,
    /// The memory above which a warning is logged.
    limit: Option<usize>,
    is_above: AtomicBool,
}

impl MemoryMeter {
    pub(crate) fn new<T>(
        object_bytes: impl Fn() -> (Option<usize>, usize) + Send + Sync + 'static,
        limit: Option<usize>,
    ) -> Self {
        Self {
            object_bytes: Box::new(object_bytes),
            object_size: size_of::<T>(),
            limit,
            is_above: AtomicBool::new(false),
        }
    }

    /// Estimates the memory of a store with this number of objects, of the queue and of handlers.
    pub(crate) fn estimate(
        &self,
        objects: usize,
        store: StoreMemory,
        queued: usize,
        listeners: &[ListenerStatus],
    ) -> MemoryStatus {
        /// A queued change or a pending notification beside its object: key, counts, order.
        const ENTRY: usize = 128;
        // A decoder of the caller may return any number.
        let (object, shared) = (self.object_bytes)();
        let object = object.unwrap_or(self.object_size);
        let change = object.saturating_add(ENTRY);
        let pending: usize = listeners.iter().map(|listener| listener.depth).sum();
        MemoryStatus {
            objects: objects.saturating_mul(object).saturating_add(shared),
            keys: store.records,
            indexes: store.indexes,
            queue: queued.saturating_mul(change),
            handlers: pending.saturating_mul(change),
        }
    }

    /// Publishes an estimate, and logs a warning when it rises above the limit. `informer` is the
    /// informer's name in logs, `label` that in metrics.
    pub(crate) fn publish(&self, memory: &MemoryStatus, informer: &str, label: &Arc<str>) {
        for (part, bytes) in memory.parts() {
            let label = Arc::clone(label);
            gauge!(telemetry::MEMORY, "informer" => label, "part" => part).set(bytes as f64);
        }
        let Some(limit) = self.limit else { return };
        let total = memory.total();
        // Below nine tenths it has fallen, so that an informer near its limit warns once.
        let was_above = self.is_above.load(Ordering::Relaxed);
        let is_above = match was_above {
            true => total > limit / 10 * 9,
            false => total > limit,
        };
        if is_above && !was_above {
            let (largest, bytes) = memory.largest();
            tracing::warn!(
                informer,
                total,
                limit,
                largest,
                bytes,
                "the informer takes more memory than its soft limit; most of it is {largest}"
            );
        }
        self.is_above.store(is_above, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimate_of_an_absurd_object_size_saturates() {
        let meter = MemoryMeter::new::<u8>(|| (Some(usize::MAX), 0), None);
        let memory = meter.estimate(2, StoreMemory::default(), 2, &[]);
        assert_eq!((memory.objects, memory.queue), (usize::MAX, usize::MAX));
        assert_eq!(memory.total(), usize::MAX);
    }
}
