//! The reflector's own task panics (FM-82). Nothing of a user's runs in it but a recorder of
//! metrics, so that is what panics here.

use std::sync::atomic::{AtomicBool, Ordering};

use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};

use informer_factory::reflector::FailureKind;
use informer_factory::{InformerState, telemetry};
use informer_testkit::Verb;

use crate::cluster::QUEUES;
use crate::world::World;

/// Panics when the first list is to be counted.
#[derive(Default)]
struct Touchy {
    has_panicked: AtomicBool,
}

impl Recorder for Touchy {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        let is_of_lists = key.name() == telemetry::LISTS;
        assert!(
            !is_of_lists || self.has_panicked.swap(true, Ordering::Relaxed),
            "planned"
        );
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
        let recorder = Touchy::default();
        let _counted = metrics::set_default_local_recorder(&recorder);
        let world = World::synced(queue, &["a", "b"]).await;
        world.converges().await;
        assert!(recorder.has_panicked.load(Ordering::Relaxed));
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

/// Panics whenever a list is to be counted.
struct Broken;

impl Recorder for Broken {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        if key.name() == telemetry::LISTS {
            std::panic::resume_unwind(Box::new("planned"));
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

/// An informer whose reflector panics each time it is started does not look healthy.
#[tokio::test(start_paused = true)]
async fn reflector_that_panics_again_and_again_is_a_failure() {
    let world = World::synced(QUEUES[0], &["a"]).await;
    let _broken = metrics::set_default_local_recorder(&Broken);
    world.gap();
    world.create("b");
    tokio::time::sleep(std::time::Duration::from_secs(300)).await;
    let status = world.informer.status();
    assert_eq!(status.state, InformerState::Degraded);
    let failure = status.sources[0].failure.as_ref().expect("it fails");
    assert_eq!(failure.kind, FailureKind::Panicked);
    assert!(status.task_panics > 1);
}
