//! Pods of a realistic shape, about 4 KB of JSON each, the same for the same seed.
//!
//! They are written as text and not by a serializer: these are the bytes every peer gets, so they
//! must not change with the version of a library. What a pod of a deployment has is there: owner,
//! labels, the annotation of `kubectl apply`, a container, a volume, conditions, and the managed
//! fields of the controller and of the kubelet.

use crate::chance::Chance;

/// How many pods a namespace has. They follow each other, since an API server lists in key order.
const NAMESPACE: usize = 2_500;
/// How many nodes: at 100,000 pods each holds 2,000.
pub const NODES: usize = 50;
/// The version of the first pod. All versions have as many digits, so that one can be written over
/// another.
pub const FIRST_VERSION: u64 = 1_000_000_001;
/// The annotation that holds when an event was published.
pub const STAMP: &str = "bench.informer.example/stamp";

/// The name of a pod.
pub fn name(index: usize) -> String {
    format!("web-{:04}-7d9c6b5f48-{index:06}", index / 25 % 10_000)
}

/// The namespace of a pod.
pub fn namespace(index: usize) -> String {
    format!("team-{:03}", index / NAMESPACE)
}

/// The node of a pod.
pub fn node(index: usize) -> String {
    format!("node-{:03}.cluster.example", index % NODES)
}

/// One pod as an item of a list: without kind and apiVersion, as API servers send them.
pub fn json(seed: u64, index: usize) -> String {
    let mut chance = Chance::new(seed, index);
    let name = name(index);
    let mut pod = String::with_capacity(4_400);
    pod.push_str("{\"metadata\":{");
    pod.push_str(&metadata(index, &name, &mut chance));
    pod.push_str("},\"spec\":{");
    pod.push_str(&spec(index));
    pod.push_str("},\"status\":{");
    pod.push_str(&status(index, &mut chance));
    pod.push_str("}}");
    pod
}

/// The metadata of a pod as an item of a list of metadata, which has kind and apiVersion.
pub fn metadata_json(seed: u64, index: usize) -> String {
    let mut chance = Chance::new(seed, index);
    let metadata = metadata(index, &name(index), &mut chance);
    let (kind, version) = ("PartialObjectMetadata", "meta.k8s.io/v1");
    format!(r#"{{"kind":"{kind}","apiVersion":"{version}","metadata":{{{metadata}}}}}"#)
}

fn metadata(index: usize, name: &str, chance: &mut Chance) -> String {
    let (namespace, version) = (namespace(index), FIRST_VERSION + index as u64);
    let (uid, owner) = (chance.uid(), Chance::new(7, index / 25).uid());
    let app = format!("web-{:04}", index / 25 % 10_000);
    let applied = format!(
        r#"{{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{{\"annotations\":{{}},\"labels\":{{\"app\":\"{app}\",\"tier\":\"backend\"}},\"name\":\"{app}\",\"namespace\":\"{namespace}\"}},\"spec\":{{\"containers\":[{{\"image\":\"registry.example/team/{app}:1.27.{}\",\"name\":\"app\",\"ports\":[{{\"containerPort\":8080}}]}}]}}}}\n"#,
        index % 30
    );
    format!(
        r#""name":"{name}","generateName":"{app}-7d9c6b5f48-","namespace":"{namespace}","uid":"{uid}","resourceVersion":"{version}","generation":1,"creationTimestamp":"2026-03-{:02}T08:{:02}:11Z","labels":{{"app":"{app}","app.kubernetes.io/instance":"{app}","app.kubernetes.io/part-of":"shop","pod-template-hash":"7d9c6b5f48","tier":"backend"}},"annotations":{{"{STAMP}":"{version}","kubectl.kubernetes.io/last-applied-configuration":"{applied}","prometheus.io/port":"8080","prometheus.io/scrape":"true"}},"ownerReferences":[{{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"{app}-7d9c6b5f48","uid":"{owner}","controller":true,"blockOwnerDeletion":true}}],"managedFields":[{}]"#,
        1 + index % 28,
        index % 60,
        managed_fields(&owner)
    )
}

/// What the controller and the kubelet own, as the server tracks it.
fn managed_fields(owner: &str) -> String {
    format!(
        r#"{{"manager":"kube-controller-manager","operation":"Update","apiVersion":"v1","time":"2026-03-02T08:15:11Z","fieldsType":"FieldsV1","fieldsV1":{{"f:metadata":{{"f:annotations":{{".":{{}},"f:prometheus.io/port":{{}}}},"f:generateName":{{}},"f:labels":{{".":{{}},"f:app":{{}},"f:pod-template-hash":{{}}}},"f:ownerReferences":{{".":{{}},"k:{{\"uid\":\"{owner}\"}}":{{}}}}}},"f:spec":{{"f:containers":{{"k:{{\"name\":\"app\"}}":{{".":{{}},"f:env":{{".":{{}},"k:{{\"name\":\"POD_IP\"}}":{{".":{{}},"f:name":{{}},"f:valueFrom":{{}}}}}},"f:image":{{}},"f:name":{{}},"f:ports":{{".":{{}},"k:{{\"containerPort\":8080,\"protocol\":\"TCP\"}}":{{".":{{}},"f:containerPort":{{}}}}}},"f:resources":{{".":{{}},"f:limits":{{".":{{}},"f:memory":{{}}}}}}}}}},"f:restartPolicy":{{}},"f:schedulerName":{{}}}}}}}},{{"manager":"kubelet","operation":"Update","apiVersion":"v1","time":"2026-03-02T08:15:19Z","fieldsType":"FieldsV1","fieldsV1":{{"f:status":{{"f:conditions":{{"k:{{\"type\":\"Ready\"}}":{{".":{{}},"f:lastTransitionTime":{{}},"f:status":{{}},"f:type":{{}}}}}},"f:containerStatuses":{{}},"f:hostIP":{{}},"f:phase":{{}},"f:podIP":{{}},"f:podIPs":{{".":{{}},"k:{{\"ip\":\"10.1.0.1\"}}":{{".":{{}},"f:ip":{{}}}}}},"f:startTime":{{}}}}}},"subresource":"status"}}"#
    )
}

fn spec(index: usize) -> String {
    let node = node(index);
    let image = format!("registry.example/team/web:1.27.{}", index % 30);
    let token = "kube-api-access-x7k2p";
    let mount = format!(
        r#""volumeMounts":[{{"name":"{token}","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}}],"imagePullPolicy":"IfNotPresent""#
    );
    format!(
        r#""volumes":[{{"name":"{token}","projected":{{"sources":[{{"serviceAccountToken":{{"expirationSeconds":3607,"path":"token"}}}}],"defaultMode":420}}}}],"containers":[{{"name":"app","image":"{image}","ports":[{{"containerPort":8080,"protocol":"TCP"}}],"env":[{{"name":"POD_IP","valueFrom":{{"fieldRef":{{"apiVersion":"v1","fieldPath":"status.podIP"}}}}}}],"resources":{{"limits":{{"memory":"256Mi"}},"requests":{{"cpu":"100m","memory":"128Mi"}}}},{mount}}}],"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","serviceAccountName":"default","serviceAccount":"default","nodeName":"{node}","securityContext":{{}},"schedulerName":"default-scheduler","enableServiceLinks":true"#
    )
}

fn status(index: usize, chance: &mut Chance) -> String {
    let time = format!("2026-03-{:02}T08:{:02}:19Z", 1 + index % 28, index % 60);
    let conditions: Vec<String> = ["Initialized", "Ready", "PodScheduled"]
        .iter()
        .map(|kind| {
            format!(
                r#"{{"type":"{kind}","status":"True","lastProbeTime":null,"lastTransitionTime":"{time}"}}"#
            )
        })
        .collect();
    let (ip, host) = (address(index), format!("192.168.{}.10", index % NODES));
    let image = format!("registry.example/team/web:1.27.{}", index % 30);
    let (digest, container) = (chance.hex(64), chance.hex(64));
    format!(
        r#""phase":"Running","conditions":[{}],"hostIP":"{host}","podIP":"{ip}","podIPs":[{{"ip":"{ip}"}}],"startTime":"{time}","containerStatuses":[{{"name":"app","state":{{"running":{{"startedAt":"{time}"}}}},"lastState":{{}},"ready":true,"restartCount":{},"image":"{image}","imageID":"registry.example/team/web@sha256:{digest}","containerID":"containerd://{container}","started":true}}],"qosClass":"Burstable""#,
        conditions.join(","),
        index % 3
    )
}

fn address(index: usize) -> String {
    format!("10.{}.{}.{}", index >> 16, index >> 8 & 255, index & 255)
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Pod;

    use super::*;

    #[test]
    fn a_pod_is_what_an_api_server_would_send() {
        for index in [0, 1, 99_999, 299_999] {
            let text = json(1, index);
            let pod: Pod = serde_json::from_str(&text).expect("it is a pod");
            let metadata = pod.metadata;
            assert_eq!(metadata.name.as_deref(), Some(&*name(index)));
            assert_eq!(metadata.managed_fields.map(|fields| fields.len()), Some(2));
            assert_eq!(
                pod.spec.and_then(|spec| spec.node_name),
                Some(node(index)),
                "{text}"
            );
        }
    }

    #[test]
    fn a_pod_is_about_four_kilobytes_and_compact() {
        let sizes: Vec<usize> = (0..1_000).map(|index| json(1, index).len()).collect();
        let mean = sizes.iter().sum::<usize>() / sizes.len();
        assert!((3_900..=4_100).contains(&mean), "{mean} bytes");
        let text = json(1, 5);
        let value: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        assert_eq!(value.to_string().len(), text.len(), "no white space");
    }

    #[test]
    fn nothing_but_the_type_is_lost_in_k8s_openapi() {
        let text = json(1, 17);
        let wire: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
        let pod: Pod = serde_json::from_str(&text).expect("it is a pod");
        let mut again = serde_json::to_value(pod).expect("a pod is JSON");
        let fields = again.as_object_mut().expect("a pod is an object");
        fields.remove("kind");
        fields.remove("apiVersion");
        // A probe that never was is null on the wire and absent in the type.
        let without_nulls = text.replace("\"lastProbeTime\":null,", "");
        let without_nulls: serde_json::Value =
            serde_json::from_str(&without_nulls).expect("it is JSON");
        assert_eq!(again, without_nulls);
        assert_ne!(wire, without_nulls);
    }

    #[test]
    fn pods_are_in_the_order_of_their_keys() {
        let key = |index| format!("{}/{}", namespace(index), name(index));
        let keys: Vec<String> = (0..300_000).map(key).collect();
        assert!(keys.is_sorted());
    }

    #[test]
    fn the_seed_decides() {
        assert_eq!(json(1, 3), json(1, 3));
        assert_ne!(json(1, 3), json(2, 3));
    }
}
