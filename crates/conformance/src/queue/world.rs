//! Our side of a scenario of the level `queue`: one queue, and what both its ends know.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use informer_deltafifo::{Config, DeltaFifo, InOrderQueue, Queue};

use super::object::Object;
use crate::scenario::{Malformed, Scenario, Step};
use crate::trace::Trace;

/// A queue of either kind.
pub(super) type AnyQueue = Box<dyn Queue<String, Object, String>>;

/// One run of one scenario.
pub(super) struct World<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) trace: Trace,
    pub(super) queue: AnyQueue,
    pub(super) is_delta: bool,
    /// What the consumer applied so far.
    pub(super) store: BTreeMap<String, Object>,
    /// Whether the queue may know it.
    knows: bool,
    /// How many keys a batch may take.
    pub(super) batch: NonZeroUsize,
    /// A relist waits in a `DeltaFifo`: it is taken with all that waits.
    pub(super) relist: bool,
    /// Something other than a resync or a bookmark was brought.
    pub(super) populated: bool,
    pub(super) synced: bool,
    pub(super) shown: String,
}

impl<'a> World<'a> {
    /// An empty queue as the settings say.
    pub(super) fn new(scenario: &'a Scenario) -> Result<Self, Malformed> {
        let is_delta = match scenario.setting("queue").unwrap_or("delta") {
            "delta" => true,
            "in-order" => false,
            other => return Err(bad_setting(scenario, "queue", other)),
        };
        let transforms = match scenario.setting("transform").unwrap_or("none") {
            "none" => false,
            "mark" => true,
            other => return Err(bad_setting(scenario, "transform", other)),
        };
        let batch = scenario.setting("batch").unwrap_or("1000");
        let size = batch.parse();
        Ok(Self {
            scenario,
            trace: Trace::default(),
            queue: queue(is_delta, transforms),
            is_delta,
            store: BTreeMap::new(),
            knows: scenario.setting("known").unwrap_or("store") == "store",
            batch: size.map_err(|_| bad_setting(scenario, "batch", batch))?,
            relist: false,
            populated: false,
            synced: false,
            shown: String::new(),
        })
    }

    /// Carries out one step and writes down what it shows.
    pub(super) fn step(&mut self, step: &Step) -> Result<(), Malformed> {
        self.trace.step(step);
        match step.verb.as_str() {
            "known" => {
                for word in &step.args {
                    let (key, object) = self.object(step, Some(word))?;
                    self.store.insert(key, object);
                }
            }
            "pop" | "fail" => {
                let failing = step.verb == "fail";
                if self.relist || self.queue.is_closed() {
                    self.drain(failing);
                } else {
                    self.take_one(failing);
                }
            }
            "drain" => self.drain(false),
            "batch" => self.drain_in_batches(),
            "during" => {
                let Some((verb, args)) = step.args.split_first() else {
                    let what = "what is to happen meanwhile?";
                    return Err(self.scenario.malformed(what, step));
                };
                self.during(&Step::new(verb, args))?;
            }
            "close" => self.queue.close(),
            "wait-close" => self.close_while_waiting(),
            "race" => self.race(step)?,
            _ => self.produce(step)?,
        }
        self.observe();
        Ok(())
    }

    /// Says what has changed since the trace last said it.
    pub(super) fn observe(&mut self) {
        self.observe_synced();
        let applied = self.applied();
        let transforms = self.scenario.setting("transform").unwrap_or("none") != "none";
        if applied != self.shown && !self.is_delta && !transforms {
            self.trace.push(format!("version {applied}"));
        }
        self.shown = applied;
    }

    pub(super) fn observe_synced(&mut self) {
        if self.queue.is_synced() && !self.synced {
            self.synced = true;
            self.trace.push("synced");
        }
    }

    pub(super) fn applied(&self) -> String {
        self.queue.applied().cloned().unwrap_or_default()
    }

    /// What the queue may know of the store now.
    pub(super) fn known_now(&self) -> BTreeMap<String, Object> {
        if self.knows {
            self.store.clone()
        } else {
            BTreeMap::new()
        }
    }

    pub(super) fn object(
        &self,
        step: &Step,
        word: Option<&String>,
    ) -> Result<(String, Object), Malformed> {
        let object = word.and_then(|word| Object::parse(word));
        object.ok_or_else(|| {
            let what = "an object has a key and a version";
            self.scenario.malformed(what, step)
        })
    }
}

/// A new queue.
pub(super) fn queue(is_delta: bool, transforms: bool) -> AnyQueue {
    let mut config = Config::default();
    if transforms {
        config = config.transform(Object::mark);
    }
    if is_delta {
        Box::new(DeltaFifo::new(config))
    } else {
        Box::new(InOrderQueue::new(config))
    }
}

fn bad_setting(scenario: &Scenario, name: &str, value: &str) -> Malformed {
    scenario.malformed("no such setting", &Step::new(name, [value]))
}
