//! Writes by chance, to a handful of keys.

use std::collections::BTreeMap;

use rand::Rng;
use rand::rngs::StdRng;

use crate::scenario::Step;

const KEYS: [&str; 5] = ["a", "b", "c", "d", "ns/a"];

/// Knows which objects there are and at which version, so that most writes make sense.
pub(super) struct Writes {
    /// Whether objects enter and leave the selection `l=x`.
    pub(super) has_labels: bool,
    /// Whether only objects in `default` are followed.
    pub(super) is_of_one_namespace: bool,
    pub(super) version: u64,
    live: BTreeMap<&'static str, Object>,
    lives: BTreeMap<&'static str, u64>,
}

struct Object {
    life: u64,
    version: u64,
    is_selected: bool,
}

impl Default for Writes {
    fn default() -> Self {
        Self {
            has_labels: false,
            is_of_one_namespace: false,
            version: 1,
            live: BTreeMap::new(),
            lives: BTreeMap::new(),
        }
    }
}

impl Writes {
    pub(super) fn any_key(&self, random: &mut StdRng) -> &'static str {
        KEYS[random.random_range(0..KEYS.len())]
    }

    /// One write.
    pub(super) fn step(&mut self, random: &mut StdRng) -> Step {
        let key = self.any_key(random);
        self.version += 1;
        let mut args = vec![key.to_owned()];
        if self.live.contains_key(key) && random.random_bool(0.3) {
            self.live.remove(key);
            return Step::new("delete", args);
        }
        let verb = match self.live.contains_key(key) {
            true => "update",
            false => "create",
        };
        if random.random_bool(0.3) {
            args.push(format!("data={}", ["x", "y"][random.random_range(0..2)]));
        }
        let label = (self.has_labels && random.random_bool(0.6))
            .then(|| ["x", "y"][random.random_range(0..2)]);
        args.extend(label.map(|label| format!("label={label}")));
        self.put(key, label);
        Step::new(verb, args)
    }

    fn put(&mut self, key: &'static str, label: Option<&str>) {
        let version = self.version;
        let is_selected = label.map_or(!self.has_labels, |label| label == "x");
        if let Some(object) = self.live.get_mut(key) {
            object.version = version;
            object.is_selected = label.map_or(object.is_selected, |label| label == "x");
            return;
        }
        let life = self.lives.entry(key).or_default();
        *life += 1;
        let life = *life;
        self.live.insert(
            key,
            Object {
                life,
                version,
                is_selected,
            },
        );
    }

    /// A new object, in the selection.
    pub(super) fn news(&mut self) -> Step {
        self.version += 1;
        let mut args = vec![format!("new{}", self.version)];
        args.extend(self.has_labels.then(|| "label=x".to_owned()));
        Step::new("create", args)
    }

    /// An event the history does not know: the end of a stranger, or what was told already.
    pub(super) fn sent(&self, random: &mut StdRng) -> Option<Step> {
        if random.random_bool(0.3) {
            let object = format!("stranger@{}", self.version);
            return Some(Step::new("send", ["DELETED", &object]));
        }
        let is_followed = |key: &str| !self.is_of_one_namespace || !key.contains('/');
        let live = self.live.iter();
        let selected: Vec<_> = live
            .filter(|(key, object)| object.is_selected && is_followed(key))
            .collect();
        if selected.is_empty() {
            return None;
        }
        let (key, object) = selected[random.random_range(0..selected.len())];
        let life = match object.life {
            1 => String::new(),
            life => format!(".{life}"),
        };
        let text = format!("{key}{life}@{}", object.version);
        let kind = ["ADDED", "MODIFIED"][random.random_range(0..2)];
        Some(Step::new("send", [kind, &text]))
    }

    /// Some writes at once.
    pub(super) fn burst(&mut self, random: &mut StdRng) -> Vec<Step> {
        let none: [&str; 0] = [];
        let mut steps = vec![Step::new("burst", none)];
        for _ in 0..random.random_range(2..6) {
            steps.push(self.step(random));
        }
        steps.push(Step::new("end", none));
        steps
    }
}
