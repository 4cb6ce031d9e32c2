//! What the demo's pods and nodes look like: about as large as a small real pod.

use serde_json::{Value, json};

/// Says when an object was written, in microseconds since the demo began.
pub(super) const WRITTEN: &str = "demo.informer/written-us";

const TEAMS: u32 = 8;
const APPS: [&str; 5] = ["web", "api", "queue", "cache", "batch"];

/// The name of a pod; no two pods of a demo ever have the same.
#[derive(Clone, Debug)]
pub(super) struct PodName {
    pub(super) namespace: String,
    pub(super) name: String,
}

impl PodName {
    /// The name of the pod with this number.
    pub(super) fn of(number: u32) -> Self {
        Self {
            namespace: format!("team-{}", number % TEAMS),
            name: format!("{}-{number:07}", app(number)),
        }
    }

    /// As a store's key.
    pub(super) fn key(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }
}

fn app(number: u32) -> &'static str {
    let apps = APPS.len() as u32;
    APPS[((number / TEAMS) % apps) as usize]
}

pub(super) fn node_name(number: u32) -> String {
    format!("node-{number:05}")
}

/// The pod with this number, on one of so many nodes.
pub(super) fn pod(number: u32, nodes: u32, written: u64) -> Value {
    let PodName { namespace, name } = PodName::of(number);
    // Spread, but not evenly: a tenth of the nodes gets half as much again.
    let spread = number.wrapping_mul(2_654_435_761) >> 7;
    let node = if number.is_multiple_of(21) {
        spread % nodes.div_ceil(10)
    } else {
        spread % nodes
    };
    let app = app(number);
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "namespace": namespace,
            "name": name,
            "labels": {"app": app, "app.kubernetes.io/part-of": "demo", "revision": "0"},
            "annotations": {WRITTEN: written.to_string()},
            "ownerReferences": [{
                "apiVersion": "apps/v1", "kind": "ReplicaSet", "controller": true,
                "name": app, "uid": format!("00000000-0000-4000-8000-0000000000{:02}", number % 40),
            }],
        },
        "spec": {
            "nodeName": node_name(node),
            "restartPolicy": "Always",
            "serviceAccountName": "default",
            "terminationGracePeriodSeconds": 30,
            "containers": [{
                "name": app,
                "image": format!("registry.example/demo/{app}:1.0"),
                "env": [{"name": "MODE", "value": "demo"}, {"name": "LEVEL", "value": "info"}],
                "ports": [{"containerPort": 8080, "protocol": "TCP"}],
                "resources": {
                    "requests": {"cpu": "100m", "memory": "64Mi"},
                    "limits": {"cpu": "500m", "memory": "128Mi"},
                },
            }],
        },
        "status": {
            "phase": "Running",
            "podIP": format!("10.{}.{}.{}", number >> 16 & 255, number >> 8 & 255, number & 255),
            "conditions": [
                {"type": "Ready", "status": "True"},
                {"type": "PodScheduled", "status": "True"},
            ],
        },
    })
}

/// The node with this number.
pub(super) fn node(number: u32, written: u64) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": node_name(number),
            "labels": {"kubernetes.io/hostname": node_name(number)},
            "annotations": {WRITTEN: written.to_string()},
        },
        "status": {"capacity": {"cpu": "16", "memory": "64Gi", "pods": "110"}},
    })
}
