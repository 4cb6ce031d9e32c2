//! Panics of one listener's user code: counted, and logged once a second.

use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::boundary::{Panicked, guarded};
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::now;

/// The panics of one listener. See the module.
#[derive(Debug)]
pub(crate) struct Panics {
    listener: Arc<str>,
    count: AtomicU64,
    log: Mutex<LogGate>,
}

impl Panics {
    pub(crate) fn new(listener: Arc<str>) -> Self {
        Self {
            listener,
            count: AtomicU64::new(0),
            log: Mutex::default(),
        }
    }

    pub(crate) fn counted(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    pub(crate) fn count(&self) {
        self.count.fetch_add(1, Ordering::AcqRel);
    }

    /// Runs user code that is not a callback. A panic is counted and logged.
    pub(crate) fn guard<R>(&self, what: &str, f: impl FnOnce() -> R) -> Option<R> {
        let panicked = match guarded(f) {
            Ok(result) => return Some(result),
            Err(panicked) => panicked,
        };
        self.count();
        self.log(what, &panicked, None::<&()>);
        None
    }

    /// Drops a value whose drop may run user code.
    #[inline]
    pub(crate) fn release<V>(&self, value: V) {
        self.guard("a drop", || drop(value));
    }

    /// Logs a panic, unless one was logged within the last second.
    pub(crate) fn log(&self, what: &str, panicked: &Panicked, key: Option<&impl Debug>) {
        let mut gate = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let admitted = gate.admit(now());
        drop(gate);
        let Some(suppressed) = admitted else {
            return;
        };
        // `Debug` of a key is user code. A second panic adds nothing to the first.
        let _second = guarded(|| {
            tracing::error!(
                listener = %self.listener,
                key = key.map(tracing::field::debug),
                panic = %panicked.message,
                suppressed,
                "{what} panicked; its notification is skipped",
            );
        });
    }
}

/// One line a second is enough to see that a handler panics, and not enough to fill a disk.
const INTERVAL: Duration = Duration::from_secs(1);

/// Admits one log line per interval and counts the others. The time is an argument.
#[derive(Debug, Default)]
pub(crate) struct LogGate {
    next: Option<Instant>,
    suppressed: u64,
}

impl LogGate {
    /// The number of lines left out since the last one, if a line may be written now.
    pub(crate) fn admit(&mut self, now: Instant) -> Option<u64> {
        if self.next.is_some_and(|next| now < next) {
            self.suppressed += 1;
            return None;
        }
        self.next = now.checked_add(INTERVAL);
        Some(std::mem::take(&mut self.suppressed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_per_interval_and_the_rest_is_counted() {
        let mut gate = LogGate::default();
        let start = crate::sync::now();
        assert_eq!(gate.admit(start), Some(0));
        assert_eq!(gate.admit(start), None);
        assert_eq!(gate.admit(start + INTERVAL / 2), None);
        assert_eq!(gate.admit(start + INTERVAL), Some(2));
        assert_eq!(gate.admit(start + 3 * INTERVAL), Some(0));
    }
}
