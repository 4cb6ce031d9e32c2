//! Panics of user code that runs in the informer's own tasks and calls: a subscriber of the log,
//! and a type's `Resource`.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use informer_factory::{InformerState, ResourceVersion, SharedInformer};
use informer_testkit::{ApiServer, Fault, Match, Times};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_core::Resource;
use serde::Deserialize;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::cluster::{self, QUEUES, SOON, pods};
use crate::world::World;

/// Panics at the first line of the log that contains a text.
struct Touchy {
    text: &'static str,
    panicked: AtomicBool,
}

impl Touchy {
    fn at(text: &'static str) -> Self {
        let panicked = AtomicBool::new(false);
        Self { text, panicked }
    }
}

/// Whether a line contains a text.
struct Search(&'static str, bool);

impl Visit for Search {
    fn record_debug(&mut self, _: &Field, value: &dyn std::fmt::Debug) {
        self.1 |= format!("{value:?}").contains(self.0);
    }
}

impl Subscriber for Touchy {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("informer")
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut search = Search(self.text, false);
        event.record(&mut search);
        if search.1 && !self.panicked.swap(true, Ordering::Relaxed) {
            // Not by `panic!`, whose hook would write to standard error.
            resume_unwind(Box::new("planned"));
        }
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// FM-39, FM-82: whichever step of a new epoch a panic interrupts, versions can be waited for
/// afterwards.
#[tokio::test(start_paused = true)]
async fn versions_are_reached_after_a_panic_within_the_beginning_of_an_epoch() {
    for (text, unseen) in [("history was rewound", false), ("no watch reported", true)] {
        for queue in QUEUES {
            let subscriber = Touchy::at(text);
            let _log = tracing::subscriber::set_default(subscriber);
            let world = World::synced(queue, &["a", "b"]).await;
            let backup = world.server.version();
            world.change("a");
            world.told.wait(1).await;
            if unseen {
                world.server.restore(backup).expect("within the history");
                world.server.skip_versions(1_000);
                world.server.compact();
                world.server.cut_watches();
            } else {
                let expired = Fault::expired_event();
                world.server.fault(Match::watch(), expired, Times::Once);
                world.server.restore(backup).expect("within the history");
            }
            tokio::time::sleep(SOON).await;
            let status = world.informer.status();
            assert_eq!(status.task_panics, 1, "{text}: {status:?}");
            assert_eq!(status.state, InformerState::Synced, "{text}: {status:?}");
            let [source] = &*status.sources else {
                panic!("{status:?}");
            };
            assert_eq!(source.epoch, source.applied_epoch, "{text}: {status:?}");
            let version = ResourceVersion::from(world.change("a"));
            let waited = world.informer.wait_for_version(&version, SOON).await;
            waited.unwrap_or_else(|error| panic!("{text}: {error}"));
        }
    }
}

/// A pod of a type whose path cannot be had at first.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
struct Odd(Pod);

static READY: AtomicBool = AtomicBool::new(false);

impl Resource for Odd {
    type DynamicType = ();
    type Scope = NamespaceResourceScope;

    fn kind(_: &()) -> Cow<'_, str> {
        "Pod".into()
    }

    fn group(_: &()) -> Cow<'_, str> {
        "".into()
    }

    fn version(_: &()) -> Cow<'_, str> {
        "v1".into()
    }

    fn plural(_: &()) -> Cow<'_, str> {
        "pods".into()
    }

    fn url_path(_: &(), namespace: Option<&str>) -> String {
        if !READY.load(Ordering::Relaxed) {
            resume_unwind(Box::new("planned"));
        }
        Pod::url_path(&(), namespace)
    }

    fn meta(&self) -> &ObjectMeta {
        &self.0.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.0.metadata
    }
}

/// The panic is the caller's, and nothing has been started.
#[tokio::test(start_paused = true)]
async fn a_start_that_panics_can_be_repeated() {
    let server = ApiServer::new();
    let created = server.create(&pods(), cluster::pod("a", "n1"));
    created.expect("created");
    let factory = cluster::factory(&server, QUEUES[0]);
    let informer: SharedInformer<Odd> = factory.informer();
    let started = catch_unwind(AssertUnwindSafe(|| informer.start()));
    assert!(started.is_err(), "the panic passes through");
    assert_eq!(informer.status().state, InformerState::Created);
    READY.store(true, Ordering::Relaxed);
    informer.start().expect("a runtime");
    informer.wait_synced(SOON).await.expect("synced");
    assert_eq!(informer.lister().all().len(), 1);
    assert_eq!(informer.status().sources.len(), 1);
}
