//! Writes that outlive a server: each is tried until it is known to have happened.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use kube_client::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube_client::{Api, Client, Error};
use kube_core::{DynamicObject, Resource};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::annals::Annals;
use crate::resources::Kind;

/// Between two attempts of one write.
const RETRY: Duration = Duration::from_millis(100);
/// A server that is gone for longer is not coming back.
const PATIENCE: Duration = Duration::from_secs(90);
/// The object by which everybody sees how far they are.
const MARKER: &str = "marker";

/// Writes objects of one kind in one namespace, and what became of them into the annals.
pub(crate) struct Writer {
    api: Api<DynamicObject>,
    kind: Kind,
    annals: Arc<Annals>,
    /// Counts the acknowledged writes.
    written: watch::Sender<u64>,
}

impl Writer {
    pub(crate) fn new(client: Client, kind: &Kind, annals: Arc<Annals>, namespace: &str) -> Self {
        Self {
            api: Api::namespaced_with(client, namespace, &kind.resource),
            kind: kind.clone(),
            annals,
            written: watch::Sender::new(0),
        }
    }

    /// Waits until so many more writes have been acknowledged.
    pub(crate) async fn wait_for_more(&self, count: u64) {
        let mut written = self.written.subscribe();
        let goal = *written.borrow() + count;
        let reached = written.wait_for(|written| *written >= goal).await;
        reached.expect("the sender is ours");
    }

    pub(crate) async fn create(&self, name: &str, labels: &[(&str, &str)]) {
        let labels: serde_json::Map<_, _> = labels
            .iter()
            .map(|(key, value)| ((*key).to_owned(), Value::from(*value)))
            .collect();
        let mut object = self.kind.body.clone();
        object["metadata"] = json!({ "name": name, "labels": labels });
        object["apiVersion"] = self.kind.resource.api_version.clone().into();
        object["kind"] = self.kind.resource.kind.clone().into();
        let object: DynamicObject = serde_json::from_value(object).expect("an object is an object");
        let params = PostParams::default();
        let made = retry("create", name, || self.api.create(&params, &object)).await;
        // It may be that an earlier attempt came through and only its answer was lost.
        let made = match made {
            Err(409) => retry("get", name, || self.api.get(name)).await,
            made => made,
        };
        let made = made.unwrap_or_else(|code| panic!("create {name} was refused with {code}"));
        self.done(&made);
    }

    /// Gives a label a value.
    pub(crate) async fn label(&self, name: &str, key: &str, value: &str) {
        self.patch(name, &json!({ "metadata": { "labels": { key: value } } }))
            .await;
    }

    /// Touches the marker; its new version is the newest of the resource.
    pub(crate) async fn touch(&self, text: &str) -> u64 {
        let patch = json!({ "metadata": { "annotations": { "touched": text } } });
        let version = self.patch(MARKER, &patch).await.metadata.resource_version;
        let version = version.expect("what the server answers has a version");
        version.parse().expect("this server's versions are numbers")
    }

    pub(crate) async fn create_marker(&self, labels: &[(&str, &str)]) {
        self.create(MARKER, labels).await;
    }

    pub(crate) async fn delete(&self, name: &str) {
        let params = DeleteParams::default().grace_period(0);
        let deleted = retry("delete", name, || async {
            self.api.delete(name, &params).await.map(drop)
        });
        if let Err(code) = deleted.await {
            assert_eq!(code, 404, "delete {name}");
        }
        self.written.send_modify(|written| *written += 1);
    }

    /// Deletes everything but the marker.
    pub(crate) async fn delete_all(&self) {
        let params = DeleteParams::default().grace_period(0);
        let deleted = retry("delete", "everything", || async {
            let all = ListParams::default().fields(&format!("metadata.name!={MARKER}"));
            self.api.delete_collection(&params, &all).await.map(drop)
        });
        let deleted = deleted.await;
        deleted.unwrap_or_else(|code| panic!("deleting everything was refused with {code}"));
    }

    async fn patch(&self, name: &str, patch: &Value) -> DynamicObject {
        let (params, patch) = (PatchParams::default(), Patch::Merge(patch));
        let patched = retry("patch", name, || self.api.patch(name, &params, &patch)).await;
        let patched = patched.unwrap_or_else(|code| panic!("patch {name}: refused with {code}"));
        self.done(&patched);
        patched
    }

    fn done(&self, object: &DynamicObject) {
        self.annals.was(object.meta());
        self.written.send_modify(|written| *written += 1);
    }
}

/// Does something for each number, at most so many at once.
pub(crate) async fn for_each<F: Future<Output = ()>>(
    numbers: impl IntoIterator<Item = usize>,
    at_once: usize,
    act: impl Fn(usize) -> F,
) {
    futures::stream::iter(numbers)
        .for_each_concurrent(at_once, act)
        .await;
}

/// Tries until the server has decided: success, or the code of a refusal that repeating will not
/// change.
async fn retry<R, F>(verb: &str, name: &str, attempt: impl Fn() -> F) -> Result<R, u16>
where
    F: Future<Output = Result<R, Error>>,
{
    let start = Instant::now();
    loop {
        let error = match attempt().await {
            Ok(result) => return Ok(result),
            Err(error) => error,
        };
        if let Error::Api(status) = &error {
            // 409 to a patch is a race of two writers that the server gave up on, 403 is what a
            // server says whose admission is not ready yet, and 404 without the object's name that
            // the definition is not served yet.
            let is_named = || {
                status
                    .details
                    .as_ref()
                    .is_some_and(|details| details.name == name)
            };
            let refused = match status.code {
                409 => verb == "create",
                404 => is_named(),
                code => matches!(code, 400 | 422),
            };
            if refused {
                return Err(status.code);
            }
        }
        if start.elapsed() > PATIENCE {
            panic!("{verb} {name} failed for {PATIENCE:?}: {error}");
        }
        tokio::time::sleep(RETRY).await;
    }
}
