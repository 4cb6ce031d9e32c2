//! The load: so many changes a second, for so long, and at the end as many pods as before.
//!
//! Mostly updates, nine of ten of them to a tenth of the pods, as in clusters; one in fifty is a
//! node's. Three in a hundred are a deletion, and the next change then is the creation of another
//! pod. The choice is random and the same in every run. Never writes without a limit: what a slow
//! machine does not manage in time is not written.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use tokio::sync::oneshot;
use tokio::time::{Instant, MissedTickBehavior};

use super::cluster::Cluster;
use super::pod::PodName;
use crate::failure::Failure;

/// Between two looks at the clock.
const TICK: Duration = Duration::from_millis(5);

/// How many changes are written before others get their turn.
const TURN: u64 = 64;

/// How many are written at most before the clock is looked at again.
const BURST: u64 = 4_096;

/// What the load has done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Produced {
    /// How many changes were written.
    pub(super) events: u64,
    /// In which time.
    pub(super) time: Duration,
}

/// How many changes were written so far; clones see the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Counter(Arc<AtomicU64>);

impl Counter {
    pub(super) fn load(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Writes the changes.
pub(super) struct Load {
    cluster: Arc<Cluster>,
    random: StdRng,
    /// The pods there are; the first tenth changes most.
    pods: Vec<PodName>,
    /// The number of the next new pod.
    next: u32,
    /// The place of a pod that was deleted and has no successor yet.
    vacant: Option<usize>,
    events: Counter,
}

impl Load {
    pub(super) fn new(cluster: Arc<Cluster>) -> Self {
        let next = cluster.pods();
        Self {
            cluster,
            random: StdRng::seed_from_u64(7),
            pods: (0..next).map(PodName::of).collect(),
            next,
            vacant: None,
            events: Counter::default(),
        }
    }

    pub(super) fn counter(&self) -> Counter {
        self.events.clone()
    }

    /// Writes `rate` changes a second for `time`, or until `stopped`.
    pub(super) async fn run(
        &mut self,
        rate: u32,
        time: Duration,
        mut stopped: oneshot::Receiver<()>,
    ) -> Result<Produced, Failure> {
        let start = Instant::now();
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = &mut stopped => break,
                _ = tick.tick() => {}
            }
            let elapsed = start.elapsed().min(time);
            let due = (f64::from(rate) * elapsed.as_secs_f64()) as u64;
            let burst = due.min(self.events.load() + BURST);
            while self.events.load() < burst {
                self.change()?;
                if self.events.load().is_multiple_of(TURN) {
                    tokio::task::yield_now().await;
                }
            }
            if elapsed >= time {
                break;
            }
        }
        if self.vacant.is_some() {
            self.change()?;
        }
        Ok(Produced {
            events: self.events.load(),
            time: start.elapsed(),
        })
    }

    /// Writes one change.
    fn change(&mut self) -> Result<(), Failure> {
        let count = self.events.0.fetch_add(1, Ordering::Relaxed);
        if let Some(place) = self.vacant.take() {
            self.cluster.create_pod(self.next)?;
            self.pods[place] = PodName::of(self.next);
            self.next += 1;
            return Ok(());
        }
        match self.random.random_range(0..100) {
            0..3 => {
                let place = self.random.random_range(0..self.pods.len());
                self.cluster.delete_pod(&self.pods[place])?;
                self.vacant = Some(place);
                Ok(())
            }
            3..5 => {
                let node = self.random.random_range(0..self.cluster.nodes());
                self.cluster.touch_node(node)
            }
            _ => {
                let hot = self.random.random_range(0..10) > 0;
                let range = if hot {
                    self.pods.len().div_ceil(10)
                } else {
                    self.pods.len()
                };
                let place = self.random.random_range(0..range);
                self.cluster.update_pod(&self.pods[place], count)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use informer_testkit::Resource;

    use super::*;

    /// The promise of `objects` at the end, wherever the load is cut.
    #[test]
    fn as_many_pods_at_the_end_as_at_the_start() {
        let cluster = Arc::new(Cluster::new(50));
        (0..cluster.nodes()).for_each(|n| cluster.create_node(n).expect("new"));
        (0..50).for_each(|n| cluster.create_pod(n).expect("new"));
        let mut load = Load::new(Arc::clone(&cluster));
        let mut deletions = 0;
        for _ in 0..2_000 {
            load.change().expect("the server takes it");
            deletions += usize::from(load.vacant.is_some());
            let vacant = usize::from(load.vacant.is_some());
            assert_eq!(cluster.server().count(&Resource::pods()), 50 - vacant);
        }
        assert!(deletions > 20, "{deletions}");
        assert_eq!(load.counter().load(), 2_000);
        assert!(cluster.node_version() > 0 && cluster.pod_version() > 0);
    }
}
