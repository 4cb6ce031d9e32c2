//! `watch` as a person runs it, against the API server in memory over HTTP.

mod program;

use std::path::Path;

use informer_testkit::{ApiServer, Fault, Match, Rejection, Resource, ServerHandle, Times};
use program::{Done, Kubeconfig, Running, run};
use serde_json::{Value, json};

struct Cluster {
    server: ApiServer,
    serving: ServerHandle,
    kubeconfig: Kubeconfig,
}

impl Cluster {
    /// Three pods in two namespaces, a node, a secret, and a custom resource with one object.
    async fn start() -> Self {
        let server = ApiServer::builder().resource(widgets()).build();
        for (namespace, name) in [("team", "a"), ("team", "b"), ("other", "c")] {
            server
                .create(&Resource::pods(), pod(namespace, name))
                .expect("new");
        }
        server
            .create(&Resource::nodes(), json!({"metadata": {"name": "n1"}}))
            .expect("new");
        let secret = json!({
            "metadata": {"namespace": "team", "name": "s"}, "data": {"password": "YzRuNHJ5"},
        });
        server.create(&Resource::secrets(), secret).expect("new");
        let widget = json!({
            "metadata": {"namespace": "team", "name": "w"}, "spec": {"size": 1},
        });
        server.create(&widgets(), widget).expect("new");
        let serving = server.serve().await.expect("loopback");
        let kubeconfig = Kubeconfig::for_server(&serving.url);
        Self {
            server,
            serving,
            kubeconfig,
        }
    }

    fn watch(&self, arguments: &[&str]) -> Done {
        run(&self.kubeconfig.path(), &[&["watch"], arguments].concat())
    }

    /// Ends after a minute at the latest.
    fn start_watch(&self, arguments: &[&str]) -> Running {
        let always = ["watch", "--for", "60s"];
        Running::start(&self.kubeconfig.path(), &[&always, arguments].concat())
    }
}

fn widgets() -> Resource {
    let mut widgets = Resource::custom("example.com", "v1alpha1", "Widget", "widgets", true);
    widgets.short_names = vec!["wi".to_owned()];
    widgets
}

fn pod(namespace: &str, name: &str) -> Value {
    json!({
        "metadata": {"namespace": namespace, "name": name, "labels": {"app": name}},
        "spec": {"nodeName": "n1", "containers": [{"name": "c", "image": "i:1"}]},
    })
}

const SYNC: &str = "--until-synced";

#[tokio::test(flavor = "multi_thread")]
async fn everything_there_is_is_printed_and_counted() {
    let cluster = Cluster::start().await;
    for queue in ["delta-fifo", "in-order"] {
        let done = cluster.watch(&["pods", "-A", SYNC, "--queue", queue]);
        done.assert_code(0);
        let mut lines = done.lines();
        lines.sort_unstable();
        let expected =
            ["other/c", "team/a", "team/b"].map(|key| format!("added    {key}  initial"));
        assert_eq!(lines, expected);
        assert_eq!(done.stderr, "synced 3 objects\n");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn all_names_of_a_resource_lead_to_it() {
    let cluster = Cluster::start().await;
    for name in ["po", "pod", "Pod", "pods", "pods.v1"] {
        let done = cluster.watch(&[name, "-A", SYNC]);
        done.assert_code(0);
        assert_eq!(done.lines().len(), 3, "{name}");
    }
    for name in [
        "wi",
        "widget",
        "Widget",
        "widgets.example.com",
        "widgets.v1alpha1.example.com",
    ] {
        let done = cluster.watch(&[name, "-A", SYNC]);
        done.assert_code(0);
        assert_eq!(done.lines(), ["added    team/w  initial"], "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn namespaces_and_selectors_restrict() {
    let cluster = Cluster::start().await;
    let count = |arguments: &[&str]| {
        let done = cluster.watch(&[arguments, &[SYNC]].concat());
        done.assert_code(0);
        done.lines().len()
    };
    assert_eq!(count(&["pods"]), 2, "the namespace of the context");
    assert_eq!(count(&["pods", "-n", "other"]), 1);
    assert_eq!(count(&["pods", "-n", "other,team"]), 3);
    assert_eq!(count(&["pods", "-n", "empty"]), 0);
    assert_eq!(count(&["pods", "-A", "-l", "app in (a,c)"]), 2);
    assert_eq!(
        count(&["pods", "-A", "--field-selector", "metadata.name=b"]),
        1
    );
    assert_eq!(count(&["nodes"]), 1);
    assert_eq!(count(&["nodes", "-A"]), 1);
    let done = cluster.watch(&["nodes", "-n", "team", SYNC]);
    done.assert_code(2);
    done.assert_says("nodes belong to the cluster");
    cluster.watch(&["pods", "-A", "-n", "team"]).assert_code(2);
}

#[tokio::test(flavor = "multi_thread")]
async fn json_is_one_object_per_line() {
    let cluster = Cluster::start().await;
    let done = cluster.watch(&["widgets", "-A", SYNC, "-o", "json"]);
    done.assert_code(0);
    let line: Value = serde_json::from_str(&done.stdout).expect("one line of JSON");
    assert_eq!(line["type"], "ADDED");
    assert_eq!(line["initial"], true);
    assert_eq!(line["key"], "team/w");
    assert_eq!(line["object"]["kind"], "Widget");
    assert_eq!(line["object"]["spec"]["size"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn metadata_only_is_metadata_only() {
    let cluster = Cluster::start().await;
    let done = cluster.watch(&["widgets", "-A", SYNC, "--metadata-only", "-o", "json"]);
    done.assert_code(0);
    let line: Value = serde_json::from_str(&done.stdout).expect("one line of JSON");
    assert_eq!(line["object"]["metadata"]["name"], "w");
    assert_eq!(line["object"].get("spec"), None);
}

/// FM-53. The other objects are printed.
#[tokio::test(flavor = "multi_thread")]
async fn an_object_that_cannot_be_read_is_named() {
    let cluster = Cluster::start().await;
    let bad = json!({"metadata": {"namespace": "team", "name": "bad", "labels": {"app": 1}}});
    cluster.server.create(&widgets(), bad).expect("new");
    for more in [&[][..], &["--metadata-only"]] {
        let done = cluster.watch(&[&["widgets", SYNC], more].concat());
        done.assert_code(0);
        assert_eq!(done.lines(), ["added    team/w  initial"]);
        done.assert_says("cannot read team/bad: ");
        done.assert_says("metadata.labels");
        done.assert_says("synced 1 objects");
    }
}

/// SEC-11.
#[tokio::test(flavor = "multi_thread")]
async fn values_of_secrets_are_hidden() {
    let cluster = Cluster::start().await;
    let done = cluster.watch(&["secrets", "-A", SYNC, "-o", "json"]);
    done.assert_code(0);
    assert!(
        done.stdout.contains("password") && !done.stdout.contains("YzRuNHJ5"),
        "{done:#?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_told_with_what_changed() {
    let cluster = Cluster::start().await;
    let mut watch = cluster.start_watch(&["pods", "--diff"]);
    let mut initial = [watch.line(), watch.line()];
    initial.sort();
    assert_eq!(
        initial,
        ["added    team/a  initial", "added    team/b  initial"]
    );
    let server = &cluster.server;
    server
        .create(&Resource::pods(), pod("team", "new"))
        .expect("new");
    assert_eq!(watch.line(), "added    team/new");
    let evil = json!({"metadata": {"labels": {"app": "b"}, "annotations": {"x.y/z": "\u{1b}[2J"}}});
    server
        .patch(&Resource::pods(), "team", "a", evil)
        .expect("there");
    assert_eq!(
        watch.line(),
        "updated  team/a  metadata.annotations: (none) -> {\"x.y/z\":\"\\u001b[2J\"}, \
         metadata.labels.app: \"a\" -> \"b\""
    );
    server
        .delete(&Resource::pods(), "team", "b")
        .expect("there");
    assert_eq!(watch.line(), "deleted  team/b");
    // SEC-13, FM-01: what vanished while nobody watched has no final state.
    let refused = server.fault(Match::watch(), Fault::Refuse, Times::Always);
    server.close_watches();
    server
        .delete(&Resource::pods(), "team", "new")
        .expect("there");
    server.compact_and_forget();
    server.remove_fault(refused);
    let last = watch.line();
    assert!(last.starts_with("deleted  team/new  (not seen"), "{last}");
    let done = watch.close_stdout_after_change(server);
    done.assert_code(0);
}

trait CloseAfterChange {
    fn close_stdout_after_change(self, server: &ApiServer) -> Done;
}

impl CloseAfterChange for Running {
    /// A broken pipe is noticed with the next line.
    fn close_stdout_after_change(self, server: &ApiServer) -> Done {
        let server = server.clone();
        let writer = std::thread::spawn(move || {
            for number in 0..1_000 {
                let pod = pod("team", &format!("late-{number}"));
                server.create(&Resource::pods(), pod).expect("new");
            }
        });
        let done = self.close_stdout();
        writer.join().expect("writes do not fail");
        done
    }
}

/// Whoever closes the pipe ends the watch, quietly.
#[tokio::test(flavor = "multi_thread")]
async fn a_broken_pipe_ends_quietly() {
    let cluster = Cluster::start().await;
    let mut watch = cluster.start_watch(&["pods", "-A"]);
    assert!(watch.line().starts_with("added"));
    let done = watch.close_stdout_after_change(&cluster.server);
    done.assert_code(0);
    assert!(!done.stderr.to_lowercase().contains("pipe"), "{done:#?}");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn sigusr1_tells_the_status_and_sigint_ends() {
    use rustix::process::Signal;
    let cluster = Cluster::start().await;
    let mut watch = cluster.start_watch(&["pods", "-A"]);
    assert!(watch.line().starts_with("added"));
    watch.signal(Signal::USR1);
    let line = watch.stderr_until("relists");
    assert!(line.contains("/api/v1/pods"), "{line}");
    assert!(
        line.contains("reconnects") && line.contains("no error"),
        "{line}"
    );
    watch.signal(Signal::INT);
    watch.end().assert_code(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_resource_is_answered_with_what_there_is() {
    let cluster = Cluster::start().await;
    let done = cluster.watch(&["podz", SYNC]);
    done.assert_code(2);
    done.assert_says("no resource \"podz\"");
    done.assert_says("Did you mean pods?");
    let done = cluster.watch(&["pods/a"]);
    done.assert_code(2);
    done.assert_says("--field-selector metadata.name=a");
    let mut other = widgets();
    other.group = "example.org".to_owned();
    cluster.server.register(other);
    let done = cluster.watch(&["widgets", SYNC]);
    done.assert_code(2);
    done.assert_says("widgets.example.com or widgets.example.org");
}

/// RBAC: the verb and the resource are named, and nothing is retried for half a minute.
#[tokio::test(flavor = "multi_thread")]
async fn a_missing_permission_is_named() {
    let cluster = Cluster::start().await;
    let message = "pods is forbidden: User \"u\" cannot list resource \"pods\" in API group \"\"";
    let forbidden = Fault::Status(Rejection::new(403, "Forbidden", message));
    let pods = Match::any().resource(&Resource::pods());
    cluster.server.fault(pods, forbidden, Times::Always);
    let done = cluster.watch(&["pods", SYNC]);
    done.assert_code(1);
    done.assert_says("cannot list pods in namespace team: Forbidden (403)");
    done.assert_says("`list` and `watch` on pods");
    // Without --until-synced it says so at once, goes on, and fails only when its time is up.
    let done = cluster.watch(&["pods", "--for", "3s"]);
    done.assert_code(1);
    done.assert_says("cannot list pods");
}

#[test]
fn a_kubeconfig_that_cannot_be_read_is_named() {
    let done = run(Path::new("/nonexistent/config"), &["watch", "pods"]);
    done.assert_code(2);
    done.assert_says("kubeconfig");
    let missing = ["watch", "pods", "--kubeconfig", "/nonexistent/config"];
    let done = run(Path::new("/nonexistent"), &missing);
    done.assert_code(2);
    done.assert_says("/nonexistent/config cannot be read");
    let broken = Kubeconfig::with_text("users:\n- name: u\n  user: {token: [c4n4ry\n");
    let done = run(&broken.path(), &["watch", "pods"]);
    done.assert_code(2);
    done.assert_says("no kubeconfig");
    assert!(!done.stderr.contains("c4n4ry"), "SEC-8: {done:#?}");
    let good = Kubeconfig::for_server("http://127.0.0.1:1");
    let done = run(&good.path(), &["watch", "pods", "--context", "nobody"]);
    done.assert_code(2);
    done.assert_says("nobody");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_connection_is_named() {
    let server = ApiServer::new();
    let serving = server.serve().await.expect("loopback");
    let kubeconfig = Kubeconfig::for_server(&serving.url);
    serving.shutdown().await;
    let done = run(&kubeconfig.path(), &["watch", "pods", SYNC]);
    done.assert_code(1);
    done.assert_says("refused");
    done.assert_says("Is the cluster up");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_never_answers_is_named() {
    let cluster = Cluster::start().await;
    let silent = Fault::HangHeaders;
    cluster.server.fault(Match::any(), silent, Times::Always);
    // Without --until-synced, and with it, discovery ends before anything is followed.
    for bound in [&["--for", "1s"][..], &["--discovery-timeout", "1s", SYNC]] {
        let done = cluster.watch(&[&["pods"], bound].concat());
        done.assert_code(1);
        done.assert_says(&cluster.serving.url);
        done.assert_says("no answer to GET /api within 1.0 s");
        done.assert_says("--discovery-timeout");
    }
}

#[test]
fn help_is_for_a_newcomer() {
    for (arguments, words) in [
        (
            &["--help"][..],
            &["demo", "watch", "SIGUSR1", "kubectl informer"][..],
        ),
        (
            &["watch", "--help"],
            &[
                "RESOURCE",
                "--until-synced",
                "--metadata-only",
                "Examples:",
                "--context",
                "--discovery-timeout",
                "discovery included",
            ],
        ),
        (&["cost", "--help"], &["500", "packed", "Examples:"]),
        (&["demo", "--help"], &["--packed"]),
        (&["rbac", "--help"], &["cluster role"]),
    ] {
        let done = run(Path::new("/nonexistent"), arguments);
        done.assert_code(0);
        for word in words {
            assert!(done.stdout.contains(word), "{word:?} in {}", done.stdout);
        }
        // A terminal's width; nothing wraps the lines.
        for line in done.lines() {
            assert!(line.chars().count() <= 80, "{line:?}");
        }
    }
}
