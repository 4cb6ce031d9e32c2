//! Scenarios of handlers by chance: they join, leave, block and panic while a server that does
//! nothing wrong writes, and sometimes has its watches begin anew.
//!
//! Each scenario has only some of the features (swarm testing): what never happens together with
//! everything else happens often with something.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::random_writes::Writes;
use crate::scenario::{Scenario, Step};

/// A scenario by chance; the same for the same seed.
pub fn random_handlers(seed: u64) -> Scenario {
    let mut draft = Draft::new(seed);
    draft.begin();
    draft.go_on();
    draft.end();
    Scenario {
        name: "random".to_owned(),
        covers: Vec::new(),
        settings: draft.settings,
        steps: draft.steps,
    }
}

/// What may happen in one scenario.
struct Features {
    /// client-go walks a map where it streams: who blocks or panics there is told in any order.
    gates: bool,
    panics: bool,
    resyncs: bool,
    relists: bool,
    late: bool,
    removals: bool,
    bursts: bool,
    stop: bool,
}

struct Draft {
    random: StdRng,
    features: Features,
    settings: Vec<(String, String)>,
    steps: Vec<Step>,
    writes: Writes,
    present: Vec<String>,
    blocked: Vec<String>,
    names: usize,
    /// The time is between two seconds.
    is_between: bool,
}

impl Draft {
    fn new(seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let panics = random.random_bool(0.25);
        let resyncs = !panics && random.random_bool(0.3);
        let gates = panics || random.random_bool(0.4);
        let relists = !panics && !resyncs && random.random_bool(0.4);
        let features = Features {
            gates,
            panics,
            resyncs,
            relists,
            late: random.random_bool(0.6),
            removals: random.random_bool(0.5),
            bursts: random.random_bool(0.6),
            // What a relist brought waits in an order of its own, and is only told at the stop.
            stop: random.random_bool(0.2) && !(gates && relists),
        };
        Self {
            random,
            features,
            settings: Vec::new(),
            steps: Vec::new(),
            writes: Writes::default(),
            present: Vec::new(),
            blocked: Vec::new(),
            names: 0,
            is_between: false,
        }
    }

    fn push<const N: usize>(&mut self, verb: &str, args: [&str; N]) {
        self.steps.push(Step::new(verb, args));
    }

    fn set(&mut self, name: &str, value: &str) {
        self.settings.push((name.to_owned(), value.to_owned()));
    }

    fn begin(&mut self) {
        let listing = self.features.gates || self.random.random_bool(0.5);
        self.set("client", if listing { "listing" } else { "streaming" });
        if self.features.resyncs {
            let period = ["2s", "3s", "6s"][self.random.random_range(0..3)];
            self.set("resync", period);
        }
        if self.random.random_bool(0.2) {
            self.set("index", "data");
        }
        if self.random.random_bool(0.2) {
            self.set("transform", "strip");
        }
        for _ in 0..self.random.random_range(0..4) {
            let step = self.writes.step(&mut self.random);
            self.steps.push(step);
        }
        for _ in 0..self.random.random_range(0..4) {
            self.join(true);
        }
        self.push("start", []);
    }

    fn join(&mut self, is_early: bool) {
        self.names += 1;
        let name = format!("h{}", self.names);
        let mut args = vec![name.clone()];
        if self.features.resyncs && !is_early {
            // client-go tells who joins late at the next check, ours when it is due.
            args.push("resync=0".to_owned());
        } else if self.features.resyncs && self.random.random_bool(0.4) {
            let period = ["0", "6s", "12s"][self.random.random_range(0..3)];
            args.push(format!("resync={period}"));
        }
        if self.features.panics && is_early && self.random.random_bool(0.5) {
            let key = self.writes.any_key(&mut self.random);
            args.push(format!("panic={key}"));
        } else if self.features.gates && is_early && self.random.random_bool(0.4) {
            args.push("blocked".to_owned());
            self.blocked.push(name.clone());
        }
        self.present.push(name);
        self.steps.push(Step::new("handler", args));
    }

    fn go_on(&mut self) {
        for _ in 0..self.random.random_range(3..20) {
            self.one();
        }
    }

    fn one(&mut self) {
        match self.random.random_range(0..20) {
            0..=8 => {
                let step = self.writes.step(&mut self.random);
                self.steps.push(step);
            }
            9..=11 if self.features.bursts => {
                let steps = self.writes.burst(&mut self.random);
                self.steps.extend(steps);
            }
            12 | 13 if self.features.late => self.join(false),
            14 if self.features.removals && !self.present.is_empty() => {
                let index = self.random.random_range(0..self.present.len());
                let name = self.present.remove(index);
                self.push("remove", [&name]);
            }
            15 if !self.blocked.is_empty() => {
                let index = self.random.random_range(0..self.blocked.len());
                let name = self.blocked.remove(index);
                self.push("unblock", [&name]);
            }
            16 if self.features.relists => {
                self.push("expire", []);
                for _ in 0..self.random.random_range(0..4) {
                    let step = self.writes.step(&mut self.random);
                    self.steps.push(step);
                }
                self.push("recover", []);
            }
            17 | 18 if self.features.resyncs => self.advance(),
            19 => {
                let key = self.writes.any_key(&mut self.random);
                self.push("get", [key]);
            }
            _ => {
                let step = self.writes.step(&mut self.random);
                self.steps.push(step);
            }
        }
    }

    /// Never onto a multiple of a second: what is due just then is told before or after.
    fn advance(&mut self) {
        let times = match std::mem::replace(&mut self.is_between, true) {
            false => ["500ms", "1500ms", "2500ms"],
            true => ["1s", "2s", "3s"],
        };
        let time = times[self.random.random_range(0..times.len())];
        self.push("advance", [time]);
    }

    fn end(&mut self) {
        if self.features.stop {
            self.push("stop", []);
        }
        for name in std::mem::take(&mut self.blocked) {
            if self.random.random_bool(0.7) {
                self.push("unblock", [&name]);
            }
        }
        if self.features.panics && !self.features.stop {
            self.push("advance", ["1m"]);
        }
    }
}
