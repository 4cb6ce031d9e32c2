//! A type that has a decoder of its own and no `Deserialize` (ADR 12, `Decode`, `Object`).

use std::sync::Arc;

use crate::cluster::{QUEUES, SOON, factory, pod, pods};
use informer_factory::kube_source::{Buffers, Encoded, Wire};
use informer_factory::processor::handler_fn;
use informer_factory::reflector::{DecodeError, DecodeErrorCategory};
use informer_factory::{
    Added, Decode, HasLabels, HasOwners, InformerError, InformerOptions, KeyError, Notification,
    Object, ObjectKey, Owner, Updated, index, labelled,
};
use informer_testkit::ApiServer;
use k8s_openapi::api::core::v1::Pod;
use kube_core::{ApiResource, Selector};
use serde_json::{Value, json};
use tokio::sync::mpsc;

/// The JSON of a pod beside what is read often. No serde, no `ObjectMeta`, no `Clone`.
struct Packed {
    key: ObjectKey,
    app: Option<Box<str>>,
    owner: Option<Box<str>>,
    node: Option<Box<str>>,
    bytes: Box<[u8]>,
}

/// Keeps the bytes of each object.
struct Packer;

fn text(value: &Value) -> Option<Box<str>> {
    value.as_str().map(Into::into)
}

impl Decode<Packed> for Packer {
    fn decode(&self, object: Encoded<'_>, _: &mut Buffers) -> Result<Packed, DecodeError> {
        let refused = |category| DecodeError::new(category, "?".to_owned(), 0, 0);
        let Wire::Json(json) = object.wire else {
            return Err(refused(DecodeErrorCategory::Data));
        };
        let read: Result<Value, _> = serde_json::from_str(json);
        let value = read.map_err(|_| refused(DecodeErrorCategory::Syntax))?;
        if value["spec"]["nodeName"] == "broken" {
            return Err(refused(DecodeErrorCategory::Data));
        }
        Ok(Packed {
            key: object.identity.key.clone(),
            app: text(&value["metadata"]["labels"]["app"]),
            owner: text(&value["metadata"]["ownerReferences"][0]["uid"]),
            node: text(&value["spec"]["nodeName"]),
            bytes: json.as_bytes().into(),
        })
    }
}

impl Object for Packed {
    fn key(&self) -> Result<ObjectKey, KeyError> {
        Ok(self.key.clone())
    }
}

impl HasLabels for Packed {
    fn label(&self, name: &str) -> Option<&str> {
        self.app.as_deref().filter(|_| name == "app")
    }
}

impl HasOwners for Packed {
    fn owners(&self) -> impl Iterator<Item = Owner<'_>> {
        let owner = self.owner.as_deref();
        owner.map(|uid| Owner::new(uid, true)).into_iter()
    }
}

fn resource() -> ApiResource {
    ApiResource::erase::<Pod>(&())
}

/// What a handler received, as one word.
fn word(notification: &Notification<ObjectKey, Packed>) -> String {
    let sign = match notification {
        Notification::Added(Added { .. }) => '+',
        Notification::Updated(Updated { .. }) => '~',
        Notification::Deleted(_) => '-',
    };
    format!("{sign}{}", notification.key().name())
}

#[tokio::test(start_paused = true)]
async fn a_type_without_deserialize_is_held_indexed_listed_and_handled() {
    for queue in QUEUES {
        let server = ApiServer::new();
        let mut owned = pod("a", "n1");
        let owner = json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r",
            "uid": "owner-1", "controller": true}]);
        owned["metadata"]["ownerReferences"] = owner;
        server.create(&pods(), owned).expect("created");
        let mut other = pod("b", "n2");
        other["metadata"]["labels"]["app"] = json!("db");
        server.create(&pods(), other).expect("created");

        let factory = factory(&server, queue);
        let packer: Arc<dyn Decode<Packed>> = Arc::new(Packer);
        let options = || InformerOptions::new();
        let informer = factory
            .decoded(&resource(), Arc::clone(&packer), options())
            .expect("new");
        let node = |packed: &Packed| packed.node.as_deref().map(str::to_owned);
        let by_node = informer.add_index("node", node).expect("a new name");
        let owners = index::owner_uid::<Packed>;
        let by_owner = informer.add_index("owner", owners).expect("a new name");
        let by_app = informer.add_index("app", index::label("app"));
        let by_app = by_app.expect("a new name");
        let (send, mut received) = mpsc::unbounded_channel();
        let handler = handler_fn(move |event: &Notification<ObjectKey, Packed>| {
            send.send(word(event)).expect("the test receives");
        });
        informer.add_handler(handler).expect("running");
        factory.start().expect("a runtime");
        factory.wait_synced(SOON).await.expect("synced");

        let lister = informer.lister();
        let a = lister.namespace("default").get("a").expect("held");
        let bytes: Value = serde_json::from_slice(&a.bytes).expect("its JSON");
        assert_eq!(bytes["metadata"]["name"], "a");
        let names = |found: Vec<Arc<Packed>>| -> Vec<String> {
            let names = found.iter().map(|packed| packed.key.name().to_owned());
            names.collect()
        };
        assert_eq!(names(by_node.get("n1")), ["a"]);
        assert_eq!(names(by_owner.get("owner-1")), ["a"]);
        assert_eq!(names(by_app.get("db")), ["b"]);
        let web = Selector::from_iter([("app", "web")]);
        assert_eq!(names(lister.matching(labelled(&web))), ["a"]);
        let mut initial = [received.recv().await, received.recv().await];
        initial.sort();
        assert_eq!(initial, [Some("+a".to_owned()), Some("+b".to_owned())]);

        let moved = json!({"spec": {"nodeName": "n3"}});
        server.patch(&pods(), "default", "a", moved).expect("moved");
        assert_eq!(received.recv().await.as_deref(), Some("~a"));
        assert_eq!(names(by_node.get("n3")), ["a"]);
        server.delete(&pods(), "default", "b").expect("deleted");
        assert_eq!(received.recv().await.as_deref(), Some("-b"));
        assert_eq!(lister.all().len(), 1);

        // What the decoder refuses is quarantined, and the last good version stays.
        let broken = json!({"spec": {"nodeName": "broken"}});
        server
            .patch(&pods(), "default", "a", broken)
            .expect("broken");
        server.create(&pods(), pod("c", "n1")).expect("created");
        assert_eq!(received.recv().await.as_deref(), Some("+c"));
        let quarantined = informer.quarantined();
        assert_eq!(quarantined.len(), 1);
        assert_eq!(quarantined[0].key.as_str(), "default/a");
        assert_eq!(names(by_node.get("n3")), ["a"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_decoder_is_shared_as_the_same_value_only() {
    let server = ApiServer::new();
    let factory = factory(&server, QUEUES[0]);
    let packer: Arc<dyn Decode<Packed>> = Arc::new(Packer);
    let ask = |packer| factory.decoded(&resource(), packer, InformerOptions::new());
    let first = ask(Arc::clone(&packer)).expect("new");
    let second = ask(packer).expect("the same");
    assert_eq!(first.name(), second.name());
    let other = ask(Arc::new(Packer)).map(|informer| informer.name().to_owned());
    assert!(
        matches!(other, Err(InformerError::DecoderDiffers { .. })),
        "{other:?}"
    );
}
