//! How many changes a second one server takes, with watchers reading along: `--release`.
//!
//! Patches 10,000 pods in turn, with one watcher through the service and ten more besides, and
//! prints what it measured. Uses this crate alone.

use std::error::Error;

use http_body_util::BodyExt;
use informer_testkit::{ApiServer, Resource};
use serde_json::json;
use tokio::time::Instant;
use tower::ServiceExt;

const PODS: u64 = 10_000;
const CHANGES: u64 = 100_000;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    for watchers in [1, 11] {
        measure(watchers).await?;
    }
    Ok(())
}

async fn measure(watchers: usize) -> Result<(), Box<dyn Error>> {
    // Nothing may fall off the history, so that every watcher is seen to read everything.
    let server = ApiServer::builder().history_limit(1_000_000).build();
    let pods = Resource::pods();
    for pod in 0..PODS {
        server.create(&pods, pod_named(pod))?;
    }
    let mut readers = Vec::new();
    for _ in 0..watchers {
        let uri = format!(
            "/api/v1/pods?watch=true&resourceVersion={}",
            server.version()
        );
        let request = http::Request::get(uri).body(http_body_util::Empty::<bytes::Bytes>::new())?;
        let mut body = server.service().oneshot(request).await?.into_body();
        readers.push(tokio::spawn(async move {
            let (mut lines, mut bytes) = (0, 0);
            while lines < CHANGES {
                let Some(Ok(frame)) = body.frame().await else {
                    break;
                };
                let Ok(chunk) = frame.into_data() else {
                    continue;
                };
                bytes += chunk.len();
                lines += chunk.iter().filter(|byte| **byte == b'\n').count() as u64;
            }
            (lines, bytes)
        }));
    }
    let started = Instant::now();
    for change in 0..CHANGES {
        let name = format!("pod-{}", change % PODS);
        let patch = json!({"metadata": {"annotations": {"change": change.to_string()}}});
        server.patch(&pods, "default", &name, patch)?;
        if change % 100 == 0 {
            tokio::task::yield_now().await;
        }
    }
    let written = started.elapsed();
    let mut lines = 0;
    for reader in readers {
        lines += reader.await?.0;
    }
    let read = started.elapsed();
    let rate = |seconds: f64| (CHANGES as f64 / seconds).round();
    println!(
        "{watchers} watchers: {} changes/s written, {} changes/s read by all, {lines} lines",
        rate(written.as_secs_f64()),
        rate(read.as_secs_f64()),
    );
    Ok(())
}

fn pod_named(number: u64) -> serde_json::Value {
    let environment: Vec<_> = (0..12)
        .map(|variable| json!({"name": format!("VARIABLE_{variable}"), "value": "a value of it"}))
        .collect();
    json!({
        "metadata": {
            "name": format!("pod-{number}"),
            "labels": {"app": format!("app-{}", number % 100), "tier": "front"},
        },
        "spec": {
            "nodeName": format!("node-{}", number % 500),
            "containers": [{"name": "main", "image": "registry/app:1", "env": environment}],
        },
        "status": {"phase": "Running", "podIP": "10.0.0.1"},
    })
}
