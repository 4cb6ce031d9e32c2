//! The reflector's own task panics (FM-82). Nothing of a user's runs in it but a recorder of
//! metrics, so that is what panics here.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};

use informer_factory::reflector::FailureKind;
use informer_factory::{InformerState, telemetry};
use informer_testkit::Verb;

use crate::cluster::QUEUES;
use crate::world::World;

/// Panics when lists are to be counted, the given number of times.
struct Touchy {
    panics: AtomicUsize,
    panicked: AtomicUsize,
}

impl Touchy {
    fn new(panics: usize) -> Self {
        Self {
            panics: AtomicUsize::new(panics),
            panicked: AtomicUsize::new(0),
        }
    }

    fn panicked(&self) -> usize {
        self.panicked.load(Ordering::Relaxed)
    }
}

impl Recorder for Touchy {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        let take = |left: usize| left.checked_sub(1);
        if key.name() == telemetry::LISTS
            && let Ok(_) = self
                .panics
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take)
        {
            self.panicked.fetch_add(1, Ordering::Relaxed);
            // Not by `panic!`, whose hook would write to standard error.
            resume_unwind(Box::new("planned"));
        }
        Counter::noop()
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

/// It is counted and begun anew, from the latest state, and nobody is told anything twice.
#[tokio::test(start_paused = true)]
async fn a_reflector_that_panics_is_begun_anew() {
    for queue in QUEUES {
        let recorder = Touchy::new(1);
        let _counted = metrics::set_default_local_recorder(&recorder);
        let world = World::synced(queue, &["a", "b"]).await;
        world.converges().await;
        assert_eq!(recorder.panicked(), 1);
        let status = world.informer.status();
        assert_eq!(
            (status.task_panics, status.state),
            (1, InformerState::Synced)
        );
        let lists = world.requests(Verb::List);
        let versions: Vec<_> = lists.iter().map(|list| &*list.line.version).collect();
        assert_eq!(versions, ["0", ""], "not older than what was held");
        assert_eq!(world.told.wait(1).await.len(), 1, "only `last` is new");
    }
}

/// An informer whose reflector panics each time it is started does not look healthy.
#[tokio::test(start_paused = true)]
async fn reflector_that_panics_again_and_again_is_a_failure() {
    let world = World::synced(QUEUES[0], &["a"]).await;
    let recorder = Touchy::new(usize::MAX);
    let _broken = metrics::set_default_local_recorder(&recorder);
    world.gap();
    world.create("b");
    tokio::time::sleep(Duration::from_secs(300)).await;
    let status = world.informer.status();
    assert_eq!(status.state, InformerState::Degraded);
    let failure = status.sources[0].failure.as_ref().expect("it fails");
    assert_eq!(failure.kind, FailureKind::Panicked);
    assert!(status.task_panics > 1);
}
