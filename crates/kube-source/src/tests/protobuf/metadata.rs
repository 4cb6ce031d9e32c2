//! Metadata is decoded without serde, and equals what serde decodes.

use informer_kube_protobuf::{Deserializer, Schema, to_vec};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::json;

use crate::decode::{message::decode, object::PARTIAL, shape::TypeNames};
use crate::tests::hostile::damaged;
use crate::{PartialObjectMetadata, Projection};

fn schema() -> Schema {
    Schema::of(PARTIAL.api_version, PARTIAL.kind).expect("it is built in")
}

fn metadata() -> Vec<u8> {
    let object = json!({"metadata": {
        "name": "web", "namespace": "shop", "uid": "u", "resourceVersion": "7", "generation": 2,
        "creationTimestamp": "2026-03-02T08:15:11Z", "labels": {"app": "web", "tier": "b"},
        "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}", "é": ""},
        "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r",
            "uid": "o", "controller": true}],
        "finalizers": ["a", "b"],
        "managedFields": [{"manager": "m", "operation": "Update", "apiVersion": "v1",
            "time": "2026-03-02T08:15:11Z", "fieldsType": "FieldsV1",
            "fieldsV1": {"f:metadata": {"f:labels": {".": {}}}}}]
    }});
    to_vec(schema(), &object).expect("metadata")
}

fn projections() -> [Projection; 4] {
    let drop = |path| Projection::new().drop_path(path);
    [
        Projection::new(),
        Projection::lean(),
        drop("kind"),
        drop("metadata"),
    ]
}

/// Compares value or error of both decodes.
fn compare(message: &[u8]) -> Result<(), TestCaseError> {
    let names = [None, Some(PARTIAL), Some(TypeNames::new("a/v1", "B"))];
    for (projection, names) in projections()
        .iter()
        .flat_map(|one| names.map(|name| (one, name)))
    {
        let mut by_serde = Deserializer::new(schema(), message);
        if !projection.is_empty() {
            by_serde = by_serde.without(projection.root());
        }
        if let Some(names) = names {
            by_serde = by_serde.named(names.api_version, names.kind);
        }
        let expected = PartialObjectMetadata::deserialize(by_serde);
        let decoded = decode::<PartialObjectMetadata>(schema(), message, names, projection);
        match (decoded, expected) {
            (Ok(decoded), Ok(expected)) => prop_assert!(decoded == expected, "{expected:?}"),
            (Err(error), Err(expected)) => {
                prop_assert_eq!(error.kind(), expected.kind());
                prop_assert_eq!(error.path(), expected.path());
            }
            (decoded, expected) => {
                prop_assert!(false, "{:?} and {:?}", decoded.is_ok(), expected.is_ok());
            }
        }
    }
    Ok(())
}

#[test]
fn metadata_is_decoded_as_by_serde() {
    let message = metadata();
    for message in [&message[..], &[][..]] {
        compare(message).expect("equal");
    }
    let alone = Deserializer::new(schema(), &message).metadata();
    let alone = alone
        .expect("there is nothing else")
        .decode::<kube_core::ObjectMeta>();
    assert_eq!(alone.expect("metadata").name.as_deref(), Some("web"));
    let dropped = Projection::new().drop_path("metadata");
    let deserializer = Deserializer::new(schema(), &message).without(dropped.root());
    assert!(deserializer.metadata().is_none());
    let twice = [&message[..], &message[..]].concat();
    assert!(Deserializer::new(schema(), &twice).metadata().is_none());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn damaged_metadata_is_decoded_as_by_serde(message in damaged(metadata())) {
        compare(&message)?;
    }
}
