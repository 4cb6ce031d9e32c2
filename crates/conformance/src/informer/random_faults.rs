//! Scenarios of faults by chance: a few phases of trouble, each ended by `recover`.
//!
//! Requests are not compared: both sides draw their delays by chance, and ask differently. What
//! is written in trouble is written when nobody can watch, so that it is told by the recovery.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::random_writes::Writes;
use crate::scenario::{Scenario, Step};

/// What the server answers to watches, lists or streams in a bad phase.
const STATUSES: [&str; 13] = [
    "400", "401", "403", "404", "410", "422", "429", "500", "503", "504", "gone", "refuse", "reset",
];

/// A scenario by chance; the same for the same seed.
pub fn random_faults(seed: u64) -> Scenario {
    let mut draft = Draft::new(seed);
    draft.begin();
    for _ in 0..draft.random.random_range(1..5) {
        draft.phase();
    }
    Scenario {
        name: "random".to_owned(),
        covers: Vec::new(),
        settings: draft.settings,
        steps: draft.steps,
    }
}

struct Draft {
    random: StdRng,
    settings: Vec<(String, String)>,
    steps: Vec<Step>,
    writes: Writes,
    names: usize,
    /// Swarm testing: what never happens together with everything happens often with something.
    has_sends: bool,
    has_status: bool,
    has_errors: bool,
    has_expiry: bool,
}

impl Draft {
    fn new(seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let mut flag = || random.random_bool(0.6);
        let [has_sends, has_status, has_errors, has_expiry] = [(); 4].map(|()| flag());
        Self {
            random,
            settings: vec![("requests".to_owned(), "no".to_owned())],
            steps: Vec::new(),
            writes: Writes::default(),
            names: 0,
            has_sends,
            has_status,
            has_errors,
            has_expiry,
        }
    }

    fn push<const N: usize>(&mut self, verb: &str, args: [&str; N]) {
        self.steps.push(Step::new(verb, args));
    }

    fn set(&mut self, name: &str, value: &str) {
        self.settings.push((name.to_owned(), value.to_owned()));
    }

    fn pick(&mut self, from: &[&'static str]) -> &'static str {
        from[self.random.random_range(0..from.len())]
    }

    fn begin(&mut self) {
        let client = self.pick(&["streaming", "listing"]);
        self.set("client", client);
        let is_streaming = client == "streaming";
        if self.random.random_bool(0.2) {
            self.set("labels", "l=x");
            self.writes.has_labels = true;
        }
        if self.random.random_bool(0.1) {
            self.set("namespace", "default");
            self.writes.is_of_one_namespace = true;
        }
        // Where lists are paged they show an exact state, which depends on where each side is:
        // events that go back take client-go back.
        if !self.has_sends && self.random.random_bool(0.3) {
            self.set("page", "2");
        }
        if self.random.random_bool(0.1) {
            self.set("version", "99");
            self.writes.version = 99;
        }
        self.some_writes(4);
        for _ in 0..self.random.random_range(0..3) {
            self.join();
        }
        let is_bad = self.has_status && self.random.random_bool(0.4);
        if is_bad && is_streaming {
            // Most failures of the first stream client-go answers with a list at once, ours later.
            let what = self.pick(&["429", "refuse"]);
            self.push("fault", ["any", what, "times=2"]);
        } else if is_bad {
            self.bad_answer("any");
        }
        self.push("start", []);
        if is_bad {
            self.push("recover", []);
        }
    }

    fn join(&mut self) {
        self.names += 1;
        self.steps
            .push(Step::new("handler", [format!("h{}", self.names)]));
    }

    fn some_writes(&mut self, at_most: usize) {
        for _ in 0..self.random.random_range(0..=at_most) {
            let step = self.writes.step(&mut self.random);
            self.steps.push(step);
        }
    }

    fn bad_answer(&mut self, request: &str) {
        let what = self.pick(&STATUSES);
        let times = self.random.random_range(1..3);
        self.steps.push(Step::new(
            "fault",
            [
                request.to_owned(),
                what.to_owned(),
                format!("times={times}"),
            ],
        ));
    }

    fn phase(&mut self) {
        self.some_writes(3);
        // A watch that lives for long makes both sides forget what failed before.
        self.push("advance", ["130s"]);
        if self.has_sends && self.random.random_bool(0.5) {
            // Something new first: old events at the beginning of a watch tell ours of a rewind.
            let news = self.writes.news();
            self.steps.push(news);
            let sent = self.writes.sent(&mut self.random);
            self.steps.extend(sent);
        }
        if self.random.random_bool(0.3) {
            self.join();
        }
        match self.random.random_range(0..3) {
            0 if self.has_expiry => self.expiry(),
            1 if self.has_errors => {
                let status = self.pick(&["403", "404", "410", "429", "500", "503", "504", "gone"]);
                let what = format!("error={status}");
                self.steps.push(Step::new("fault", ["watch", &what]));
                self.push("close", []);
            }
            _ if self.has_status => {
                self.bad_answer("watch");
                let trigger = self.pick(&["close", "cut"]);
                self.push(trigger, []);
            }
            _ => self.expiry(),
        }
        self.some_writes(4);
        if self.random.random_bool(0.2) {
            self.push("skip", ["3"]);
            self.writes.version += 3;
        }
        self.push("recover", []);
        self.some_writes(2);
    }

    fn expiry(&mut self) {
        if self.has_status && self.random.random_bool(0.5) {
            let request = self.pick(&["list", "stream", "any", "page"]);
            self.bad_answer(request);
        }
        self.push("expire", []);
    }
}
