//! Packed objects that arrived as protobuf, alone and among others that arrived as JSON.

use std::collections::{HashMap, HashSet};

use informer_kube_protobuf::{Envelope, from_slice};
use k8s_openapi::api::{
    admissionregistration::v1::ValidatingWebhookConfiguration,
    apps::v1::{ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet},
    autoscaling::v2::HorizontalPodAutoscaler,
    batch::v1::{CronJob, Job},
    coordination::v1::Lease,
    core::v1::{
        Endpoints, Event, LimitRange, Namespace, Node, PersistentVolume, PersistentVolumeClaim,
        Pod, ResourceQuota, Secret, Service, ServiceAccount,
    },
    discovery::v1::EndpointSlice,
    networking::v1::{Ingress, NetworkPolicy},
    policy::v1::PodDisruptionBudget,
    rbac::v1::{ClusterRole, ClusterRoleBinding, Role, RoleBinding},
    scheduling::v1::PriorityClass,
    storage::v1::{CSINode, StorageClass},
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube_core::DynamicObject;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use super::*;
use crate::{Labels, NoView, PartialObjectMetadata, ReadError};

/// An object of each kind, as an API server writes them.
const KINDS: &str = include_str!("../../../tests/all/kinds.json");

macro_rules! equal {
    ($($kind:ident)*) => { $( assert_equal::<$kind>(stringify!($kind)); )* };
}

#[test]
fn objects_of_every_kind_are_unpacked_from_protobuf_as_their_json_decodes() {
    equal!(
        Pod Service Deployment StatefulSet DaemonSet ReplicaSet Job CronJob Node Namespace
        ConfigMap Secret PersistentVolume PersistentVolumeClaim StorageClass Ingress NetworkPolicy
        HorizontalPodAutoscaler Role RoleBinding ClusterRole ClusterRoleBinding ServiceAccount
        Endpoints EndpointSlice Event Lease PriorityClass PodDisruptionBudget ResourceQuota
        LimitRange ControllerRevision CSINode ValidatingWebhookConfiguration
        CustomResourceDefinition
    );
}

fn assert_equal<K: DeserializeOwned + PartialEq + 'static>(kind: &str) {
    let kinds: Vec<Value> = serde_json::from_str(KINDS).expect("JSON");
    let whole = kinds.into_iter().find(|object| object["kind"] == kind);
    let whole = whole.unwrap_or_else(|| panic!("no object of the kind {kind}"));
    let api_version = whole["apiVersion"].as_str().expect("text").to_owned();
    let schema = Schema::of(&api_version, kind).expect("a built-in kind");
    let message = to_vec(schema, &whole).expect("an object of its kind");
    // With the members that a server always writes, such as an empty `updateStrategy`.
    let mut whole: Value = from_slice(schema, &message).expect("encoded");
    let names = TypeNames::new(&api_version, kind);
    let (identity, buffers) = (identity(1), &mut Buffers::default());
    let mut unpacked = |projection| {
        let decoder = PackedDecoder::new(projection, settings());
        let object = Encoded::protobuf(&message, names, &identity);
        let object: PackedObject<K> = decoder.decode(object, buffers).expect("its kind");
        let (wire, raw) = object.raw().expect("intact");
        assert_eq!(wire, ReceivedWire::Protobuf);
        let body = Envelope::parse(&raw).expect("a body");
        assert_eq!((body.api_version, body.kind), (&*api_version, kind));
        let dynamic: DynamicObject = object.read().expect("any object");
        assert_eq!(dynamic.types.expect("named").kind, kind);
        object.unpack().expect("it fits its type")
    };
    let typed = |whole: &Value| K::deserialize(whole).expect("it fits its type");
    assert!(unpacked(Projection::new()) == typed(&whole), "{kind}");
    let metadata = whole["metadata"].as_object_mut().expect("an object");
    assert!(metadata.remove("managedFields").is_some());
    let managed = Projection::new().drop_path("metadata.managedFields");
    assert!(unpacked(managed) == typed(&whole), "{kind}, projected");
}

/// Objects of the formats that the sources of two namespaces receive at a time. Whether each has a
/// dictionary, and none is of objects of both formats.
fn have_own_dictionaries() -> bool {
    let objects = decode(&decoder(), &WIRES, "a", 0..120);
    let mut dictionaries = HashMap::new();
    for object in &objects {
        let serial = object.view().data.serial.clone();
        let data = object.unpack().expect("a config map").data.expect("some");
        assert_eq!(*data["serial"], *serial);
        let Some(dictionary) = object.content().dictionary() else {
            return false;
        };
        let wires: &mut HashSet<_> = dictionaries.entry(Arc::as_ptr(dictionary)).or_default();
        wires.insert(object.wire());
    }
    dictionaries.len() == 2 && dictionaries.values().all(|wires| wires.len() == 1)
}

#[test]
fn each_format_has_dictionaries_of_its_own() {
    assert!(have_own_dictionaries());
    assert!(!planted::with(Planted::WiresMixed, have_own_dictionaries));
}

/// A server that gives up protobuf, or takes it up, while the informer runs.
#[test]
fn format_that_comes_later_is_packed_and_gets_a_dictionary_without_a_wait() {
    for [first, later] in [WIRES, [WIRES[1], WIRES[0]]] {
        let decoder = decoder();
        let before = decode(&decoder, &[first], "a", 0..60);
        assert!(!Decode::<Object>::is_learning(&*decoder));
        let has_dictionary = |object: &Object| object.content().dictionary().is_some();
        assert!(before.iter().all(|object| has_dictionary(object)));
        let buffers = &mut Buffers::default();
        let mut decode = |serial| {
            let object = decode_one(&decoder, later, ("a", serial), buffers);
            assert!(!object.is_raw() && !Decode::<Object>::is_learning(&*decoder));
            assert_eq!(object.wire(), later);
            let unpacked = object.unpack().expect("a config map").data.expect("some");
            assert_eq!(unpacked["serial"], serial.to_string());
            has_dictionary(&object)
        };
        assert!(!decode(60));
        // As many as show that the collection is not small, and as many to train from.
        for serial in 61..120 {
            decode(serial);
        }
        assert!(decode(120));
    }
}

/// While the first objects of one format wait, the source holds them back until they are finished,
/// whatever the other format does.
#[test]
fn source_waits_for_the_format_that_learns_and_for_no_other() {
    let decoder = decoder();
    let is_learning = || Decode::<Object>::is_learning(&*decoder);
    let buffers = &mut Buffers::default();
    let mut decode = |wire, serial| decode_one(&decoder, wire, ("a", serial), buffers);
    assert!(is_learning(), "nothing has been received");
    let waits = |object: Object| object.is_raw();
    assert!((0..39).all(|serial| waits(decode(ReceivedWire::Protobuf, serial))));
    assert!(is_learning());
    assert!(!waits(decode(ReceivedWire::Protobuf, 39)));
    assert!(!is_learning(), "no JSON has been received");
    assert!(waits(decode(ReceivedWire::Json, 40)));
    assert!(is_learning());
    let mut nothing = std::iter::empty();
    Decode::<Object>::finish(&*decoder, &mut nothing);
    assert!(!is_learning() && !waits(decode(ReceivedWire::Json, 41)));
}

#[derive(Deserialize)]
struct Labelled {
    metadata: LabelledMetadata,
}

#[derive(Deserialize)]
struct LabelledMetadata {
    #[serde(default)]
    labels: Labels,
}

/// The metadata of a custom resource, whose kind has no schema.
#[test]
fn metadata_of_any_kind_is_packed_from_protobuf() {
    let names = TypeNames::new("meta.k8s.io/v1", "PartialObjectMetadata");
    let schema = Schema::of(names.api_version, names.kind).expect("built in");
    let object = serde_json::json!({"metadata": {"name": "a", "labels": {"app": "web"}}});
    let message = to_vec(schema, &object).expect("metadata");
    let identity = identity(1);
    let object = Encoded::protobuf(&message, names, &identity);
    let decoded = decoder().decode(object, &mut Buffers::default());
    let packed: PackedObject<PartialObjectMetadata, Labelled> = decoded.expect("metadata");
    assert_eq!(packed.view().metadata.labels.get("app"), Some("web"));
    let metadata = packed.unpack().expect("metadata").metadata;
    assert_eq!(metadata.labels.expect("some")["app"], "web");
}

/// Protobuf has no way to say that a struct is absent which Go always writes.
#[test]
fn dropped_struct_is_empty_and_a_dropped_list_is_absent() {
    let object = serde_json::json!({"metadata": {"name": "a", "finalizers": ["a/b"]},
        "spec": {"nodeName": "n"}, "status": {"phase": "Running"}});
    let schema = Schema::of("v1", "Pod").expect("a built-in kind");
    let message = to_vec(schema, &object).expect("a pod");
    let projection = Projection::new().drop_path("status");
    let projection = projection.drop_path("metadata.finalizers");
    let decoder = PackedDecoder::new(projection, settings());
    let identity = identity(1);
    let object = Encoded::protobuf(&message, TypeNames::new("v1", "Pod"), &identity);
    let packed: PackedObject<Pod> = decoder
        .decode(object, &mut Buffers::default())
        .expect("a pod");
    let pod = packed.unpack().expect("a pod");
    assert_eq!(pod.metadata.finalizers, None);
    assert_eq!(pod.status, Some(Default::default()));
    assert_eq!(pod.spec.expect("kept").node_name.as_deref(), Some("n"));
}

/// A type that only serde_json can decode is an error of the call that reads it.
#[test]
fn type_that_needs_json_text_is_refused_when_it_is_read() {
    let decoder = decoder();
    let buffers = &mut Buffers::default();
    let object = decode_one(&decoder, ReceivedWire::Protobuf, ("a", 1), buffers);
    let refused = object.read::<Box<RawValue>>();
    assert!(matches!(refused, Err(ReadError::Decode(_))), "{refused:?}");
    let object = decode_one(&decoder, ReceivedWire::Json, ("a", 1), buffers);
    let text = object.read::<Box<RawValue>>().expect("JSON");
    assert!(text.get().contains("cm-1"));
}

/// Format, stage and type names take one word of an object, as the stage alone did.
#[test]
fn packed_object_is_not_larger_for_its_format() {
    let parts = size_of::<Identity>() + size_of::<Packed>();
    assert_eq!(
        size_of::<PackedObject<Pod, NoView>>(),
        parts + size_of::<usize>()
    );
}
