//! `dryRun` as kube-apiserver honours it: the same checks and the same answer, and no trace.
#![allow(
    clippy::unwrap_used,
    reason = "a helper of tests that cannot go on has failed"
)]

use http::{Method, Request};
use informer_testkit::{ApiServer, Object, Resource};
use kube_client::{Client, Error};
use serde_json::{Value, json};

const PODS: &str = "/api/v1/namespaces/default/pods";

/// A server with one pod, and one that is kept by a finalizer.
struct Cluster {
    server: ApiServer,
    client: Client,
}

/// All that a write changes: objects, and the version, which each event of a watch takes.
#[derive(Debug, PartialEq)]
struct State {
    objects: Vec<Value>,
    version: u64,
}

impl Cluster {
    fn new() -> Self {
        let server = ApiServer::builder().readable_uids().build();
        let pods = Resource::pods();
        for metadata in [
            json!({"name": "a", "labels": {"app": "web"}}),
            json!({"name": "kept", "finalizers": ["example.com/x"]}),
        ] {
            server.create(&pods, json!({"metadata": metadata})).unwrap();
        }
        let client = Client::new(server.service(), "default");
        Self { server, client }
    }

    fn state(&self) -> State {
        let (objects, _) = self.server.snapshot(&Resource::pods()).unwrap();
        State {
            objects: objects.iter().map(Object::json).collect(),
            version: self.server.version(),
        }
    }

    async fn send(&self, method: Method, path: &str, body: &str) -> Result<Value, Error> {
        let media_type = match method {
            Method::PATCH => "application/merge-patch+json",
            _ => "application/json",
        };
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", media_type);
        let request = request.body(body.as_bytes().to_vec()).unwrap();
        self.client.request(request).await
    }

    /// Sends a dry run, which must leave no trace.
    async fn dry(&self, method: Method, path: &str, body: &Value) -> Result<Value, (u16, String)> {
        let body = match body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        let before = self.state();
        let answer = self.send(method.clone(), path, &body).await;
        assert_eq!(self.state(), before, "{method} {path}");
        answer.map_err(|error| match error {
            Error::Api(status) => (status.code, status.message.clone()),
            other => panic!("not a status: {other}"),
        })
    }
}

fn at(name: &str) -> String {
    format!("{PODS}/{name}?dryRun=All")
}

#[tokio::test]
async fn a_created_object_is_answered_without_a_version() {
    let cluster = Cluster::new();
    let path = format!("{PODS}?dryRun=All");
    let new = json!({"metadata": {"name": "new"}});
    let created = cluster.dry(Method::POST, &path, &new).await.unwrap();
    let metadata = &created["metadata"];
    assert_eq!(metadata["uid"], "default/new-1");
    assert!(metadata["creationTimestamp"].is_string(), "{metadata}");
    assert_eq!(metadata.get("resourceVersion"), None);
    // The checks are those of a write.
    let taken = json!({"metadata": {"name": "a"}});
    let refused = cluster.dry(Method::POST, &path, &taken).await.unwrap_err();
    assert_eq!(refused.0, 409);
    let wrong = json!({"metadata": {"name": "A"}});
    let refused = cluster.dry(Method::POST, &path, &wrong).await.unwrap_err();
    assert_eq!(refused.0, 422);
    // A real write gets the first uid, as if there had been no dry run.
    let real = cluster.send(Method::POST, PODS, &new.to_string()).await;
    assert_eq!(real.unwrap()["metadata"]["uid"], "default/new-1");
}

#[tokio::test]
async fn a_changed_object_is_answered_under_its_present_version() {
    let cluster = Cluster::new();
    let present = cluster.state().objects[0].clone();
    let patch = json!({"metadata": {"labels": {"app": "db"}}, "spec": {"nodeName": "n"}});
    let patched = cluster.dry(Method::PATCH, &at("a"), &patch).await.unwrap();
    assert_eq!(patched["metadata"]["labels"]["app"], "db");
    assert_eq!(patched["metadata"]["generation"], 2);
    let version = &present["metadata"]["resourceVersion"];
    assert_eq!(&patched["metadata"]["resourceVersion"], version);
    let replaced = cluster.dry(Method::PUT, &at("a"), &patched).await.unwrap();
    assert_eq!(replaced, patched);
    let mut stale = patched;
    stale["metadata"]["resourceVersion"] = json!("1");
    let refused = cluster.dry(Method::PUT, &at("a"), &stale).await;
    assert_eq!(refused.unwrap_err().0, 409);
    let missing = cluster.dry(Method::PATCH, &at("none"), &patch).await;
    assert_eq!(missing.unwrap_err().0, 404);

    let status = json!({"status": {"phase": "Running"}, "spec": {"nodeName": "x"}});
    let path = at("a/status");
    let patched = cluster.dry(Method::PATCH, &path, &status).await.unwrap();
    assert_eq!(patched["status"]["phase"], "Running");
    assert_eq!(patched.get("spec"), None);
}

/// The last finalizer may go in a dry run, and the object stays.
#[tokio::test]
async fn a_deleted_object_stays() {
    let cluster = Cluster::new();
    let gone = cluster.dry(Method::DELETE, &at("a"), &Value::Null).await;
    assert_eq!(gone.unwrap()["status"], "Success");
    let kept = cluster.dry(Method::DELETE, &at("kept"), &Value::Null).await;
    assert!(kept.unwrap()["metadata"]["deletionTimestamp"].is_string());
    // What kube-rs and client-go send: options in the body.
    let all = json!({"dryRun": ["All"]});
    let path = format!("{PODS}/a");
    cluster.dry(Method::DELETE, &path, &all).await.unwrap();
    let other = json!({"dryRun": ["All"], "preconditions": {"uid": "other"}});
    let refused = cluster.dry(Method::DELETE, &path, &other).await;
    assert_eq!(refused.unwrap_err().0, 409);

    let pods = Resource::pods();
    cluster.server.delete(&pods, "default", "kept").unwrap();
    let released = json!({"metadata": {"finalizers": null}});
    let last = cluster.dry(Method::PATCH, &at("kept"), &released).await;
    assert_eq!(last.unwrap()["metadata"].get("finalizers"), None);
}

#[tokio::test]
async fn a_deleted_collection_stays() {
    let cluster = Cluster::new();
    let path = format!("{PODS}?dryRun=All");
    let listed = cluster.dry(Method::DELETE, &path, &Value::Null).await;
    assert_eq!(listed.unwrap()["items"].as_array().unwrap().len(), 2);
    let all = json!({"dryRun": ["All"]});
    let path = format!("{PODS}?labelSelector=app%3Dweb");
    let listed = cluster.dry(Method::DELETE, &path, &all).await;
    assert_eq!(listed.unwrap()["items"].as_array().unwrap().len(), 1);
}

/// As kube-apiserver: options in a body replace those of the query, also the dry run.
#[tokio::test]
async fn the_body_of_a_deletion_replaces_the_query() {
    let cluster = Cluster::new();
    let deleted = cluster.send(Method::DELETE, &at("a"), "{}").await;
    assert_eq!(deleted.unwrap()["status"], "Success");
    assert_eq!(cluster.state().objects.len(), 1);
}

#[tokio::test]
async fn other_values_are_refused_with_422() {
    let cluster = Cluster::new();
    let object = json!({"metadata": {"name": "a"}});
    let (one, all) = (format!("{PODS}/a"), PODS.to_owned());
    for (method, path, options) in [
        (Method::POST, &all, "CreateOptions"),
        (Method::PUT, &one, "UpdateOptions"),
        (Method::PATCH, &one, "PatchOptions"),
    ] {
        for (query, values) in [
            ("dryRun=true", r#""true""#),
            ("dryRun=", r#""""#),
            ("dryRun=All&dryRun=x", r#""All", "x""#),
        ] {
            let path = format!("{path}?{query}");
            let refused = cluster.dry(method.clone(), &path, &object).await;
            let expected = format!(
                "{options}.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: \
                 []string{{{values}}}: supported values: \"All\""
            );
            assert_eq!(refused.unwrap_err(), (422, expected));
        }
    }
    for path in [&one, &all] {
        let (in_query, in_body) = (format!("{path}?dryRun=x"), json!({"dryRun": ["x"]}));
        for (path, body) in [(&in_query, &Value::Null), (path, &in_body)] {
            let refused = cluster.dry(Method::DELETE, path, body).await;
            let (code, message) = refused.unwrap_err();
            assert_eq!(code, 422);
            assert!(
                message.starts_with("DeleteOptions.meta.k8s.io"),
                "{message}"
            );
        }
    }
}
