//! Packed objects: the same collection, kept as compressed bytes beside a small view.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::cluster::{QUEUES, SOON, client, config_map, factory, pod, pods};
use informer_factory::kube_source::Projection;
use informer_factory::processor::handler_fn;
use informer_factory::{
    DictionaryUse, HasLabels, HasNode, HasOwners, InformerError, InformerOptions, Labels,
    Namespaces, NoView, Notification, ObjectKey, Owner, PackedObject, QueueKind, ReadError,
    ReceivedWire, ReflectorConfig, SharedInformer, SharedInformerFactory, Transform, index,
    labelled,
};
use informer_testkit::{ApiServer, Resource};
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use kube_core::{ApiResource, DynamicObject, Selector};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::mpsc;

#[derive(Debug, Deserialize)]
struct PodView {
    metadata: MetadataView,
    #[serde(default)]
    spec: SpecView,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct MetadataView {
    #[serde(default)]
    labels: Labels,
    #[serde(default)]
    owner_references: Vec<OwnerView>,
}

#[derive(Debug, Deserialize)]
struct OwnerView {
    uid: Box<str>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SpecView {
    node_name: Option<Box<str>>,
}

impl HasLabels for PodView {
    fn label(&self, name: &str) -> Option<&str> {
        self.metadata.labels.get(name)
    }
}

impl HasNode for PodView {
    fn node(&self) -> Option<&str> {
        self.spec.node_name.as_deref()
    }
}

impl HasOwners for PodView {
    fn owners(&self) -> impl Iterator<Item = Owner<'_>> {
        let owners = self.metadata.owner_references.iter();
        owners.map(|owner| Owner::new(&owner.uid, false))
    }
}

fn resource<K: kube_core::Resource<DynamicType = ()>>() -> ApiResource {
    ApiResource::erase::<K>(&())
}

fn factory_from(server: &ApiServer, streaming: bool) -> SharedInformerFactory {
    SharedInformerFactory::builder(client(server))
        .reflector(ReflectorConfig::default().streaming(streaming))
        .seed(7)
        .build()
        .expect("legal")
}

async fn start(factory: &SharedInformerFactory) {
    factory.start().expect("a runtime");
    factory.wait_synced(SOON).await.expect("synced");
}

/// The objects of an informer by key, read as JSON.
fn contents<K: 'static, V: Send + Sync + 'static>(
    informer: &SharedInformer<PackedObject<K, V>>,
) -> BTreeMap<ObjectKey, Value> {
    let all = informer.lister().all().into_iter();
    all.map(|object| {
        let (format, bytes) = object.raw().expect("intact");
        assert_eq!(format, ReceivedWire::Json);
        let value = serde_json::from_slice(&bytes).expect("JSON");
        (object.key().clone(), value)
    })
    .collect()
}

/// A pod with some hundred bytes that other pods have too, and some that no other has.
fn large_pod(number: usize) -> Value {
    let mut large = pod(&format!("web-{number}"), &format!("node-{}", number % 7));
    large["metadata"]["managedFields"] = json!([{"manager": "kubelet", "operation": "Update"}]);
    large["metadata"]["annotations"] = json!({"note": "n".repeat(300), "number": number});
    large["metadata"]["annotations"]["number"] = json!(number.wrapping_mul(7_919).to_string());
    large["spec"]["containers"][0]["env"] = json!([
        {"name": "DATABASE_URL", "value": format!("postgres://database-{}/shop", number % 13)},
        {"name": "LOG_LEVEL", "value": "info"},
    ]);
    large
}

/// Two pods, of which one has an owner and the other another label.
fn two_pods(server: &ApiServer) {
    let mut owned = pod("a", "n1");
    owned["metadata"]["ownerReferences"] = json!([{"apiVersion": "apps/v1",
        "kind": "ReplicaSet", "name": "r", "uid": "owner-1", "controller": true}]);
    server.create(&pods(), owned).expect("created");
    let mut other = pod("b", "n2");
    other["metadata"]["labels"]["app"] = json!("db");
    server.create(&pods(), other).expect("created");
}

/// The nodes of a pod before and after a change.
fn nodes(
    event: &Notification<ObjectKey, PackedObject<Pod, PodView>>,
) -> (Option<Arc<str>>, Option<Arc<str>>) {
    let node = |object: &Arc<PackedObject<Pod, PodView>>| index::node(&**object);
    match event {
        Notification::Added(added) => (None, node(&added.object)),
        Notification::Updated(updated) => (node(&updated.old), node(&updated.new)),
        Notification::Deleted(_) => (event.last().and_then(node), None),
    }
}

#[tokio::test(start_paused = true)]
async fn packed_objects_are_held_indexed_listed_and_handled() {
    for queue in QUEUES {
        let server = ApiServer::new();
        two_pods(&server);
        let factory = factory(&server, queue);
        let informer = factory
            .packed_with::<Pod, PodView>(InformerOptions::new())
            .expect("new");
        let by_node = informer.add_index("node", index::node).expect("new");
        let by_owner = informer.add_index("owner", index::owner_uid).expect("new");
        let (send, mut received) = mpsc::unbounded_channel();
        let handler = handler_fn(
            move |event: &Notification<ObjectKey, PackedObject<Pod, PodView>>| {
                send.send((event.key().to_string(), nodes(event)))
                    .expect("heard");
            },
        );
        informer.add_handler(handler).expect("running");
        start(&factory).await;

        assert_eq!(by_owner.count("owner-1"), 1);
        let web = Selector::from_iter([("app", "web")]);
        assert_eq!(informer.lister().matching(labelled(&web)).len(), 1);
        let a = informer.lister().get("default/a").expect("held");
        assert_eq!((a.key().name(), a.uid().is_unknown()), ("a", false));

        let moved = json!({"spec": {"nodeName": "n3"}});
        server
            .patch(&pods(), "default", "a", moved)
            .expect("patched");
        server.delete(&pods(), "default", "b").expect("deleted");
        let version = server.version().into();
        informer
            .wait_for_version(&version, SOON)
            .await
            .expect("applied");
        let on = |node: &str| by_node.count(node);
        assert_eq!((on("n1"), on("n2"), on("n3")), (0, 0, 1));
        let mut seen = Vec::new();
        for _ in 0..4 {
            seen.push(received.recv().await.expect("a notification"));
        }
        seen.sort();
        let some = |text: &str| Some(Arc::from(text));
        let expected = [
            ("default/a", (None, some("n1"))),
            ("default/a", (some("n1"), some("n3"))),
            ("default/b", (None, some("n2"))),
            ("default/b", (some("n2"), None)),
        ];
        let expected = expected.map(|(key, nodes)| (key.to_owned(), nodes));
        assert_eq!(seen, expected);
        // What was read before the change is as it was then.
        let before = a.unpack().expect("a pod");
        assert_eq!(index::node(&before), some("n1"));
    }
}

/// A large collection has a dictionary by the time anybody sees its objects, and no object of it
/// is left unpacked; unpacking gives what a typed informer holds.
#[tokio::test(start_paused = true)]
async fn first_collection_is_packed_with_a_dictionary_of_itself() {
    for streaming in [false, true] {
        for count in [10, 300, 1_200] {
            let server = ApiServer::new();
            for number in 0..count {
                server.create(&pods(), large_pod(number)).expect("created");
            }
            let factory = factory_from(&server, streaming);
            let packed = factory.packed::<Pod>();
            let managed = || Projection::new().drop_path("metadata.managedFields");
            let typed = factory
                .informer_with::<Pod>(InformerOptions::new().projection(managed()))
                .expect("new");
            let dynamic = factory
                .dynamic(&resource::<Pod>(), InformerOptions::new())
                .expect("new");
            let packed_dynamic = factory
                .packed_dynamic::<NoView>(
                    &resource::<Pod>(),
                    InformerOptions::new().projection(Projection::new()),
                )
                .expect("new");
            let metadata = factory
                .metadata(&resource::<Pod>(), InformerOptions::new())
                .expect("new");
            let packed_metadata = factory
                .packed_metadata::<NoView>(
                    &resource::<Pod>(),
                    InformerOptions::new().projection(Projection::new()),
                )
                .expect("new");
            start(&factory).await;
            assert_eq!(packed.reader().len(), count);
            for object in packed.lister().all() {
                let has_dictionary = object.content().dictionary().is_some();
                assert_eq!(has_dictionary, count > 256, "{object:?} of {count}");
            }
            assert_same(&typed, &packed);
            assert_same(&dynamic, &packed_dynamic);
            assert_same(&metadata, &packed_metadata);
            let memory = packed.status().memory;
            let content = |object: &Arc<PackedObject<Pod>>| object.content().packed_len();
            let bytes: usize = packed.lister().all().iter().map(content).sum();
            let own = count * size_of::<PackedObject<Pod>>();
            assert!(
                memory.objects >= (bytes + own) * 9 / 10,
                "{memory:?} {bytes} {own}"
            );
            // The same way for what arrives later.
            server.create(&pods(), large_pod(count)).expect("created");
            let version = server.version().into();
            packed
                .wait_for_version(&version, SOON)
                .await
                .expect("applied");
            typed
                .wait_for_version(&version, SOON)
                .await
                .expect("applied");
            assert_same(&typed, &packed);
        }
    }
}

/// A namespace that is listed first and small does not decide that a large one has no dictionary.
#[tokio::test(start_paused = true)]
async fn objects_of_a_large_namespace_have_a_dictionary_whatever_is_listed_first() {
    const LARGE: usize = 900;
    let server = ApiServer::new();
    let create = |namespace: &str, number: usize| {
        let mut pod = large_pod(number);
        pod["metadata"]["namespace"] = json!(namespace);
        server.create(&pods(), pod).expect("created");
    };
    (0..LARGE).for_each(|number| create("large", number));
    let factory = factory_from(&server, false);
    let both = Namespaces::These(vec!["small".into(), "large".into()]);
    let options = InformerOptions::new().namespaces(both);
    let informer = factory.packed_with::<Pod, NoView>(options).expect("new");
    start(&factory).await;
    assert_eq!(informer.reader().len(), LARGE);
    // The next commit finds what was packed without one.
    create("small", LARGE);
    let all_have = async {
        let without = |object: &Arc<PackedObject<Pod>>| object.content().dictionary().is_none();
        while informer.lister().all().iter().any(without) {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let waited = tokio::time::timeout(SOON, all_have).await;
    waited.expect("all objects have a dictionary");
    assert_eq!(informer.reader().len(), LARGE + 1);
}

fn assert_same<K, V>(typed: &SharedInformer<K>, packed: &SharedInformer<PackedObject<K, V>>)
where
    K: DeserializeOwned + PartialEq + Send + Sync + 'static,
    V: Send + Sync + 'static,
{
    let (typed, packed) = (typed.reader().snapshot(), packed.reader().snapshot());
    assert_eq!(typed.len(), packed.len());
    for ((key, expected), (found_key, found)) in typed.iter().zip(packed.iter()) {
        assert_eq!(key, found_key);
        assert_eq!(
            (&expected.uid, &expected.version),
            (&found.uid, &found.version)
        );
        let object = found.object.unpack().expect("it fits its type");
        assert!(object == *expected.object, "{key}");
    }
}

/// A relist keeps what is unchanged: the very same objects.
#[tokio::test(start_paused = true)]
async fn relist_packs_nothing_again() {
    let server = ApiServer::new();
    for number in 0..20 {
        server.create(&pods(), large_pod(number)).expect("created");
    }
    let factory = factory(&server, QueueKind::DeltaFifo);
    let informer = factory.packed::<Pod>();
    start(&factory).await;
    let before = informer.lister().all();
    server.compact_and_forget();
    server.close_watches();
    server.create(&pods(), large_pod(20)).expect("created");
    let version = server.version().into();
    informer
        .wait_for_version(&version, SOON)
        .await
        .expect("applied");
    for object in before {
        let now = informer.lister().get(object.key()).expect("held");
        assert!(Arc::ptr_eq(&now, &object));
    }
}

/// Nothing of a Secret is in a dictionary, unless the program says so.
#[tokio::test(start_paused = true)]
async fn secrets_have_a_dictionary_only_if_asked_for() {
    let server = ApiServer::new();
    for number in 0..300 {
        let mut secret = config_map(&format!("s-{number}"), &"c2VjcmV0".repeat(20));
        secret["kind"] = json!("Secret");
        server
            .create(&Resource::secrets(), secret)
            .expect("created");
    }
    for (dictionary, expected) in [
        (DictionaryUse::default(), false),
        (DictionaryUse::Never, false),
        (DictionaryUse::WithSecrets, true),
    ] {
        let factory = factory(&server, QueueKind::DeltaFifo);
        let options = InformerOptions::new().dictionary(dictionary);
        let secrets = factory.packed_with::<Secret, NoView>(options).expect("new");
        start(&factory).await;
        for secret in secrets.lister().all() {
            let has_dictionary = secret.content().dictionary().is_some();
            assert_eq!(has_dictionary, expected, "{dictionary:?}");
            let shown = format!("{secret:?}");
            assert!(!shown.contains("c2Vj"), "{shown}");
        }
    }
}

/// Different views are different informers, and their names say so. A transform is refused.
#[tokio::test(start_paused = true)]
async fn views_are_informers_of_their_own() {
    let factory = factory(&ApiServer::new(), QueueKind::DeltaFifo);
    let plain = factory.packed::<Pod>();
    let same = factory.packed_with::<Pod, NoView>(InformerOptions::new());
    assert_eq!(same.expect("the same").name(), plain.name());
    let viewed = factory.packed_with::<Pod, PodView>(InformerOptions::new());
    let viewed = viewed.expect("new");
    assert_eq!(factory.status().len(), 2);
    assert!(plain.name().contains("packed") && viewed.name().contains("PodView"));
    assert_ne!(plain.status().label, viewed.status().label);

    let transform = Transform::new(|object: PackedObject<Pod>| Ok(object));
    let options = InformerOptions::new().transform(transform);
    let refused = factory.packed_with::<Pod, NoView>(options);
    assert!(matches!(refused, Err(InformerError::TransformOfPacked { kind }) if kind == "Pod"));
}

/// A field that does not fit is an error of the call that reads it; the object itself is there.
#[tokio::test(start_paused = true)]
async fn what_does_not_fit_a_type_is_an_error_that_names_the_path() {
    let server = ApiServer::new();
    server
        .create(&Resource::config_maps(), config_map("a", "v"))
        .expect("created");
    let factory = factory(&server, QueueKind::DeltaFifo);
    let informer = factory
        .packed_dynamic::<NoView>(&resource::<ConfigMap>(), InformerOptions::new())
        .expect("new");
    start(&factory).await;
    let object: Arc<PackedObject<DynamicObject>> =
        informer.lister().get("default/a").expect("held");
    assert_eq!(
        object.unpack().expect("any object").data["data"]["value"],
        "v"
    );

    #[derive(Debug, Deserialize)]
    struct Odd {
        #[expect(dead_code, reason = "it cannot be decoded")]
        data: BTreeMap<String, u8>,
    }
    let error = object.read::<Odd>().expect_err("a text is no number");
    assert!(
        matches!(&error, ReadError::Decode(error) if error.path == "data.value"),
        "{error}"
    );
    assert_eq!(contents(&informer).len(), 1);
}
