//! The ways to ask for an informer, each against the server's LIST under a small load.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::time::Duration;

use futures::StreamExt;
use informer_factory::reflector::{Config as ReflectorConfig, FailureKind, InitialState};
use informer_factory::{
    Grace, InformerOptions, Namespaces, NoView, PartialObjectMetadata, QueueKind, SharedInformer,
    SharedInformerFactory,
};
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube_client::api::{DeleteParams, PostParams};
use kube_client::{Api, Client};
use kube_core::discovery::ApiResource;
use kube_core::{DynamicObject, Resource};
use serde_json::json;

use crate::audience::Audience;
use crate::cluster::Cluster;
use crate::collection::{Collection, Kind};
use crate::followed::{Followed, SYNC_LIMIT};
use crate::packed::{Beside, whole};
use crate::workload::{Writer, for_each};

/// Objects before the start, and as many after it.
const COUNT: usize = 300;
const AT_ONCE: usize = 16;
/// Small enough for several pages.
const PAGE: NonZeroU32 = NonZeroU32::new(50).expect("50 is not zero");

/// The initial state by a streaming list and by a paged one leads to the same.
pub(crate) async fn streaming_and_paged(queue: QueueKind) {
    let cluster = Cluster::from_environment().await;
    let namespace = cluster.fresh_namespace("lists").await;
    let writer = Writer::new(cluster.client(), &Kind::config_map(), &namespace);
    for_each(0..COUNT, AT_ONCE, |i| create(&writer, i)).await;
    let of = Collection::of_namespace(cluster.client(), Kind::config_map(), &namespace).await;

    let mut paged = ReflectorConfig::default();
    paged.page_size = Some(PAGE);
    // Otherwise the server answers from its cache, where it takes no notice of the page size.
    paged.initial = InitialState::Consistent;
    let streaming = ReflectorConfig::default().streaming(true);
    let (streamed_client, streamed_log) = cluster.logged_client();
    let (paged_client, paged_log) = cluster.logged_client();
    let streamed_factory = factory(streamed_client, queue, streaming);
    let paged_factory = factory(paged_client, queue, paged);
    let streamed = follow_config_maps(&streamed_factory, queue, of.clone(), &namespace);
    let paged = follow_config_maps(&paged_factory, queue, of, &namespace);
    cluster.grant(&streamed_factory).await;
    println!("synced by streaming in {:.2?}", streamed.sync().await);
    println!("synced by pages in {:.2?}", paged.sync().await);

    for_each(0..2 * COUNT, AT_ONCE, |i| churn(&writer, i, i < COUNT)).await;
    streamed.converge("by streaming").await;
    paged.converge("by pages").await;
    assert_eq!((streamed.lists(), paged.lists()), (1, 1));
    assert_eq!(streamed_log.streaming_lists(), 1, "{}", streamed_log.text());
    assert_eq!(streamed_log.pages(), 0, "{}", streamed_log.text());
    assert_eq!(paged_log.streaming_lists(), 0, "{}", paged_log.text());
    assert!(
        paged_log.pages() > COUNT / PAGE.get() as usize,
        "{}",
        paged_log.text()
    );
    shut_down(&streamed_factory).await;
    shut_down(&paged_factory).await;
    writer.delete_all().await;
}

/// The server sends, and the store holds, nothing but metadata.
pub(crate) async fn metadata_only(queue: QueueKind) {
    let cluster = Cluster::from_environment().await;
    let namespace = cluster.fresh_namespace("metadata").await;
    let kind = Kind::config_map();
    let writer = Writer::new(cluster.client(), &kind, &namespace);
    for_each(0..COUNT, AT_ONCE, |i| create(&writer, i)).await;

    let (client, log) = cluster.logged_client();
    let factory = factory(client, queue, ReflectorConfig::default());
    let options = InformerOptions::<PartialObjectMetadata>::new().namespace(&namespace);
    let informer = factory
        .metadata(&kind.resource, options)
        .expect("the options are good");
    cluster.grant(&factory).await;
    let of = Collection::of_namespace(cluster.client(), kind.clone(), &namespace).await;
    let options = whole().namespace(&namespace);
    let packed = factory.packed_metadata::<NoView>(&kind.resource, options);
    let packed = packed.expect("the options are good");
    let followed = Followed::new(informer, queue, of).beside(packed);
    println!("synced in {:.2?}", followed.sync().await);
    for_each(0..2 * COUNT, AT_ONCE, |i| churn(&writer, i, i < COUNT)).await;
    followed.converge("metadata only").await;
    assert!(log.is_metadata_only(), "{}", log.text());
    shut_down(&factory).await;
    writer.delete_all().await;
}

/// A resource that nobody has a type for, and that does not exist when the informer starts.
pub(crate) async fn custom_resource(queue: QueueKind) {
    let cluster = Cluster::from_environment().await;
    let namespace = cluster.fresh_namespace("custom").await;
    let resource = gadgets(&namespace);
    let (client, _) = cluster.logged_client();
    let factory = factory(client, queue, ReflectorConfig::default());
    let options = InformerOptions::<DynamicObject>::new().namespace(&namespace);
    let informer = factory
        .dynamic(&resource, options)
        .expect("the options are good");
    cluster.grant(&factory).await;
    let options = whole().namespace(&namespace);
    let packed = factory.packed_dynamic::<NoView>(&resource, options);
    let packed = packed.expect("the options are good");
    let audience = Audience::attend(&informer, queue, true);
    informer.start().expect("the informer starts");
    packed.start().expect("the packed informer starts");
    wait_for_failure(&informer, FailureKind::NotFound).await;

    let definitions = Api::<CustomResourceDefinition>::all(cluster.client());
    let name = format!("gadgets.{}", resource.group);
    let definition = definition(&resource);
    let made = definitions
        .create(&PostParams::default(), &definition)
        .await;
    made.expect("the definition is accepted");
    let body = json!({ "spec": { "size": 3 } });
    let kind = Kind { resource, body };
    let writer = Writer::new(cluster.client(), &kind, &namespace);
    for_each(0..COUNT, AT_ONCE, |i| create(&writer, i)).await;
    if let Err(error) = informer.wait_synced(SYNC_LIMIT).await {
        panic!("{error:?}");
    }
    let collections = vec![Collection::of_namespace(cluster.client(), kind, &namespace).await];
    let followed = Followed {
        informer,
        audience,
        collections,
        beside: Some(Beside(packed)),
    };
    for_each(0..2 * COUNT, AT_ONCE, |i| churn(&writer, i, i < COUNT)).await;
    followed.converge("custom resource").await;
    shut_down(&factory).await;
    let deleted = definitions.delete(&name, &DeleteParams::default()).await;
    deleted.expect("the definition is deleted").map_left(drop);
}

/// Objects enter and leave a selection, and both are told as beginning and end.
pub(crate) async fn label_selector(queue: QueueKind) {
    let cluster = Cluster::from_environment().await;
    let namespace = cluster.fresh_namespace("selector").await;
    let writer = Writer::new(cluster.client(), &Kind::config_map(), &namespace);
    let side = |i: usize| if i.is_multiple_of(2) { "in" } else { "out" };
    for_each(0..COUNT, AT_ONCE, async |i| {
        writer.create(&name(i), &[("side", side(i))]).await;
    })
    .await;
    let of = Collection::of_namespace(cluster.client(), Kind::config_map(), &namespace).await;
    let of = of.labelled("side", "in").await;

    let (client, _) = cluster.logged_client();
    let factory = factory(client, queue, ReflectorConfig::default());
    let options = InformerOptions::new()
        .namespace(&namespace)
        .labels("side=in");
    let informer = factory
        .informer_with::<ConfigMap>(options)
        .expect("the options are good");
    let options = whole().namespace(&namespace).labels("side=in");
    let packed = factory.packed_with::<ConfigMap, NoView>(options);
    let packed = packed.expect("the options are good");
    cluster.grant(&factory).await;
    let followed = Followed {
        audience: Audience::attend_selection(&informer),
        informer,
        collections: vec![of],
        beside: Some(Beside(packed)),
    };
    println!("synced in {:.2?}", followed.sync().await);
    let truth = followed.converge("before anything moved").await;
    assert_eq!(
        truth.objects.len(),
        COUNT / 2 + 1,
        "half of them, and the marker"
    );
    for_each(0..COUNT, AT_ONCE, async |i| {
        for step in 1..=1 + i % 3 {
            writer.label(&name(i), "side", side(i + step)).await;
        }
        if i.is_multiple_of(5) {
            writer.delete(&name(i)).await;
        }
    })
    .await;
    followed.converge("after objects came and went").await;
    shut_down(&factory).await;
    writer.delete_all().await;
}

/// Namespaces of one informer, of which one is added and one removed while it runs (FM-79).
pub(crate) async fn several_namespaces(queue: QueueKind) {
    let cluster = Cluster::from_environment().await;
    let (names, writers, mut collections) = three_namespaces(&cluster).await;
    let third = collections.pop().expect("there are three");

    let (client, _) = cluster.logged_client();
    let factory = factory(client, queue, ReflectorConfig::default());
    // Permission for the third has to be there before it is added.
    let all = SharedInformerFactory::new(cluster.client());
    let options = InformerOptions::new().namespaces(Namespaces::These(names.clone()));
    let unstarted = all.informer_with::<ConfigMap>(options);
    unstarted.expect("the options are good");
    cluster.grant(&all).await;
    let options = InformerOptions::new().namespaces(Namespaces::These(names[..2].to_vec()));
    let informer = factory
        .informer_with::<ConfigMap>(options)
        .expect("the options are good");
    let mut followed = Followed {
        audience: Audience::attend(&informer, queue, false),
        informer: informer.clone(),
        collections,
        beside: None,
    };
    println!("synced in {:.2?}", followed.sync().await);
    followed.converge("two namespaces").await;

    informer.add_namespace(&names[2]).expect("it is a new one");
    let again = informer.add_namespace(&names[2]);
    assert!(again.is_err(), "it is watched already");
    followed.collections.push(third);
    churn_each(&writers).await;
    followed.converge("three namespaces").await;

    let first: BTreeSet<String> = {
        let keys = followed.stored().into_keys();
        keys.filter(|key| key.starts_with(&format!("{}/", names[0])))
            .collect()
    };
    assert!(
        first.len() > COUNT / 6,
        "there is something to lose: {}",
        first.len()
    );
    followed.begin_chapter();
    let removed = informer.remove_namespace(&names[0]).await;
    removed.expect("it was watched");
    let again = informer.remove_namespace(&names[0]).await;
    assert!(again.is_err(), "it is not watched any more");
    followed.collections.remove(0);
    // What happens there now is none of the informer's business.
    writers[0].create("unseen", &[]).await;
    followed.converge("the first namespace removed").await;
    for witness in followed.audience.witnesses() {
        assert_eq!(
            witness.tombstones(),
            first,
            "what {} was told",
            witness.name()
        );
    }
    shut_down(&factory).await;
    for writer in &writers {
        writer.delete_all().await;
    }
}

async fn three_namespaces(cluster: &Cluster) -> (Vec<String>, Vec<Writer>, Vec<Collection>) {
    let (mut names, mut writers, mut collections) = (Vec::new(), Vec::new(), Vec::new());
    for part in ["first", "second", "third"] {
        let namespace = cluster.fresh_namespace(part).await;
        let writer = Writer::new(cluster.client(), &Kind::config_map(), &namespace);
        for_each(0..COUNT / 3, AT_ONCE, |i| create(&writer, i)).await;
        let kind = Kind::config_map();
        collections.push(Collection::of_namespace(cluster.client(), kind, &namespace).await);
        names.push(namespace);
        writers.push(writer);
    }
    (names, writers, collections)
}

async fn churn_each(writers: &[Writer]) {
    for writer in writers {
        for_each(0..COUNT / 3, AT_ONCE, |i| churn(writer, i, true)).await;
    }
}

fn factory(client: Client, queue: QueueKind, config: ReflectorConfig) -> SharedInformerFactory {
    let builder = Cluster::checked_factory(client, queue);
    builder.reflector(config).build().expect("legal")
}

fn follow_config_maps(
    factory: &SharedInformerFactory,
    queue: QueueKind,
    of: Collection,
    namespace: &str,
) -> Followed<ConfigMap> {
    let options = InformerOptions::new().namespace(namespace);
    let informer = factory
        .informer_with::<ConfigMap>(options)
        .expect("the options are good");
    Followed::new(informer, queue, of)
}

async fn shut_down(factory: &SharedInformerFactory) {
    let report = factory.shutdown(Grace::default()).await;
    let report = report.expect("this is no callback");
    assert!(report.is_complete(), "{report:#?}");
}

async fn create(writer: &Writer, i: usize) {
    writer.create(&name(i), &[]).await;
}

/// Made if need be, changed, and every third deleted; every sixth comes back.
async fn churn(writer: &Writer, i: usize, exists: bool) {
    if !exists {
        create(writer, i).await;
    }
    writer.label(&name(i), "changed", "once").await;
    if i.is_multiple_of(3) {
        writer.delete(&name(i)).await;
    }
    if i.is_multiple_of(6) {
        create(writer, i).await;
    }
}

fn name(i: usize) -> String {
    format!("object-{i:05}")
}

/// A group of its own for every run, since a definition takes its time to go.
fn gadgets(namespace: &str) -> ApiResource {
    let group = format!("{namespace}.example.test");
    ApiResource {
        api_version: format!("{group}/v1"),
        group,
        version: "v1".to_owned(),
        kind: "Gadget".to_owned(),
        plural: "gadgets".to_owned(),
    }
}

fn definition(resource: &ApiResource) -> CustomResourceDefinition {
    let schema = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    let version = json!({
        "name": resource.version,
        "served": true,
        "storage": true,
        "schema": { "openAPIV3Schema": schema },
    });
    let definition = json!({
        "metadata": { "name": format!("{}.{}", resource.plural, resource.group) },
        "spec": {
            "group": resource.group,
            "scope": "Namespaced",
            "names": { "plural": resource.plural, "kind": resource.kind },
            "versions": [version],
        },
    });
    serde_json::from_value(definition).expect("the definition is one")
}

/// Waits until the status tells of such a failure.
async fn wait_for_failure<T>(informer: &SharedInformer<T>, kind: FailureKind)
where
    T: Resource + Send + Sync + 'static,
{
    let mut failed = Box::pin(informer.status_stream().filter(|status| {
        let mut failures = status
            .sources
            .iter()
            .filter_map(|source| source.failure.as_ref());
        std::future::ready(failures.any(|failure| failure.kind == kind))
    }));
    let limit = Duration::from_secs(30);
    if tokio::time::timeout(limit, failed.next()).await.is_err() {
        panic!(
            "{kind:?} was not shown within {limit:?}: {:#?}",
            informer.status()
        );
    }
}
