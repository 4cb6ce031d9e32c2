//! The ten lines of the README: all pods in a cache, by node, with a handler.
//!
//! `cargo run -p informer-factory --example pods`
//!
//! Runs over an API server in memory. With a cluster instead, and the feature `rustls-tls`:
//! `let client = informer_factory::client(kube_client::Config::infer().await?)?;`

use std::time::Duration;

use informer_factory::{Client, Grace, SharedInformerFactory, index};
use informer_testkit::{ApiServer, Resource};
use k8s_openapi::api::core::v1::Pod;
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let server = ApiServer::new();
    for number in 0..5 {
        let metadata = json!({"namespace": "default", "name": format!("web-{number}")});
        let spec = json!({"nodeName": format!("node-{}", number % 2), "containers": []});
        server.create(
            &Resource::pods(),
            json!({"metadata": metadata, "spec": spec}),
        )?;
    }
    let client = Client::new(server.service(), "default");

    let factory = SharedInformerFactory::new(client);
    let pods = factory.informer::<Pod>();
    let by_node = pods.add_index("node", index::node)?;
    let printer = pods
        .callbacks()
        .on_add(|added| println!("+ {} (initial: {})", added.key, added.initial))
        .on_delete(|deleted| println!("- {}", deleted.key()));
    let handler = pods.add_handler(printer)?;
    factory.start()?;
    factory.wait_synced(Duration::from_secs(30)).await?;
    handler.wait_synced(Duration::from_secs(30)).await?;
    println!(
        "{} pods, {} on node-1",
        pods.lister().all().len(),
        by_node.get("node-1").len()
    );

    server.delete(&Resource::pods(), "default", "web-1")?;
    let now = server.version().into();
    pods.wait_for_version(&now, Duration::from_secs(30)).await?;
    println!("{} on node-1", by_node.get("node-1").len());
    factory.shutdown(Grace::default()).await?;
    Ok(())
}
