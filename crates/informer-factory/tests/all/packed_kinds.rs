//! Packed objects of many kinds: unpacked they are what a typed decoder reads from the same bytes.

use informer_factory::kube_source::{Decode, Encoded, Projection, SerdeDecoder, Wire};
use informer_factory::packed::{DEFAULT_LEVEL, Dictionary, Packer};
use informer_factory::{Buffers, DecodeError, Identity, NoView, ObjectKey, TypeNames};
use informer_kube_protobuf::{Schema, to_vec};
use k8s_openapi::api::{
    admissionregistration::v1::ValidatingWebhookConfiguration,
    apps::v1::{ControllerRevision, DaemonSet, Deployment, ReplicaSet, StatefulSet},
    autoscaling::v2::HorizontalPodAutoscaler,
    batch::v1::{CronJob, Job},
    coordination::v1::Lease,
    core::v1::{
        ConfigMap, Endpoints, Event, LimitRange, Namespace, Node, PersistentVolume,
        PersistentVolumeClaim, Pod, ResourceQuota, Secret, Service, ServiceAccount,
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
use serde_json::{Map, Value, json};

/// An object of each kind, as an API server writes them.
const KINDS: &str = include_str!("kinds.json");

/// How many variants of each there are, for each projection.
const VARIANTS: u64 = 24;

/// The least share of them, in percent, that must fit their type.
const FITTING: usize = 50;

macro_rules! equal {
    ($($kind:ident)*) => { $( assert_equal::<$kind>(stringify!($kind)); )* };
}

#[test]
fn packed_objects_of_every_kind_are_what_a_typed_informer_holds() {
    equal!(
        Pod Service Deployment StatefulSet DaemonSet ReplicaSet Job CronJob Node Namespace
        ConfigMap Secret PersistentVolume PersistentVolumeClaim StorageClass Ingress NetworkPolicy
        HorizontalPodAutoscaler Role RoleBinding ClusterRole ClusterRoleBinding ServiceAccount
        Endpoints EndpointSlice Event Lease PriorityClass PodDisruptionBudget ResourceQuota
        LimitRange ControllerRevision CSINode ValidatingWebhookConfiguration
        CustomResourceDefinition
    );
    assert_equal::<DynamicObject>("Pod");
}

fn projections() -> [Projection; 4] {
    [
        Projection::new(),
        Projection::new().drop_path("metadata.managedFields"),
        Projection::lean(),
        Projection::new()
            .drop_path("metadata.annotations")
            .drop_path("spec.template.spec")
            .drop_path("status"),
    ]
}

/// A struct that JSON always has, such as `status`, is decoded as an empty one from a message that
/// lacks it, whether the projection dropped it or Go wrote none. Other fields are absent in both.
fn projection_of_messages(of_texts: &Projection) -> Projection {
    let drops_structs = *of_texts == projections()[3];
    match drops_structs {
        true => Projection::new()
            .drop_path("metadata.annotations")
            .drop_path("spec.template.spec.containers")
            .drop_path("status.conditions"),
        false => of_texts.clone(),
    }
}

/// Compares both ways of decoding for variants of the object of a kind.
fn assert_equal<K: DeserializeOwned + PartialEq + 'static>(kind: &str) {
    let kinds: Vec<Value> = serde_json::from_str(KINDS).expect("JSON");
    let whole = kinds.into_iter().find(|object| object["kind"] == kind);
    let whole = whole.unwrap_or_else(|| panic!("no object of the kind {kind}"));
    for projection in projections() {
        let texts: Vec<_> = (0..VARIANTS).map(|seed| variant(&whole, seed)).collect();
        let packers = [packer(&texts), Packer::new(DEFAULT_LEVEL)];
        let (mut fitting, mut fitting_messages) = (0, 0);
        for (seed, text) in (0..).zip(&texts) {
            let api_version = whole["apiVersion"].as_str().expect("text");
            let names = (!has_names(seed)).then(|| TypeNames::new(api_version, kind));
            let packer = &packers[usize::from(seed % 3 == 0)];
            let read = read::<K>(text, names, &projection, packer);
            fitting += usize::from(read.unwrap_or_else(|both| {
                panic!("{kind}, {projection:?}, {both}: {text}");
            }));
            let names = TypeNames::new(api_version, kind);
            let Some(message) = message(text, names) else {
                continue;
            };
            let projection = projection_of_messages(&projection);
            let read = read_message::<K>(&message, names, &projection, packer);
            fitting_messages += usize::from(read.unwrap_or_else(|both| {
                panic!("{kind} by protobuf, {projection:?}, {both}: {text}");
            }));
        }
        assert!(
            fitting.min(fitting_messages) * 100 > texts.len() * FITTING,
            "{kind}: only {fitting} texts and {fitting_messages} messages fit the type"
        );
    }
}

/// Decodes a text both ways. Returns whether it fits the type; what differs otherwise.
fn read<K: DeserializeOwned + PartialEq + 'static>(
    text: &str,
    names: Option<TypeNames<'_>>,
    projection: &Projection,
    packer: &Packer,
) -> Result<bool, String> {
    let key = ObjectKey::new(Some("shop"), "web").expect("a key");
    let identity = Identity::new(key, "u", 1);
    let mut encoded = Encoded::new(Wire::Json(text), &identity);
    encoded.type_names = names;
    let decoder = SerdeDecoder::new(projection.clone());
    let buffers = &mut Buffers::default();
    let typed: Result<K, _> = decoder.decode(encoded, buffers);
    let mut kept = Vec::new();
    let arrived = decoder.decode_with_message::<NoView>(encoded, buffers, &mut kept);
    if let Err(error) = arrived {
        // Such as an object that repeats a part of its identity.
        let refused = typed.err().map(|_| false);
        return refused.ok_or_else(|| format!("refused as it arrived: {error}"));
    }
    let unpacked = packer.pack(&kept).unpack().expect("intact");
    let unpacked = String::from_utf8(unpacked).expect("text");
    let packed: Result<K, _> = SerdeDecoder::default().decode_text(&unpacked, buffers);
    compare(typed, packed).map_err(|errors| format!("{errors}, kept {unpacked}"))
}

/// Whether both are the same object; an error if they are not, and false if neither is one.
fn compare<K: PartialEq>(
    typed: Result<K, DecodeError>,
    packed: Result<K, DecodeError>,
) -> Result<bool, String> {
    match (typed, packed) {
        (Ok(typed), Ok(packed)) if typed == packed => Ok(true),
        (Err(_), Err(_)) => Ok(false),
        (typed, packed) => {
            let errors = (typed.err(), packed.err());
            Err(format!("typed and packed differ {errors:?}"))
        }
    }
}

/// The message of the object that a text describes, unless it has a value of another type.
fn message(text: &str, names: TypeNames<'_>) -> Option<Vec<u8>> {
    let object = serde_json::from_str(text).ok()?;
    let schema = Schema::of(names.api_version, names.kind).expect("a built-in kind");
    to_vec(schema, &object).ok()
}

/// As [`read`], for a message.
fn read_message<K: DeserializeOwned + PartialEq + 'static>(
    message: &[u8],
    names: TypeNames<'_>,
    projection: &Projection,
    packer: &Packer,
) -> Result<bool, String> {
    let key = ObjectKey::new(Some("shop"), "web").expect("a key");
    let identity = Identity::new(key, "u", 1);
    let encoded = Encoded::protobuf(message, names, &identity);
    let decoder = SerdeDecoder::new(projection.clone());
    let buffers = &mut Buffers::default();
    let typed: Result<K, _> = decoder.decode(encoded, buffers);
    let mut kept = Vec::new();
    let arrived = decoder.decode_with_message::<NoView>(encoded, buffers, &mut kept);
    arrived.map_err(|error| format!("refused as it arrived: {error}"))?;
    let unpacked = packer.pack(&kept).unpack().expect("intact");
    let packed: Result<K, _> = SerdeDecoder::default().decode_message(&unpacked, names);
    compare(typed, packed)
}

/// A packer with a dictionary of the texts.
fn packer(texts: &[String]) -> Packer {
    let dictionary = Dictionary::train(texts, 4_096).expect("similar texts");
    Packer::with_dictionary(dictionary.into(), DEFAULT_LEVEL).expect("a dictionary")
}

/// Whether the text has its type names, as in a watch. The items of a list have none.
fn has_names(seed: u64) -> bool {
    seed.is_multiple_of(2)
}

/// The object with other contents, and written in another way.
fn variant(whole: &Value, seed: u64) -> String {
    let chance = &mut Chance(seed);
    let mut object = whole.clone();
    if !has_names(seed) {
        let members = object.as_object_mut().expect("an object");
        members.remove("apiVersion");
        members.remove("kind");
    }
    for (name, value) in object.as_object_mut().expect("an object") {
        if !matches!(name.as_str(), "apiVersion" | "kind") {
            change(value, chance);
        }
    }
    let mut text = String::new();
    write(&object, chance, &mut text);
    text
}

/// Leaves out, adds and repeats parts. Few of them are of a type that does not fit.
fn change(value: &mut Value, chance: &mut Chance) {
    match value {
        Value::Object(members) => {
            let before = std::mem::take(members);
            for (name, mut value) in before {
                change(&mut value, chance);
                match chance.below(200) {
                    0..10 => continue,
                    10 => value = Value::Null,
                    _ => {}
                }
                members.insert(name, value);
            }
            if chance.percent(10) {
                members.insert(chance.text(), json!(chance.text()));
            }
            if chance.below(200) == 0 {
                members.insert(
                    "unknown".to_owned(),
                    json!([{"deep": [null, 1.5e300, -0.0]}]),
                );
            }
        }
        Value::Array(items) => {
            items.iter_mut().for_each(|item| change(item, chance));
            if let Some(last) = items.last().cloned() {
                items.extend(vec![last; chance.below(3) as usize]);
            }
        }
        Value::String(text) if text.contains(' ') || text.ends_with('b') => *text = chance.text(),
        _ => {}
    }
}

/// Writes JSON with spaces, escapes and repeated members here and there.
fn write(value: &Value, chance: &mut Chance, out: &mut String) {
    out.push_str(["", "", "", " ", "\n\t"][chance.below(5) as usize]);
    match value {
        Value::Object(members) => write_members(members, chance, out),
        Value::Array(items) => {
            out.push('[');
            for (number, item) in items.iter().enumerate() {
                out.push_str(if number > 0 { "," } else { "" });
                write(item, chance, out);
            }
            out.push(']');
        }
        Value::String(text) => write_text(text, chance, out),
        Value::Number(number) if number.is_u64() && chance.below(400) == 0 => {
            out.push_str(&format!("{number}.0"));
        }
        _ => out.push_str(&value.to_string()),
    }
    out.push_str(["", "", "", " ", "\r"][chance.below(5) as usize]);
}

fn write_members(members: &Map<String, Value>, chance: &mut Chance, out: &mut String) {
    out.push('{');
    let mut names: Vec<_> = members.keys().collect();
    let first = chance.below(names.len().max(1) as u64) as usize;
    names.rotate_left(first);
    if !names.is_empty() && chance.below(300) == 0 {
        names.push(names[0]);
    }
    for (number, name) in names.into_iter().enumerate() {
        out.push_str(if number > 0 { "," } else { "" });
        write_text(name, chance, out);
        out.push(':');
        write(&members[name], chance, out);
    }
    out.push('}');
}

fn write_text(text: &str, chance: &mut Chance, out: &mut String) {
    if !chance.percent(3) {
        out.push_str(&json!(text).to_string());
        return;
    }
    out.push('"');
    for unit in text.encode_utf16() {
        out.push_str(&format!("\\u{unit:04x}"));
    }
    out.push('"');
}

/// Splitmix64.
struct Chance(u64);

impl Chance {
    fn below(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (word ^ (word >> 31)) % below
    }

    fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn text(&mut self) -> String {
        const PARTS: [&str; 9] = ["a", "0", " ", "\"", "\\", "\n", "\u{7f}", "ü", "🦀"];
        let count = self.below(12);
        (0..count).map(|_| PARTS[self.below(9) as usize]).collect()
    }
}
