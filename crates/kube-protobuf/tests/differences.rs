//! The twelve differences between the JSON and the protobuf of one object, each on bytes as Go
//! writes them. The bytes are put together here, without the crate's encoder.

mod bytes;

use std::collections::BTreeMap;

use bytes::{Message, message};
use informer_kube_protobuf::{Envelope, ErrorKind, Schema, from_slice};
use k8s_openapi::api::core::v1::{Container, PodSpec, Secret, SecurityContext, Volume};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::Deserialize;
use serde_json::{Value, json};

fn schema(name: &str) -> Schema {
    Schema::message(name).expect("a message of the table")
}

fn value(name: &str, message: &Message) -> Value {
    from_slice(schema(name), message.bytes()).expect("decodes")
}

fn kind_of_error(name: &str, message: &Message) -> ErrorKind {
    let result: Result<Value, _> = from_slice(schema(name), message.bytes());
    result.expect_err("is refused").kind().clone()
}

#[test]
fn d1_zero_values_that_json_leaves_out_are_left_out() {
    let port = message()
        .text(1, "")
        .int(2, 0)
        .int(3, 8080)
        .text(4, "TCP")
        .text(5, "");
    let port = value("core/v1.ContainerPort", &port);
    assert_eq!(port, json!({"containerPort": 8080, "protocol": "TCP"}));
    // An integer of 32 bits has the lower half of the wire's.
    let port = value(
        "core/v1.ContainerPort",
        &message().int(2, 1 << 32).int(3, 1),
    );
    assert_eq!(port, json!({"containerPort": 1}));
    // Without omitempty a zero is there, whether the wire has it or not.
    let expected = json!({"name": "", "resources": {}});
    assert_eq!(value("core/v1.Container", &message()), expected);
}

#[test]
fn d1_a_pointer_to_zero_is_there_if_it_is_on_the_wire() {
    let context = message().int(2, 0).int(4, 0);
    let context: SecurityContext =
        from_slice(schema("core/v1.SecurityContext"), context.bytes()).expect("decodes");
    assert_eq!(
        (context.privileged, context.run_as_user),
        (Some(false), Some(0))
    );
    assert_eq!(
        (context.run_as_non_root, context.run_as_group),
        (None, None)
    );
}

#[test]
fn d1_a_struct_is_there_even_if_it_is_empty() {
    let expected = json!({"metadata": {}, "spec": {"containers": null}, "status": {}});
    assert_eq!(value("core/v1.Pod", &message()), expected);
}

#[test]
fn d2_lists_without_elements_are_null_or_left_out() {
    let spec = value("core/v1.PodSpec", &message());
    assert_eq!(spec, json!({"containers": null}));
    let spec: PodSpec = from_slice(schema("core/v1.PodSpec"), b"").expect("decodes");
    assert!(spec.containers.is_empty() && spec.volumes.is_none());

    #[derive(Deserialize)]
    struct Own {
        containers: Vec<Value>,
    }
    let own: Own = from_slice(schema("core/v1.PodSpec"), b"").expect("null is an empty list");
    assert!(own.containers.is_empty());
}

#[test]
fn d2_a_list_in_a_message_of_its_own_can_be_empty() {
    let resource = message().text(1, "pods").int(2, 1).text(3, "Pod");
    let absent = value("meta/v1.APIResource", &resource);
    assert_eq!(absent["verbs"], Value::Null);
    let empty = value("meta/v1.APIResource", &resource.clone().put(4, &message()));
    assert_eq!(empty["verbs"], json!([]));
    let verbs = message().text(1, "get").text(1, "list");
    let two = value("meta/v1.APIResource", &resource.put(4, &verbs));
    assert_eq!(two["verbs"], json!(["get", "list"]));
}

#[test]
fn d3_inline_messages_are_flat() {
    let source = message().put(2, &message().text(1, "Memory"));
    let volume = message().text(1, "cache").put(2, &source);
    let expected = json!({"name": "cache", "emptyDir": {"medium": "Memory"}});
    assert_eq!(value("core/v1.Volume", &volume), expected);
    let volume: Volume = from_slice(schema("core/v1.Volume"), volume.bytes()).expect("decodes");
    assert_eq!(
        volume.empty_dir.and_then(|dir| dir.medium).as_deref(),
        Some("Memory")
    );

    // Two levels, and the inner one before the outer one's own field.
    let rule = message().text(1, "apps");
    let rule = message().put(2, &rule).text(1, "CREATE");
    let rule = message().put(2, &rule).text(1, "web");
    assert_eq!(
        value("admissionregistration/v1.NamedRuleWithOperations", &rule),
        json!({"apiGroups": ["apps"], "operations": ["CREATE"], "resourceNames": ["web"]})
    );
}

#[test]
fn d4_zero_time_is_null_and_1970_is_not() {
    let status = |time: &Message| message().text(1, "").put(3, time);
    let zero = value("core/v1.PodCondition", &status(&message()));
    assert_eq!(zero["lastProbeTime"], Value::Null);
    let first = message().int(1, 0).int(2, 0);
    let first = value("core/v1.PodCondition", &status(&first));
    assert_eq!(first["lastProbeTime"], "1970-01-01T00:00:00Z");
    let meta: ObjectMeta = from_slice(
        schema("meta/v1.ObjectMeta"),
        message().put(8, &message()).bytes(),
    )
    .expect("decodes");
    assert_eq!(meta.creation_timestamp, None);
}

#[test]
fn d4_a_time_that_json_has_as_zero_is_null() {
    // The first second of the year 1; a `Time` has no nanoseconds, a `MicroTime` microseconds.
    let zero = |nanos| message().int(1, -62_135_596_800).int(2, nanos);
    let condition = value(
        "core/v1.PodCondition",
        &message().put(3, &zero(999_999_999)),
    );
    assert_eq!(condition["lastProbeTime"], Value::Null);
    let lease = message().put(3, &zero(999)).put(4, &zero(1_000));
    let lease = value("coordination/v1.LeaseSpec", &lease);
    assert_eq!(lease["acquireTime"], Value::Null);
    assert_eq!(lease["renewTime"], "0001-01-01T00:00:00.000001Z");
}

#[test]
fn d4_times_are_cut_as_go_does() {
    let time = message().int(1, 951_782_400).int(2, 999_999_999);
    let lease = message()
        .put(3, &time)
        .put(4, &message().int(1, -1).int(2, 1));
    assert_eq!(
        value("coordination/v1.LeaseSpec", &lease),
        json!({
            "acquireTime": "2000-02-29T00:00:00.999999Z",
            "renewTime": "1969-12-31T23:59:59.000000Z"
        })
    );
    let condition = message().put(3, &time);
    let condition = value("core/v1.PodCondition", &condition);
    assert_eq!(condition["lastProbeTime"], "2000-02-29T00:00:00Z");
    let late = message().put(3, &message().int(1, i64::MAX));
    assert_eq!(
        kind_of_error("core/v1.PodCondition", &late),
        ErrorKind::Time
    );
}

#[test]
fn d5_quantities_and_ints_or_strings_are_plain() {
    let limit = message()
        .text(1, "memory")
        .put(2, &message().text(1, "1500Mi"));
    let resources = value("core/v1.ResourceRequirements", &message().put(1, &limit));
    assert_eq!(resources, json!({"limits": {"memory": "1500Mi"}}));

    let probe = |port: &Message| value("core/v1.TCPSocketAction", &message().put(1, port));
    let both = |of_type| message().int(1, of_type).int(2, 8080).text(3, "http");
    assert_eq!(probe(&both(0)), json!({"port": 8080}));
    assert_eq!(probe(&both(1)), json!({"port": "http"}));
    let neither = message().put(1, &both(7));
    assert_eq!(
        kind_of_error("core/v1.TCPSocketAction", &neither),
        ErrorKind::IntOrString(7)
    );
}

#[test]
fn d6_json_within_a_message_is_parsed() {
    let fields = |text: &str| message().put(7, &message().text(1, text));
    let entry = value(
        "meta/v1.ManagedFieldsEntry",
        &fields(r#"{"f:spec":{".":{}}}"#),
    );
    assert_eq!(entry, json!({"fieldsV1": {"f:spec": {".": {}}}}));
    let damaged = kind_of_error("meta/v1.ManagedFieldsEntry", &fields("{"));
    assert!(matches!(damaged, ErrorKind::Json(_)), "{damaged:?}");
    let revision = value("apps/v1.ControllerRevision", &message().put(2, &message()));
    assert_eq!(revision["data"], Value::Null);

    // A visitor that ignores the text never meets the damage.
    #[derive(Deserialize)]
    struct Manager {
        manager: String,
    }
    let entry = fields("{").text(1, "kubelet");
    let entry: Manager =
        from_slice(schema("meta/v1.ManagedFieldsEntry"), entry.bytes()).expect("decodes");
    assert_eq!(entry.manager, "kubelet");
}

#[test]
fn d7_bytes_become_base64_and_arrive_as_bytes() {
    let entry = |key: &str| message().text(1, key);
    let secret = message()
        .put(2, &entry("a").raw(2, &[0, 255, 16, 254]))
        .put(2, &entry("b").raw(2, b""))
        .put(2, &entry("c"));
    let secret: Secret = from_slice(schema("core/v1.Secret"), secret.bytes()).expect("decodes");
    let data = secret
        .data
        .expect("there")
        .into_iter()
        .map(|(key, bytes)| (key, bytes.0));
    let expected = [("a", vec![0, 255, 16, 254]), ("b", vec![]), ("c", vec![])];
    let expected = expected.map(|(key, bytes)| (key.to_owned(), bytes));
    assert_eq!(data.collect::<BTreeMap<_, _>>(), BTreeMap::from(expected));
}

#[test]
fn d8_maps_take_entries_in_any_order_and_the_last_of_two() {
    let labels = message()
        .put(11, &message().text(2, "2").text(1, "b"))
        .put(11, &message().text(1, "a").text(2, "1"))
        .put(11, &message().text(1, "b").text(2, "3"))
        .put(11, &message().text(2, "no key"))
        .put(11, &message().text(1, "no value"));
    let expected = json!({"labels": {"a": "1", "b": "3", "": "no key", "no value": ""}});
    assert_eq!(value("meta/v1.ObjectMeta", &labels), expected);
}

#[test]
fn d9_integers_are_plain_varints_packed_or_not() {
    let event = message().int(8, -1);
    assert_eq!(event.bytes().len(), 11, "ten bytes and the tag");
    assert_eq!(value("core/v1.Event", &event)["count"], -1);
    let unpacked = message().int(4, 1).int(4, 300);
    let expected = json!({"supplementalGroups": [1, 300]});
    assert_eq!(value("core/v1.PodSecurityContext", &unpacked), expected);
    let packed = message().raw(4, &[1, 0xac, 2]);
    assert_eq!(value("core/v1.PodSecurityContext", &packed), expected);
    let none = message().raw(4, &[]);
    assert_eq!(value("core/v1.PodSecurityContext", &none), json!({}));
}

#[test]
fn d9_groups_are_refused() {
    for bytes in [&[0x0b_u8, 0x0c][..], &[0xa3, 0x7d, 0xa4, 0x7d]] {
        let result: Result<Value, _> = from_slice(schema("core/v1.Pod"), bytes);
        assert_eq!(result.expect_err("a group").kind(), &ErrorKind::Group);
    }
}

#[test]
fn d10_unknown_fields_are_skipped_and_strings_are_checked() {
    let meta = message()
        .int(900, 7)
        .text(1, "web")
        .raw(901, b"\xff")
        .text(901, "again");
    let meta = value("meta/v1.ObjectMeta", &meta);
    assert_eq!(meta, json!({"name": "web"}));
    let damaged = message().put(1, &message().raw(1, b"we\xffb"));
    let result: Result<Value, _> = from_slice(schema("core/v1.Pod"), damaged.bytes());
    let error = result.expect_err("not UTF-8");
    assert_eq!(error.kind(), &ErrorKind::Utf8);
    assert_eq!(
        (error.path().as_str(), error.offset()),
        ("metadata.name", Some(6))
    );
}

#[test]
fn d11_a_bare_message_has_no_kind_and_an_envelope_has_one() {
    let pod = message().put(1, &message().text(1, "web"));
    assert_eq!(value("core/v1.Pod", &pod).get("kind"), None);
    let type_meta = message().text(1, "v1").text(2, "Pod");
    let unknown = message()
        .put(1, &type_meta)
        .put(2, &pod)
        .text(3, "")
        .text(4, "");
    let body = [b"k8s\0", unknown.bytes()].concat();
    let pod: Value = Envelope::parse(&body)
        .and_then(|it| it.decode())
        .expect("decodes");
    assert_eq!(
        (&pod["apiVersion"], &pod["kind"]),
        (&json!("v1"), &json!("Pod"))
    );
    let error = Envelope::parse(b"{}").expect_err("JSON");
    assert_eq!(error.kind(), &ErrorKind::Magic);
}

#[test]
fn d12_fields_come_in_any_order_and_once() {
    let container = message().text(2, "nginx").text(1, "app");
    let container: Container =
        from_slice(schema("core/v1.Container"), container.bytes()).expect("decodes");
    assert_eq!(
        (container.name.as_str(), container.image.as_deref()),
        ("app", Some("nginx"))
    );

    let twice = message().text(1, "a").text(1, "b");
    assert_eq!(
        kind_of_error("meta/v1.ObjectMeta", &twice),
        ErrorKind::Repeated
    );
    let meta = message().text(1, "a");
    let twice = message().put(1, &meta).put(1, &meta);
    assert_eq!(kind_of_error("core/v1.Pod", &twice), ErrorKind::Repeated);
    let apart = message().text(14, "a").text(1, "web").text(14, "b");
    assert_eq!(
        kind_of_error("meta/v1.ObjectMeta", &apart),
        ErrorKind::Repeated
    );
}

#[test]
fn choices_are_the_field_that_json_has() {
    let object = message().text(5, "object");
    let props = |number, choice: &Message| {
        let props = message().put(number, choice);
        value("apiextensions/v1.JSONSchemaProps", &props)
    };
    assert_eq!(
        props(30, &message().int(1, 1)),
        json!({"additionalProperties": true})
    );
    assert_eq!(
        props(30, &message().int(1, 0)),
        json!({"additionalProperties": false})
    );
    let schema = message().int(1, 1).put(2, &object);
    assert_eq!(
        props(30, &schema),
        json!({"additionalProperties": {"type": "object"}})
    );
    let one = message().put(1, &object);
    assert_eq!(props(24, &one), json!({"items": {"type": "object"}}));
    let many = message().put(2, &object).put(2, &message());
    assert_eq!(props(24, &many), json!({"items": [{"type": "object"}, {}]}));
    assert_eq!(props(24, &message()), json!({"items": null}));
}
