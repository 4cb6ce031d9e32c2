//! What differs between two versions of an object: where, and from what to what.
//!
//! Lists whose elements have names, as containers and conditions do, are compared by name, so that
//! an inserted element is one change. Fields that differ in every version are left out. Knows
//! nothing of Kubernetes but these names.

use serde_json::{Map, Value};

/// What differs in every version, and says nothing.
const NOISE: [&str; 2] = ["metadata.resourceVersion", "metadata.managedFields"];

/// Fields that name the elements of a list, if all of them have it and no two have the same.
const NAMES: [&str; 2] = ["name", "type"];

/// One difference.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Change {
    /// Where, such as `spec.containers[name=web].image`. Not escaped.
    pub(super) path: String,
    /// The value before; `None` if there was none.
    pub(super) old: Option<Value>,
    /// The value now; `None` if there is none.
    pub(super) new: Option<Value>,
}

/// All differences, in the order of their paths.
pub(super) fn between(old: &Value, new: &Value) -> Vec<Change> {
    let mut changes = Vec::new();
    compare("", Some(old), Some(new), &mut changes);
    changes
}

fn compare(path: &str, old: Option<&Value>, new: Option<&Value>, out: &mut Vec<Change>) {
    if old == new || NOISE.contains(&path) {
        return;
    }
    let before = out.len();
    match (old, new) {
        (Some(Value::Object(old)), Some(Value::Object(new))) => objects(path, old, new, out),
        (Some(Value::Array(old)), Some(Value::Array(new))) => arrays(path, old, new, out),
        (old, new) => out.push(Change::new(path, old, new)),
    }
    // The same elements in another order, or nothing but noise.
    let is_list = matches!(new, Some(Value::Array(_)));
    if out.len() == before && is_list {
        out.push(Change::new(path, old, new));
    }
}

fn objects(path: &str, old: &Map<String, Value>, new: &Map<String, Value>, out: &mut Vec<Change>) {
    let mut names: Vec<&String> = old.keys().chain(new.keys()).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        compare(&field(path, name), old.get(name), new.get(name), out);
    }
}

fn arrays(path: &str, old: &[Value], new: &[Value], out: &mut Vec<Change>) {
    let by_name = NAMES
        .iter()
        .find_map(|name| Some((name, named(name, old)?, named(name, new)?)));
    let Some((name, old, new)) = by_name else {
        for index in 0..old.len().max(new.len()) {
            compare(
                &format!("{path}[{index}]"),
                old.get(index),
                new.get(index),
                out,
            );
        }
        return;
    };
    let find = |list: &[(&str, &Value)], wanted: &str| -> Option<Value> {
        let found = list.iter().find(|(name, _)| *name == wanted);
        found.map(|(_, value)| (*value).clone())
    };
    let mut values: Vec<&str> = old.iter().chain(&new).map(|(name, _)| *name).collect();
    values.sort_unstable();
    values.dedup();
    for value in values {
        let (old, new) = (find(&old, value), find(&new, value));
        compare(
            &format!("{path}[{name}={value}]"),
            old.as_ref(),
            new.as_ref(),
            out,
        );
    }
}

/// The elements by the field `name`; `None` unless all have it and no two the same.
fn named<'a>(name: &str, list: &'a [Value]) -> Option<Vec<(&'a str, &'a Value)>> {
    let named = list
        .iter()
        .map(|value| Some((value.get(name)?.as_str()?, value)));
    let named: Vec<_> = named.collect::<Option<_>>()?;
    let mut names: Vec<_> = named.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    names.dedup();
    (names.len() == named.len()).then_some(named)
}

fn field(path: &str, name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || !name.chars().all(plain) {
        return format!("{path}[{}]", Value::from(name));
    }
    match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    }
}

impl Change {
    fn new(path: &str, old: Option<&Value>, new: Option<&Value>) -> Self {
        Self {
            path: path.to_owned(),
            old: old.cloned(),
            new: new.cloned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn paths(old: &Value, new: &Value) -> Vec<String> {
        between(old, new)
            .into_iter()
            .map(|change| change.path)
            .collect()
    }

    #[test]
    fn values_are_told_with_their_place() {
        let old = json!({"spec": {"replicas": 1, "paused": true}, "status": {}});
        let new = json!({"spec": {"replicas": 2, "extra": [1]}, "status": {}});
        let change = |path: &str, old: Option<Value>, new: Option<Value>| Change {
            path: path.to_owned(),
            old,
            new,
        };
        assert_eq!(
            between(&old, &new),
            [
                change("spec.extra", None, Some(json!([1]))),
                change("spec.paused", Some(json!(true)), None),
                change("spec.replicas", Some(json!(1)), Some(json!(2))),
            ]
        );
        assert!(between(&old, &old).is_empty());
    }

    #[test]
    fn noise_is_left_out() {
        let version = |v: &str, field: &str| json!({"metadata": {"resourceVersion": v, "managedFields": [{"time": v}], "name": field}});
        assert!(paths(&version("1", "a"), &version("2", "a")).is_empty());
        assert_eq!(
            paths(&version("1", "a"), &version("2", "b")),
            ["metadata.name"]
        );
    }

    #[test]
    fn names_with_dots_are_quoted() {
        let old = json!({"metadata": {"labels": {"app": "a"}}});
        let new =
            json!({"metadata": {"labels": {"app": "a", "app.kubernetes.io/name": "\"", "": 1}}});
        assert_eq!(
            paths(&old, &new),
            [
                "metadata.labels[\"\"]",
                "metadata.labels[\"app.kubernetes.io/name\"]"
            ]
        );
    }

    #[test]
    fn named_elements_are_compared_by_name() {
        let container = |name: &str, image: &str| json!({"name": name, "image": image});
        let old = json!({"c": [container("a", "1"), container("b", "1")]});
        let new = json!({"c": [container("new", "1"), container("a", "2"), container("b", "1")]});
        assert_eq!(paths(&old, &new), ["c[name=a].image", "c[name=new]"]);
        let ready = |status: &str| json!({"conditions": [{"type": "Ready", "status": status}]});
        assert_eq!(
            paths(&ready("True"), &ready("False")),
            ["conditions[type=Ready].status"]
        );
        assert_eq!(paths(&json!({"c": []}), &old), ["c[name=a]", "c[name=b]"]);
    }

    #[test]
    fn other_elements_are_compared_by_place() {
        assert_eq!(paths(&json!([1, 2]), &json!([1, 3, 4])), ["[1]", "[2]"]);
        let twice = json!([{"name": "a"}, {"name": "a"}]);
        assert_eq!(
            paths(&twice, &json!([{"name": "a"}, {"name": "b"}])),
            ["[1].name"]
        );
    }

    #[test]
    fn another_order_is_a_change_too() {
        let old = json!({"c": [{"name": "a"}, {"name": "b"}]});
        let new = json!({"c": [{"name": "b"}, {"name": "a"}]});
        assert_eq!(paths(&old, &new), ["c"]);
    }

    #[test]
    fn another_type_is_one_change() {
        assert_eq!(paths(&json!({"a": {"b": 1}}), &json!({"a": [1]})), ["a"]);
    }
}
