//! The steps of the server, in the words of the testkit.

use informer_testkit::{ApiServer, EventKind, Interjection, Rejection, Resource};
use serde_json::{Map, Value, json};

use super::fault;
use super::object_text::{Named, split_key};
use crate::scenario::Step;

const VERBS: [&str; 12] = [
    "create", "update", "delete", "skip", "bookmark", "compact", "close", "cut", "expire", "send",
    "fault", "heal",
];

/// Whether the server does this step.
pub(super) fn is_servers(step: &Step) -> bool {
    VERBS.contains(&step.verb.as_str())
}

/// Does one step; none if it is not well formed. What makes no sense is refused by the server.
pub(super) fn apply(server: &ApiServer, step: &Step) -> Option<()> {
    let configs = Resource::config_maps();
    match step.verb.as_str() {
        "create" => {
            let (namespace, name) = split_key(step.args.first()?);
            let mut object = options(step);
            object["metadata"]["namespace"] = json!(namespace);
            object["metadata"]["name"] = json!(name);
            drop(server.create(&configs, object));
        }
        "update" => {
            let (namespace, name) = split_key(step.args.first()?);
            let mut patch = options(step);
            // A patch that changes nothing would get no version.
            let next = (server.version() + 1).to_string();
            patch["metadata"]["annotations"] = json!({"conformance/written-at": next});
            drop(server.patch(&configs, namespace, name, patch));
        }
        "delete" => {
            let (namespace, name) = split_key(step.args.first()?);
            drop(server.delete(&configs, namespace, name));
        }
        "skip" => server.skip_versions(step.args.first()?.parse().ok()?),
        "bookmark" => interject(server, Interjection::Bookmark),
        "compact" => server.compact(),
        "close" => server.close_watches(),
        "cut" => server.cut_watches(),
        "expire" => {
            server.compact();
            let version = server.version();
            interject(server, Interjection::Error(Rejection::expired(1, version)));
        }
        "send" => interject(server, sent(step)?),
        "fault" => fault::script(server, step)?,
        "heal" => server.clear_faults(),
        _ => return None,
    }
    Some(())
}

fn interject(server: &ApiServer, what: Interjection) {
    let known = server.interject(&Resource::config_maps(), what);
    known.expect("config maps are known from the beginning");
}

/// The options `data` and `label` as parts of an object.
fn options(step: &Step) -> Value {
    let mut object = json!({"metadata": {}});
    if let Some(data) = step.option("data") {
        object["data"] = json!({"v": data});
    }
    if let Some(label) = step.option("label") {
        object["metadata"]["labels"] = json!({"l": label});
    }
    object
}

fn sent(step: &Step) -> Option<Interjection> {
    let [kind, object, ..] = step.args.as_slice() else {
        return None;
    };
    let named = Named::parse(object)?;
    let (namespace, name) = (named.namespace, named.name);
    let mut metadata = Map::new();
    metadata.insert("namespace".into(), json!(namespace));
    metadata.insert("name".into(), json!(name));
    metadata.insert(
        "uid".into(),
        json!(format!("{namespace}/{name}-{}", named.life)),
    );
    metadata.insert("resourceVersion".into(), json!(named.version.to_string()));
    let mut object = options(step);
    if let Some(labels) = object["metadata"].get("labels") {
        metadata.insert("labels".into(), labels.clone());
    }
    object["metadata"] = Value::Object(metadata);
    let kind = match kind.as_str() {
        "ADDED" => EventKind::Added,
        "MODIFIED" => EventKind::Modified,
        "DELETED" => EventKind::Deleted,
        other => {
            object["kind"] = json!("ConfigMap");
            object["apiVersion"] = json!("v1");
            let line = json!({"type": other, "object": object});
            return Some(Interjection::Line(line));
        }
    };
    Some(Interjection::Event { kind, object })
}
