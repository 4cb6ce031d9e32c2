//! Serves some pods on loopback, and changes one of them every second, for kubectl-like clients.
//!
//! `cargo run -p informer-testkit --example serve`, then for instance
//! `curl "$URL/api/v1/pods?watch=1"` or `kubectl --server "$URL" get pods -A`. Uses this crate
//! alone. Ends with Ctrl-C.

use std::{error::Error, time::Duration};

use informer_testkit::{ApiServer, Resource};
use serde_json::json;

const PODS: u32 = 20;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let server = ApiServer::new();
    for pod in 0..PODS {
        let node = format!("node-{}", pod % 4);
        let metadata = json!({"name": format!("pod-{pod}"), "labels": {"app": "demo"}});
        let container = json!({"name": "main", "image": "registry/demo:1"});
        let spec = json!({"nodeName": node, "containers": [container]});
        server.create(
            &Resource::pods(),
            json!({"metadata": metadata, "spec": spec}),
        )?;
    }
    let handle = server.serve().await?;
    println!("{}", handle.url);
    for change in 0_u32.. {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let name = format!("pod-{}", change % PODS);
        let patch = json!({"metadata": {"annotations": {"change": change.to_string()}}});
        server.patch(&Resource::pods(), "default", &name, patch)?;
    }
    handle.shutdown().await;
    Ok(())
}
