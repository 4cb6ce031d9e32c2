//! Writes that outlive a server: each is tried until it is known to have happened.

use std::time::Duration;

use futures::StreamExt;
use kube_client::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube_client::{Api, Client, Error};
use kube_core::DynamicObject;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::collection::Kind;

/// Between two attempts of one write.
const RETRY: Duration = Duration::from_millis(100);
/// A server that is gone for longer is not coming back.
const PATIENCE: Duration = Duration::from_secs(90);

/// Writes objects of one kind in one namespace, and counts them.
pub(crate) struct Writer {
    api: Api<DynamicObject>,
    kind: Kind,
    written: watch::Sender<u64>,
}

impl Writer {
    pub(crate) fn new(client: Client, kind: &Kind, namespace: &str) -> Self {
        Self {
            api: Api::namespaced_with(client, namespace, &kind.resource),
            kind: kind.clone(),
            written: watch::channel(0).0,
        }
    }

    /// How many writes have been acknowledged.
    pub(crate) fn written(&self) -> u64 {
        *self.written.borrow()
    }

    /// Waits until so many writes have been acknowledged.
    pub(crate) async fn wait_for_written(&self, count: u64) {
        let mut written = self.written.subscribe();
        let reached = written.wait_for(|written| *written >= count).await;
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
        let made = retry("create", name, || self.api.create(&params, &object));
        // It may be that an earlier attempt came through and only its answer was lost.
        if let Err(code) = made.await {
            assert_eq!(code, 409, "create {name}");
        }
        self.count();
    }

    pub(crate) async fn patch(&self, name: &str, patch: &Value) -> DynamicObject {
        let (params, patch) = (PatchParams::default(), Patch::Merge(patch));
        let patched = retry("patch", name, || self.api.patch(name, &params, &patch)).await;
        self.count();
        patched.unwrap_or_else(|code| panic!("patch {name} was refused with {code}"))
    }

    /// Gives a label a value.
    pub(crate) async fn label(&self, name: &str, key: &str, value: &str) {
        let patch = json!({ "metadata": { "labels": { key: value } } });
        self.patch(name, &patch).await;
    }

    pub(crate) async fn delete(&self, name: &str) {
        let params = DeleteParams::default().grace_period(0);
        let deleted = retry("delete", name, || async {
            self.api.delete(name, &params).await.map(drop)
        });
        if let Err(code) = deleted.await {
            assert_eq!(code, 404, "delete {name}");
        }
        self.count();
    }

    /// Deletes everything but the marker.
    pub(crate) async fn delete_all(&self) {
        let params = DeleteParams::default().grace_period(0);
        let deleted = retry("delete", "everything", || async {
            // Not the marker, by which everybody sees that this has happened.
            let all = ListParams::default().fields("metadata.name!=marker");
            self.api.delete_collection(&params, &all).await.map(drop)
        });
        let deleted = deleted.await;
        deleted.unwrap_or_else(|code| panic!("deleting everything was refused with {code}"));
    }

    fn count(&self) {
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
            // 409 to a patch is a race of two writers that the server gave up on, and 403 is what a
            // server says whose admission is not ready yet.
            let refused = match status.code {
                409 => verb == "create",
                404 => verb == "delete",
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
