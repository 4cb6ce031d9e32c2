//! One line for one notification: text for people, JSON for programs.
//!
//! - SEC-13: every string of the cluster is escaped. Tests below.
//! - SEC-11: the values of a Secret are never shown, in neither form. Tests below.

use informer_factory::{Added, Cause, Deleted, Notification, ObjectKey, Updated};
use serde_json::{Map, Value, json};

use super::changes::{self, Change};
use super::printable::ToJson;
use crate::cluster::resource::Resource;
use crate::escape;

/// How many changes are told in one line of text; the others are counted.
const SHOWN_CHANGES: usize = 12;

/// How many characters of a value are shown in text.
const SHOWN_CHARACTERS: usize = 80;

const HIDDEN: &str = "(hidden)";

/// How lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// For people.
    Text {
        /// Whether old and new values are shown, and not only where they are.
        values: bool,
    },
    /// For programs.
    Json {
        /// Whether old and new values are shown beside the object.
        values: bool,
    },
}

/// Writes the lines of one resource.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lines {
    form: Form,
    is_secret: bool,
}

impl Lines {
    pub(super) fn new(resource: &Resource, form: Form) -> Self {
        Self {
            form,
            is_secret: resource.is_secret(),
        }
    }

    /// The line without its end; `None` for what is no news.
    pub(super) fn line<T>(&self, notification: &Notification<ObjectKey, T>) -> Option<String>
    where
        T: ToJson,
    {
        if matches!(
            notification,
            Notification::Updated(Updated {
                cause: Cause::Resync,
                ..
            })
        ) {
            return None;
        }
        Some(match self.form {
            Form::Text { values } => self.text(notification, values),
            Form::Json { values } => self.json(notification, values),
        })
    }

    fn text<T: ToJson>(&self, notification: &Notification<ObjectKey, T>, values: bool) -> String {
        let key = escape::text(notification.key().as_str());
        match notification {
            Notification::Added(Added { initial: true, .. }) => format!("added    {key}  initial"),
            Notification::Added(Added { .. }) => format!("added    {key}"),
            Notification::Updated(Updated {
                old, new, cause, ..
            }) => {
                let changes = self.changes(&**old, &**new);
                let relist = match cause {
                    Cause::Relist => "  (found by listing again)",
                    // Nothing to add to a change, whatever caused it.
                    _ => "",
                };
                format!("updated  {key}  {}{relist}", told(&changes, values))
            }
            Notification::Deleted(Deleted::Known { .. }) => format!("deleted  {key}"),
            Notification::Deleted(Deleted::Unknown { .. }) => {
                format!("deleted  {key}  (not seen, found by listing again; final state unknown)")
            }
            Notification::Deleted(Deleted::MovedAway { .. }) => {
                format!("moved    {key}  (left what this replica receives)")
            }
        }
    }

    fn json<T: ToJson>(&self, notification: &Notification<ObjectKey, T>, values: bool) -> String {
        let mut line = Map::new();
        let mut put = |name: &str, value: Value| drop(line.insert(name.to_owned(), value));
        put("key", json!(notification.key().as_str()));
        match notification {
            Notification::Added(Added {
                object, initial, ..
            }) => {
                put("type", json!("ADDED"));
                put("initial", json!(initial));
                put("object", self.object(&**object));
            }
            Notification::Updated(Updated {
                old, new, cause, ..
            }) => {
                let changes = self.changes(&**old, &**new);
                put("type", json!("MODIFIED"));
                put("relist", json!(*cause == Cause::Relist));
                put(
                    "changes",
                    changes
                        .iter()
                        .map(|change| change_json(change, values))
                        .collect(),
                );
                put("object", self.object(&**new));
            }
            Notification::Deleted(Deleted::MovedAway { last, .. }) => {
                put("type", json!("MOVED_AWAY"));
                put("object", self.object(&**last));
            }
            Notification::Deleted(deleted) => {
                let known = matches!(deleted, Deleted::Known { .. });
                put("type", json!("DELETED"));
                put("finalStateKnown", json!(known));
                let last = deleted.last().map(|last| self.object(&**last));
                put("object", last.unwrap_or(Value::Null));
            }
        }
        escape::json(&Value::Object(line).to_string()).into_owned()
    }

    /// The object, without what must not be shown.
    fn object<T: ToJson>(&self, object: &T) -> Value {
        let mut value = object.to_json();
        if self.is_secret {
            for part in ["data", "stringData"] {
                if let Some(Value::Object(fields)) = value.get_mut(part) {
                    fields.values_mut().for_each(|value| *value = json!(HIDDEN));
                }
            }
        }
        value
    }

    fn changes<T: ToJson>(&self, old: &T, new: &T) -> Vec<Change> {
        let mut changes = changes::between(&old.to_json(), &new.to_json());
        let is_hidden = |path: &str| {
            let top = path.split(['.', '[']).next();
            // Without a path the change is the whole object: one of the two could not be read.
            matches!(top, Some("data" | "stringData" | ""))
        };
        for change in changes
            .iter_mut()
            .filter(|c| self.is_secret && is_hidden(&c.path))
        {
            for value in [&mut change.old, &mut change.new].into_iter().flatten() {
                *value = json!(HIDDEN);
            }
        }
        changes
    }
}

fn change_json(change: &Change, values: bool) -> Value {
    if !values {
        return json!({"path": change.path});
    }
    json!({"path": change.path, "old": change.old, "new": change.new})
}

/// The changes in one line.
fn told(changes: &[Change], values: bool) -> String {
    if changes.is_empty() {
        return "nothing but its version".to_owned();
    }
    let shown = changes.iter().take(SHOWN_CHANGES).map(|change| {
        let path = escape::text(&change.path);
        if values {
            format!(
                "{path}: {} -> {}",
                value(change.old.as_ref()),
                value(change.new.as_ref())
            )
        } else {
            path.into_owned()
        }
    });
    let mut told = shown.collect::<Vec<_>>().join(", ");
    let more = changes.len().saturating_sub(SHOWN_CHANGES);
    if more > 0 {
        told.push_str(&format!(", and {more} more"));
    }
    told
}

fn value(value: Option<&Value>) -> String {
    let Some(value) = value else {
        return "(none)".to_owned();
    };
    if value == HIDDEN {
        return HIDDEN.to_owned();
    }
    let mut text = value.to_string();
    if let Some((cut, _)) = text.char_indices().nth(SHOWN_CHARACTERS) {
        text.truncate(cut);
        text.push('…');
    }
    escape::text(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn lines(form: Form, is_secret: bool) -> Lines {
        Lines { form, is_secret }
    }

    const TEXT: Form = Form::Text { values: false };
    const DIFF: Form = Form::Text { values: true };
    const JSON: Form = Form::Json { values: true };

    fn key() -> ObjectKey {
        ObjectKey::new(Some("ns"), "a").expect("a name")
    }

    fn added(object: Value, initial: bool) -> Notification<ObjectKey, Value> {
        Notification::Added(Added::new(key(), Arc::new(object)).initial(initial))
    }

    fn updated(old: Value, new: Value, cause: Cause) -> Notification<ObjectKey, Value> {
        Notification::Updated(Updated::new(key(), Arc::new(old), Arc::new(new), cause))
    }

    #[test]
    fn text_says_what_happened_in_one_line() {
        let line = |notification: &_| lines(TEXT, false).line(notification);
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            line(&added(json!({}), true)),
            some("added    ns/a  initial")
        );
        assert_eq!(line(&added(json!({}), false)), some("added    ns/a"));
        let (one, two) = (json!({"spec": {"x": 1}}), json!({"spec": {"x": 2}}));
        let update = |cause| updated(one.clone(), two.clone(), cause);
        assert_eq!(line(&update(Cause::Watch)), some("updated  ns/a  spec.x"));
        assert_eq!(
            line(&update(Cause::Relist)),
            some("updated  ns/a  spec.x  (found by listing again)")
        );
        assert_eq!(line(&update(Cause::Resync)), None);
        assert_eq!(
            lines(DIFF, false).line(&update(Cause::Watch)),
            some("updated  ns/a  spec.x: 1 -> 2")
        );
        let known = Deleted::Known {
            key: key(),
            last: Arc::new(json!({})),
        };
        assert_eq!(line(&Notification::Deleted(known)), some("deleted  ns/a"));
        let unknown = Notification::Deleted(Deleted::Unknown {
            key: key(),
            last: None,
        });
        assert!(line(&unknown).is_some_and(|line| line.contains("final state unknown")));
        let moved = Notification::Deleted(Deleted::MovedAway {
            key: key(),
            last: Arc::new(json!({})),
        });
        assert_eq!(
            line(&moved),
            some("moved    ns/a  (left what this replica receives)")
        );
    }

    #[test]
    fn json_has_the_object_and_the_changes() {
        let update = updated(
            json!({"x": 1, "y": 0}),
            json!({"x": 2, "z": 0}),
            Cause::Watch,
        );
        let line = lines(JSON, false).line(&update).expect("news");
        let read: Value = serde_json::from_str(&line).expect("JSON");
        let expected = json!({
            "type": "MODIFIED", "key": "ns/a", "relist": false, "object": {"x": 2, "z": 0},
            "changes": [
                {"path": "x", "old": 1, "new": 2},
                {"path": "y", "old": 0, "new": null},
                {"path": "z", "old": null, "new": 0},
            ],
        });
        assert_eq!(read, expected);
        let gone = Notification::Deleted(Deleted::<_, Value>::Unknown {
            key: key(),
            last: None,
        });
        let line = lines(JSON, false).line(&gone).expect("news");
        assert!(line.contains(r#""finalStateKnown":false"#) && line.contains(r#""object":null"#));
    }

    /// SEC-13, in both forms, wherever a string of the cluster can stand.
    #[test]
    fn nothing_of_an_object_reaches_the_terminal_as_it_is() {
        let evil = "x\x1b]0;t\x07\r\n\u{9b}31m\u{202e}";
        let old = json!({"labels": {}, "v": "", "list": [{"name": evil, "a": 1}]});
        let new = json!({"labels": {evil: evil}, "v": evil, "list": [{"name": evil, "a": 2}]});
        let update = updated(old, new.clone(), Cause::Watch);
        for form in [TEXT, DIFF, JSON] {
            for notification in [&update, &added(new.clone(), false)] {
                let line = lines(form, false).line(notification).expect("news");
                let bad = line.chars().find(|c| c.is_control() || *c == '\u{202e}');
                assert_eq!(bad, None, "{line:?}");
            }
        }
    }

    /// SEC-9, SEC-11.
    #[test]
    fn values_of_secrets_are_hidden_and_their_names_are_not() {
        let secret = |value: &str| json!({"data": {"password": value}, "stringData": {"p": value}});
        let bare = json!({"type": "Opaque"});
        for (old, new) in [
            (secret("c4n4ry-1"), secret("c4n4ry-2")),
            (bare.clone(), secret("c4n4ry-2")),
            (secret("c4n4ry-1"), bare),
        ] {
            for form in [TEXT, DIFF, JSON] {
                let update = updated(old.clone(), new.clone(), Cause::Watch);
                let line = lines(form, true).line(&update).expect("news");
                assert!(!line.contains("c4n4ry"), "{line}");
                assert!(line.contains("data"), "{line}");
            }
        }
        // One of the two could not be unpacked.
        for (old, new) in [
            (Value::Null, secret("c4n4ry-2")),
            (secret("c4n4ry-1"), Value::Null),
        ] {
            for form in [TEXT, DIFF, JSON] {
                let update = updated(old.clone(), new.clone(), Cause::Watch);
                let line = lines(form, true).line(&update).expect("news");
                assert!(!line.contains("c4n4ry"), "{line}");
            }
        }
        let line = lines(JSON, true)
            .line(&added(secret("c4n4ry"), true))
            .expect("news");
        assert!(
            line.contains("password") && !line.contains("c4n4ry"),
            "{line}"
        );
    }

    #[test]
    fn long_lines_are_cut() {
        let many: Map<String, Value> = (0..20).map(|n| (format!("f{n:02}"), json!(n))).collect();
        let update = updated(json!({}), Value::Object(many), Cause::Watch);
        let line = lines(TEXT, false).line(&update).expect("news");
        assert!(line.ends_with("f11, and 8 more"), "{line}");
        let update = updated(
            json!({"a": ""}),
            json!({"a": "ü".repeat(1_000)}),
            Cause::Watch,
        );
        let line = lines(DIFF, false).line(&update).expect("news");
        assert!(line.chars().count() < 150, "{line}");
    }
}
