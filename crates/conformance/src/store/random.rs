//! Scenarios of the level `store` by chance.
//!
//! Each seed picks a few kinds of steps and a few indexes, so that rare things meet each other
//! often enough. What panics in client-go is left to the stored scenarios: it is another store
//! afterwards.

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};

use crate::scenario::{Scenario, Step};

const KEYS: [&str; 5] = ["a/x", "a/y", "b/x", "ab/x", "node"];
const DATA: [&str; 5] = ["p", "q", "p,q", "q,p,q", "r"];
const FUNCTIONS: [&str; 7] = [
    "data",
    "parts",
    "label",
    "owner",
    "name",
    "namespace",
    "same",
];
const SELECTORS: [&str; 9] = [
    "everything",
    "nothing",
    "l=1",
    "l!=1",
    "l",
    "!l",
    "l in (1,2)",
    "l notin (2)",
    "l=1,m",
];
const VERBS: [(&str, u32); 22] = [
    ("add", 4),
    ("update", 6),
    ("delete", 3),
    ("replace", 2),
    ("transaction", 3),
    ("bookmark", 1),
    ("resync", 1),
    ("add-index", 2),
    ("get", 1),
    ("get-named", 1),
    ("keys", 1),
    ("list", 1),
    ("labels", 2),
    ("namespace", 2),
    ("hold", 1),
    ("held", 2),
    ("indexes", 1),
    ("by-index", 3),
    ("index-keys", 2),
    ("index-values", 2),
    ("index-of", 2),
    ("split", 1),
];

/// A scenario by chance; the same for the same seed.
pub fn random(seed: u64) -> Scenario {
    let mut chance = Chance {
        rng: StdRng::seed_from_u64(seed),
        version: 0,
        indexes: Vec::new(),
    };
    let settings = chance.initial_indexes();
    let verbs = chance.swarm();
    let length = chance.rng.random_range(5..=40);
    let steps = (0..length).map(|_| chance.step(&verbs)).collect();
    Scenario {
        name: format!("random-{seed}"),
        covers: Vec::new(),
        settings,
        steps,
    }
}

struct Chance {
    rng: StdRng,
    version: u64,
    indexes: Vec<String>,
}

impl Chance {
    fn of<'a>(&mut self, texts: &[&'a str]) -> &'a str {
        texts.choose(&mut self.rng).expect("never empty")
    }

    fn one_in(&mut self, n: u32) -> bool {
        self.rng.random_ratio(1, n)
    }

    fn initial_indexes(&mut self) -> Vec<(String, String)> {
        let count = self.rng.random_range(0..=3);
        let made: Vec<String> = (0..count)
            .map(|number| {
                let function = self.of(&FUNCTIONS);
                self.indexes.push(format!("i{number}"));
                format!("i{number}:{function}")
            })
            .collect();
        if made.is_empty() {
            return Vec::new();
        }
        vec![("indexes".to_owned(), made.join(","))]
    }

    /// The kinds of steps of this scenario; there is always one that writes.
    fn swarm(&mut self) -> Vec<&'static str> {
        let mut verbs = vec!["update"];
        for (verb, weight) in VERBS {
            if self.rng.random_ratio(3, 5) {
                verbs.extend(std::iter::repeat_n(verb, weight as usize));
            }
        }
        verbs
    }

    fn step(&mut self, verbs: &[&str]) -> Step {
        match self.of(verbs) {
            "add-index" => {
                // Taken names are tried too.
                let name = format!("i{}", self.rng.random_range(0..6));
                let function = self.of(&FUNCTIONS);
                self.indexes.push(name.clone());
                Step::new("add-index", [name.as_str(), function])
            }
            "replace" => {
                let mut args = vec![self.list_version()];
                let count = self.rng.random_range(0..6);
                args.extend((0..count).map(|_| self.object()));
                Step::new("replace", args)
            }
            "transaction" => {
                let count = self.rng.random_range(1..6);
                let pairs = (0..count).flat_map(|_| {
                    let verb = self.of(&["add", "update", "delete"]);
                    [verb.to_owned(), self.written(verb)]
                });
                let args: Vec<String> = pairs.collect();
                Step::new("transaction", args)
            }
            "bookmark" => Step::new("bookmark", [self.list_version()]),
            verb @ ("add" | "update" | "delete") => Step::new(verb, [self.written(verb)]),
            verb => self.reading(verb),
        }
    }

    fn reading(&mut self, verb: &str) -> Step {
        let key = self.of(&KEYS);
        match verb {
            "get" => Step::new("get", [key]),
            "get-named" => {
                let namespace = self.of(&["a", "b", "\"\"", "*", "none"]);
                let name = self.of(&["x", "y", "node", "a/x"]);
                Step::new("get-named", [namespace, name])
            }
            "labels" => {
                let selector = self.of(&SELECTORS);
                Step::new("list", [&["labels"], &*selector_words(selector)].concat())
            }
            "namespace" => {
                let namespace = self.of(&["a", "b", "ab", "\"\"", "none"]);
                let selector = self.of(&SELECTORS);
                let words = [&["namespace", namespace], &*selector_words(selector)];
                Step::new("list", words.concat())
            }
            "by-index" | "index-keys" => {
                let value = self.of(&["p", "q", "r", "1", "2", "u1", "x", "a", "\"\"", "same"]);
                let name = self.index();
                Step::new(verb, [name.as_str(), value])
            }
            "index-values" => Step::new(verb, [self.index()]),
            "index-of" => Step::new(verb, [self.index(), self.object()]),
            "split" => {
                let length = self.rng.random_range(1..=6);
                let text = (0..length).map(|_| self.of(&["a", "b", "-", "/"]));
                Step::new(verb, [text.collect::<String>()])
            }
            _ => Step::new::<&str>(verb, []),
        }
    }

    /// The name of an index, now and then of one that does not exist.
    fn index(&mut self) -> String {
        let known = self.indexes.choose(&mut self.rng).cloned();
        known.unwrap_or_else(|| "i9".to_owned())
    }

    /// What an add, an update or a delete is about.
    fn written(&mut self, verb: &str) -> String {
        if self.one_in(20) {
            return "keyless".to_owned();
        }
        if verb == "delete" && self.one_in(4) {
            let key = self.of(&KEYS);
            return match self.rng.random_range(0..3) {
                0 => format!("gone:{key}"),
                1 => format!("gone:{key}@{}", self.version),
                _ => format!("key:{key}"),
            };
        }
        self.object()
    }

    fn object(&mut self) -> String {
        let mut word = format!("{}@{}", self.of(&KEYS), self.next_version());
        if !self.one_in(4) {
            word += &format!("+data={}", self.of(&DATA));
        }
        for label in ["l", "m"] {
            if self.one_in(2) {
                word += &format!("+{label}={}", self.of(&["1", "2"]));
            }
        }
        if self.one_in(4) {
            word += &format!("+owner={}", self.of(&["u1", "u2", "u1,u2"]));
        }
        word
    }

    fn list_version(&mut self) -> String {
        let version = self.next_version();
        if version.is_empty() {
            "\"\"".to_owned()
        } else {
            version
        }
    }

    /// Mostly a new one; now and then the last again, an older one, or none at all.
    fn next_version(&mut self) -> String {
        match self.rng.random_range(0..20) {
            0 => String::new(),
            1 => self.version.to_string(),
            2 => self.rng.random_range(1..=self.version.max(1)).to_string(),
            _ => {
                self.version += self.rng.random_range(1..4);
                self.version.to_string()
            }
        }
    }
}

fn selector_words(selector: &str) -> Vec<&str> {
    selector.split(' ').collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::run;

    #[test]
    fn chance_makes_sense_and_is_repeatable() {
        for seed in 0..200 {
            let scenario = random(seed);
            assert_eq!(scenario, random(seed));
            run(&scenario).expect("our side understands it");
        }
    }
}
