//! Managed fields: which fields a manager has set, as the API server tracks them.

use serde_json::{Map, Value, json};

/// The fields whose value is owned as a whole.
const ATOMIC: [&str; 9] = [
    "capabilities",
    "configMapKeyRef",
    "fieldRef",
    "involvedObject",
    "labelSelector",
    "matchLabels",
    "nodeSelector",
    "resourceFieldRef",
    "secretKeyRef",
];

/// The lists whose items are owned one by one, and the fields that identify an item.
const KEYED: [(&str, &[&str]); 12] = [
    ("conditions", &["type"]),
    ("containers", &["name"]),
    ("env", &["name"]),
    ("hostIPs", &["ip"]),
    ("imagePullSecrets", &["name"]),
    ("initContainers", &["name"]),
    ("ownerReferences", &["uid"]),
    ("podIPs", &["ip"]),
    ("ports", &["containerPort", "protocol"]),
    (
        "topologySpreadConstraints",
        &["topologyKey", "whenUnsatisfiable"],
    ),
    ("volumeMounts", &["mountPath"]),
    ("volumes", &["name"]),
];

/// Returns the entry of a manager that has set these fields.
pub(super) fn entry(manager: &str, time: &str, fields: &Value) -> Value {
    let mut owned = Map::new();
    for (name, value) in fields.as_object().into_iter().flatten() {
        let mut part = below(name, value);
        // The parts of an object exist whether fields are set or not.
        if let Some(part) = part.as_object_mut() {
            part.remove(".");
        }
        owned.insert(format!("f:{name}"), part);
    }
    json!({
        "manager": manager, "operation": "Update", "apiVersion": "v1", "time": time,
        "fieldsType": "FieldsV1", "fieldsV1": owned,
    })
}

fn below(name: &str, value: &Value) -> Value {
    if ATOMIC.contains(&name) {
        return json!({});
    }
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let mut owned = Map::from_iter([(".".to_owned(), json!({}))]);
            for (name, value) in fields {
                owned.insert(format!("f:{name}"), below(name, value));
            }
            Value::Object(owned)
        }
        Value::Array(items) => match KEYED.iter().find(|(list, _)| *list == name) {
            Some((_, keys)) => {
                let owned = items.iter().map(|item| (key(item, keys), below("", item)));
                let all = std::iter::once((".".to_owned(), json!({})));
                Value::Object(all.chain(owned).collect())
            }
            None => json!({}),
        },
        _ => json!({}),
    }
}

/// The key of an item, such as `k:{"name":"app"}`.
fn key(item: &Value, keys: &[&str]) -> String {
    let fields = keys.iter().filter_map(|key| {
        let value = match *key {
            // The key of a port has the protocol that it gets by default.
            "protocol" => item.get(key).cloned().unwrap_or(json!("TCP")),
            _ => item.get(key)?.clone(),
        };
        Some(((*key).to_owned(), value))
    });
    format!("k:{}", Value::Object(fields.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_owned_one_by_one_and_items_by_their_keys() {
        let fields = json!({"spec": {
            "containers": [{"name": "a", "args": ["x"], "ports": [{"containerPort": 80}]}],
            "nodeSelector": {"zone": "b"},
        }});
        let owned = entry("m", "t", &fields)["fieldsV1"].take();
        let expected = json!({"f:spec": {
            "f:containers": {".": {}, "k:{\"name\":\"a\"}": {
                ".": {}, "f:name": {}, "f:args": {},
                "f:ports": {".": {}, "k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {
                    ".": {}, "f:containerPort": {},
                }},
            }},
            "f:nodeSelector": {},
        }});
        assert_eq!(owned, expected);
    }
}
