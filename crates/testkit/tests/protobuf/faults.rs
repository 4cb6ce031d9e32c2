//! Faults in answers in protobuf, as a client sees them that reads bytes.

use crate::asking::{Answer, METADATA, PROTOBUF, ask, events_of, json_of};
use informer_kube_protobuf::{
    Envelope, Identity, ListPart, ListParts, Schema, WatchEvent, from_slice, split_frame,
};
use informer_testkit::{ApiServer, Damage, Fault, Match, Rejection, Resource, Times};
use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use serde::Deserialize;
use serde_json::{Value, json};

const LIST: &str = "/api/v1/configmaps";
const WATCH: &str = "/api/v1/configmaps?watch=1&resourceVersion=1&timeoutSeconds=10";

/// The answer of a server with the objects `a@2` and `b@3` that meets a fault.
async fn ask_with(fault: Option<Fault>, path: &str, accept: &str) -> Answer {
    let server = ApiServer::new();
    for name in ["a", "b"] {
        let object = json!({"metadata": {"name": name, "annotations": {}}, "data": {"k": "v"}});
        server.create(&Resource::config_maps(), object).unwrap();
    }
    if let Some(fault) = fault {
        server.fault(Match::any(), fault, Times::Once);
    }
    ask(&server, path, accept).await
}

/// The name of an object, if it can be read, and whether the object decodes.
fn read(message: &[u8], form: &str) -> (Option<String>, bool) {
    #[derive(Deserialize)]
    struct Partial {
        #[expect(dead_code, reason = "decoding it is the test")]
        metadata: ObjectMeta,
    }
    let is_decodable = match form {
        METADATA => {
            let schema = Schema::of("meta.k8s.io/v1", "PartialObjectMetadata").unwrap();
            from_slice::<Partial>(schema, message).is_ok()
        }
        _ => from_slice::<ConfigMap>(Schema::of("v1", "ConfigMap").unwrap(), message).is_ok(),
    };
    let identity = Identity::read(message).ok();
    let name = identity.and_then(|identity| String::from_utf8(identity.name.to_vec()).ok());
    (name, is_decodable)
}

fn items_of(body: &[u8]) -> Vec<Vec<u8>> {
    let list = Envelope::parse(body).unwrap();
    let parts = ListParts::new(list.raw).filter_map(|part| match part.unwrap() {
        ListPart::Item(item) => Some(item.to_vec()),
        _ => None,
    });
    parts.collect()
}

fn objects_of(mut body: &[u8]) -> Vec<Vec<u8>> {
    let mut objects = Vec::new();
    while let Some((frame, rest)) = split_frame(body, 1 << 20).unwrap() {
        let event = WatchEvent::parse(frame).unwrap();
        objects.push(Envelope::parse(event.object).unwrap().raw.to_vec());
        body = rest;
    }
    objects
}

/// FM-53: only the first object is damaged, and what is behind it can be read.
#[tokio::test(start_paused = true)]
async fn damage_of_an_object_is_damage_of_the_first_alone() {
    for (damage, is_decodable) in [
        (Damage::TruncatedVarint, false),
        (Damage::ValueNotUtf8, false),
        (Damage::NameNotUtf8, false),
        (Damage::Nesting(1_000), false),
        (Damage::NameTwice, false),
        (Damage::MetadataTwice, false),
        (Damage::Group, false),
        (Damage::UnknownField, true),
        (Damage::Nesting(10), true),
    ] {
        for accept in [PROTOBUF, METADATA] {
            let fault = Some(Fault::Protobuf(damage));
            let list = ask_with(fault.clone(), LIST, accept).await;
            let watch = ask_with(fault, WATCH, accept).await;
            for objects in [items_of(&list.body), objects_of(&watch.body)] {
                assert_eq!(read(&objects[0], accept).1, is_decodable, "{damage:?}");
                assert_eq!(
                    read(&objects[1], accept),
                    (Some("b".into()), true),
                    "{damage:?}"
                );
                assert_eq!(objects.len(), 2, "{damage:?}");
            }
        }
    }
}

/// FM-52, FM-54: a client can tell which object it is, unless the name itself is damaged.
#[tokio::test(start_paused = true)]
async fn damage_leaves_the_identity() {
    let name_with = async |damage| {
        let list = ask_with(Some(Fault::Protobuf(damage)), LIST, PROTOBUF).await;
        read(&items_of(&list.body)[0], PROTOBUF).0
    };
    for damage in [
        Damage::ValueNotUtf8,
        Damage::Nesting(1_000),
        Damage::UnknownField,
    ] {
        assert_eq!(name_with(damage).await.as_deref(), Some("a"), "{damage:?}");
    }
    assert_eq!(name_with(Damage::NameNotUtf8).await, None);
}

#[tokio::test(start_paused = true)]
async fn wrong_magic_is_no_body() {
    let fault = Some(Fault::Protobuf(Damage::Magic));
    let list = ask_with(fault.clone(), LIST, PROTOBUF).await;
    assert!(Envelope::parse(&list.body).is_err());
    let watch = ask_with(fault, WATCH, PROTOBUF).await;
    let (frame, rest) = split_frame(&watch.body, 1 << 20).unwrap().unwrap();
    let event = WatchEvent::parse(frame).unwrap();
    assert!(Envelope::parse(event.object).is_err());
    assert_eq!(events_of(rest).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_frame_states_any_length() {
    let good = ask_with(None, WATCH, PROTOBUF).await;
    for length in [0, 1, u32::MAX] {
        let fault = Some(Fault::Protobuf(Damage::FrameLength(length)));
        let watch = ask_with(fault.clone(), WATCH, PROTOBUF).await;
        assert_eq!(watch.body[..4], length.to_be_bytes());
        assert_eq!(watch.body[4..], good.body[4..]);
        let list = ask_with(fault, LIST, PROTOBUF).await;
        assert_eq!(items_of(&list.body).len(), 2, "a list has no frames");
    }
}

#[tokio::test(start_paused = true)]
async fn json_has_no_such_damage() {
    for path in [LIST, WATCH] {
        let good = ask_with(None, path, "application/json").await;
        let fault = Fault::Protobuf(Damage::Group);
        let damaged = ask_with(Some(fault), path, "application/json").await;
        assert_eq!(damaged.body, good.body);
    }
}

/// FM-10, FM-30: the bytes before the cut, exactly, and then an error in place of an end.
#[tokio::test(start_paused = true)]
async fn cut_at_every_byte() {
    for path in [LIST, WATCH] {
        let whole = ask_with(None, path, PROTOBUF).await.body;
        for bytes in 0..whole.len() {
            let fault = Fault::CutAfterBytes(bytes as u64);
            let cut = ask_with(Some(fault), path, PROTOBUF).await;
            assert_eq!(
                (&*cut.body, cut.is_whole),
                (&whole[..bytes], false),
                "{path}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn events_that_are_none_keep_their_frames() {
    let watch = ask_with(Some(Fault::TruncatedLine), WATCH, PROTOBUF).await;
    let (frame, rest) = split_frame(&watch.body, 1 << 20).unwrap().unwrap();
    assert!(WatchEvent::parse(frame).is_err());
    assert_eq!(events_of(rest).len(), 1);
    let watch = ask_with(Some(Fault::GarbageLine), WATCH, PROTOBUF).await;
    let (frame, rest) = split_frame(&watch.body, 1 << 20).unwrap().unwrap();
    assert!(WatchEvent::parse(frame).is_err());
    assert_eq!(events_of(rest).len(), 2);
    for fault in [Fault::Gzip, Fault::Html] {
        let watch = ask_with(Some(fault), WATCH, PROTOBUF).await;
        assert!(split_frame(&watch.body, 1 << 20).is_err());
    }
    for fault in [
        Fault::TruncatedLine,
        Fault::GarbageLine,
        Fault::Gzip,
        Fault::Html,
    ] {
        let list = ask_with(Some(fault.clone()), LIST, PROTOBUF).await;
        assert!(Envelope::parse(&list.body).is_err(), "{fault:?}");
    }
}

/// Faults that change values change them in both encodings.
#[tokio::test(start_paused = true)]
async fn values_are_changed_alike_in_both_encodings() {
    let first = async |fault: Fault| -> Value {
        let watch = ask_with(Some(fault), WATCH, PROTOBUF).await;
        events_of(&watch.body)[0].clone()
    };
    assert_eq!(first(Fault::UnknownType).await["type"], "FOO");
    assert_eq!(
        first(Fault::Nameless).await["object"]["metadata"].get("name"),
        None
    );
    assert_eq!(
        first(Fault::OlderVersion(1)).await["object"]["metadata"]["resourceVersion"],
        "1"
    );
    let huge = first(Fault::HugeItem(9_000)).await;
    assert_eq!(
        huge["object"]["metadata"]["annotations"]["huge"]
            .as_str()
            .unwrap()
            .len(),
        9_000
    );
    let status = Rejection::new(410, "Expired", "x");
    let event = first(Fault::ErrorEvent {
        after: 0,
        status: status.clone(),
    })
    .await;
    assert_eq!(
        (&event["type"], &event["object"]["code"]),
        (&json!("ERROR"), &json!(410))
    );

    let bare = ask_with(Some(Fault::BareError { after: 0, status }), WATCH, PROTOBUF).await;
    let (frame, _) = split_frame(&bare.body, 1 << 20).unwrap().unwrap();
    let object = WatchEvent::parse(frame).unwrap().object;
    let envelope = Envelope::parse(object).unwrap();
    assert_eq!((envelope.api_version, envelope.kind), ("", ""));
    let status: Value = from_slice(Schema::of("v1", "Status").unwrap(), envelope.raw).unwrap();
    assert_eq!(status["code"], 410);
}

#[tokio::test(start_paused = true)]
async fn lists_are_changed_alike_in_both_encodings() {
    let list = async |fault: Fault| ask_with(Some(fault), LIST, PROTOBUF).await.body;
    let names = |body: &[u8]| -> Vec<_> {
        let items = items_of(body);
        items.iter().map(|item| read(item, PROTOBUF)).collect()
    };
    let (a, b) = ((Some("a".to_owned()), true), (Some("b".to_owned()), true));
    assert_eq!(
        names(&list(Fault::DuplicateKey).await),
        [a.clone(), a, b.clone()]
    );
    let spoilt = (Some("a".to_owned()), false);
    assert_eq!(
        names(&list(Fault::UndecodableItem).await),
        [spoilt, b.clone()]
    );
    assert_eq!(
        names(&list(Fault::Nameless).await),
        [(Some(String::new()), true), b]
    );
    let wrong = list(Fault::WrongKind).await;
    assert_eq!(Envelope::parse(&wrong).unwrap().kind, "Table");
    let unset = json_of(&list(Fault::EmptyResourceVersion).await);
    assert_eq!(unset["metadata"].get("resourceVersion"), None);
}
