//! Events, as the kubelet, the scheduler and controllers write them of pods.

use serde_json::json;

use super::manifest::{Names, fill_text};
use super::{Item, Request, ownership};
use informer_bench::chance::Chance;

/// Type, reason, component, and message, in which placeholders are filled.
const REASONS: [(&str, &str, &str, &str); 12] = [
    ("Normal", "Created", "kubelet", "Created container: ${word}"),
    ("Normal", "Killing", "kubelet", "Stopping container ${word}"),
    (
        "Normal",
        "Pulled",
        "kubelet",
        "Container image \"registry.example/${word}/${word}:${version}\" already present on machine",
    ),
    (
        "Normal",
        "Pulled",
        "kubelet",
        "Successfully pulled image \"registry.example/${word}/${word}:${hex:12}\" in \
         ${number:1-60}.${number:100-999}s (${number:1-60}.${number:100-999}s including waiting). \
         Image size: ${number:1000000-900000000} bytes.",
    ),
    (
        "Normal",
        "Scheduled",
        "default-scheduler",
        "Successfully assigned ${app} to ip-10-0-${number:1-31}-${number:1-200}.compute.example",
    ),
    (
        "Normal",
        "SuccessfulCreate",
        "replicaset-controller",
        "Created pod: ${app}",
    ),
    (
        "Normal",
        "SuccessfulRescale",
        "horizontal-pod-autoscaler",
        "New size: ${number:2-90}; reason: cpu resource utilization (percentage of request) above \
         target",
    ),
    (
        "Warning",
        "BackOff",
        "kubelet",
        "Back-off restarting failed container ${word} in pod ${app}_${team}(${hex:32})",
    ),
    (
        "Warning",
        "FailedMount",
        "kubelet",
        "MountVolume.SetUp failed for volume \"${word}\" : configmap \"${word}-${hex:8}\" not found",
    ),
    (
        "Warning",
        "FailedScheduling",
        "default-scheduler",
        "0/${number:50-900} nodes are available: ${number:1-40} Insufficient cpu, ${number:1-40} \
         Insufficient memory, ${number:1-9} node(s) had untolerated taint(s). preemption: 0/1 \
         nodes are available: 1 No preemption victims found for incoming pod.",
    ),
    (
        "Warning",
        "Unhealthy",
        "kubelet",
        "Liveness probe failed: Get \"http://10.${number:64-127}.${number:0-255}.${number:1-254}:\
         8080/livez\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
    ),
    (
        "Warning",
        "Unhealthy",
        "kubelet",
        "Readiness probe failed: HTTP probe failed with statuscode: 503",
    ),
];

/// The events of a namespace.
const NAMESPACE: usize = 200;

/// Returns one event.
pub(super) fn item(request: Request, number: usize) -> Item {
    let mut chance = Chance::new(request.draw(4), number);
    let namespace = format!("team-{:03}", number / NAMESPACE);
    let (kind, reason, component, message) = chance.pick(&REASONS);
    let pod = format!(
        "{}-{}-{}",
        chance.word(),
        chance.suffix(10),
        chance.suffix(5)
    );
    let name = format!("{pod}.{}", chance.hex(16));
    let names = Names {
        app: &pod,
        team: &namespace,
    };
    let message = fill_text(message, names, &mut chance);
    let (first, last) = (chance.time(), chance.time());
    let container = match *component {
        "kubelet" => Some(format!("spec.containers{{{}}}", chance.word())),
        _ => None,
    };
    let host = match *component {
        "kubelet" => format!(
            "ip-10-0-{}-{}.compute.example",
            chance.below(31),
            chance.below(200)
        ),
        _ => String::new(),
    };
    let mut involved = json!({
        "kind": "Pod", "apiVersion": "v1", "namespace": namespace, "name": pod,
        "uid": chance.uid(), "resourceVersion": (600_000_000 + chance.below(90_000_000)).to_string(),
    });
    if let Some(container) = container {
        involved["fieldPath"] = json!(container);
    }
    let fields = json!({
        "involvedObject": involved, "reason": reason, "message": message, "type": kind,
        "count": 1 + chance.below(500), "firstTimestamp": first, "lastTimestamp": last,
        "source": {"component": component, "host": host},
        "reportingComponent": component, "reportingInstance": host,
    });
    let managed = [ownership::entry(component, &last, &fields)];
    let mut event = fields;
    event["eventTime"] = json!(null);
    event["metadata"] = json!({
        "name": name, "namespace": namespace, "uid": chance.uid(),
        "resourceVersion": (900_000_000 + number * 3).to_string(), "creationTimestamp": first,
        "managedFields": managed,
    });
    Item::new(&namespace, &name, 0, &event)
}
