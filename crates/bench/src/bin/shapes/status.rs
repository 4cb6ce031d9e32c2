//! The status of a running pod, as the kubelet writes it.

use serde_json::{Value, json};

use super::live::Place;
use informer_bench::chance::Chance;

/// The conditions of a pod that is ready.
const CONDITIONS: [&str; 5] = [
    "PodReadyToStartContainers",
    "Initialized",
    "Ready",
    "ContainersReady",
    "PodScheduled",
];

/// Returns the status of a pod with this specification.
pub(super) fn of(spec: &Value, place: &Place, chance: &mut Chance) -> Value {
    let conditions = CONDITIONS.map(|kind| {
        let time = match kind {
            "PodScheduled" => &place.created,
            _ => &place.started,
        };
        json!({
            "type": kind, "status": "True", "observedGeneration": 1, "lastProbeTime": null,
            "lastTransitionTime": time,
        })
    });
    let address = match spec["hostNetwork"] == true {
        true => &place.host,
        false => &place.address,
    };
    let mut status = json!({
        "phase": "Running", "observedGeneration": 1, "conditions": conditions,
        "hostIP": place.host, "hostIPs": [{"ip": place.host}],
        "podIP": address, "podIPs": [{"ip": address}],
        "startTime": place.created, "qosClass": "Burstable",
        "containerStatuses": containers(&spec["containers"], place, true, chance),
    });
    if spec["initContainers"].is_array() {
        let done = containers(&spec["initContainers"], place, false, chance);
        status["initContainerStatuses"] = done;
    }
    status
}

fn containers(containers: &Value, place: &Place, is_running: bool, chance: &mut Chance) -> Value {
    let containers = containers.as_array().expect("containers").iter();
    containers
        .map(|one| container(one, place, is_running, chance))
        .collect()
}

fn container(container: &Value, place: &Place, is_running: bool, chance: &mut Chance) -> Value {
    let image = container["image"].as_str().expect("an image");
    let repository = image
        .rsplit_once(':')
        .map_or(image, |(repository, _)| repository);
    let id = format!("containerd://{}", chance.hex(64));
    let state = match is_running {
        true => json!({"running": {"startedAt": place.started}}),
        false => json!({"terminated": {
            "containerID": id, "exitCode": 0, "reason": "Completed",
            "startedAt": place.created, "finishedAt": place.started,
        }}),
    };
    let mounts = container["volumeMounts"].as_array().into_iter().flatten();
    let mounts = mounts.map(|mount| {
        let mut mounted = json!({"name": mount["name"], "mountPath": mount["mountPath"]});
        if mount["readOnly"] == true {
            mounted["readOnly"] = json!(true);
            mounted["recursiveReadOnly"] = json!("Disabled");
        }
        mounted
    });
    let mut status = json!({
        "name": container["name"], "image": image, "containerID": id,
        "imageID": format!("{repository}@sha256:{}", digest(image)),
        "lastState": {}, "state": state, "ready": true, "started": is_running,
        "restartCount": chance.below(4) * u64::from(is_running),
        "volumeMounts": mounts.collect::<Value>(),
        "user": {"linux": {"uid": 1000, "gid": 1000, "supplementalGroups": [1000]}},
    });
    if is_running {
        status["allocatedResources"] = container["resources"]["requests"].clone();
        status["resources"] = container["resources"].clone();
    }
    status
        .as_object_mut()
        .expect("an object")
        .retain(|_, value| !value.is_null());
    status
}

/// The digest of an image, the same for each container that runs it.
fn digest(image: &str) -> String {
    let seed = image.bytes().fold(11, |seed: u64, byte| {
        seed.wrapping_mul(0x100_0000_01B3) ^ u64::from(byte)
    });
    Chance::new(seed, 0).hex(64)
}
