//! What is taken from our queue.

use std::num::NonZeroUsize;

use informer_deltafifo::{Delta, Item, Lease};

use super::object::{Object, subject, work_line};
use super::world::World;
use crate::scenario::{Malformed, Step};

type OneLease = Lease<String, Object, String>;

impl World<'_> {
    /// Takes one item, if there is one; one that fails is taken until it is given up.
    pub(super) fn take_one(&mut self, failing: bool) {
        let Some(lease) = self.queue.lease(NonZeroUsize::MIN) else {
            let closed = self.queue.is_closed();
            self.trace.push(if closed { "closed" } else { "nothing" });
            return;
        };
        if !failing {
            self.show(&lease, "");
            self.done(&lease);
            return;
        }
        let mut next = Some(lease);
        while let Some(lease) = next {
            let given_up = self.give_back(&lease);
            next = (!given_up)
                .then(|| self.queue.lease(NonZeroUsize::MIN))
                .flatten();
        }
    }

    /// Takes all there is.
    pub(super) fn drain(&mut self, failing: bool) {
        while let Some(lease) = self.queue.lease(NonZeroUsize::MIN) {
            if failing {
                self.give_back(&lease);
            } else {
                self.show(&lease, "");
                self.done(&lease);
            }
        }
        if self.queue.is_closed() {
            self.trace.push("closed");
        }
        self.relist = false;
    }

    /// Takes all there is, so many keys at once.
    pub(super) fn drain_in_batches(&mut self) {
        // Only RealFIFO has batches, and after the end none ends where it should.
        if self.queue.is_closed() && !self.is_delta {
            self.drain(false);
            return;
        }
        while let Some(lease) = self.queue.lease(self.batch) {
            if !self.is_delta {
                self.trace.push(format!("batch {}", lease.items.len()));
            }
            self.show_works(&lease, "");
            self.apply(&lease);
            self.queue.ack(lease.id).expect("it was just leased");
            self.observe_synced();
        }
        if self.queue.is_closed() {
            self.trace.push("closed");
        }
        self.relist = false;
    }

    /// Pops, and brings something before the item is acknowledged.
    pub(super) fn during(&mut self, step: &Step) -> Result<(), Malformed> {
        if self.queue.is_closed() || self.queue.is_empty() || self.relist {
            self.drain(false);
            return self.produce(step);
        }
        let lease = self.queue.lease(NonZeroUsize::MIN);
        let lease = lease.expect("something waits, and nothing is leased");
        self.show(&lease, "");
        self.apply(&lease);
        // Whoever brings something to a DeltaFIFO waits, so only what does not look at the store
        // can be compared.
        if !self.is_delta || matches!(step.verb.as_str(), "add" | "update") {
            self.produce(step)?;
        }
        self.acknowledge(&lease);
        Ok(())
    }

    /// Writes down a lease; of a group, how many keys it has.
    fn show(&mut self, lease: &OneLease, prefix: &str) {
        let works = lease.items.len();
        if works > 1 {
            self.trace.push(format!("together {works}"));
        }
        self.show_works(lease, prefix);
    }

    fn show_works(&mut self, lease: &OneLease, prefix: &str) {
        let initial = if lease.initial { "initial " } else { "" };
        let version = lease.position.clone().unwrap_or_default();
        for work in &lease.items {
            let line = work_line(work, &version);
            self.trace.push(format!("{prefix}{initial}{line}"));
        }
    }

    fn done(&mut self, lease: &OneLease) {
        self.apply(lease);
        self.acknowledge(lease);
    }

    fn acknowledge(&mut self, lease: &OneLease) {
        self.queue.ack(lease.id).expect("it was just leased");
        self.observe();
    }

    /// All of it failed. Whether something was given up.
    fn give_back(&mut self, lease: &OneLease) -> bool {
        self.show(lease, "failed ");
        let all: Vec<usize> = (0..lease.items.len()).collect();
        let given_up = self.queue.nack(lease.id, &all);
        let given_up = given_up.expect("it was just leased");
        for one in &given_up {
            self.trace.push(format!("given up {}", subject(&one.item)));
        }
        // What is given up is done with; the version is not told.
        self.shown = self.applied();
        self.observe();
        !given_up.is_empty()
    }

    fn apply(&mut self, lease: &OneLease) {
        for work in &lease.items {
            match work {
                Item::Key { key, deltas } => {
                    for delta in deltas.iter() {
                        self.apply_delta(key, delta);
                    }
                }
                Item::Replace { items } => self.store = items.iter().cloned().collect(),
                Item::Resync => {}
            }
        }
    }

    fn apply_delta(&mut self, key: &str, delta: &Delta<Object>) {
        match delta {
            Delta::Deleted(_) => drop(self.store.remove(key)),
            Delta::Added(new) | Delta::Updated(new) | Delta::Replaced(new) | Delta::Sync(new) => {
                self.store.insert(key.to_owned(), new.clone());
            }
        }
    }
}
