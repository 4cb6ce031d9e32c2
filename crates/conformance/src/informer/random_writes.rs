//! Writes by chance, to a handful of keys.

use rand::Rng;
use rand::rngs::StdRng;

use crate::scenario::Step;

const KEYS: [&str; 5] = ["a", "b", "c", "d", "ns/a"];

/// Knows which objects there are, so that most writes make sense.
#[derive(Default)]
pub(super) struct Writes {
    live: Vec<&'static str>,
}

impl Writes {
    pub(super) fn any_key(&self, random: &mut StdRng) -> &'static str {
        KEYS[random.random_range(0..KEYS.len())]
    }

    /// One write.
    pub(super) fn step(&mut self, random: &mut StdRng) -> Step {
        let key = self.any_key(random);
        let position = self.live.iter().position(|live| *live == key);
        let verb = match position {
            None => {
                self.live.push(key);
                "create"
            }
            Some(at) if random.random_bool(0.3) => {
                self.live.remove(at);
                "delete"
            }
            Some(_) => "update",
        };
        let mut args = vec![key.to_owned()];
        if verb != "delete" && random.random_bool(0.3) {
            args.push(format!("data={}", ["x", "y"][random.random_range(0..2)]));
        }
        Step::new(verb, args)
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
