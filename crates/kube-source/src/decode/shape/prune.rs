//! Copies the text of an object without the fields that a projection drops.
//!
//! Decoding the copy gives what decoding the text through [`super::Shaped`] gives. The text has
//! been parsed before, so it is well formed. For any other text the copy has no meaning, but is
//! never longer than the text and the type names.

use std::borrow::Cow;

use super::{
    TypeNames,
    projection::{Node, Projection},
};

/// Appends the text of an object to `copy`, without the fields of `projection`, and with `names` as
/// its type unless `None`.
pub(crate) fn copy_pruned(
    json: &str,
    projection: &Projection,
    names: Option<TypeNames<'_>>,
    copy: &mut Vec<u8>,
) {
    let mut pruner = Pruner {
        text: json.as_bytes(),
        at: 0,
        copied: 0,
        copy,
    };
    let root = Members {
        node: projection.root(),
        names,
    };
    pruner.skip_space();
    match pruner.peek() {
        Some(b'{') if names.is_some() || !projection.is_empty() => pruner.object(root),
        Some(b'[') => pruner.value(projection.root()),
        _ => {}
    }
    pruner.copy_up_to(json.len());
}

/// Whether a member of an object is replaced by the names that are supplied.
pub(super) fn is_type_name(key: &str, names: Option<TypeNames<'_>>) -> bool {
    names.is_some() && matches!(key, "apiVersion" | "kind")
}

/// Appends names as the first members of an object, each with a comma behind it.
pub(super) fn supply(names: TypeNames<'_>, copy: &mut Vec<u8>) {
    let pairs = [("apiVersion", names.api_version), ("kind", names.kind)];
    for (field, name) in pairs {
        copy.push(b'"');
        copy.extend_from_slice(field.as_bytes());
        copy.extend_from_slice(b"\":");
        serde_json::to_writer(&mut *copy, name).expect("text is JSON, and memory takes it");
        copy.push(b',');
    }
}

struct Pruner<'a, 'c> {
    text: &'a [u8],
    /// The position that is read next.
    at: usize,
    /// The position up to which the text has been copied or dropped.
    copied: usize,
    copy: &'c mut Vec<u8>,
}

/// How the members of one object are copied.
#[derive(Clone, Copy)]
struct Members<'p> {
    node: &'p Node,
    /// The names that replace those of the object.
    names: Option<TypeNames<'p>>,
}

impl<'a> Pruner<'a, '_> {
    /// Copies an object up to its end.
    fn object(&mut self, members: Members<'_>) {
        self.at += 1;
        // The comma behind the names that are supplied.
        let mut supplied = None;
        if let Some(names) = members.names {
            self.copy_up_to(self.at);
            supply(names, self.copy);
            supplied = self.copy.len().checked_sub(1);
        }
        let mut has_kept = false;
        // The comma before the member that is read, which is dropped with it.
        let mut comma = None;
        loop {
            self.skip_space();
            let start = self.at;
            match self.peek() {
                Some(b',') => {
                    comma = Some(start);
                    self.at += 1;
                    continue;
                }
                Some(b'"') => {}
                // The end of the object, and of a text that ends early.
                _ => break,
            }
            let shape = self.key().map(|key| {
                let is_name = is_type_name(&key, members.names);
                (is_name, members.node.child(&key))
            });
            let (is_dropped, below) = match shape {
                Some((true, _)) => (true, None),
                Some((false, Some(child))) => (child.is_dropped(), Some(child)),
                Some((false, None)) | None => (false, None),
            };
            match below {
                Some(child) if !is_dropped => self.value(child),
                _ => self.skip_value(),
            }
            if is_dropped {
                self.drop_member(start, comma.filter(|_| has_kept));
            }
            has_kept |= !is_dropped;
        }
        // An object of which nothing is kept but the names: there is no member behind their comma.
        if let Some(comma) = supplied.filter(|_| !has_kept) {
            self.copy.remove(comma);
        }
        self.at += 1;
    }

    /// Drops the member that begins at `start` and ends here: with the comma before it, or with the
    /// one behind it if no member before it was kept.
    fn drop_member(&mut self, start: usize, comma: Option<usize>) {
        self.copy_up_to(comma.unwrap_or(start));
        if comma.is_none() {
            self.skip_space();
            if self.peek() == Some(b',') {
                self.at += 1;
                self.skip_space();
            }
        }
        self.copied = self.at.min(self.text.len());
    }

    /// Copies a value whose dropped fields are those below `node`.
    fn value(&mut self, node: &Node) {
        self.skip_space();
        match self.peek() {
            Some(b'{') => self.object(Members { node, names: None }),
            Some(b'[') => {
                self.at += 1;
                loop {
                    self.skip_space();
                    match self.peek() {
                        Some(b',') => self.at += 1,
                        Some(b']') | None => break,
                        Some(_) => self.value(node),
                    }
                }
                self.at += 1;
            }
            _ => self.skip_value(),
        }
    }

    /// Reads a key and the colon behind it. `None` for a key that is no text.
    fn key(&mut self) -> Option<Cow<'a, str>> {
        let start = self.at;
        self.skip_text();
        let quoted = self.text.get(start..self.at)?;
        self.skip_space();
        self.at += usize::from(self.peek() == Some(b':'));
        let inside = quoted.get(1..quoted.len().checked_sub(1)?)?;
        match inside.contains(&b'\\') {
            true => serde_json::from_slice(quoted).ok().map(Cow::Owned),
            false => std::str::from_utf8(inside).ok().map(Cow::Borrowed),
        }
    }

    /// Skips a value and the space before it.
    fn skip_value(&mut self) {
        self.skip_space();
        match self.peek() {
            Some(b'"') => self.skip_text(),
            Some(b'{' | b'[') => self.skip_nested(),
            // A number or a word. A text that is not JSON must not hold up either.
            _ => {
                self.at += 1;
                let rest = self.text.get(self.at..).unwrap_or_default();
                let ends =
                    |byte: &u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t');
                self.at += rest.iter().position(ends).unwrap_or(rest.len());
            }
        }
    }

    fn skip_nested(&mut self) {
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.skip_text();
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return;
            }
        }
    }

    /// Skips a text in quotes.
    fn skip_text(&mut self) {
        self.at += 1;
        while let Some(byte) = self.peek() {
            self.at += match byte {
                b'\\' => 2,
                _ => 1,
            };
            if byte == b'"' {
                return;
            }
        }
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn copy_up_to(&mut self, end: usize) {
        if let Some(part) = self.text.get(self.copied..end) {
            self.copy.extend_from_slice(part);
            self.copied = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::super::cuts::copy_by_tape;
    use super::super::{Shaped, decode};
    use super::*;
    use crate::decode::tape::Scratch;

    const NAMES: TypeNames<'_> = TypeNames::new("v1", "Pod");

    /// The copy, which is the same by a tape if that leads to it.
    fn pruned(json: &str, projection: &Projection, names: Option<TypeNames<'_>>) -> String {
        let mut copy = Vec::new();
        copy_pruned(json, projection, names, &mut copy);
        let by_tape = Scratch::default().read_located(json, |tokens, start| {
            let mut copy = Vec::new();
            copy_by_tape(json, (tokens, start), projection, names, &mut copy)?;
            Ok(copy)
        });
        if let Some(by_tape) = by_tape {
            let [one, other] = [&copy, &by_tape].map(|copy| serde_json::from_slice::<Value>(copy));
            let (one, other) = (one.expect("JSON"), other.expect("JSON"));
            assert_eq!(one, other, "{json}");
        }
        String::from_utf8(copy).expect("the copy is text")
    }

    /// The way by the tape is not always the way round.
    #[test]
    fn tape_leads_to_dropped_fields_of_objects() {
        let drop = Projection::new().drop_path("a").drop_path("b.c");
        let json = r#"{"b" : {"\u0063" : [1] , "d":{}} , "\u0061":{"x":1}, "e": [ ] }"#;
        let copy = Scratch::default().read_located(json, |tokens, start| {
            let mut copy = Vec::new();
            copy_by_tape(json, (tokens, start), &drop, Some(NAMES), &mut copy)?;
            Ok(copy)
        });
        let expected = r#"{"apiVersion":"v1","kind":"Pod","b" : {"d":{}} , "e": [ ] }"#;
        assert_eq!(copy.as_deref(), Some(expected.as_bytes()));
    }

    #[test]
    fn dropped_members_leave_no_comma_behind() {
        let drop = Projection::new().drop_path("a").drop_path("b.c");
        for (text, expected) in [
            (r#"{"a":1}"#, r"{}"),
            (r#"{"a":1,"x":2}"#, r#"{"x":2}"#),
            (r#"{"x":2,"a":1}"#, r#"{"x":2}"#),
            (r#"{"x":2,"a":1,"y":3}"#, r#"{"x":2,"y":3}"#),
            (r#"{"a":1,"a":[2]}"#, r"{}"),
            (r#"{ "a" : {"q":"}\""} , "x" : 2 }"#, r#"{ "x" : 2 }"#),
            ("\n {\"a\":1,\"x\":2}", "\n {\"x\":2}"),
            (r#"{"b":{"c":[1,{}]},"x":2}"#, r#"{"b":{},"x":2}"#),
            (
                r#"{"b":[{"c":1,"d":2},{"c":3},4]}"#,
                r#"{"b":[{"d":2},{},4]}"#,
            ),
            (r#"{"\u0061":1,"x":"\\"}"#, r#"{"x":"\\"}"#),
            (r#"{"a":1,"a":2,"x":3,"a":4,"a":5}"#, r#"{"x":3}"#),
        ] {
            assert_eq!(pruned(text, &drop, None), expected, "{text}");
        }
    }

    #[test]
    fn type_names_are_supplied_once() {
        let all = Projection::new();
        for (text, expected) in [
            (r"{}", r#"{"apiVersion":"v1","kind":"Pod"}"#),
            (r#"{"x":1}"#, r#"{"apiVersion":"v1","kind":"Pod","x":1}"#),
            (
                r#"{"x":1,"kind":"Odd"}"#,
                r#"{"apiVersion":"v1","kind":"Pod","x":1}"#,
            ),
            (r#"{"kind":"Odd"}"#, r#"{"apiVersion":"v1","kind":"Pod"}"#),
            (
                r#"{"x":{"kind":"in"}}"#,
                r#"{"apiVersion":"v1","kind":"Pod","x":{"kind":"in"}}"#,
            ),
        ] {
            assert_eq!(pruned(text, &all, Some(NAMES)), expected, "{text}");
        }
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            r#"[a-c"\\{}\[\],: é\n]{0,6}"#.prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            let names = prop_oneof![
                "[abc]",
                Just("kind".to_owned()),
                r#"["\\]a"#.prop_map(String::from)
            ];
            let members = prop::collection::vec((names, inner.clone()), 0..5);
            prop_oneof![
                prop::collection::vec(inner, 0..4).prop_map(Value::from),
                members.prop_map(|members| members.into_iter().collect()),
            ]
        })
    }

    fn paths() -> impl Strategy<Value = Projection> {
        let path = prop::collection::vec(prop_oneof!["[abc]", Just("kind".to_owned())], 1..4);
        prop::collection::vec(path, 0..5).prop_map(|paths| {
            let drop = |drop: Projection, path: Vec<String>| {
                drop.drop_field(path.iter().map(String::as_str))
            };
            paths.into_iter().fold(Projection::new(), drop)
        })
    }

    proptest! {
        /// Decoding the copy gives what decoding the text through the projection gives, however the
        /// text is spaced.
        #[test]
        fn copy_decodes_as_the_projection_does(
            value in values(), drop in paths(), named: bool, pretty: bool,
        ) {
            let text = match pretty {
                true => serde_json::to_string_pretty(&value),
                false => serde_json::to_string(&value),
            };
            let text = text.expect("it is JSON");
            let names = (named && value.is_object()).then_some(NAMES);
            let mut deserializer = serde_json::Deserializer::from_str(&text);
            let expected: Value = decode(&mut deserializer, &drop, names).expect("it decodes");
            let copy = pruned(&text, &drop, names);
            let found: Value = serde_json::from_str(&copy).expect("the copy is JSON");
            prop_assert_eq!(&found, &expected, "{} {:?}", text, drop);
        }

        /// A text that is not JSON is copied without a panic.
        #[test]
        fn any_text_is_copied(text in r#"[ab{}\[\]",:\\ 1é]{0,30}"#, drop in paths(), named: bool) {
            let names = named.then_some(NAMES);
            let mut copy = Vec::new();
            copy_pruned(&text, &drop, names, &mut copy);
            prop_assert!(copy.len() <= text.len() + 40);
        }
    }

    // The other side of the comparison is used here, so that both are seen to be one rule.
    #[test]
    fn lean_pod_is_the_same_either_way() {
        let pod = json!({
            "metadata": {"name": "a", "annotations": {
                "keep": "1", "kubectl.kubernetes.io/last-applied-configuration": "{}"
            }, "managedFields": [{"manager": "m"}]},
            "spec": {"containers": [{"name": "x"}]}
        });
        let (text, lean) = (pod.to_string(), Projection::lean());
        let mut deserializer = serde_json::Deserializer::from_str(&text);
        let shaped = Shaped::<_>::new(&mut deserializer, &lean, Some(NAMES));
        let expected: Value = serde::Deserialize::deserialize(shaped).expect("decodes");
        let copy = pruned(&text, &lean, Some(NAMES));
        assert_eq!(
            serde_json::from_str::<Value>(&copy).expect("JSON"),
            expected
        );
    }
}
