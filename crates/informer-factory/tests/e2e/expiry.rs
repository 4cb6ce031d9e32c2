//! A watch that expires: the connection is cut, the world changes, the history is compacted, and
//! the informer has to find out by itself what it has missed.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use informer_factory::{Grace, InformerOptions, InformerState, QueueKind, SharedInformer};
use k8s_openapi::api::core::v1::ConfigMap;
use tokio::time::Instant;

use crate::chronicle::Chronicle;
use crate::cluster::Cluster;
use crate::collection::{Collection, Kind};
use crate::followed::Followed;
use crate::relay::Relay;
use crate::workload::{Writer, for_each};

/// How many objects there are before the cut.
const COUNT: usize = 400;
const AT_ONCE: usize = 16;
/// Within which a cut connection must be shown in the status (R5).
const NOTICE_LIMIT: Duration = Duration::from_secs(10);

/// What is done behind the informer's back, by number of the object.
const CHANGED: std::ops::Range<usize> = 0..40;
const DELETED: std::ops::Range<usize> = 40..80;
const REPLACED: std::ops::Range<usize> = 80..100;
const UNTOUCHED: std::ops::Range<usize> = 100..COUNT;
const CREATED: std::ops::Range<usize> = COUNT..COUNT + 40;

pub(crate) async fn run(queue: QueueKind) {
    let cluster = Cluster::from_environment().await;
    let namespace = cluster.fresh_namespace("expiry").await;
    let writer = Writer::new(cluster.client(), &Kind::config_map(), &namespace);
    for_each(0..COUNT, AT_ONCE, |i| create(&writer, i)).await;

    let relay = Relay::to(cluster.address()).await;
    let (client, log) = cluster.logged_client_through(relay.port());
    let factory = Cluster::checked_factory(client, queue).build();
    let factory = factory.expect("legal");
    let options = InformerOptions::new().namespace(&namespace);
    let informer = factory.informer_with::<ConfigMap>(options);
    let informer = informer.expect("the options are good");
    cluster.grant(&factory).await;
    let chronicle = Chronicle::of(&informer);
    let of = Collection::of_namespace(cluster.client(), Kind::config_map(), &namespace).await;
    let followed = Followed::new(informer.clone(), queue, of);
    println!("synced in {:.2?}", followed.sync().await);
    followed.converge("before the cut").await;
    let untouched = arcs(&informer, &namespace);

    followed.begin_chapter();
    followed.expect_relists();
    assert_eq!(informer.status().state, InformerState::Synced);
    let cut = Instant::now();
    relay.cut();
    notice(&informer, cut).await;
    change_the_world(&writer).await;
    cluster.ask("compact").await;
    cluster.ask("stop-apiserver").await;
    cluster.ask("start-apiserver").await;
    relay.mend();
    let mended = Instant::now();

    followed.converge("after the watch had expired").await;
    println!(
        "equal to LIST {:.2?} after the relay was mended",
        mended.elapsed()
    );
    println!(
        "saw {:?}; 410 {} times; asked:\n{}",
        chronicle.names(),
        log.answers(410),
        log.text()
    );
    // The failure itself may be over before the status stream shows it; the second list stays.
    assert_eq!(log.pages(), 2, "the watch expired: {}", log.text());
    check_told(&followed, &namespace);
    check_status(&followed);
    for (key, before) in &untouched {
        let now = informer.lister().get(key).expect("it was not touched");
        assert!(Arc::ptr_eq(before, &now), "{key} was decoded again");
    }
    writer.delete_all().await;
    followed.converge("after everything was deleted").await;
    let report = factory.shutdown(Grace::default()).await;
    let report = report.expect("this is no callback");
    assert!(report.is_complete(), "{report:#?}");
}

async fn create(writer: &Writer, i: usize) {
    writer.create(&name(i), &[]).await;
}

async fn change_the_world(writer: &Writer) {
    for_each(CREATED, AT_ONCE, |i| create(writer, i)).await;
    for_each(CHANGED, AT_ONCE, async |i| {
        writer.label(&name(i), "seen", "no").await;
    })
    .await;
    for_each(DELETED, AT_ONCE, async |i| {
        writer.delete(&name(i)).await;
    })
    .await;
    for_each(REPLACED, AT_ONCE, async |i| {
        writer.delete(&name(i)).await;
        writer.create(&name(i), &[]).await;
    })
    .await;
}

/// Waits until the status tells of the cut.
async fn notice(informer: &SharedInformer<ConfigMap>, cut: Instant) {
    let mut degraded = Box::pin(
        informer
            .status_stream()
            .filter(|status| std::future::ready(status.state == InformerState::Degraded)),
    );
    match tokio::time::timeout(NOTICE_LIMIT, degraded.next()).await {
        Ok(Some(_)) => println!("the cut was shown after {:.2?}", cut.elapsed()),
        _ => panic!(
            "the cut was not shown within {NOTICE_LIMIT:?}: {:#?}",
            informer.status()
        ),
    }
}

/// The unchanged are not announced, and what ended unseen is told as such (FM-46).
fn check_told(followed: &Followed<ConfigMap>, namespace: &str) {
    let keys = |range: std::ops::Range<usize>| range.map(|i| format!("{namespace}/{}", name(i)));
    let ended: BTreeSet<String> = keys(DELETED).chain(keys(REPLACED)).collect();
    let mut announced = ended.clone();
    announced.extend(keys(CHANGED).chain(keys(CREATED)));
    announced.insert(format!("{namespace}/marker"));
    for witness in followed.audience.witnesses() {
        let name = witness.name();
        assert_eq!(
            witness.tombstones(),
            ended,
            "tombstones that {name} was told"
        );
        assert_eq!(
            witness.announced(),
            announced,
            "keys of which {name} was told"
        );
    }
}

fn check_status(followed: &Followed<ConfigMap>) {
    let status = followed.informer.status();
    let source = &status.sources[0];
    assert_eq!(
        source.lists, 2,
        "one list at first, one after the expiry: {source:#?}"
    );
    assert!(
        source.reused >= UNTOUCHED.len() as u64,
        "the untouched were reused: {source:#?}"
    );
    assert_eq!(status.state, InformerState::Synced, "{status:#?}");
    assert!(source.failure.is_none(), "{source:#?}");
}

fn arcs(informer: &SharedInformer<ConfigMap>, namespace: &str) -> Vec<(String, Arc<ConfigMap>)> {
    let lister = informer.lister();
    let keys = UNTOUCHED.map(|i| format!("{namespace}/{}", name(i)));
    keys.map(|key| {
        let stored = lister.get(&key).expect("it is stored");
        (key, stored)
    })
    .collect()
}

fn name(i: usize) -> String {
    format!("object-{i:05}")
}
