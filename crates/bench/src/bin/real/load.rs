//! Creates the pods, as a controller and a kubelet do.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result};
use futures::{StreamExt, TryStreamExt, stream};
use http::Request;
use informer_factory::Client;
use kube_client::client::Body;
use serde_json::{Value, json};

use crate::access::Access;

/// The requests that wait for the server at a time.
const PARALLEL: usize = 16;

/// The nodes that pods are spread over.
pub(crate) const NODES: usize = 20;

/// The namespace of a pod.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Into {
    /// That of its template.
    Templates,
    /// This one.
    One(&'static str),
}

/// Creates pods and reports their status; returns their number.
pub(crate) async fn create<'a>(
    access: &Access,
    pods: impl Iterator<Item = &'a str>,
    into: Into,
) -> Result<usize> {
    let pods: Vec<&str> = pods.collect();
    let client = access.client()?;
    let mut namespaces = BTreeSet::new();
    for pod in &pods {
        namespaces.insert(namespace_of(&serde_json::from_str(pod)?, into));
    }
    for namespace in namespaces {
        let object = json!({"metadata": {"name": namespace}});
        send(
            &client,
            "POST",
            "/api/v1/namespaces?fieldManager=load",
            &object,
        )
        .await?;
    }
    let next = AtomicUsize::new(0);
    let created = pods.iter().map(|pod| {
        let number = next.fetch_add(1, Ordering::Relaxed);
        create_one(&client, pod, number, into)
    });
    let created = stream::iter(created).buffer_unordered(PARALLEL);
    created
        .try_fold(0, |count, ()| async move { Ok(count + 1) })
        .await
}

async fn create_one(client: &Client, text: &str, number: usize, into: Into) -> Result<()> {
    let mut pod: Value = serde_json::from_str(text)?;
    let namespace = namespace_of(&pod, into);
    let mut status = pod["status"].take();
    pod["status"] = json!({});
    // The server computes the class of service, and refuses another one.
    let fields = status.as_object_mut().context("a pod has a status")?;
    fields.remove("qosClass");
    pod["spec"]["nodeName"] = json!(format!("node-{}", number % NODES));
    // Admission sets the priority of a class, and these classes do not exist.
    let spec = pod["spec"].as_object_mut().context("a pod has a spec")?;
    spec.remove("priority");
    spec.remove("priorityClassName");
    let metadata = pod["metadata"]
        .as_object_mut()
        .context("a pod has metadata")?;
    for field in [
        "uid",
        "resourceVersion",
        "creationTimestamp",
        "generation",
        "managedFields",
    ] {
        metadata.remove(field);
    }
    metadata.insert("namespace".to_owned(), json!(namespace));
    let name = metadata["name"]
        .as_str()
        .context("a pod has a name")?
        .to_owned();
    let collection = format!("/api/v1/namespaces/{namespace}/pods");
    let controller = format!("{collection}?fieldManager=kube-controller-manager");
    send(client, "POST", &controller, &pod).await?;
    let kubelet = format!("{collection}/{name}/status?fieldManager=kubelet");
    send(client, "PATCH", &kubelet, &json!({"status": status})).await
}

fn namespace_of(pod: &Value, into: Into) -> String {
    match into {
        Into::Templates => pod["metadata"]["namespace"]
            .as_str()
            .unwrap_or("default")
            .to_owned(),
        Into::One(namespace) => namespace.to_owned(),
    }
}

/// Sends a write; a patch is a merge patch.
pub(crate) async fn send(client: &Client, method: &str, path: &str, body: &Value) -> Result<()> {
    let content_type = match method {
        "PATCH" => "application/merge-patch+json",
        _ => "application/json",
    };
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", content_type)
        .body(Body::from(serde_json::to_vec(body)?))?;
    let answer = client.send(request).await?;
    let status = answer.status();
    let text = answer.into_body().collect_bytes().await?;
    let shown = String::from_utf8_lossy(&text[..text.len().min(600)]).into_owned();
    anyhow::ensure!(status.is_success(), "{method} {path}: {status}: {shown}");
    Ok(())
}
