//! The wire format of an informer.

use crate::cluster::{QUEUES, SOON, factory, pod, pods};
use informer_factory::{InformerOptions, ReceivedWire, WireFormat};
use informer_testkit::ApiServer;
use k8s_openapi::api::core::v1::Pod;

/// Different formats are different informers of the same objects, and their names say so.
#[tokio::test(start_paused = true)]
async fn informers_of_different_formats_are_two_with_the_same_objects() {
    for queue in QUEUES {
        let server = ApiServer::new();
        for number in 0..20 {
            let pod = pod(&format!("web-{number}"), "node-1");
            server.create(&pods(), pod).expect("created");
        }
        let factory = factory(&server, queue);
        let with = |wire| {
            let options = InformerOptions::new().wire(wire);
            factory.informer_with::<Pod>(options).expect("new")
        };
        let (auto, json) = (factory.informer::<Pod>(), with(WireFormat::Json));
        assert_eq!(with(WireFormat::Auto).name(), "pods");
        assert_eq!(with(WireFormat::Json).name(), json.name());
        assert!(json.name().ends_with("[as JSON]"), "{}", json.name());
        assert_eq!(factory.status().len(), 2);
        assert_ne!(auto.status().label, json.status().label);

        factory.start().expect("a runtime");
        factory.wait_synced(SOON).await.expect("synced");
        let (auto, from_json) = (auto.reader().snapshot(), json.reader().snapshot());
        assert_eq!(auto.len(), 20);
        assert_eq!(auto.len(), from_json.len());
        for ((key, one), (other_key, other)) in auto.iter().zip(from_json.iter()) {
            assert_eq!((key, &one.object), (other_key, &other.object));
            assert_eq!((&one.uid, &one.version), (&other.uid, &other.version));
        }
        let received = json.status().sources[0].wire;
        assert_ne!(received, Some(ReceivedWire::Protobuf));
    }
}
