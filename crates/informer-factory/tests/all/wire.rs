//! The wire format of an informer.

use crate::cluster::{QUEUES, SOON, factory, pod, pods};
use informer_factory::{
    ApiResource, InformerOptions, ReceivedWire, SharedInformer, SharedInformerFactory, WireFormat,
};
use informer_testkit::{ApiServer, ProtobufSupport};
use k8s_openapi::api::core::v1::Pod;
use serde_json::json;

/// Creates pods, with the empty structs that an API server always writes.
fn fill(server: &ApiServer) {
    for number in 0..20 {
        let mut pod = pod(&format!("web-{number}"), "node-1");
        pod["spec"]["containers"][0]["resources"] = json!({});
        pod["status"] = json!({});
        server.create(&pods(), pod).expect("created");
    }
}

/// The format of the only source of an informer; `None` also before there is one.
fn received<T: Send + Sync + 'static>(informer: &SharedInformer<T>) -> Option<ReceivedWire> {
    informer.status().sources.first()?.wire
}

fn with(factory: &SharedInformerFactory, wire: WireFormat) -> SharedInformer<Pod> {
    let options = InformerOptions::new().wire(wire);
    factory.informer_with::<Pod>(options).expect("new")
}

/// Different formats are different informers of the same objects, and their names say so.
#[tokio::test(start_paused = true)]
async fn informers_of_different_formats_are_two_with_the_same_objects() {
    for queue in QUEUES {
        let server = ApiServer::new();
        fill(&server);
        let factory = factory(&server, queue);
        let (auto, json) = (factory.informer::<Pod>(), with(&factory, WireFormat::Json));
        assert_eq!(with(&factory, WireFormat::Auto).name(), "pods");
        assert_eq!(with(&factory, WireFormat::Json).name(), json.name());
        assert!(json.name().ends_with("[as JSON]"), "{}", json.name());
        assert_eq!(factory.status().len(), 2);
        assert_ne!(auto.status().label, json.status().label);
        assert_eq!((received(&auto), received(&json)), (None, None));

        factory.start().expect("a runtime");
        factory.wait_synced(SOON).await.expect("synced");
        assert_eq!(received(&auto), Some(ReceivedWire::Protobuf));
        assert_eq!(received(&json), Some(ReceivedWire::Json));
        let (auto, from_json) = (auto.reader().snapshot(), json.reader().snapshot());
        assert_eq!((auto.len(), from_json.len()), (20, 20));
        for ((key, one), (other_key, other)) in auto.iter().zip(from_json.iter()) {
            assert_eq!((key, &one.object), (other_key, &other.object));
            assert_eq!((&one.uid, &one.version), (&other.uid, &other.version));
        }
    }
}

/// Every kind of informer requests what its objects can be read from.
#[tokio::test(start_paused = true)]
async fn dynamic_objects_are_requested_as_json_and_all_others_as_protobuf() {
    let server = ApiServer::new();
    fill(&server);
    let factory = factory(&server, QUEUES[0]);
    let resource = ApiResource::erase::<Pod>(&());
    let dynamic = factory.dynamic(&resource, InformerOptions::new());
    let dynamic = dynamic.expect("new");
    let options = InformerOptions::new().wire(WireFormat::Protobuf);
    let chosen = factory.dynamic(&resource, options).expect("new");
    let metadata = factory.metadata(&resource, InformerOptions::new());
    let metadata = metadata.expect("new");
    factory.start().expect("a runtime");
    factory.wait_synced(SOON).await.expect("synced");
    assert_eq!(received(&dynamic), Some(ReceivedWire::Json));
    assert_eq!(received(&chosen), Some(ReceivedWire::Protobuf));
    assert_eq!(received(&metadata), Some(ReceivedWire::Protobuf));
    let (dynamic, chosen) = (dynamic.lister(), chosen.lister());
    let [one, other] = [dynamic, chosen].map(|lister| lister.get("default/web-7").expect("held"));
    assert_eq!((&one.types, &one.metadata), (&other.types, &other.metadata));
}

/// Packed objects are kept in the format they came in, and unpack to the same values.
#[cfg(feature = "packed")]
#[tokio::test(start_paused = true)]
async fn packed_objects_unpack_to_the_same_values_from_either_format() {
    use informer_factory::NoView;
    let server = ApiServer::new();
    fill(&server);
    let factory = factory(&server, QUEUES[0]);
    let json = InformerOptions::new().wire(WireFormat::Json);
    let from_json = factory.packed_with::<Pod, NoView>(json).expect("new");
    let packed = factory.packed::<Pod>();
    let resource = ApiResource::erase::<Pod>(&());
    let dynamic = factory.packed_dynamic::<NoView>(&resource, InformerOptions::new());
    let dynamic = dynamic.expect("new");
    factory.start().expect("a runtime");
    factory.wait_synced(SOON).await.expect("synced");
    assert_eq!(received(&dynamic), Some(ReceivedWire::Json));
    let all = packed.lister().all();
    assert_eq!(all.len(), 20);
    for object in all {
        let other = from_json.lister().get(object.key()).expect("held");
        assert_eq!(object.raw().expect("intact").0, ReceivedWire::Protobuf);
        assert_eq!(other.raw().expect("intact").0, ReceivedWire::Json);
        assert_eq!(
            object.unpack().expect("a pod"),
            other.unpack().expect("a pod")
        );
    }
}

/// A server without protobuf has informers too, and the status says what it sends.
#[tokio::test(start_paused = true)]
async fn server_without_protobuf_sends_json() {
    for support in [
        ProtobufSupport::JsonOnly,
        ProtobufSupport::NotAcceptable,
        ProtobufSupport::Broken,
    ] {
        let server = ApiServer::builder().protobuf(support).build();
        fill(&server);
        let factory = factory(&server, QUEUES[0]);
        let pods = factory.informer::<Pod>();
        factory.start().expect("a runtime");
        factory.wait_synced(SOON).await.expect("synced");
        assert_eq!(received(&pods), Some(ReceivedWire::Json), "{support:?}");
        assert_eq!(pods.lister().all().len(), 20);
    }
}
