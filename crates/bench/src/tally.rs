//! What handlers have seen, and who waits for it.
//!
//! Each handler counts for itself, so that many of them do not meet at one counter. The driver of
//! kube-runtime includes this file, so it knows nothing but `measure`.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Result, bail};
use tokio::sync::Notify;

use crate::measure;

/// How long handlers may take before the run has failed.
const PATIENCE: Duration = Duration::from_secs(600);

/// What every handler is to see before the clock stops.
#[derive(Debug, Default)]
pub struct Goal {
    handlers: u64,
    /// Calls of each handler since the start.
    target: AtomicU64,
    finished: AtomicU64,
    reached: Notify,
    is_timed: AtomicBool,
    latencies: Mutex<Vec<u64>>,
}

impl Goal {
    /// For as many handlers.
    pub fn new(handlers: usize) -> Arc<Self> {
        Arc::new(Self {
            handlers: handlers as u64,
            ..Self::default()
        })
    }

    /// The count of one handler.
    pub fn tally(self: &Arc<Self>) -> Tally {
        Tally {
            goal: Arc::clone(self),
            count: 0,
            latencies: Vec::new(),
        }
    }

    /// Every handler is to be called so many times more. Only while nothing is on its way.
    pub fn expect(&self, more: u64) {
        self.finished.store(0, Ordering::SeqCst);
        self.target.fetch_add(more, Ordering::SeqCst);
    }

    /// From now on each call also says how old its news are.
    pub fn measure_latency(&self, on: bool) {
        self.is_timed.store(on, Ordering::SeqCst);
    }

    /// How old the news were, in microseconds, the youngest first.
    pub fn take_latencies(&self) -> Vec<u64> {
        let mut latencies = self
            .latencies
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        latencies.sort_unstable();
        std::mem::take(&mut latencies)
    }

    /// Waits until every handler has been called that often.
    ///
    /// # Errors
    /// When that takes too long.
    pub async fn wait(&self) -> Result<()> {
        while self.finished.load(Ordering::SeqCst) < self.handlers {
            let reached = tokio::time::timeout(PATIENCE, self.reached.notified()).await;
            if reached.is_err() {
                let (finished, handlers) = (self.finished.load(Ordering::SeqCst), self.handlers);
                bail!("only {finished} of {handlers} handlers saw what they should");
            }
        }
        Ok(())
    }
}

/// The count of one handler.
#[derive(Debug)]
pub struct Tally {
    goal: Arc<Goal>,
    count: u64,
    latencies: Vec<u64>,
}

impl Tally {
    /// One more call, about news that were published at `stamp`.
    pub fn add<'s>(&mut self, stamp: impl FnOnce() -> Option<&'s str>) {
        self.count += 1;
        if self.goal.is_timed.load(Ordering::Relaxed) {
            if self.latencies.is_empty() {
                // A vector that grows meanwhile would delay the handler.
                let target = self.goal.target.load(Ordering::Relaxed);
                let expected = usize::try_from(target.saturating_sub(self.count)).unwrap_or(0);
                self.latencies.reserve(expected + 1);
            }
            let published = stamp().and_then(|text| text.parse().ok()).unwrap_or(0);
            self.latencies
                .push(measure::stamp().saturating_sub(published));
        }
        if self.count == self.goal.target.load(Ordering::Relaxed) {
            let mut all = self
                .goal
                .latencies
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            all.append(&mut self.latencies);
            drop(all);
            let finished = self.goal.finished.fetch_add(1, Ordering::SeqCst) + 1;
            if finished == self.goal.handlers {
                self.goal.reached.notify_one();
            }
        }
    }
}
