//! What informers and handlers share: objects, transforms, a process, a log.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Once};
use std::time::Duration;

use informer_factory::processor::handler_fn;
use informer_factory::{
    Added, InformerOptions, ListenerConfig, Notification, ObjectKey, SharedInformerFactory,
    Transform,
};
use informer_testkit::{ApiServer, Fault, Match, Resource, Times};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod, Secret, Service};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::cluster::{self, QUEUES, Recorder, SOON, pods};
use crate::world::{HOUR, World, plain};

/// FM-57, FQ-12: once for each object that was received. Tombstones, resyncs, late handlers, and
/// what a relist finds unchanged are no reason to transform again.
#[tokio::test(start_paused = true)]
async fn a_transform_runs_once_for_each_object_received() {
    for streaming in [false, true] {
        for queue in QUEUES {
            let server = ApiServer::new();
            for name in ["a", "b"] {
                let created = server.create(&pods(), cluster::pod(name, "n1"));
                created.expect("created");
            }
            let runs = Arc::new(AtomicUsize::new(0));
            let counted = Arc::clone(&runs);
            let transform = Transform::new(move |pod: Pod| {
                counted.fetch_add(1, Ordering::Relaxed);
                Ok(pod)
            });
            let mut reflector = plain();
            reflector.streaming = streaming;
            let options = InformerOptions::new().reflector(reflector);
            let factory = cluster::factory(&server, queue);
            let informer = factory.informer_with::<Pod>(options.transform(transform));
            let informer = informer.expect("a fresh factory");
            let told = Recorder::default();
            let config = ListenerConfig::named("eager").resync(Duration::from_secs(5));
            let added = informer.add_handler_with(told.clone(), config);
            added.expect("running");
            factory.start().expect("a runtime");
            factory.wait_synced(SOON).await.expect("synced");
            told.wait(2).await;
            assert_eq!(runs.load(Ordering::Relaxed), 2, "the first list");

            let patch = serde_json::json!({"spec": {"nodeName": "n2"}});
            let patched = server.patch(&pods(), "default", "a", patch);
            patched.expect("patched");
            told.wait(1).await;
            tokio::time::sleep(Duration::from_secs(20)).await;
            assert!(told.take().iter().all(|line| line.ends_with(" Resync")));
            informer.add_handler(Recorder::default()).expect("running");
            assert_eq!(runs.load(Ordering::Relaxed), 3, "one change");

            server.skip_versions(3);
            server.compact_and_forget();
            server.close_watches();
            server.delete(&pods(), "default", "b").expect("deleted");
            let c = server.create(&pods(), cluster::pod("c", "n1"));
            let c = c.expect("created").version().to_string().into();
            let reached = informer.wait_for_version(&c, SOON).await;
            reached.expect("reached");
            assert_eq!(runs.load(Ordering::Relaxed), 4, "one that is new");
        }
    }
}

/// FM-62, STX-5: an object that a handler has in hand is the store's own. It cannot be changed
/// there; who wants to change it changes a copy.
#[tokio::test(start_paused = true)]
async fn a_handler_can_only_change_a_copy() {
    for queue in QUEUES {
        let world = World::new(queue, &["a"]);
        let kept = Arc::new(Mutex::new(Vec::new()));
        let keeps = Arc::clone(&kept);
        let handler = handler_fn(move |news: &Notification<ObjectKey, Pod>| {
            if let Notification::Added(Added { object, .. }) = news {
                let mut own = Arc::clone(object);
                assert!(Arc::get_mut(&mut own).is_none(), "it is shared");
                Arc::make_mut(&mut own).spec = None;
                keeps.lock().expect("whole").push(own);
            }
        });
        world.informer.add_handler(handler).expect("running");
        world.start().await;
        world.converges().await;
        let kept = kept.lock().expect("whole");
        assert_eq!(kept.len(), 2);
        for own in kept.iter() {
            let name = own.metadata.name.as_deref().expect("named");
            let key = format!("default/{name}");
            let stored = world.informer.lister().get(&key).expect("stored");
            assert!(own.spec.is_none() && stored.spec.is_some());
        }
        assert_eq!(world.informer.status().handlers[1].panics, 0);
    }
}

/// When which resource was asked for, in an hour with some trouble; one of seven fails for good if
/// `with_a_culprit`.
async fn requests_of_the_others(with_a_culprit: bool) -> Vec<(Duration, String)> {
    let server = ApiServer::new();
    let factory = SharedInformerFactory::builder(cluster::client(&server));
    let factory = factory.seed(7).build().expect("legal");
    if with_a_culprit {
        let culprit = Match::any().resource(&Resource::nodes());
        let forbidden = Fault::status(403, "Forbidden", "no access to nodes");
        server.fault(culprit, forbidden, Times::Always);
    }
    factory.informer::<Node>();
    factory.informer::<Pod>();
    factory.informer::<ConfigMap>();
    factory.informer::<Secret>();
    factory.informer::<Service>();
    factory.informer::<Deployment>();
    factory.informer::<Lease>();
    factory.start().expect("a runtime");
    tokio::time::sleep(HOUR / 2).await;
    server.cut_watches();
    tokio::time::sleep(HOUR / 2).await;
    let mut requests: Vec<_> = server
        .requests()
        .into_iter()
        .filter(|request| request.line.resource != Some(Resource::nodes()))
        .map(|request| (request.at, request.line.query))
        .collect();
    requests.sort();
    requests
}

/// FM-83, FAX-6: seven informers, one of which always fails: the other six ask for the same things
/// at the same times as without it.
#[tokio::test(start_paused = true)]
async fn one_that_fails_slows_nobody_down() {
    let alone = requests_of_the_others(false).await;
    let beside = requests_of_the_others(true).await;
    assert!(alone.len() > 6 * 12, "{alone:#?}");
    assert_eq!(alone, beside);
}

thread_local! {
    static LINES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Keeps the lines of our crates for the thread they are of, which is the whole of a test.
///
/// There is one for the whole process: with one for each thread, what a call site is known to be
/// wanted by depends on which other tests come to it at the same time.
struct Lines;

impl Lines {
    fn install() {
        static ONCE: Once = Once::new();
        let install = || tracing::subscriber::set_global_default(Self);
        ONCE.call_once(|| install().expect("nobody else installs one"));
    }

    /// What was said on this thread since it was taken last.
    fn take() -> Vec<String> {
        LINES.take()
    }
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        write!(self.0, "{}={value:?} ", field.name()).expect("a string takes everything");
    }
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("informer") && *metadata.level() <= tracing::Level::INFO
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(format!("{} ", event.metadata().level()));
        event.record(&mut line);
        LINES.with_borrow_mut(|lines| lines.push(line.0));
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

/// FM-87, FM-77, R11: a day of refusals is a handful of lines and a bounded number of requests,
/// whatever the reason, and each reason is in the log.
#[tokio::test(start_paused = true)]
async fn a_day_of_failing_is_a_handful_of_lines() {
    let reasons = [
        Fault::status(403, "Forbidden", "no access to pods"),
        Fault::status(404, "NotFound", "no such resource"),
        Fault::status(500, "InternalError", "out of order"),
        Fault::Unreachable,
        Fault::Html,
    ];
    for fault in reasons {
        Lines::install();
        Lines::take();
        let world = World::synced(QUEUES[0], &["a"]).await;
        world
            .server
            .fault(Match::any(), fault.clone(), Times::Always);
        world.server.close_watches();
        world.server.clear_requests();
        tokio::time::sleep(24 * HOUR).await;
        let logged = Lines::take();
        assert!((1..=30).contains(&logged.len()), "{fault:?}: {logged:#?}");
        let requests = world.server.requests().len();
        assert!(requests <= 24 * 400, "{fault:?}: {requests} requests");
    }
}
