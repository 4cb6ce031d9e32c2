//! Config maps of about 1 KB: certificates, properties, JSON documents and variables.

use serde_json::{Map, Value, json};

use super::{Item, Request, ownership};
use informer_bench::chance::Chance;

/// The characters of a certificate's text.
const BASE64: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The config maps of a namespace; the first has the certificate of the cluster.
const NAMESPACE: usize = 8;

/// Returns one config map.
pub(super) fn item(request: Request, number: usize) -> Item {
    let mut chance = Chance::new(request.draw(5), number);
    let namespace = format!("team-{:04}", number / NAMESPACE);
    let app = format!("{}-{}", chance.word(), chance.word());
    let (name, data) = match number % NAMESPACE {
        0 => ("kube-root-ca.crt".to_owned(), certificate(request.seed)),
        1..4 => (
            format!("{app}-config-{number}"),
            properties(&app, &mut chance),
        ),
        4..6 => (
            format!("{app}-settings-{number}"),
            document(&app, &mut chance),
        ),
        _ => (format!("{app}-env-{number}"), variables(&app, &mut chance)),
    };
    let created = chance.time();
    let labels = json!({
        "app.kubernetes.io/instance": app, "app.kubernetes.io/managed-by": "Helm",
    });
    let labels = match number % NAMESPACE {
        0 => json!({}),
        _ => labels,
    };
    let fields = json!({"data": data, "metadata": {"labels": labels}});
    let managed = [ownership::entry("helm", &created, &fields)];
    let object = json!({
        "metadata": {
            "name": name, "namespace": namespace, "uid": chance.uid(), "labels": labels,
            "resourceVersion": (500_000_000 + number * 5).to_string(),
            "creationTimestamp": created, "managedFields": managed,
        },
        "data": data,
    });
    Item::new(&namespace, &name, 0, &object)
}

/// The same one in every namespace.
fn certificate(seed: u64) -> Value {
    let mut chance = Chance::new(seed, 0);
    let mut text = "-----BEGIN CERTIFICATE-----\n".to_owned();
    for _ in 0..8 {
        text.extend((0..64).map(|_| char::from(*chance.pick(BASE64))));
        text.push('\n');
    }
    text.push_str("-----END CERTIFICATE-----\n");
    json!({"ca.crt": text})
}

fn properties(app: &str, chance: &mut Chance) -> Value {
    let mut text = format!("# {app}\nserver.port=8080\nserver.shutdown=graceful\n");
    for _ in 0..5 {
        let (group, name, host) = (chance.word(), chance.word(), chance.hex(8));
        let millis = chance.below(60_000);
        text.push_str(&format!(
            "{group}.{name}.url=https://{host}.internal.example.com\n"
        ));
        text.push_str(&format!("{group}.{name}.timeout-ms={millis}\n"));
    }
    json!({"application.properties": text})
}

fn document(app: &str, chance: &mut Chance) -> Value {
    let routes: Vec<Value> = (0..4)
        .map(|_| {
            json!({
                "path": format!("/{}/{}", chance.word(), chance.word()),
                "upstream": format!("{}-{}:8080", chance.word(), chance.hex(6)),
                "weight": chance.below(100), "retries": chance.below(5),
            })
        })
        .collect();
    let document = json!({"name": app, "level": "info", "routes": routes, "version": 2});
    json!({"settings.json": document.to_string()})
}

fn variables(app: &str, chance: &mut Chance) -> Value {
    let prefix = app.to_uppercase().replace('-', "_");
    let variables = (0..8).map(|at| {
        let name = format!("{prefix}_{}_{at}", chance.word().to_uppercase());
        let value = match chance.below(3) {
            0 => chance.hex(32),
            1 => chance.below(100_000).to_string(),
            _ => format!("https://{}-{}.example.com", chance.word(), chance.hex(6)),
        };
        (name, Value::String(value))
    });
    Value::Object(variables.collect::<Map<_, _>>())
}
