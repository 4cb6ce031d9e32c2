//! The objects of the server in JSON and in protobuf, which must be equal.
//!
//! | file | concept |
//! | --- | --- |
//! | `served` | the resources of the server's discovery |
//! | `planted` | objects of most kinds, from `objects.json` |
//! | `answer` | lists and watches in one format, and the difference between two |
//! | `pair` | an informer of each format |

mod answer;
mod pair;
mod planted;
mod served;

use futures::StreamExt;
use informer_factory::QueueKind;
use informer_kube_protobuf::Schema;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, Event, Node, Pod};
use kube_client::Client;
use serde_json::Value;

use crate::cluster::Cluster;
use answer::{Format, difference, list, watch};
use pair::Pair;
use planted::Planted;
use served::Served;

/// Resources compared at a time.
const AT_ONCE: usize = 8;

/// Objects may change between two watches; those of a later attempt are the same.
const ATTEMPTS: usize = 10;

/// What was compared of one resource.
struct Compared {
    path: String,
    listed: usize,
    watched: usize,
}

/// Compares every object of every built-in resource, by list and by watch.
pub(crate) async fn every_resource() {
    let cluster = Cluster::from_environment().await;
    let client = cluster.client();
    let namespace = cluster.fresh_namespace("formats").await;
    let served = Served::all(&client).await;
    for planted in Planted::all(&client, &namespace, &served, |_| true) {
        planted.create().await;
    }
    let results = futures::stream::iter(&served).map(|it| compare(&client, it));
    let results: Vec<_> = results.buffer_unordered(AT_ONCE).collect().await;
    let (mut differences, mut all) = (Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok(compared) => all.push(compared),
            Err(error) => differences.push(error),
        }
    }
    assert!(differences.is_empty(), "{differences:#?}");
    let listed: usize = all.iter().map(|it| it.listed).sum();
    let watched: usize = all.iter().map(|it| it.watched).sum();
    let empty: Vec<_> = all
        .iter()
        .filter(|it| it.listed == 0)
        .map(|it| &it.path)
        .collect();
    println!(
        "{} resources: {listed} objects are equal by list and {watched} by watch; {} resources \
         without objects: {empty:?}",
        all.len(),
        empty.len(),
    );
    assert!(
        all.len() >= 50 && empty.len() <= 20,
        "too little was compared"
    );
    assert!(watched >= 200, "too little was compared by watch");
}

/// Compares a resource; the error is the first difference.
async fn compare(client: &Client, served: &Served) -> Result<Compared, String> {
    let path = served.path();
    if Schema::of(&served.api_version, &served.kind).is_none() {
        return Err(format!("{path}: {} is not in the table", served.kind));
    }
    let shows_values = served.kind != "Secret";
    let in_path = |error: String| format!("{path}: {error}");
    let listed = compare_lists(client, &path, shows_values).await;
    let listed = listed.map_err(in_path)?;
    let watched = compare_watches(client, &path, shows_values).await;
    let watched = watched.map_err(in_path)?;
    Ok(Compared {
        path,
        listed,
        watched,
    })
}

/// Compares the lists at one version of the server's history.
async fn compare_lists(client: &Client, path: &str, shows_values: bool) -> Result<usize, String> {
    let json = list(client, path, Format::Json).await?;
    let version = json["metadata"]["resourceVersion"]
        .as_str()
        .ok_or("a list without version")?;
    let uri = format!("{path}?resourceVersion={version}&resourceVersionMatch=Exact");
    let protobuf = list(client, &uri, Format::Protobuf).await?;
    match difference(&json, &protobuf, shows_values) {
        None => Ok(json["items"].as_array().map_or(0, Vec::len)),
        Some(difference) => Err(format!("list: {difference}")),
    }
}

/// Compares the initial events of two watches, and the bookmarks behind them.
async fn compare_watches(client: &Client, path: &str, shows_values: bool) -> Result<usize, String> {
    for _ in 0..ATTEMPTS {
        let json = watch(client, path, Format::Json).await?;
        let protobuf = watch(client, path, Format::Protobuf).await?;
        let compare = |name: &str, json: &Value, protobuf: &Value| {
            let found = difference(json, protobuf, shows_values);
            found.map_or(Ok(()), |difference| {
                Err(format!("watch, {name}: {difference}"))
            })
        };
        compare("bookmark", &json.bookmark, &protobuf.bookmark)?;
        for (identity, object) in &json.objects {
            if let Some(other) = protobuf.objects.get(identity) {
                compare("object", object, other)?;
            }
        }
        if json.objects.keys().eq(protobuf.objects.keys()) {
            return Ok(json.objects.len());
        }
    }
    Err(format!(
        "the objects changed {ATTEMPTS} times between two watches"
    ))
}

/// An informer of JSON and one of protobuf hold equal objects, before and after changes.
pub(crate) async fn informers(queue: QueueKind) {
    let cluster = Cluster::from_environment().await;
    let client = cluster.client();
    let namespace = cluster.fresh_namespace("wires").await;
    let served = Served::all(&client).await;
    let factory = Cluster::checked_factory(cluster.logged_client().0, queue);
    let factory = factory.build().expect("legal");
    let planted = |kind: &str| {
        let mut planted = Planted::all(&client, &namespace, &served, |it| it == kind);
        planted.pop().unwrap_or_else(|| panic!("no {kind}"))
    };
    let pods = Pair::<Pod>::of(&factory, planted("Pod"));
    let nodes = Pair::<Node>::of(&factory, planted("Node"));
    let maps = Pair::<ConfigMap>::of(&factory, planted("ConfigMap"));
    let leases = Pair::<Lease>::of(&factory, planted("Lease"));
    let events = Pair::<Event>::of(&factory, planted("Event"));
    let deployments = Pair::<Deployment>::of(&factory, planted("Deployment"));
    cluster.grant(&factory).await;
    tokio::join!(
        pods.follow(),
        nodes.follow(),
        maps.follow(),
        leases.follow(),
        events.follow(),
        deployments.follow(),
    );
    let report = factory.shutdown(Default::default()).await;
    assert!(report.expect("this is no callback").is_complete());
}
