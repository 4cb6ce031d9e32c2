//! The thirty templates of pods: manifests of well-known software, and of applications.

use serde_json::{Value, json};

use super::manifest::{Manifest, Names};
use informer_bench::chance::Chance;

/// The manifests by name.
const MANIFESTS: [(&str, &str); 18] = [
    (
        "argocd-repo-server",
        include_str!("../../../manifests/argocd-repo-server.yaml"),
    ),
    (
        "batch-job",
        include_str!("../../../manifests/batch-job.yaml"),
    ),
    (
        "cert-manager",
        include_str!("../../../manifests/cert-manager.yaml"),
    ),
    ("coredns", include_str!("../../../manifests/coredns.yaml")),
    ("csi-node", include_str!("../../../manifests/csi-node.yaml")),
    (
        "fluent-bit",
        include_str!("../../../manifests/fluent-bit.yaml"),
    ),
    ("grafana", include_str!("../../../manifests/grafana.yaml")),
    (
        "ingress-nginx",
        include_str!("../../../manifests/ingress-nginx.yaml"),
    ),
    (
        "java-service",
        include_str!("../../../manifests/java-service.yaml"),
    ),
    ("kafka", include_str!("../../../manifests/kafka.yaml")),
    (
        "kube-proxy",
        include_str!("../../../manifests/kube-proxy.yaml"),
    ),
    ("mesh-app", include_str!("../../../manifests/mesh-app.yaml")),
    (
        "metrics-server",
        include_str!("../../../manifests/metrics-server.yaml"),
    ),
    (
        "node-exporter",
        include_str!("../../../manifests/node-exporter.yaml"),
    ),
    ("postgres", include_str!("../../../manifests/postgres.yaml")),
    (
        "prometheus",
        include_str!("../../../manifests/prometheus.yaml"),
    ),
    ("redis", include_str!("../../../manifests/redis.yaml")),
    ("worker", include_str!("../../../manifests/worker.yaml")),
];

/// The applications of manifests that several templates are made from: manifest, name, team.
const APPLICATIONS: [(&str, &str, &str); 19] = [
    ("batch-job", "invoice-export", "finance"),
    ("batch-job", "stock-report", "logistics"),
    ("java-service", "ledger", "finance"),
    ("java-service", "order-service", "checkout"),
    ("java-service", "pricing-engine", "catalog"),
    ("java-service", "shipment-planner", "logistics"),
    ("kafka", "events", "platform"),
    ("mesh-app", "account-api", "identity"),
    ("mesh-app", "basket", "checkout"),
    ("mesh-app", "catalog-frontend", "catalog"),
    ("mesh-app", "media-resizer", "content"),
    ("mesh-app", "recommendations", "insight"),
    ("mesh-app", "session-gateway", "identity"),
    ("postgres", "catalog", "catalog"),
    ("postgres", "orders", "checkout"),
    ("redis", "basket", "checkout"),
    ("redis", "sessions", "identity"),
    ("worker", "mail-sender", "content"),
    ("worker", "thumbnailer", "content"),
];

/// The manifests whose first container gets variables of its application.
const CONFIGURED: [&str; 4] = ["batch-job", "java-service", "mesh-app", "worker"];

/// The ends of names of variables, with the values that workloads give them.
const VARIABLES: [(&str, &str); 12] = [
    (
        "API_URL",
        "https://${word}-${hex:6}.internal.example.com/${word}/v${number:1-4}",
    ),
    ("BATCH_SIZE", "${number:10-5000}"),
    ("BUCKET", "s3://eu-${number:1-3}-${word}-${hex:10}"),
    ("CACHE_TTL_SECONDS", "${number:5-86400}"),
    ("CLIENT_ID", "${hex:32}"),
    ("DB_HOST", "${word}-${hex:8}.db.example.com"),
    ("ENABLED", "true"),
    (
        "FEATURE_FLAGS",
        "${word}-v${number:1-9},${word}-v${number:1-9},${word}",
    ),
    ("POOL_SIZE", "${number:2-64}"),
    ("SIGNING_KEY_ID", "${hex:16}"),
    ("TIMEOUT_MS", "${number:50-60000}"),
    ("TOPIC", "${team}.${word}.${word}.v${number:1-5}"),
];

/// A template, of which many workloads are made.
#[derive(Clone, Debug)]
pub(super) struct Template {
    /// The name, unique among the templates.
    pub(super) name: String,
    app: &'static str,
    team: &'static str,
    pub(super) manifest: Manifest,
}

impl Template {
    pub(super) fn names(&self) -> Names<'_> {
        Names {
            app: self.app,
            team: self.team,
        }
    }
}

/// Returns all templates, the same ones each time.
pub(super) fn all() -> Vec<Template> {
    let templates = MANIFESTS.iter().flat_map(|(name, text)| {
        let applications = APPLICATIONS.iter().filter(move |(of, ..)| of == name);
        let own = applications.map(|&(_, app, team)| template(name, text, app, team));
        let mut own: Vec<Template> = own.collect();
        if own.is_empty() {
            own.push(template(name, text, name, "platform"));
        }
        own
    });
    templates.collect()
}

fn template(manifest: &'static str, text: &str, app: &'static str, team: &'static str) -> Template {
    let name = match app == manifest {
        true => manifest.to_owned(),
        false => format!("{manifest} {app}"),
    };
    let mut parsed = Manifest::parse(text);
    if CONFIGURED.contains(&manifest) {
        configure(&mut parsed.pod, app);
    }
    Template {
        name,
        app,
        team,
        manifest: parsed,
    }
}

/// Adds the variables of an application to its first container: names that its code reads.
fn configure(pod: &mut Value, app: &str) {
    let seed = app
        .bytes()
        .fold(7, |seed: u64, byte| seed.wrapping_mul(31) + u64::from(byte));
    let mut chance = Chance::new(seed, 0);
    let environment = pod["spec"]["containers"][0]["env"].as_array_mut();
    let environment = environment.expect("its first container has variables");
    for _ in 0..6 + chance.below(12) {
        let (end, value) = chance.pick(&VARIABLES);
        let name = format!("{}_{end}", chance.word().to_uppercase());
        if environment.iter().all(|variable| variable["name"] != name) {
            environment.push(json!({"name": name, "value": value}));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn templates_are_thirty_different_ones_of_at_least_ten_manifests() {
        let templates = all();
        assert_eq!(templates.len(), 30);
        let names: BTreeSet<_> = templates.iter().map(|template| &template.name).collect();
        assert_eq!(names.len(), 30);
        const { assert!(MANIFESTS.len() >= 10) };
    }

    #[test]
    fn every_application_is_of_a_manifest() {
        for (of, app, _) in APPLICATIONS {
            assert!(MANIFESTS.iter().any(|(name, _)| *name == of), "{app}");
        }
    }

    #[test]
    fn applications_of_one_manifest_have_variables_of_their_own() {
        let variables = |name: &str| {
            let template = all().into_iter().find(|template| template.name == name);
            let pod = template.expect("it exists").manifest.pod;
            let variables = pod["spec"]["containers"][0]["env"].as_array().cloned();
            let variables = variables.expect("it has variables").into_iter();
            variables
                .map(|variable| variable["name"].to_string())
                .collect::<BTreeSet<_>>()
        };
        let (basket, account) = (
            variables("mesh-app basket"),
            variables("mesh-app account-api"),
        );
        assert!(basket.len() > 6 && basket.difference(&account).count() > 3);
    }
}
