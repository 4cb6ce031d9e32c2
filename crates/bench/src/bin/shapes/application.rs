//! Custom resources of about 20 KB: what a tool for continuous delivery knows of one application.
//!
//! The values of a chart are in the object several times, as such tools keep them: as they are
//! wanted, as they were compared, and as they were applied before.

use serde_json::{Value, json};

use super::{Item, Request, ownership};
use informer_bench::chance::Chance;

/// The charts that applications are installed from.
const CHARTS: [&str; 12] = [
    "api", "cache", "consumer", "cron", "frontend", "gateway", "graphql", "importer", "model",
    "search", "stream", "worker",
];

/// The kinds of an application's resources: group, version, kind.
const KINDS: [(&str, &str, &str); 11] = [
    ("", "v1", "ConfigMap"),
    ("", "v1", "Secret"),
    ("", "v1", "Service"),
    ("", "v1", "ServiceAccount"),
    ("apps", "v1", "Deployment"),
    ("autoscaling", "v2", "HorizontalPodAutoscaler"),
    ("monitoring.example.com", "v1", "ServiceMonitor"),
    ("networking.k8s.io", "v1", "Ingress"),
    ("networking.k8s.io", "v1", "NetworkPolicy"),
    ("policy", "v1", "PodDisruptionBudget"),
    ("rbac.authorization.k8s.io", "v1", "RoleBinding"),
];

/// The applications of a project.
const PROJECT: usize = 40;

/// The installations before the present one that an application remembers.
const REMEMBERED: u64 = 3;

/// Returns one application.
pub(super) fn item(request: Request, number: usize) -> Item {
    let mut chance = Chance::new(request.draw(3), number);
    let project = format!("project-{:03}", number / PROJECT);
    let chart = *chance.pick(&CHARTS);
    let name = format!("{chart}-{}-{number:05}", chance.word());
    let target = format!(
        "{}-{}",
        chance.word(),
        chance.pick(&["prod", "stage", "test"])
    );
    let (created, synced) = (chance.time(), chance.time());
    let source = source(chart, &name, &mut chance);
    let spec = json!({
        "project": project, "source": source,
        "destination": {"server": "https://kubernetes.default.svc", "namespace": target},
        "ignoreDifferences": [
            {"group": "apps", "kind": "Deployment", "jsonPointers": ["/spec/replicas"]},
        ],
        "revisionHistoryLimit": REMEMBERED,
        "syncPolicy": {
            "automated": {"prune": true, "selfHeal": true},
            "retry": {"limit": 5, "backoff": {
                "duration": "5s", "factor": 2, "maxDuration": "3m",
            }},
            "syncOptions": ["CreateNamespace=true", "ServerSideApply=true"],
        },
    });
    let status = status(&spec, &name, &synced, &mut chance);
    let managed = [
        ownership::entry("delivery-server", &created, &json!({"spec": &spec})),
        ownership::entry("delivery-controller", &synced, &json!({"status": &status})),
    ];
    let object = json!({
        "metadata": {
            "name": name, "namespace": project, "uid": chance.uid(),
            "resourceVersion": (800_000_000 + number * 7).to_string(),
            "creationTimestamp": created, "generation": 1 + chance.below(5_000),
            "labels": {
                "deploy.example.com/chart": chart, "deploy.example.com/project": project,
                "deploy.example.com/stage": target,
            },
            "annotations": {
                "deploy.example.com/refresh": chance.hex(8),
                "notified.deploy.example.com": format!(
                    r#"{{"{}:on-deployed:slack:{}":{}}}"#,
                    chance.hex(40), chance.word(), 1_770_000_000 + chance.below(9_000_000)
                ),
            },
            "finalizers": ["resources-finalizer.deploy.example.com"],
            "managedFields": managed,
        },
        "spec": spec, "status": status,
    });
    Item::new(&project, &name, 0, &object)
}

fn source(chart: &str, name: &str, chance: &mut Chance) -> Value {
    json!({
        "repoURL": "https://git.example.com/platform/charts.git",
        "path": format!("charts/{chart}"), "targetRevision": format!("release-{}", chance.version()),
        "helm": {
            "releaseName": name, "values": values(chart, chance),
            "parameters": [
                {"name": "image.tag", "value": chance.hex(12)},
                {"name": "global.cluster", "value": format!("eu-{}", chance.hex(6))},
            ],
        },
    })
}

/// The values of a chart, as text.
fn values(chart: &str, chance: &mut Chance) -> String {
    let host = format!("{chart}-{}.apps.example.com", chance.hex(6));
    let mut values = format!(
        "image:\n  repository: registry.example/platform/{chart}\n  tag: {}\n  digest: sha256:{}\n\
         replicaCount: {}\nautoscaling:\n  enabled: true\n  minReplicas: {}\n  maxReplicas: {}\n  \
         targetCPUUtilizationPercentage: 70\nresources:\n  requests:\n    cpu: {}m\n    memory: \
         {}Mi\n  limits:\n    memory: {}Mi\ningress:\n  enabled: true\n  className: nginx\n  \
         annotations:\n    cert-manager.io/cluster-issuer: letsencrypt\n    \
         nginx.ingress.kubernetes.io/proxy-read-timeout: \"60\"\n  hosts:\n  - host: {host}\n    \
         paths:\n    - path: /\n      pathType: Prefix\n  tls:\n  - secretName: {chart}-tls\n    \
         hosts:\n    - {host}\npodDisruptionBudget:\n  minAvailable: 1\nenv:\n",
        chance.version(),
        chance.hex(64),
        1 + chance.below(20),
        1 + chance.below(5),
        6 + chance.below(60),
        100 + chance.below(900),
        128 + chance.below(900),
        1024 + chance.below(4_000),
    );
    for _ in 0..8 {
        let (name, value) = (chance.word().to_uppercase(), chance.hex(20));
        let word = chance.word();
        values.push_str(&format!(
            "  {name}_{}: {word}-{value}\n",
            chart.to_uppercase()
        ));
    }
    values.push_str("nodeSelector:\n  kubernetes.io/os: linux\ntolerations: []\naffinity: {}\n");
    values
}

fn status(spec: &Value, name: &str, synced: &str, chance: &mut Chance) -> Value {
    let (source, revision) = (&spec["source"], chance.hex(40));
    let target = spec["destination"]["namespace"]
        .as_str()
        .expect("a namespace");
    let kinds = (0..17).map(|at| KINDS[at % KINDS.len()]).enumerate();
    let kinds: Vec<_> = kinds
        .map(|(at, kind)| (format!("{name}-{}", at / 11), kind))
        .collect();
    let resources = kinds.iter().map(|(name, (group, version, kind))| {
        json!({
            "group": group, "version": version, "kind": kind, "namespace": target, "name": name,
            "status": "Synced", "health": {"status": "Healthy"},
        })
    });
    let results = kinds.iter().map(|(name, (group, version, kind))| {
        json!({
            "group": group, "version": version, "kind": kind, "namespace": target, "name": name,
            "status": "Synced", "syncPhase": "Sync", "hookPhase": "Running",
            "message": format!("{}.{group}/{name} serverside-applied", kind.to_lowercase()),
        })
    });
    let history = (0..REMEMBERED).map(|id| {
        json!({
            "id": 100 + id, "revision": chance.hex(40), "deployStartedAt": chance.time(),
            "deployedAt": chance.time(), "initiatedBy": {"automated": true}, "source": source,
        })
    });
    let history: Value = history.collect();
    json!({
        "health": {"status": "Healthy", "lastTransitionTime": synced},
        "sync": {"status": "Synced", "revision": revision, "comparedTo": {
            "source": source, "destination": spec["destination"],
            "ignoreDifferences": spec["ignoreDifferences"],
        }},
        "history": history, "reconciledAt": chance.time(), "sourceType": "Helm",
        "operationState": {
            "phase": "Succeeded", "message": "successfully synced (all tasks run)",
            "startedAt": chance.time(), "finishedAt": synced,
            "operation": {
                "initiatedBy": {"automated": true},
                "sync": {"prune": true, "revision": revision},
            },
            "syncResult": {
                "revision": revision, "source": source, "resources": results.collect::<Value>(),
            },
        },
        "resources": resources.collect::<Value>(),
        "summary": {"images": [format!("registry.example/platform/{name}:{}", chance.hex(12))]},
    })
}
