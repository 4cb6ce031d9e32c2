//! A test of one's own controller code, with kube-rs and without a cluster.
//!
//! The code under test gets a `kube_client::Client` and cannot tell that no API server is behind
//! it. Faults are scripted, and when an assertion fails the requests tell the story.

use std::error::Error;

use informer_testkit::{ApiServer, Fault, Match, Resource, Times};
use k8s_openapi::api::core::v1::ConfigMap;
use kube_client::{
    Api, Client,
    api::{Patch, PatchParams},
};
use serde_json::json;

/// The code under test: counts a visit, and tries once more if the server is busy.
async fn count_visit(client: Client) -> Result<u32, kube_client::Error> {
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let map = match maps.get("visits").await {
        Err(kube_client::Error::Api(status)) if status.code == 429 => maps.get("visits").await?,
        answer => answer?,
    };
    let count = map
        .data
        .and_then(|data| data.get("count")?.parse().ok())
        .unwrap_or(0)
        + 1;
    let patch = Patch::Merge(json!({"data": {"count": count.to_string()}}));
    maps.patch("visits", &PatchParams::default(), &patch)
        .await?;
    Ok(count)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = ApiServer::new();
    let maps = Resource::config_maps();
    server.create(
        &maps,
        json!({"metadata": {"name": "visits"}, "data": {"count": "41"}}),
    )?;
    let busy = Fault::status(429, "TooManyRequests", "slow down");
    server.fault(Match::any().resource(&maps), busy, Times::Once);

    let count = count_visit(Client::new(server.service(), "default")).await?;

    assert_eq!(count, 42);
    assert_eq!(
        server.get(&maps, "default", "visits")?.json()["data"]["count"],
        "42"
    );
    for request in server.requests() {
        println!("{request}");
    }
    Ok(())
}
