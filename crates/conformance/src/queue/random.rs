//! Scenarios of the level `queue` by chance.
//!
//! Each seed picks a queue, what is known, a few keys and a few kinds of steps, so that rare things
//! meet each other often enough.

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};

use crate::scenario::{Scenario, Step};

const KEYS: [&str; 4] = ["a", "b", "c", "d"];

/// The kinds of steps, and how many of them stand for each.
const VERBS: [(&str, usize); 15] = [
    ("known", 1),
    ("add", 4),
    ("update", 4),
    ("delete", 4),
    ("gone", 2),
    ("replace", 4),
    ("resync", 2),
    ("bookmark", 2),
    ("pop", 4),
    ("batch", 2),
    ("drain", 1),
    ("fail", 1),
    ("during", 2),
    ("close", 1),
    ("wait-close", 1),
];

/// A scenario by chance; the same for the same seed.
pub fn random(seed: u64) -> Scenario {
    let mut chance = Chance::new(seed);
    let settings = chance.settings();
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
    keys: usize,
    version: u64,
    transforms: bool,
    delta: bool,
}

impl Chance {
    fn new(seed: u64) -> Self {
        let mut rng = StdRng::seed_from_u64(seed);
        Self {
            keys: rng.random_range(2..=KEYS.len()),
            version: 0,
            transforms: rng.random_ratio(1, 4),
            delta: rng.random_ratio(1, 2),
            rng,
        }
    }

    fn one_in(&mut self, n: u32) -> bool {
        self.rng.random_ratio(1, n)
    }

    fn settings(&mut self) -> Vec<(String, String)> {
        let queue = if self.delta { "delta" } else { "in-order" };
        let mut settings = vec![("queue", queue.to_owned())];
        if self.one_in(3) {
            settings.push(("known", "none".to_owned()));
        }
        if self.transforms {
            settings.push(("transform", "mark".to_owned()));
        }
        if self.delta && self.one_in(6) {
            settings.push(("replaced", "no".to_owned()));
        }
        if self.one_in(2) {
            settings.push(("batch", self.rng.random_range(1..=3).to_string()));
        }
        let owned = settings.into_iter();
        owned
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }

    /// The kinds of steps of this scenario; there is always one that brings and one that takes.
    fn swarm(&mut self) -> Vec<&'static str> {
        let mut verbs = vec!["update", "pop"];
        for (verb, weight) in VERBS {
            // An end comes seldom, since little is left to do after it.
            let picked = match verb {
                "close" | "wait-close" => self.one_in(8),
                // With a transform, what was known but never transformed could only fail.
                "known" => self.one_in(2) && !(self.delta && self.transforms),
                _ => self.rng.random_ratio(3, 5),
            };
            if picked {
                verbs.extend(std::iter::repeat_n(verb, weight));
            }
        }
        verbs
    }

    fn step(&mut self, verbs: &[&str]) -> Step {
        match *verbs.choose(&mut self.rng).expect("never empty") {
            "during" => {
                let verbs = [
                    "add", "update", "delete", "gone", "replace", "resync", "bookmark",
                ];
                let inner = self.step(&verbs);
                let words = std::iter::once(inner.verb).chain(inner.args);
                Step::new("during", words)
            }
            "replace" => {
                let version = self.next_version();
                let count = self.rng.random_range(0..=self.keys);
                let items = (0..count).map(|_| self.object());
                let items: Vec<String> = items.collect();
                Step::new("replace", std::iter::once(version).chain(items))
            }
            "bookmark" => Step::new("bookmark", [self.next_version()]),
            "gone" if self.one_in(3) => Step::new("gone", [self.key()]),
            "known" => {
                let key = self.key();
                let version = self.next_version();
                Step::new("known", [format!("{key}@{version}")])
            }
            verb @ ("add" | "update" | "delete" | "gone") => Step::new(verb, [self.object()]),
            verb => Step::new::<&str>(verb, []),
        }
    }

    fn key(&mut self) -> &'static str {
        KEYS[self.rng.random_range(0..self.keys)]
    }

    fn object(&mut self) -> String {
        let key = self.key();
        let version = self.next_version();
        let bad = if self.transforms && self.one_in(5) {
            "!"
        } else {
            ""
        };
        format!("{key}@{version}{bad}")
    }

    /// Mostly a new one; now and then the last again, or an older one.
    fn next_version(&mut self) -> String {
        match self.rng.random_range(0..12) {
            0 => self.version,
            1 => self.rng.random_range(1..=self.version.max(1)),
            _ => {
                self.version += self.rng.random_range(1..4);
                self.version
            }
        }
        .to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::run;

    #[test]
    fn chance_makes_sense_and_is_repeatable() {
        for seed in 0..200 {
            let scenario = random(seed);
            assert_eq!(scenario, random(seed));
            run(&scenario).expect("our side understands it");
        }
    }
}
