//! Members of JSON values by their paths: what a copy drops, and the judge of it, which has no
//! schema.

use std::collections::BTreeMap;

use informer_kube_protobuf::Dropped;
use serde_json::{Value, json};

/// Names with what is dropped within them.
#[derive(Debug, Default)]
pub(super) struct Tree {
    is_dropped: bool,
    children: BTreeMap<String, Tree>,
}

impl Dropped for Tree {
    fn child(&self, name: &str) -> Option<&dyn Dropped> {
        let child = self.children.get(name)?;
        Some(child)
    }

    fn is_dropped(&self) -> bool {
        self.is_dropped
    }
}

/// The path of a member, without the elements of lists.
pub(super) type Path = Vec<String>;

pub(super) fn tree(paths: &[Path]) -> Tree {
    let mut root = Tree::default();
    for path in paths {
        let mut node = &mut root;
        for name in path {
            node = node.children.entry(name.clone()).or_default();
        }
        node.is_dropped = true;
    }
    root
}

pub(super) fn path(text: &str) -> Path {
    text.split('/').map(str::to_owned).collect()
}

/// Removes the member at the path, within all elements of the lists on the way.
pub(super) fn remove(value: &mut Value, path: &[String]) {
    match (value, path) {
        (Value::Array(elements), _) => elements.iter_mut().for_each(|it| remove(it, path)),
        (Value::Object(members), [last]) => drop(members.remove(last)),
        (Value::Object(members), [first, rest @ ..]) => {
            if let Some(member) = members.get_mut(first) {
                remove(member, rest);
            }
        }
        _ => {}
    }
}

/// Removes members that are null or empty: maps that lost their last entry are null or absent.
pub(super) fn without_empty(value: Value) -> Value {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::Array(elements) => elements.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    };
    match value {
        Value::Object(members) => {
            let members = members
                .into_iter()
                .map(|(key, it)| (key, without_empty(it)));
            Value::Object(members.filter(|(_, it)| !is_empty(it)).collect())
        }
        Value::Array(elements) => elements.into_iter().map(without_empty).collect(),
        value => value,
    }
}

/// Whether a value is what a field has that the wire lacks.
pub(super) fn is_zero(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.values().all(is_zero),
        Value::Array(elements) => elements.is_empty(),
        value => [
            json!(null),
            json!(false),
            json!(0),
            json!(""),
            json!("0"),
            json!("0s"),
        ]
        .contains(value),
    }
}

/// Calls `look` with every value at a path.
pub(super) fn at(value: &Value, path: &[String], look: &mut impl FnMut(&Value)) {
    match (value, path) {
        (Value::Array(elements), [_, ..]) => elements.iter().for_each(|it| at(it, path, look)),
        (Value::Object(members), [first, rest @ ..]) => {
            if let Some(member) = members.get(first) {
                at(member, rest, look);
            }
        }
        (value, []) => look(value),
        _ => {}
    }
}

/// Collects the paths of all members but those within JSON, which is one value.
pub(super) fn paths(kind: &str, value: &Value, around: &mut Path, found: &mut Vec<Path>) {
    const JSON: [&str; 8] = [
        "convertedObjects",
        "default",
        "enum",
        "example",
        "fieldsV1",
        "object",
        "objects",
        "parameters",
    ];
    let is_json = |name: &str| {
        JSON.contains(&name)
            || name == "data" && !["ConfigMap", "Secret"].contains(&kind)
            || name == "items" && kind == "List"
    };
    match value {
        Value::Array(elements) => elements
            .iter()
            .for_each(|it| paths(kind, it, around, found)),
        Value::Object(members) => {
            for (name, member) in members {
                around.push(name.clone());
                found.push(around.clone());
                if !is_json(name) {
                    paths(kind, member, around, found);
                }
                around.pop();
            }
        }
        _ => {}
    }
}
