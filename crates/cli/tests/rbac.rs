//! `rbac` as a person runs it: without a server, and with the API server in memory over HTTP.

mod program;

use std::path::Path;

use informer_testkit::{ApiServer, Resource};
use program::{Kubeconfig, run};

const ONE_NAMESPACE: &str = r#"apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: "informer"
  namespace: "web"
rules:
- apiGroups: [""]
  resources: ["pods"]
  verbs: ["list","watch"]
- apiGroups: ["apps"]
  resources: ["deployments"]
  verbs: ["list","watch"]
"#;

#[test]
fn resources_that_are_written_out_need_no_server() {
    let nowhere = Path::new("/nonexistent/kubeconfig");
    let done = run(
        nowhere,
        &["rbac", "v1/pods", "apps/v1/deployments", "-n", "web"],
    );
    done.assert_code(0);
    assert_eq!(done.stdout, ONE_NAMESPACE);
    assert_eq!(done.stderr, "");
}

#[test]
fn without_a_namespace_there_is_one_cluster_role() {
    let nowhere = Path::new("/nonexistent/kubeconfig");
    let done = run(
        nowhere,
        &["rbac", "v1/pods", "v1/nodes", "--name", "reader"],
    );
    done.assert_code(0);
    assert!(done.stdout.contains("kind: ClusterRole\n"), "{done:?}");
    assert!(done.stdout.contains("  name: \"reader\"\n"), "{done:?}");
    let resources = "  resources: [\"nodes\",\"pods\"]\n";
    assert!(done.stdout.contains(resources), "{done:?}");
    assert!(!done.stdout.contains("namespace:"), "{done:?}");
}

#[test]
fn mistakes_are_named() {
    let nowhere = Path::new("/nonexistent/kubeconfig");
    let done = run(nowhere, &["rbac", "v1/pods", "-n", "a/b"]);
    done.assert_code(2);
    done.assert_says("is no namespace");
    let done = run(nowhere, &["rbac", "pods"]);
    done.assert_code(2);
    done.assert_says("kubeconfig");
    run(nowhere, &["rbac"]).assert_code(2);
}

#[tokio::test(flavor = "multi_thread")]
async fn other_names_are_looked_up_and_cluster_scoped_resources_get_a_cluster_role() {
    let mut widgets = Resource::custom("example.com", "v1alpha1", "Widget", "widgets", true);
    widgets.short_names = vec!["wi".to_owned()];
    let server = ApiServer::builder().resource(widgets).build();
    let serving = server.serve().await.expect("loopback");
    let kubeconfig = Kubeconfig::for_server(&serving.url);
    let arguments = ["rbac", "po", "wi", "nodes", "-n", "a,b"];
    let done = run(&kubeconfig.path(), &arguments);
    done.assert_code(0);
    let documents: Vec<_> = done.stdout.split("---\n").collect();
    let [everywhere, a, b] = *documents else {
        panic!("{done:?}");
    };
    assert!(everywhere.contains("kind: ClusterRole\n"), "{everywhere}");
    assert!(everywhere.contains("[\"nodes\"]"), "{everywhere}");
    for (namespace, role) in [("a", a), ("b", b)] {
        let namespace = format!("  namespace: \"{namespace}\"\n");
        assert!(role.contains(&namespace), "{role}");
        assert!(role.contains("[\"pods\"]"), "{role}");
        assert!(
            role.contains("[\"example.com\"]\n  resources: [\"widgets\"]"),
            "{role}"
        );
    }
    let done = run(&kubeconfig.path(), &["rbac", "podz"]);
    done.assert_code(2);
    done.assert_says("Did you mean pods?");
}
