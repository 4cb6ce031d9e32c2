//! `cost` as a person runs it, against the API server in memory over HTTP.

mod program;

use informer_testkit::{ApiServer, Fault, Match, Rejection, Resource, ServerHandle, Times};
use program::{Done, Kubeconfig, run};
use serde_json::{Value, json};

/// More than are measured.
const PODS: usize = 1_200;

struct Cluster {
    server: ApiServer,
    _serving: ServerHandle,
    kubeconfig: Kubeconfig,
}

impl Cluster {
    /// 1,200 pods in the namespaces `team` and `other`, and a node.
    async fn start() -> Self {
        let server = ApiServer::new();
        for number in 0..PODS {
            server.create(&Resource::pods(), pod(number)).expect("new");
        }
        let node = json!({"metadata": {"name": "n1"}});
        server.create(&Resource::nodes(), node).expect("new");
        let serving = server.serve().await.expect("loopback");
        let kubeconfig = Kubeconfig::for_server(&serving.url);
        Self {
            server,
            _serving: serving,
            kubeconfig,
        }
    }

    fn cost(&self, arguments: &[&str]) -> Done {
        run(&self.kubeconfig.path(), &[&["cost"], arguments].concat())
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let done = self.cost(&[arguments, &["--output", "json"]].concat());
        done.assert_code(0);
        assert_eq!(done.stderr, "");
        assert_eq!(done.lines().len(), 1, "{done:#?}");
        serde_json::from_str(&done.stdout).expect("JSON")
    }
}

fn pod(number: usize) -> Value {
    let container = |name: &str| {
        json!({
            "name": name, "image": format!("registry.example/{name}:1.{}", number % 7),
            "env": [{"name": "NUMBER", "value": number.to_string()}, {"name": "MODE", "value": "x"}],
            "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
        })
    };
    let (namespace, tier) = [("team", "front"), ("other", "back")][number % 2];
    json!({
        "metadata": {
            "namespace": namespace,
            "name": format!("web-{number:05}"),
            "labels": {"app": "web", "tier": tier},
            "managedFields": [{"manager": "m", "operation": "Apply", "fieldsType": "FieldsV1",
                "fieldsV1": {"f:spec": {"f:containers": {"f:web": {}, "f:proxy": {}}}}}],
        },
        "spec": {"nodeName": "n1", "containers": [container("web"), container("proxy")]},
    })
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a number")
}

#[tokio::test(flavor = "multi_thread")]
async fn packed_costs_less_than_lean_and_lean_less_than_typed() {
    let cluster = Cluster::start().await;
    let report = cluster.json(&["pods", "-A"]);
    assert_eq!(report["resource"], "pods");
    assert_eq!(report["objects"], PODS);
    assert_eq!(report["measured"], 500);
    assert_eq!(report["recommended"], "lean", "they are too few to pack");
    let object = |way: &str| number(&report[way]["object_bytes"]);
    let (json, typed, lean) = (object("json"), object("typed"), object("lean"));
    let (packed, key) = (object("packed"), number(&report["key_bytes"]));
    assert!((500..2_000).contains(&json), "{report}");
    assert!(packed < json && json < lean && lean < typed, "{report}");
    assert!((200..700).contains(&packed), "{report}");
    assert!((100..250).contains(&key) && key < packed, "{report}");
    let dictionary = number(&report["dictionary_bytes"]);
    assert!(dictionary > 16 * 1024, "a dictionary is trained: {report}");
    for way in ["json", "typed", "lean", "packed"] {
        let total = number(&report[way]["total_bytes"]);
        let total = total - if way == "packed" { dictionary } else { 0 };
        assert!(
            total.abs_diff(object(way) * PODS as u64) <= PODS as u64,
            "{way}: {report}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn text_is_a_table_with_a_recommendation() {
    let cluster = Cluster::start().await;
    let done = cluster.cost(&["po", "-A"]);
    done.assert_code(0);
    let lines = done.lines();
    let head = "pods in all namespaces: 1,200 objects, 500 of them measured";
    assert_eq!(lines[0], head, "{done:#?}");
    let ways = ["json", "typed", "lean", "packed"];
    let rows = ways.map(|way| lines.iter().filter(|line| line.starts_with(way)).count());
    assert_eq!(rows, [1; 4], "{done:#?}");
    assert!(done.stdout.contains("Recommended: lean"), "{done:#?}");
}

/// With selectors the server does not say how many objects remain.
#[tokio::test(flavor = "multi_thread")]
async fn namespaces_and_selectors_restrict_what_is_counted() {
    let cluster = Cluster::start().await;
    for (arguments, objects, measured) in [
        (&["pods"][..], 600, 500),
        (&["pods", "-n", "team,other"], 1_200, 500),
        (&["pods", "-n", "empty,other"], 600, 250),
        (&["pods", "-A", "-l", "app=web"], 1_200, 500),
        (&["pods", "-A", "-l", "tier=back"], 600, 500),
        (
            &["pods", "-A", "--field-selector", "metadata.name=web-00007"],
            1,
            1,
        ),
        (&["nodes"], 1, 1),
    ] {
        let report = cluster.json(arguments);
        assert_eq!(report["objects"], objects, "{arguments:?}");
        assert_eq!(report["measured"], measured, "{arguments:?}");
    }
    let done = cluster.cost(&["nodes", "-n", "team"]);
    done.assert_code(2);
    done.assert_says("nodes belong to the cluster");
}

/// SEC-11: a dictionary consists of parts of objects.
#[tokio::test(flavor = "multi_thread")]
async fn no_dictionary_is_trained_from_secrets() {
    let cluster = Cluster::start().await;
    for number in 0..300 {
        let secret = json!({
            "metadata": {"namespace": "team", "name": format!("s{number}")},
            "data": {"password": "YzRuNHJ5".repeat(20)},
        });
        cluster
            .server
            .create(&Resource::secrets(), secret)
            .expect("new");
    }
    let report = cluster.json(&["secrets"]);
    assert_eq!(report["objects"], 300);
    assert_eq!(report["dictionary_bytes"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_say_what_is_wrong() {
    let cluster = Cluster::start().await;
    let done = cluster.cost(&["podz"]);
    done.assert_code(2);
    done.assert_says("Did you mean pods?");
    let done = cluster.cost(&["pods", "-n", "empty"]);
    done.assert_code(1);
    done.assert_says("there are no pods in namespace empty to measure");
    let message = "pods is forbidden: User \"u\" cannot list resource \"pods\" in API group \"\"";
    let forbidden = Fault::Status(Rejection::new(403, "Forbidden", message));
    let pods = Match::any().resource(&Resource::pods());
    cluster.server.fault(pods, forbidden, Times::Always);
    let done = cluster.cost(&["pods"]);
    done.assert_code(1);
    done.assert_says("cannot list pods in namespace team: Forbidden (403)");
    done.assert_says("`list` and `watch` on pods");
    assert_eq!(done.stdout, "");
}

/// An object that cannot be read is left out and counted.
#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_cannot_be_read_is_counted() {
    let cluster = Cluster::start().await;
    let bad = json!({"metadata": {"name": "n0", "labels": {"a": 1}}});
    cluster.server.create(&Resource::nodes(), bad).expect("new");
    let done = cluster.cost(&["nodes"]);
    done.assert_code(0);
    done.assert_says("1 objects cannot be read");
    let head = "nodes: 2 objects, 1 of them measured";
    assert_eq!(done.lines()[0], head, "{done:#?}");
}
