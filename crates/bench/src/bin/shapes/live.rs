//! Pods as an API server returns them: a filled template, with what defaulting, admission,
//! controllers, network plugin and kubelet add to it.

use serde_json::{Map, Value, json};

use super::manifest::Owner;
use super::ownership;
use super::status;
use super::workload::Workload;
use informer_bench::chance::Chance;

/// The node of a pod and its times.
pub(super) struct Place {
    pub(super) ordinal: u64,
    pub(super) version: usize,
    pub(super) node: String,
    pub(super) host: String,
    pub(super) address: String,
    pub(super) created: String,
    pub(super) started: String,
}

impl Place {
    /// Draws the place of the `number`th pod of a collection.
    pub(super) fn draw(ordinal: u64, number: usize, chance: &mut Chance) -> Self {
        let node = chance.below(500);
        let zone = ["a", "b", "c"][usize::try_from(node % 3).expect("it is small")];
        let (third, fourth) = (chance.below(256), 1 + chance.below(254));
        Self {
            ordinal,
            version: 700_000_000 + number * 13,
            node: format!(
                "ip-10-0-{}-{}.eu-1{zone}.compute.example",
                node / 16,
                node % 200
            ),
            host: format!("10.0.{}.{}", node / 16, node % 200),
            address: format!("10.{}.{third}.{fourth}", 64 + node / 8),
            created: chance.time(),
            started: chance.time(),
        }
    }
}

/// Returns a pod and its name.
pub(super) fn pod(workload: &Workload, place: &Place, chance: &mut Chance) -> (String, Value) {
    let (prefix, name) = names(workload, place, chance);
    let mut spec = workload.pod["spec"].clone();
    let is_on_host_network = spec["hostNetwork"] == true;
    let mut metadata = metadata(workload, place, chance);
    metadata["name"] = json!(name);
    if let Some(prefix) = prefix {
        metadata["generateName"] = json!(prefix);
    }
    let mut entries = vec![ownership::entry(
        "kube-controller-manager",
        &place.created,
        &json!({"metadata": metadata_of_template(&metadata), "spec": &spec}),
    )];
    if !is_on_host_network {
        let network = network(place, chance);
        let owned = json!({"metadata": {"annotations": &network}});
        entries.push(ownership::entry("network-plugin", &place.started, &owned));
        let annotations = metadata["annotations"].as_object_mut();
        annotations.expect("annotations").extend(network);
    }
    complete(&mut spec, workload, place, chance);
    let status = status::of(&spec, place, chance);
    let mut kubelet = ownership::entry("kubelet", &place.started, &json!({"status": &status}));
    kubelet["subresource"] = json!("status");
    entries.push(kubelet);
    metadata["managedFields"] = Value::Array(entries);
    (
        name,
        json!({"metadata": metadata, "spec": spec, "status": status}),
    )
}

/// Returns the prefix that a name was generated from, and the name.
fn names(workload: &Workload, place: &Place, chance: &mut Chance) -> (Option<String>, String) {
    let prefix = match workload.owner {
        Owner::ReplicaSet => format!("{}-{}-", workload.name, workload.hash),
        Owner::DaemonSet | Owner::Job | Owner::StatefulSet => format!("{}-", workload.name),
    };
    match workload.owner {
        Owner::StatefulSet => (None, format!("{prefix}{}", place.ordinal)),
        _ => {
            let name = format!("{prefix}{}", chance.suffix(5));
            (Some(prefix), name)
        }
    }
}

fn metadata(workload: &Workload, place: &Place, chance: &mut Chance) -> Value {
    let template = &workload.pod["metadata"];
    let mut labels = template["labels"].as_object().cloned().expect("labels");
    let (name, hash, uid) = (&workload.name, &workload.hash, &workload.uid);
    let added = match workload.owner {
        Owner::ReplicaSet => json!({"pod-template-hash": hash}),
        Owner::DaemonSet => json!({
            "controller-revision-hash": hash, "pod-template-generation": "3",
        }),
        Owner::StatefulSet => json!({
            "apps.kubernetes.io/pod-index": place.ordinal.to_string(),
            "controller-revision-hash": format!("{name}-{hash}"),
            "statefulset.kubernetes.io/pod-name": format!("{name}-{}", place.ordinal),
        }),
        Owner::Job => json!({
            "batch.kubernetes.io/controller-uid": uid, "batch.kubernetes.io/job-name": name,
            "controller-uid": uid, "job-name": name,
        }),
    };
    labels.extend(added.as_object().cloned().expect("labels"));
    let owner = match workload.owner {
        Owner::ReplicaSet => format!("{name}-{hash}"),
        Owner::DaemonSet | Owner::Job | Owner::StatefulSet => name.clone(),
    };
    let api = match workload.owner {
        Owner::Job => "batch/v1",
        Owner::DaemonSet | Owner::ReplicaSet | Owner::StatefulSet => "apps/v1",
    };
    let annotations = template["annotations"].as_object().cloned();
    json!({
        "namespace": workload.namespace, "uid": chance.uid(), "generation": 1,
        "resourceVersion": place.version.to_string(), "creationTimestamp": place.created,
        "labels": labels, "annotations": annotations.unwrap_or_default(),
        "ownerReferences": [{
            "apiVersion": api, "kind": workload.owner.kind(), "name": owner, "uid": uid,
            "controller": true, "blockOwnerDeletion": true,
        }],
    })
}

/// The metadata that the controller sets.
fn metadata_of_template(metadata: &Value) -> Value {
    let fields = ["annotations", "generateName", "labels", "ownerReferences"];
    let set = fields.iter().filter_map(|field| {
        let value = metadata.get(field)?;
        Some(((*field).to_owned(), value.clone()))
    });
    Value::Object(set.collect())
}

/// The annotations of the network plugin.
fn network(place: &Place, chance: &mut Chance) -> Map<String, Value> {
    let annotations = json!({
        "cni.projectcalico.org/containerID": chance.hex(64),
        "cni.projectcalico.org/podIP": format!("{}/32", place.address),
        "cni.projectcalico.org/podIPs": format!("{}/32", place.address),
    });
    annotations.as_object().cloned().expect("an object")
}

/// Sets each field that the specification does not have.
fn set_default(fields: &mut Value, defaults: Value) {
    let fields = fields.as_object_mut().expect("fields are an object");
    let Value::Object(defaults) = defaults else {
        return;
    };
    for (name, value) in defaults {
        fields.entry(name).or_insert(value);
    }
}

/// Adds the defaults and what admission and the scheduler add.
fn complete(spec: &mut Value, workload: &Workload, place: &Place, chance: &mut Chance) {
    let account = spec["serviceAccountName"].clone();
    set_default(
        spec,
        json!({
            "dnsPolicy": "ClusterFirst", "enableServiceLinks": true, "nodeName": place.node,
            "preemptionPolicy": "PreemptLowerPriority", "priority": 0, "restartPolicy": "Always",
            "schedulerName": "default-scheduler", "securityContext": {},
            "serviceAccount": account, "terminationGracePeriodSeconds": 30,
        }),
    );
    if let Some(class) = spec["priorityClassName"].as_str() {
        let of_node = u64::from(class == "system-node-critical");
        spec["priority"] = json!(2_000_000_000 + of_node * 1_000);
    }
    tolerate(spec, workload.owner);
    if workload.owner == Owner::StatefulSet {
        spec["hostname"] = json!(format!("{}-{}", workload.name, place.ordinal));
    }
    let token = match spec["automountServiceAccountToken"] == false {
        true => None,
        false => Some(format!("kube-api-access-{}", chance.suffix(5))),
    };
    if let Some(token) = &token {
        set_default(spec, json!({"volumes": []}));
        let volumes = spec["volumes"].as_array_mut().expect("volumes");
        volumes.push(token_volume(token));
    }
    for volume in spec["volumes"].as_array_mut().into_iter().flatten() {
        complete_volume(volume);
    }
    for list in ["initContainers", "containers"] {
        for container in spec[list].as_array_mut().into_iter().flatten() {
            complete_container(container, token.as_deref());
        }
    }
    spec.as_object_mut()
        .expect("an object")
        .retain(|_, value| !value.is_null());
}

fn tolerate(spec: &mut Value, owner: Owner) {
    set_default(spec, json!({"tolerations": []}));
    let tolerations = spec["tolerations"].as_array_mut().expect("tolerations");
    let mut add = |key: &str, effect: &str, seconds: Option<u64>| {
        let mut toleration = json!({"key": key, "operator": "Exists", "effect": effect});
        if let Some(seconds) = seconds {
            toleration["tolerationSeconds"] = json!(seconds);
        }
        tolerations.push(toleration);
    };
    let seconds = (owner != Owner::DaemonSet).then_some(300);
    add("node.kubernetes.io/not-ready", "NoExecute", seconds);
    add("node.kubernetes.io/unreachable", "NoExecute", seconds);
    if owner == Owner::DaemonSet {
        for condition in [
            "disk-pressure",
            "memory-pressure",
            "pid-pressure",
            "unschedulable",
        ] {
            add(
                &format!("node.kubernetes.io/{condition}"),
                "NoSchedule",
                None,
            );
        }
    }
}

fn token_volume(name: &str) -> Value {
    json!({"name": name, "projected": {"defaultMode": 420, "sources": [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {
            "name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}],
        }},
        {"downwardAPI": {"items": [{
            "path": "namespace",
            "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"},
        }]}},
    ]}})
}

fn complete_volume(volume: &mut Value) {
    for kind in ["configMap", "downwardAPI", "projected", "secret"] {
        if volume.get(kind).is_some() {
            set_default(&mut volume[kind], json!({"defaultMode": 420}));
        }
    }
    if volume.get("hostPath").is_some() {
        set_default(&mut volume["hostPath"], json!({"type": ""}));
    }
}

fn complete_container(container: &mut Value, token: Option<&str>) {
    set_default(
        container,
        json!({
            "imagePullPolicy": "IfNotPresent", "resources": {},
            "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
        }),
    );
    if let Some(token) = token {
        set_default(container, json!({"volumeMounts": []}));
        let mounts = container["volumeMounts"].as_array_mut().expect("mounts");
        mounts.push(json!({
            "name": token, "readOnly": true,
            "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
        }));
    }
    for port in container["ports"].as_array_mut().into_iter().flatten() {
        set_default(port, json!({"protocol": "TCP"}));
    }
    for variable in container["env"].as_array_mut().into_iter().flatten() {
        if let Some(reference) = variable.pointer_mut("/valueFrom/fieldRef") {
            set_default(reference, json!({"apiVersion": "v1"}));
        }
    }
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let Some(probe) = container.get_mut(probe).filter(|probe| probe.is_object()) else {
            continue;
        };
        set_default(
            probe,
            json!({
                "failureThreshold": 3, "periodSeconds": 10, "successThreshold": 1,
                "timeoutSeconds": 1,
            }),
        );
        if let Some(http) = probe.get_mut("httpGet") {
            set_default(http, json!({"scheme": "HTTP"}));
        }
    }
    container
        .as_object_mut()
        .expect("an object")
        .retain(|_, value| !value.is_null());
}
