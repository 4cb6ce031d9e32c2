//! What a scenario of the level `store` asks: the store, its listers and indexes, and keys.

use std::cmp::Ordering;
use std::sync::Arc;

use informer_factory::{Deleted, ObjectKey, ResourceVersion, labelled};
use k8s_openapi::api::core::v1::ConfigMap;

use super::object::{Word, full_word_of, sorted_words, word_of};
use super::selector::read_selector;
use super::world::{World, arg, line, texts, unquoted};
use crate::scenario::{Malformed, Step};

impl World<'_> {
    /// A step that changes nothing.
    pub(super) fn read(&mut self, step: &Step) -> Result<(), Malformed> {
        let shown = match step.verb.as_str() {
            "get" => got(self.reader.get(unquoted(arg(step, 0)))),
            "get-named" => self.get_named(step),
            "keys" => line("keys", texts(&self.reader.keys())),
            "list" => line("list", sorted_words(&self.listed(step)?)),
            "count" => format!("count {}", self.listed(step)?.len()),
            "hold" => {
                self.held = Some(self.reader.snapshot());
                return Ok(());
            }
            "held" => {
                let held = self.held.iter().flat_map(|held| held.iter());
                let objects: Vec<_> = held.map(|(_, entry)| Arc::clone(&entry.object)).collect();
                line("held", sorted_words(&objects))
            }
            "indexes" => {
                let names = self.reader.index_names();
                let mut names: Vec<String> = names.iter().map(ToString::to_string).collect();
                names.sort();
                line("indexes", names)
            }
            "by-index" | "index-of" | "index-keys" | "index-values" => self.index(step)?,
            _ => self.read_key(step)?,
        };
        self.trace.push(shown);
        Ok(())
    }

    /// Asks a lister of one namespace; `*` is the one of all.
    fn get_named(&self, step: &Step) -> String {
        let name = arg(step, 1);
        let found = match unquoted(arg(step, 0)) {
            "*" => self.lister.get(name),
            namespace => self.lister.namespace(namespace).get(name),
        };
        let word = found.map(|object| word_of(&object));
        line("get", [word.unwrap_or_else(|| "none".to_owned())])
    }

    /// All, or `labels <selector>`, or `namespace <namespace> [selector]`.
    fn listed(&self, step: &Step) -> Result<Vec<Arc<ConfigMap>>, Malformed> {
        let selector = |words: &[String]| {
            read_selector(words).ok_or_else(|| self.malformed("not a selector", step))
        };
        Ok(match step.args.as_slice() {
            [] => self.reader.list(),
            [kind, words @ ..] if kind == "labels" => {
                self.lister.matching(labelled(&selector(words)?))
            }
            [kind, namespace, words @ ..] if kind == "namespace" => {
                let lister = self.lister.namespace(unquoted(namespace));
                lister.matching(labelled(&selector(words)?))
            }
            _ => return Err(self.malformed("what is to be listed?", step)),
        })
    }

    fn index(&self, step: &Step) -> Result<String, Malformed> {
        let (name, value) = (arg(step, 0), unquoted(arg(step, 1)));
        let unknown = |_| "error unknown-index".to_owned();
        let shown = match step.verb.as_str() {
            "by-index" => {
                let found = self.reader.by_index(name, value);
                found.map(|found| line("found", sorted_words(&found)))
            }
            "index-keys" => {
                let keys = self.reader.index_keys(name, value);
                keys.map(|keys| line("keys", texts(&keys)))
            }
            "index-values" => self.reader.index_values(name).map(|values| {
                let quoted = |value: &Arc<str>| match &**value {
                    "" => "\"\"".to_owned(),
                    text => text.to_owned(),
                };
                line("values", values.iter().map(quoted))
            }),
            _ => return self.index_of(step, name),
        };
        Ok(shown.unwrap_or_else(unknown))
    }

    /// client-go's `Index`: whatever shares a value with an object. Ours is asked for each value,
    /// in one snapshot.
    fn index_of(&self, step: &Step, name: &str) -> Result<String, Malformed> {
        let Word::Object(object) = self.word(step, arg(step, 1))? else {
            return Err(self.malformed("only objects have values", step));
        };
        let Some((_, function)) = self.functions.iter().find(|(known, _)| known == name) else {
            return Ok("error unknown-index".to_owned());
        };
        let Ok(values) = function(&object) else {
            return Ok("error function".to_owned());
        };
        let snapshot = self.reader.snapshot();
        let mut found = std::collections::BTreeSet::new();
        for value in values {
            let entries = snapshot.by_index(name, &value).into_iter().flatten();
            found.extend(entries.map(|(_, entry)| word_of(&entry.object)));
        }
        Ok(line("found", found))
    }

    /// What needs no store.
    fn read_key(&self, step: &Step) -> Result<String, Malformed> {
        let malformed_key = |_| "error key".to_owned();
        Ok(match step.verb.as_str() {
            "split" => {
                let key = unquoted(arg(step, 0)).parse::<ObjectKey>();
                key.map_or_else(malformed_key, |key| parts_of(&key))
            }
            "key-of" => {
                let key = self.word(step, arg(step, 0))?.key();
                key.map_or_else(malformed_key, |key| format!("key {key}"))
            }
            "compare" => {
                let version = |position| ResourceVersion::from(unquoted(arg(step, position)));
                match version(0).compare(&version(1)) {
                    None => "error version",
                    Some(Ordering::Less) => "older",
                    Some(Ordering::Equal) => "equal",
                    Some(Ordering::Greater) => "newer",
                }
                .to_owned()
            }
            "deleted" => return self.deleted(step),
            _ => return Err(self.malformed("nobody understands this step", step)),
        })
    }

    /// What a handler learns of an object that is gone.
    fn deleted(&self, step: &Step) -> Result<String, Malformed> {
        let word = self.word(step, arg(step, 0))?;
        let key = word.key().map_err(|_| self.malformed("no key", step))?;
        let deleted = match word {
            Word::Object(last) => Deleted::Known {
                key,
                last: Arc::from(last),
            },
            Word::Gone(_, last) => Deleted::Unknown {
                key,
                last: last.map(Arc::from),
            },
            Word::Key(_) | Word::Keyless => return Err(self.malformed("it was no object", step)),
        };
        let last = deleted
            .last()
            .map_or("none".to_owned(), |last| word_of(last));
        let how = match deleted {
            Deleted::Known { .. } => "seen",
            Deleted::Unknown { .. } => "last known",
            Deleted::MovedAway { .. } => "left",
        };
        let key = deleted.key();
        Ok(format!("key {key}, {}, {how} {last}", parts_of(key)))
    }
}

fn parts_of(key: &ObjectKey) -> String {
    let namespace = key.namespace().unwrap_or_default();
    format!("namespace={namespace} name={}", key.name())
}

fn got(found: Option<Arc<ConfigMap>>) -> String {
    found.map_or("get none".to_owned(), |object| {
        format!("get {}", full_word_of(&object))
    })
}
