//! The program against a real kube-apiserver, which `cargo xtask e2e` starts ("Done when" 4).
#![cfg(feature = "e2e")]

mod program;

use std::path::{Path, PathBuf};
use std::time::Duration;

use k8s_openapi::api::authentication::v1::TokenRequest;
use k8s_openapi::api::core::v1::{Namespace, Pod, ServiceAccount};
use kube_client::api::{ListParams, Patch, PatchParams, PostParams};
use kube_client::config::{KubeConfigOptions, Kubeconfig as ClientKubeconfig};
use kube_client::{Api, Client, Config};
use kube_core::discovery::ApiResource;
use kube_core::{DynamicObject, GroupVersionKind};
use program::{Kubeconfig, Running, run};
use serde_json::{Value, json};

const NAMESPACE: &str = "informer-cli-e2e";
const PODS: usize = 20;

/// The kubeconfig of the server.
fn kubeconfig() -> PathBuf {
    let path = std::env::var_os("INFORMER_E2E_KUBECONFIG");
    path.expect("run it by `cargo xtask e2e`, which sets INFORMER_E2E_KUBECONFIG")
        .into()
}

async fn client() -> Client {
    let kubeconfig = ClientKubeconfig::read_from(kubeconfig()).expect("a kubeconfig");
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
    informer_factory::client(config.expect("it leads somewhere")).expect("a client")
}

/// Creates or updates, so that the tests can be run again against the same server.
async fn apply<K>(api: &Api<K>, name: &str, object: Value)
where
    K: kube_core::Resource + Clone + std::fmt::Debug + serde::de::DeserializeOwned,
{
    let manager = PatchParams::apply("informer-cli-e2e").force();
    let applied = api.patch(name, &manager, &Patch::Apply(object)).await;
    applied.unwrap_or_else(|error| panic!("{name}: {error}"));
}

async fn namespace(client: &Client) {
    let object = json!({
        "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE},
    });
    apply::<Namespace>(&Api::all(client.clone()), NAMESPACE, object).await;
}

fn pod(name: &str, image: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {"containers": [{"name": "main", "image": image}]},
    })
}

async fn pods(client: &Client) -> Api<Pod> {
    namespace(client).await;
    let api = Api::namespaced(client.clone(), NAMESPACE);
    for number in 0..PODS {
        let name = format!("p{number:02}");
        apply(&api, &name, pod(&name, "registry.example/none:1")).await;
    }
    api
}

fn definition() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "gadgets.cli.informer.dev"},
        "spec": {
            "group": "cli.informer.dev",
            "scope": "Namespaced",
            "names": {
                "kind": "Gadget", "plural": "gadgets", "singular": "gadget", "shortNames": ["gad"],
            },
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {
                    "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                }},
            }],
        },
    })
}

/// Defines a custom resource and makes one object of it.
async fn gadget(client: &Client) -> Api<DynamicObject> {
    namespace(client).await;
    let gvk = |group, kind| GroupVersionKind::gvk(group, "v1", kind);
    let crds = ApiResource::from_gvk(&gvk("apiextensions.k8s.io", "CustomResourceDefinition"));
    let crds: Api<DynamicObject> = Api::all_with(client.clone(), &crds);
    apply(&crds, "gadgets.cli.informer.dev", definition()).await;
    served(client).await;
    let resource = ApiResource::from_gvk(&gvk("cli.informer.dev", "Gadget"));
    let api = Api::namespaced_with(client.clone(), NAMESPACE, &resource);
    let object = json!({
        "apiVersion": "cli.informer.dev/v1", "kind": "Gadget",
        "metadata": {"name": "first"}, "spec": {"size": 1},
    });
    apply(&api, "first", object).await;
    cached(&api).await;
    api
}

/// Waits until the server's watch cache, which an informer lists from, has the first object.
async fn cached(api: &Api<DynamicObject>) {
    wait_until("the object is in the watch cache", async || {
        let listed = api.list(&ListParams::default().match_any()).await;
        listed.is_ok_and(|list| !list.items.is_empty())
    })
    .await;
}

/// Waits until the server serves the custom resource, in both forms of its discovery.
async fn served(client: &Client) {
    wait_until("the custom resource is served", async || {
        let resources = client.list_api_group_resources("cli.informer.dev/v1").await;
        let groups = client
            .list_api_groups_aggregated()
            .await
            .expect("a server of this decade");
        let is_ours = |group: &kube_core::discovery::v2::APIGroupDiscovery| {
            let name = group
                .metadata
                .as_ref()
                .and_then(|meta| meta.name.as_deref());
            let resources = group.versions.iter().flat_map(|version| &version.resources);
            name == Some("cli.informer.dev") && resources.count() > 0
        };
        let listed = resources.is_ok_and(|list| list.resources.iter().any(|r| r.name == "gadgets"));
        listed && groups.items.iter().any(is_ours)
    })
    .await;
}

/// Looks ten times a second, for 30 seconds at most.
async fn wait_until(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    let mut look = tokio::time::interval(Duration::from_millis(100));
    for _ in 0..300 {
        look.tick().await;
        if is_so().await {
            return;
        }
    }
    panic!("after 30 s it is not so that {what}");
}

#[tokio::test(flavor = "multi_thread")]
async fn pods_of_all_namespaces() {
    pods(&client().await).await;
    for queue in ["delta-fifo", "in-order"] {
        let arguments = ["watch", "pods", "-A", "--until-synced", "--queue", queue];
        let done = run(&kubeconfig(), &arguments);
        done.assert_code(0);
        let ours = format!("added    {NAMESPACE}/p");
        let count = done
            .lines()
            .iter()
            .filter(|line| line.starts_with(&ours))
            .count();
        assert_eq!(count, PODS, "{done:#?}");
        done.assert_says(&format!("synced {} objects", done.lines().len()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cost_of_pods_is_least_packed_and_most_typed() {
    pods(&client().await).await;
    let done = run(&kubeconfig(), &["cost", "pods", "-A", "-o", "json"]);
    done.assert_code(0);
    let report: Value = serde_json::from_str(&done.stdout).expect("JSON");
    let object = |way: &str| report[way]["object_bytes"].as_u64().expect("a number");
    assert!(report["objects"].as_u64() >= Some(PODS as u64), "{report}");
    assert!(object("packed") < object("lean"), "{report}");
    assert!(object("lean") < object("typed"), "{report}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_custom_resource_by_all_its_names() {
    gadget(&client().await).await;
    for name in [
        "gadgets",
        "gadget",
        "gad",
        "Gadget",
        "gadgets.v1.cli.informer.dev",
    ] {
        let done = run(&kubeconfig(), &["watch", name, "-A", "--until-synced"]);
        done.assert_code(0);
        assert_eq!(
            done.lines(),
            [format!("added    {NAMESPACE}/first  initial")],
            "{name}"
        );
    }
    let arguments = [
        "watch",
        "gad",
        "-n",
        NAMESPACE,
        "--until-synced",
        "-o",
        "json",
    ];
    let whole = run(&kubeconfig(), &arguments);
    let line: Value = serde_json::from_str(&whole.stdout).expect("JSON");
    assert_eq!(line["object"]["spec"]["size"], 1);
    let metadata = run(
        &kubeconfig(),
        &[&arguments[..], &["--metadata-only"]].concat(),
    );
    let line: Value = serde_json::from_str(&metadata.stdout).expect("JSON");
    assert_eq!(line["object"]["metadata"]["name"], "first");
    assert_eq!(line["object"].get("spec"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_told_as_they_happen() {
    let pods = pods(&client().await).await;
    let fields = ["--field-selector", "metadata.name=p00"];
    let arguments = ["watch", "po", "-n", NAMESPACE, "--diff", "--for", "60s"];
    let mut watch = Running::start(&kubeconfig(), &[&arguments[..], &fields].concat());
    assert_eq!(watch.line(), format!("added    {NAMESPACE}/p00  initial"));
    apply(&pods, "p00", pod("p00", "registry.example/none:2")).await;
    let line = watch.line();
    let change = "spec.containers[name=main].image: \"registry.example/none:1\" -> ";
    assert!(
        line.starts_with("updated") && line.contains(change),
        "{line}"
    );
    let now = kube_client::api::DeleteParams::default().grace_period(0);
    pods.delete("p00", &now).await.expect("deleted");
    let mut line = watch.line();
    if line.contains("metadata.deletionTimestamp: (none)") {
        // The server marks it before it removes it; the queue may make one of the two.
        line = watch.line();
    }
    assert_eq!(line, format!("deleted  {NAMESPACE}/p00"));
    watch.signal(rustix::process::Signal::INT);
    watch.end().assert_code(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_or_has_no_namespace() {
    let done = run(&kubeconfig(), &["watch", "podz"]);
    done.assert_code(2);
    done.assert_says("Did you mean pods?");
    let done = run(&kubeconfig(), &["watch", "nodes", "-n", NAMESPACE]);
    done.assert_code(2);
    done.assert_says("belong to the cluster");
    let done = run(&kubeconfig(), &["watch", "tokenreviews"]);
    done.assert_code(2);
    done.assert_says("cannot be watched");
    let selector = [
        "watch",
        "pods",
        "--until-synced",
        "--field-selector",
        "spec.nope=1",
    ];
    let done = run(&kubeconfig(), &selector);
    done.assert_code(1);
    done.assert_says("cannot list and watch pods");
}

/// A user without a Role is told which verb is missing on what.
#[tokio::test(flavor = "multi_thread")]
async fn a_missing_permission() {
    let client = client().await;
    namespace(&client).await;
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), NAMESPACE);
    let account = json!({
        "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "nobody"},
    });
    apply(&accounts, "nobody", account).await;
    let asked = TokenRequest::default();
    let created = accounts
        .create_token_request("nobody", &PostParams::default(), &asked)
        .await;
    let token = created
        .expect("a token")
        .status
        .expect("it is filled in")
        .token
        .expect("so is this");
    let nobody = kubeconfig_with(&kubeconfig(), &token);
    let arguments = ["watch", "secrets", "-n", NAMESPACE, "--until-synced"];
    let done = run(&nobody.path(), &arguments);
    done.assert_code(1);
    done.assert_says("secrets in namespace informer-cli-e2e: Forbidden (403)");
    done.assert_says("allows `list` and `watch` on secrets");
    assert!(!done.stderr.contains(&token));
}

/// The same server, as another user.
fn kubeconfig_with(path: &Path, token: &str) -> Kubeconfig {
    let config = ClientKubeconfig::read_from(path).expect("a kubeconfig");
    let cluster = config.clusters[0].cluster.as_ref().expect("a cluster");
    let server = cluster.server.as_ref().expect("a server");
    let authority = cluster
        .certificate_authority
        .as_ref()
        .expect("an authority");
    Kubeconfig::with_text(&format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: c\n\
         clusters:\n- name: k\n  cluster: {{server: \"{server}\", certificate-authority: {authority:?}}}\n\
         users:\n- name: u\n  user: {{token: {token:?}}}\n\
         contexts:\n- name: c\n  context: {{cluster: k, user: u}}\n"
    ))
}
