//! The consistency checker finds what no watch can tell, repairs it within one period, and never
//! harms the informer (FM-24, FM-39, FM-40, RFX-16, R10); the whole HTTP path, a paused clock.

use std::time::Duration;

use crate::cluster::{Pods, QUEUES, SOON, client, pod, pod_in, pods};
use informer_factory::kube_source::PartialObjectMetadata;
use informer_factory::reflector::{Config, FailureKind};
use informer_factory::{
    CheckOutcome, Consistency, ConsistencyStatus, Grace, InformerOptions, InformerState,
    Namespaces, NotChecked, ObjectKey, OnMismatch, Projection, QueueKind, SharedInformer,
    SharedInformerFactory, Transform,
};
use informer_testkit::{ApiServer, Fault, Match, RequestRecord, Times, Verb};
use k8s_openapi::api::core::v1::Pod;
use kube_core::ApiResource;
use serde_json::json;
use tokio::time::{Instant, sleep};

/// What the README advises.
const PERIOD: Duration = Duration::from_secs(300);
/// For one request and its answer, on a clock that stands still meanwhile.
const MOMENT: Duration = Duration::from_millis(100);

struct World {
    server: ApiServer,
    factory: SharedInformerFactory,
    informer: Pods,
}

impl World {
    async fn new(queue: QueueKind, names: &[&str], consistency: Consistency) -> Self {
        let server = ApiServer::new();
        for name in names {
            server.create(&pods(), pod(name, "n1")).expect("created");
        }
        Self::over(server, queue, InformerOptions::new(), consistency).await
    }

    async fn over(
        server: ApiServer,
        queue: QueueKind,
        options: InformerOptions<Pod>,
        consistency: Consistency,
    ) -> Self {
        let mut reflector = Config::default();
        reflector.streaming = false;
        let factory = SharedInformerFactory::builder(client(&server))
            .queue(queue)
            .reflector(reflector)
            .check_consistency(consistency)
            .seed(7)
            .build()
            .expect("legal");
        let watches = match &options.namespaces {
            Some(Namespaces::These(names)) => names.len(),
            _ => 1,
        };
        let informer = factory.informer_with(options).expect("a fresh factory");
        factory.start().expect("a runtime");
        factory.wait_synced(SOON).await.expect("synced");
        server.wait_for_watches(&pods(), watches).await;
        Self {
            server,
            factory,
            informer,
        }
    }

    /// The watch is opened anew, and these faults happen to it.
    async fn watch_with(&self, faults: impl IntoIterator<Item = Fault>) {
        for fault in faults {
            self.server.fault(Match::watch(), fault, Times::Once);
        }
        let before = self.asked(|request| request.line.verb == Verb::Watch);
        self.server.close_watches();
        while self.asked(|request| request.line.verb == Verb::Watch) == before
            || self.server.open_watches(&pods()) == 0
        {
            sleep(MOMENT).await;
        }
    }

    fn change(&self, name: &str) {
        let node = format!("n{}", self.server.version());
        let patch = json!({"spec": {"nodeName": node}});
        let patched = self.server.patch(&pods(), "default", name, patch);
        patched.expect("patched");
    }

    fn asked(&self, which: impl Fn(&RequestRecord) -> bool) -> usize {
        let requests = self.server.requests();
        requests.iter().filter(|request| which(request)).count()
    }

    fn checks(&self) -> usize {
        self.asked(|request| request.line.query.contains("resourceVersionMatch=Exact"))
    }

    fn found(&self) -> ConsistencyStatus {
        found(&self.informer)
    }

    /// Waits for a difference, no longer than a check of each period may take to come.
    async fn mismatch(&self) -> informer_factory::Mismatch {
        let deadline = Instant::now() + PERIOD + MOMENT;
        while self.found().mismatches == 0 {
            assert!(Instant::now() < deadline, "{:#?}", self.informer.status());
            sleep(MOMENT).await;
        }
        sleep(MOMENT).await;
        let found = self.found();
        assert_eq!((found.mismatches, found.repairs), (1, 1), "{found:?}");
        found.last_mismatch.expect("there was one")
    }

    /// The next check finds everything as it should be.
    async fn is_consistent_again(&self) {
        crate::cluster::assert_store_matches_pods(&self.server, &self.informer);
        let before = self.found();
        sleep(PERIOD + MOMENT).await;
        let after = self.found();
        assert!(after.consistent > before.consistent, "{after:?}");
        assert_eq!(after.mismatches, before.mismatches, "{after:?}");
        assert_eq!(self.informer.status().state, InformerState::Synced);
    }
}

fn found<T: Send + Sync>(informer: &SharedInformer<T>) -> ConsistencyStatus {
    let source = informer.status().sources.remove(0);
    source.consistency.expect("it was asked for")
}

fn names(mismatch: &informer_factory::Mismatch) -> Vec<&str> {
    mismatch.keys.iter().map(ObjectKey::name).collect()
}

/// Does something to the server that its watch will not tell.
type Lose = fn(&World);

/// FM-40: an update, a creation and a deletion that the server's cache lost for good.
#[tokio::test(start_paused = true)]
async fn a_lost_event_is_found_and_repaired_within_one_period() {
    for queue in QUEUES {
        let lost: [(&str, Lose); 3] = [
            ("stale", |world| world.change("a")),
            ("missing", |world| {
                world
                    .server
                    .create(&pods(), pod("b", "n1"))
                    .expect("created");
            }),
            ("extra", |world| {
                world
                    .server
                    .delete(&pods(), "default", "a")
                    .expect("deleted");
            }),
        ];
        for (kind, lose) in lost {
            let world = World::new(queue, &["a", "z"], Consistency::every(PERIOD)).await;
            world.watch_with([Fault::LoseEvent(1)]).await;
            lose(&world);
            world.change("z");
            let mismatch = world.mismatch().await;
            let counted = match kind {
                "stale" => (0, 1, 0),
                "missing" => (1, 0, 0),
                _ => (0, 0, 1),
            };
            let counts = (mismatch.missing, mismatch.stale, mismatch.extra);
            assert_eq!(counts, counted, "{mismatch:?}");
            assert_eq!(
                names(&mismatch),
                [if kind == "missing" { "b" } else { "a" }]
            );
            assert_eq!(mismatch.rewound_to, None);
            world.is_consistent_again().await;
        }
    }
}

/// FM-24: a bookmark ahead of an event that never comes.
#[tokio::test(start_paused = true)]
async fn a_bookmark_ahead_of_a_lost_event_is_survived() {
    for queue in QUEUES {
        let world = World::new(queue, &["a", "z"], Consistency::every(PERIOD)).await;
        let lies = [Fault::EarlyBookmark, Fault::LoseEvent(1)];
        world.watch_with(lies).await;
        world.change("a");
        let mismatch = world.mismatch().await;
        assert_eq!((names(&mismatch), mismatch.stale), (vec!["a"], 1));
        world.is_consistent_again().await;
    }
}

/// FM-39: the history was rewound, and the watch goes on as if nothing had happened.
#[tokio::test(start_paused = true)]
async fn a_rewind_nobody_saw_is_found() {
    for queue in QUEUES {
        for overtaken in [false, true] {
            let world = World::new(queue, &["a", "b"], Consistency::every(PERIOD)).await;
            let backup = world.server.version();
            world.change("a");
            world
                .server
                .create(&pods(), pod("c", "n1"))
                .expect("created");
            sleep(MOMENT).await;
            assert_eq!(world.informer.status().objects, 3);
            world.server.restore(backup).expect("within the history");
            if overtaken {
                world.server.skip_versions(1_000);
            }
            let mismatch = world.mismatch().await;
            assert_eq!(mismatch.rewound_to.is_some(), !overtaken, "{mismatch:?}");
            if overtaken {
                assert_eq!((mismatch.stale, mismatch.extra), (1, 1), "{mismatch:?}");
            }
            assert_eq!(world.informer.status().sources[0].epoch, 1);
            world.is_consistent_again().await;
        }
    }
}

/// Who asks for reports only gets reports only.
#[tokio::test(start_paused = true)]
async fn a_report_repairs_nothing() {
    let consistency = Consistency::every(PERIOD).on_mismatch(OnMismatch::Report);
    let world = World::new(QUEUES[0], &["a", "z"], consistency).await;
    world.watch_with([Fault::LoseEvent(1)]).await;
    world.change("a");
    world.change("z");
    sleep(2 * PERIOD).await;
    let found = world.found();
    assert!(found.mismatches >= 2 && found.repairs == 0, "{found:?}");
    assert_eq!(world.informer.status().sources[0].lists, 1);
}

/// No false alarm: objects come, change and go all the time, some of them cannot be decoded, pages
/// are small, and a check is made every second.
#[tokio::test(start_paused = true)]
async fn load_raises_no_alarm() {
    for queue in QUEUES {
        let server = ApiServer::new();
        let mut reflector = Config::default();
        reflector.usual_page_size = std::num::NonZeroU32::new(7).expect("not zero");
        let options = InformerOptions::new()
            .reflector(reflector)
            .labels("app=web")
            .projection(Projection::lean())
            .transform(Transform::new(|pod: Pod| {
                let node = pod.spec.as_ref().and_then(|spec| spec.node_name.clone());
                match node.is_some_and(|node| node.ends_with('8')) {
                    true => Err("an unlucky number".to_owned()),
                    false => Ok(pod),
                }
            }));
        for name in 0..40 {
            let name = format!("p{name}");
            server.create(&pods(), pod(&name, "n1")).expect("created");
        }
        let consistency = Consistency::every(Duration::from_secs(1));
        let world = World::over(server, queue, options, consistency).await;
        let mut most_quarantined = 0;
        for round in 0_u64..6_000 {
            let name = format!("p{}", (round * 7919) % 50);
            match round % 5 {
                0 => drop(world.server.delete(&pods(), "default", &name)),
                1 => drop(world.server.create(&pods(), pod(&name, "n2"))),
                2 => {
                    let app = if round % 3 == 0 { "db" } else { "web" };
                    let patch = json!({"metadata": {"labels": {"app": app}}});
                    drop(world.server.patch(&pods(), "default", &name, patch));
                }
                _ => {
                    let patch = json!({"spec": {"nodeName": format!("n{round}")}});
                    drop(world.server.patch(&pods(), "default", &name, patch));
                }
            }
            sleep(Duration::from_millis(1 + round % 19)).await;
            most_quarantined = most_quarantined.max(world.informer.status().quarantined);
        }
        let found = world.found();
        assert_eq!(found.mismatches, 0, "{found:?}");
        assert!(found.consistent >= 40, "{found:?}");
        assert!(most_quarantined > 0, "it was meant to be hard");
    }
}

/// A version that was compacted says nothing; the next version is tried.
#[tokio::test(start_paused = true)]
async fn a_compacted_version_is_no_mismatch() {
    let minute = Duration::from_secs(60);
    let world = World::new(QUEUES[0], &["a"], Consistency::every(minute)).await;
    let silent = (Match::watch(), Fault::BookmarkNever, Times::Always);
    let silent = world.server.fault(silent.0, silent.1, silent.2);
    world.watch_with([]).await;
    world.server.skip_versions(3);
    world.server.compact();
    sleep(3 * minute).await;
    let found = world.found();
    assert!(found.not_checked >= 2, "{found:?}");
    assert_eq!((found.consistent, found.mismatches), (0, 0), "{found:?}");
    let last = found.last.expect("a check").outcome;
    assert!(
        matches!(last, CheckOutcome::NotChecked(NotChecked::Expired)),
        "{last:?}"
    );
    let asked = world.checks();
    assert_eq!(asked, 1, "the same version is not asked for again");
    world.server.remove_fault(silent);
    world.is_consistent_again().await;
}

/// A refusal is told, and nothing else comes of it: neither sync nor health depend on checks.
#[tokio::test(start_paused = true)]
async fn a_refused_check_harms_nobody() {
    let world = World::new(QUEUES[0], &["a"], Consistency::every(PERIOD)).await;
    for (code, reason) in [
        (403, "Forbidden"),
        (404, "NotFound"),
        (500, "InternalError"),
    ] {
        let refused = Fault::status(code, reason, "no");
        let refusal = world.server.fault(Match::list(), refused, Times::Always);
        let before = world.found().not_checked;
        sleep(PERIOD + MOMENT).await;
        world.server.remove_fault(refusal);
        let found = world.found();
        assert!(found.not_checked > before, "{found:?}");
        match found.last.expect("a check").outcome {
            CheckOutcome::NotChecked(NotChecked::Failed(failure)) => {
                assert_eq!(failure.code, Some(code));
                assert_ne!(failure.kind, FailureKind::Other);
            }
            other => panic!("{other:?}"),
        }
        let status = world.informer.status();
        assert_eq!(status.state, InformerState::Synced);
        assert!(status.sources[0].failure.is_none(), "{status:?}");
        assert_eq!(status.sources[0].lists, 1);
    }
    world.is_consistent_again().await;
}

/// One list of the collection in each period, whatever happens (R1), and none before it is needed.
#[tokio::test(start_paused = true)]
async fn checks_are_as_many_as_asked_for() {
    let world = World::new(QUEUES[0], &["a", "z"], Consistency::every(PERIOD)).await;
    sleep(Duration::from_secs(24 * 3600)).await;
    let checks = world.checks();
    assert!((288..=321).contains(&checks), "{checks} checks in a day");
    // A server that loses every event: a repair for each check, and no more.
    world
        .server
        .fault(Match::watch(), Fault::LoseEvent(1), Times::Always);
    let (before, lists) = (world.checks(), world.asked(|r| r.line.verb == Verb::List));
    for _ in 0..288 {
        world.change("a");
        world.change("z");
        sleep(PERIOD).await;
    }
    let (checks, lists) = (
        world.checks() - before,
        world.asked(|r| r.line.verb == Verb::List) - lists,
    );
    assert!(
        checks <= 321 && lists <= 2 * checks,
        "{checks} checks, {lists} lists"
    );
    assert!(world.found().repairs > 50, "{:?}", world.found());
}

/// IN-5: a check in progress does not outlive the informer, nor hold up its end.
#[tokio::test(start_paused = true)]
async fn a_check_ends_with_the_informer() {
    let world = World::new(QUEUES[0], &["a"], Consistency::every(PERIOD)).await;
    world
        .server
        .fault(Match::list(), Fault::HangHeaders, Times::Always);
    while world.checks() == 0 {
        sleep(MOMENT).await;
    }
    let before = Instant::now();
    let report = world.factory.shutdown(Grace::default()).await;
    assert!(report.expect("not in a callback").is_complete());
    assert!(before.elapsed() < Duration::from_secs(1));
    let asked = world.server.requests().len();
    sleep(2 * PERIOD).await;
    assert_eq!(world.server.requests().len(), asked);
}

/// Each namespace is checked by itself, those that come later too; and so is metadata.
#[tokio::test(start_paused = true)]
async fn every_source_is_checked() {
    let server = ApiServer::new();
    for namespace in ["red", "green", "blue"] {
        server
            .create(&pods(), pod_in(namespace, "a", "n1"))
            .expect("created");
    }
    let both = Namespaces::These(vec!["red".into(), "green".into()]);
    let options = InformerOptions::new().namespaces(both);
    let world = World::over(server, QUEUES[0], options, Consistency::every(PERIOD)).await;
    world.informer.add_namespace("blue").expect("a new one");
    let resource = ApiResource::erase::<Pod>(&());
    let metadata = world.factory.metadata(&resource, InformerOptions::new());
    let metadata: SharedInformer<PartialObjectMetadata> = metadata.expect("a fresh one");
    metadata.start().expect("a runtime");
    sleep(PERIOD + MOMENT).await;
    let mut sources = world.informer.status().sources;
    sources.extend(metadata.status().sources);
    assert_eq!(sources.len(), 4);
    for source in sources {
        let found = source.consistency.clone().expect("it was asked for");
        assert!(found.consistent > 0 && found.mismatches == 0, "{source:?}");
    }
    let removed = world.informer.remove_namespace("red").await;
    removed.expect("it was watched");
    let asked = |namespace: &str| {
        world.asked(|request| request.line.namespace.as_deref() == Some(namespace))
    };
    let before = asked("red");
    sleep(2 * PERIOD).await;
    assert_eq!(asked("red"), before);
}
