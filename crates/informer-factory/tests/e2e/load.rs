//! A load on two kinds while two informers follow it, then the same with a server that is killed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use informer_factory::{Grace, InformerState, NoView, PackedObject, QueueKind, SharedInformer};
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use tokio::time::Instant;

use crate::chronicle::Chronicle;
use crate::cluster::Cluster;
use crate::collection::{Collection, Identity, Kind, Truth};
use crate::followed::Followed;
use crate::packed::{Packable, whole};
use crate::workload::{Writer, for_each};

const CONFIG_MAPS: usize = 5_000;
const PODS: usize = 2_000;
/// Writes in flight, per kind.
const AT_ONCE: usize = 16;
/// How long the server stays away after it was killed.
const OUTAGE: Duration = Duration::from_secs(2);

/// One kind: who writes it, and who follows it.
struct Side<T: Packable> {
    followed: Followed<T>,
    chronicle: Chronicle,
    writer: Arc<Writer>,
    /// How many objects the load knows, a fifth of them from before the start.
    count: usize,
}

impl<T: Packable> Side<T> {
    async fn prepare(
        cluster: &Cluster,
        namespace: &str,
        (informer, packed): (SharedInformer<T>, SharedInformer<PackedObject<T>>),
        kind: Kind,
        count: usize,
        queue: QueueKind,
    ) -> Self {
        let writer = Arc::new(Writer::new(cluster.client(), &kind, namespace));
        for_each(0..count / 5, AT_ONCE, async |i| {
            writer.create(&name(i), &[]).await;
        })
        .await;
        let collection = Collection::of_namespace(cluster.client(), kind, namespace).await;
        Self {
            chronicle: Chronicle::of(&informer),
            followed: Followed::new(informer, queue, collection.everywhere()).beside(packed),
            writer,
            count,
        }
    }

    fn kind(&self) -> &str {
        self.followed.collections[0].kind.name()
    }

    /// What is there before the informer starts.
    async fn before(&self) -> Truth {
        let collection = &self.followed.collections[0];
        let version = collection.touch().await;
        collection.list_at(&version).await.0
    }

    /// PR-8: initial is what was there, all of it and nothing else.
    fn check_initial(&self, before: &Truth, namespace: &str) {
        let ours = |objects: &BTreeMap<String, Identity>| -> BTreeMap<String, Identity> {
            let objects = objects.iter().map(|(key, id)| (key.clone(), id.clone()));
            objects
                .filter(|(key, _)| key.starts_with(namespace))
                .collect()
        };
        let expected = ours(&before.objects);
        for witness in self.followed.audience.witnesses() {
            let mut initial = ours(&witness.initial());
            // The marker has been touched since, and that may have been joined with its addition.
            let marker = format!("{namespace}/marker");
            initial
                .entry(marker.clone())
                .and_modify(|id| *id = expected[&marker].clone());
            let name = witness.name();
            assert_eq!(
                initial,
                expected,
                "what {name} of {} was told first",
                self.kind()
            );
        }
    }

    /// The life of every object; see [`live`].
    async fn load(writer: &Writer, count: usize) {
        for_each(0..count, AT_ONCE, |i| live(writer, i, i < count / 5)).await;
    }

    /// While the load runs: the coalescing handler stands still, and one more handler comes.
    async fn disturb(&mut self) {
        let (count, audience) = (self.count as u64, &mut self.followed.audience);
        let before = self.writer.written();
        audience.close_gate();
        self.writer.wait_for_written(before + count).await;
        audience.join("late");
        let still = audience.witness_named("coalesce").told();
        let moving = audience.witness_named("grow").told();
        self.writer.wait_for_written(before + count * 3 / 2).await;
        assert_eq!(
            audience.witness_named("coalesce").told(),
            still,
            "the gate is closed"
        );
        let moved = audience.witness_named("grow").told();
        assert!(
            moved > moving,
            "a handler that stands still holds up another (PR-9)"
        );
    }

    async fn finish_load(&self, seconds: f64) {
        let writes = self.writer.written();
        let start = Instant::now();
        self.followed.audience.open_gate();
        self.followed.converge("after the load").await;
        let told = self.followed.audience.witness_named("grow").told();
        println!(
            "{}: {writes} writes in {seconds:.1} s, {told} changes told, {:.0}/s; all agreed {:.2?} \
             after the last write",
            self.kind(),
            told as f64 / seconds,
            start.elapsed(),
        );
        let status = self.followed.informer.status();
        let coalesced = status
            .handlers
            .iter()
            .find(|handler| &*handler.name == "coalesce");
        let coalesced = coalesced.expect("the handler was added").coalesced;
        assert!(
            coalesced > 0,
            "a handler that stood still has news to coalesce"
        );
    }

    async fn finish_kill(&self, back: Instant) {
        self.followed.converge("after the server was killed").await;
        let status = self.followed.informer.status();
        let source = &status.sources[0];
        println!(
            "{}: equal to LIST {:.2?} after the server was back; {} lists, {} watches, {} reused, \
             saw {:?}",
            self.kind(),
            back.elapsed(),
            source.lists,
            source.watches,
            source.reused,
            self.chronicle.names()
        );
        // The first list went on as a watch. A server that has just started forbids everything
        // for a moment to whoever is no administrator, and then a list follows instead of a watch.
        assert!(
            source.lists + source.watches > 1,
            "the outage was noticed: {source:#?}"
        );
        assert!(source.failure.is_none(), "the failure is over: {source:#?}");
        assert_eq!(status.state, InformerState::Synced);
        assert!(self.chronicle.has("Degraded"), "the outage was shown");
    }

    async fn delete_all(&self) {
        let start = Instant::now();
        self.writer.delete_all().await;
        let deleted = start.elapsed();
        self.followed.converge("after everything was deleted").await;
        println!(
            "{}: all deleted in {deleted:.1?}, told {:.1?}",
            self.kind(),
            start.elapsed()
        );
    }
}

/// The load of a config map or a pod: it is made and changed, may be deleted, may come back.
async fn live(writer: &Writer, i: usize, exists: bool) {
    let name = name(i);
    if !exists {
        writer.create(&name, &[]).await;
    }
    for change in 0..=i % 2 {
        writer.label(&name, "change", &change.to_string()).await;
    }
    if i.is_multiple_of(4) {
        writer.delete(&name).await;
    }
    if i.is_multiple_of(8) {
        writer.create(&name, &[]).await;
        writer.label(&name, "life", "second").await;
    }
}

/// A second load, on a third of the objects that the first has left.
async fn live_on(writer: &Writer, count: usize) {
    let left = (0..count).filter(|i| i % 4 != 0 || i % 8 == 0).step_by(3);
    for_each(left, AT_ONCE, async |i| {
        let name = name(i);
        writer.label(&name, "change", "third").await;
        writer.label(&name, "change", "fourth").await;
        if i.is_multiple_of(5) {
            writer.delete(&name).await;
        }
    })
    .await;
}

fn name(i: usize) -> String {
    format!("object-{i:05}")
}

pub(crate) async fn run(queue: QueueKind) {
    let cluster = Cluster::from_environment().await;
    let namespace = cluster.fresh_namespace("load").await;
    let (client, log) = cluster.logged_client();
    let factory = Cluster::checked_factory(client, queue).build();
    let factory = factory.expect("legal");
    let (maps, pods) = (factory.informer::<ConfigMap>(), factory.informer::<Pod>());
    let packed_maps = factory.packed_with::<ConfigMap, NoView>(whole());
    let packed_pods = factory.packed_with::<Pod, NoView>(whole());
    let maps = (maps, packed_maps.expect("the options are good"));
    let pods = (pods, packed_pods.expect("the options are good"));
    cluster.grant(&factory).await;
    let (map, pod) = (Kind::config_map(), Kind::pod());
    let mut maps = Side::prepare(&cluster, &namespace, maps, map, CONFIG_MAPS, queue).await;
    let mut pods = Side::prepare(&cluster, &namespace, pods, pod, PODS, queue).await;

    start(&maps, &pods, &namespace).await;
    first_load(&mut maps, &mut pods).await;
    kill_under_load(&cluster, &maps, &pods).await;
    println!(
        "streaming lists {}, pages {}",
        log.streaming_lists(),
        log.pages()
    );
    tokio::join!(maps.delete_all(), pods.delete_all());

    let report = factory.shutdown(Grace::default()).await;
    let report = report.expect("this is no callback");
    assert!(report.is_complete(), "{report:#?}");
}

async fn start(maps: &Side<ConfigMap>, pods: &Side<Pod>, namespace: &str) {
    let (maps_before, pods_before) = tokio::join!(maps.before(), pods.before());
    let (of_maps, of_pods) = tokio::join!(maps.followed.sync(), pods.followed.sync());
    println!("synced: configmaps in {of_maps:.2?}, pods in {of_pods:.2?}");
    tokio::join!(
        maps.followed.converge("at first"),
        pods.followed.converge("at first")
    );
    maps.check_initial(&maps_before, namespace);
    pods.check_initial(&pods_before, namespace);
}

async fn first_load(maps: &mut Side<ConfigMap>, pods: &mut Side<Pod>) {
    let (of_maps, of_pods) = (Arc::clone(&maps.writer), Arc::clone(&pods.writer));
    let start = Instant::now();
    tokio::join!(
        Side::<ConfigMap>::load(&of_maps, CONFIG_MAPS),
        Side::<Pod>::load(&of_pods, PODS),
        maps.disturb(),
        pods.disturb(),
    );
    let seconds = start.elapsed().as_secs_f64();
    tokio::join!(maps.finish_load(seconds), pods.finish_load(seconds));
}

async fn kill_under_load(cluster: &Cluster, maps: &Side<ConfigMap>, pods: &Side<Pod>) {
    maps.followed.expect_relists();
    pods.followed.expect_relists();
    let kill = async {
        maps.writer
            .wait_for_written(maps.writer.written() + 500)
            .await;
        cluster.ask("kill-apiserver").await;
        tokio::time::sleep(OUTAGE).await;
        cluster.ask("start-apiserver").await;
        Instant::now()
    };
    let (_, _, back) = tokio::join!(
        live_on(&maps.writer, maps.count),
        live_on(&pods.writer, pods.count),
        kill
    );
    tokio::join!(maps.finish_kill(back), pods.finish_kill(back));
}
