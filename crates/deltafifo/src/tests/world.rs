//! A queue, its model and its consumer, side by side. Every step is compared.
//!
//! What is judged, beside equality with the model:
//!
//! - FQ-3, FM-48, FM-49, FM-50: what the store holds, with all that is leased and pending
//!   applied to it, is what direct application of all calls gives; and what is really handed
//!   out when the queue is drained leads there.
//! - FQ-9: synced never goes back. Applied never goes back.
//! - What is visited as queued is what is leased and pending.
//! - FQ-12: what went through the transform is what was received, once each, in order.
//! - FQ-10: after close every producer call is refused, and everything is still handed out.
//! - A store that shows an object of a list shows all of that list (`one_step`).
//! - DF-14: a call in which the transform panics has not happened.

use super::judged::Judged;
use super::model::{Handed, Key, Model, Position, Store, TestItem, Value, apply};
use super::one_step::{LISTED, Lists};
use crate::{Closed, Config, Deletion, Delta, Exhausted, Final, Item, Lease};
use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroUsize};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};

/// One letter of a history.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Op {
    Add(Key),
    Update(Key),
    /// A deletion, with its final state or without.
    Delete(Key, bool),
    Replace(Vec<Key>),
    Resync,
    Bookmark,
    /// At most so many keys; with `true` the consumer's store shows the works at once, and not
    /// only when they are acknowledged.
    Lease(usize, bool),
    Ack,
    /// The works at these bits failed.
    Nack(u32),
    /// A relist of these keys whose transform panics on the object at the position.
    Panic(Vec<Key>, usize),
    Close,
}

/// A queue and all that is known to be right about it.
pub(super) struct World<Q: Judged> {
    queue: Q,
    model: Q::Model,
    lease: Option<Lease<Key, Value, Position>>,
    store: Store,
    /// What direct application of all calls gives.
    truth: Store,
    /// Number of the last object made, and of the last mark.
    clock: u32,
    synced: bool,
    applied: Option<Position>,
    closed: bool,
    /// What went through the transform; copies have none.
    transformed: Option<Arc<Mutex<Vec<Value>>>>,
    /// What was received, in order.
    received: Vec<Value>,
    lists: Lists,
}

/// The transform panics on this object. No clock gets there.
const EXPLOSIVE: Value = Value::MAX;

/// What was wrong; the empty result is that nothing was.
pub(super) type Verdict = Result<(), String>;

macro_rules! must_equal {
    ($what:expr, $got:expr, $want:expr) => {{
        let (got, want) = (&$got, &$want);
        if got != want {
            return Err(format!("{}: got {got:?}, want {want:?}", $what));
        }
    }};
}

impl<Q: Judged> World<Q> {
    pub(super) fn new(max_attempts: u32) -> Self {
        let transformed = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&transformed);
        let attempts = NonZeroU32::new(max_attempts).expect("not zero");
        let config = Config::default()
            .max_attempts(attempts)
            .transform(move |value| {
                if value == EXPLOSIVE {
                    // Not by `panic!`, whose hook would write to standard error.
                    resume_unwind(Box::new("a transform that panics"));
                }
                log.lock().expect("one thread").push(value);
                Ok(value)
            });
        let mut model = Q::Model::default();
        model.limit(max_attempts);
        Self {
            queue: Q::make(config),
            transformed: Some(transformed),
            received: Vec::new(),
            lists: Lists::default(),
            model,
            lease: None,
            store: Store::new(),
            truth: Store::new(),
            clock: 0,
            synced: false,
            applied: None,
            closed: false,
        }
    }

    pub(super) fn copy(&self) -> Self {
        Self {
            queue: self.queue.clone(),
            model: self.model.clone(),
            lease: self.lease.clone(),
            store: self.store.clone(),
            truth: self.truth.clone(),
            transformed: None,
            received: Vec::new(),
            lists: self.lists.clone(),
            ..*self
        }
    }

    /// Does one thing to queue and model, and judges what can be seen.
    pub(super) fn step(&mut self, op: &Op) -> Verdict {
        match op {
            Op::Lease(max, early) => self.lease(*max, *early)?,
            Op::Ack => self.settle(0, false)?,
            Op::Nack(failed) => self.settle(*failed, true)?,
            Op::Close => {
                self.queue.close();
                self.closed = true;
            }
            Op::Panic(keys, at) => self.panics(keys, *at)?,
            op if self.closed => self.refused(op)?,
            op => self.said(op)?,
        }
        self.judge()
    }

    fn said(&mut self, op: &Op) -> Verdict {
        self.clock += 1;
        let now = self.clock;
        let open = "the queue is open";
        match op {
            Op::Add(key) => {
                self.truth.insert(*key, now);
                self.received.push(now);
                self.queue.add(*key, now, now).expect(open);
                self.model.single(*key, Delta::Added(now), now);
            }
            Op::Update(key) => {
                self.truth.insert(*key, now);
                self.received.push(now);
                self.queue.update(*key, now, now).expect(open);
                self.model.single(*key, Delta::Updated(now), now);
            }
            Op::Delete(key, observed) => {
                let last = if *observed {
                    Final::Observed(now)
                } else {
                    Final::Unknown(None)
                };
                let got = self
                    .queue
                    .delete(*key, last.clone(), now, &self.store)
                    .expect(open);
                let want: Deletion = self.model.delete(*key, last, now, &self.store);
                must_equal!("DF-04", got, want);
                if *observed && got == Deletion::Queued {
                    self.received.push(now);
                }
                self.truth.remove(key);
                self.lists.deleted(now, *key);
            }
            Op::Replace(keys) => {
                let items = items(keys, now);
                self.queue
                    .replace(items.clone(), now, &self.store)
                    .expect(open);
                self.model.replace(&items, now, &self.store);
                self.received.extend(items.iter().map(|(_, value)| value));
                self.lists.received(now, &items);
                self.truth = items.into_iter().collect();
            }
            Op::Resync => {
                self.queue.resync(&self.store).expect(open);
                self.model.resync(&self.store);
            }
            Op::Bookmark => {
                self.queue.bookmark(now).expect(open);
                self.model.bookmark(now);
            }
            Op::Lease(..) | Op::Ack | Op::Nack(_) | Op::Panic(..) | Op::Close => {
                unreachable!("not said")
            }
        }
        Ok(())
    }

    /// A relist that does not get to its end: `judge` sees whether anything has changed.
    fn panics(&mut self, keys: &[Key], at: usize) -> Verdict {
        let Some(transformed) = self.transformed.clone().filter(|_| !self.closed) else {
            return Ok(());
        };
        let mut items = items(keys, self.clock + 1);
        items.insert(at.min(items.len()), (0, EXPLOSIVE));
        let before = transformed.lock().expect("one thread").len();
        let (queue, store, position) = (&mut self.queue, &self.store, self.clock + 1);
        let unwound = catch_unwind(AssertUnwindSafe(|| queue.replace(items, position, store)));
        must_equal!("the panic is the caller's", unwound.is_err(), true);
        transformed.lock().expect("one thread").truncate(before);
        Ok(())
    }

    /// FQ-10: what a closed queue is told it gives back, and nothing changes.
    fn refused(&mut self, op: &Op) -> Verdict {
        let store = &self.store;
        let refused = match op {
            Op::Add(key) => matches!(self.queue.add(*key, 7, 7), Err(Closed(7))),
            Op::Update(key) => matches!(self.queue.update(*key, 7, 7), Err(Closed(7))),
            Op::Delete(key, _) => {
                let last = Final::Observed(7);
                matches!(
                    self.queue.delete(*key, last, 7, store),
                    Err(Closed(Final::Observed(7)))
                )
            }
            Op::Replace(keys) => {
                let items: Vec<_> = keys.iter().map(|key| (*key, 7)).collect();
                self.queue
                    .replace(items.clone(), 7, store)
                    .err()
                    .map(|Closed(i)| i)
                    == Some(items)
            }
            Op::Resync => self.queue.resync(store).is_err(),
            Op::Bookmark => matches!(self.queue.bookmark(7), Err(Closed(7))),
            Op::Lease(..) | Op::Ack | Op::Nack(_) | Op::Panic(..) | Op::Close => {
                unreachable!("not said")
            }
        };
        must_equal!("FQ-10", refused, true);
        Ok(())
    }

    fn lease(&mut self, max: usize, early: bool) -> Verdict {
        let lease = self.queue.lease(NonZeroUsize::new(max).expect("not zero"));
        let got = lease.as_ref().map(|lease| Handed {
            initial: lease.initial,
            items: lease.items.to_vec(),
            position: lease.position,
            applied_after: lease.applied_after,
        });
        must_equal!("lease", got, self.model.lease(max));
        if let Some(lease) = lease {
            if early {
                lease
                    .items
                    .iter()
                    .for_each(|item| apply(&mut self.store, item));
            }
            self.lease = Some(lease);
        }
        Ok(())
    }

    fn settle(&mut self, failed: u32, nack: bool) -> Verdict {
        let Some(lease) = self.lease.take() else {
            return Ok(());
        };
        let failed: Vec<usize> = (0..lease.items.len())
            .filter(|at| failed >> (at % 32) & 1 == 1)
            .collect();
        for (at, item) in lease.items.iter().enumerate() {
            if !failed.contains(&at) {
                apply(&mut self.store, item);
            }
        }
        let quarantined = if nack {
            self.queue
                .nack(lease.id, &failed)
                .map_err(|error| error.to_string())?
        } else {
            self.queue
                .ack(lease.id)
                .map_err(|error| error.to_string())?;
            Vec::new()
        };
        must_equal!("settled once", self.queue.ack(lease.id).is_err(), true);
        let given = |q: Exhausted<Key, Value>| (q.item, q.attempts.get());
        let got: Vec<_> = quarantined.into_iter().map(given).collect();
        must_equal!("quarantined", got, self.model.settle(&failed));
        if lease.items.len() > 1 && !failed.is_empty() || !got.is_empty() {
            // A part of a lease was applied, or a change was given up, as its consumer decided.
            self.lists.torn();
        }
        // What is quarantined never reaches the store: its decision is the caller's.
        for (item, _) in got {
            match item {
                Item::Key { key, .. } => self.forget(Some(key)),
                Item::Replace { .. } => self.forget(None),
                Item::Resync => {}
            }
        }
        Ok(())
    }

    /// From now on the truth about a key, or all, is what the remaining works give.
    fn forget(&mut self, key: Option<Key>) {
        let mut rest = self.store.clone();
        self.model
            .outstanding()
            .iter()
            .for_each(|item| apply(&mut rest, item));
        match key {
            None => self.truth = rest,
            Some(key) => {
                self.truth.remove(&key);
                self.truth.extend(rest.get(&key).map(|value| (key, *value)));
            }
        }
    }

    fn queued(&self) -> BTreeMap<Key, Vec<Value>> {
        let mut queued = BTreeMap::<_, Vec<_>>::new();
        self.queue
            .for_each_queued(&mut |key, value| queued.entry(*key).or_default().push(*value));
        queued
    }

    fn judge(&mut self) -> Verdict {
        must_equal!("FQ-9 synced", self.queue.is_synced(), self.model.synced());
        must_equal!(
            "applied",
            self.queue.applied().copied(),
            self.model.applied()
        );
        must_equal!(
            "received",
            self.queue.received().copied(),
            self.model.received()
        );
        must_equal!("FQ-13 length", self.queue.len(), self.model.len());
        must_equal!("queued", self.queued(), objects(&self.model.outstanding()));
        must_equal!(
            "FQ-9 goes back",
            self.synced && !self.queue.is_synced(),
            false
        );
        must_equal!(
            "applied goes back",
            self.applied > self.queue.applied().copied(),
            false
        );
        self.synced = self.queue.is_synced();
        self.applied = self.queue.applied().copied();
        let mut store = self.store.clone();
        self.model
            .outstanding()
            .iter()
            .for_each(|item| apply(&mut store, item));
        must_equal!("FQ-3 fold", store, self.truth);
        self.lists.judge(&self.store)
    }

    /// FQ-3, FQ-10: drains it, and looks at what the store holds in the end.
    pub(super) fn drain(mut self) -> Verdict {
        self.queue.close();
        self.settle(0, false)?;
        while let Some(lease) = self.queue.lease(NonZeroUsize::MAX) {
            lease
                .items
                .iter()
                .for_each(|item| apply(&mut self.store, item));
            must_equal!(
                "applied after",
                lease.applied_after >= lease.position.min(self.applied),
                true
            );
            self.queue
                .ack(lease.id)
                .map_err(|error| error.to_string())?;
            must_equal!(
                "applied after",
                self.queue.applied().copied(),
                lease.applied_after
            );
        }
        if let Some(transformed) = &self.transformed {
            must_equal!(
                "FQ-12",
                *transformed.lock().expect("one thread"),
                self.received
            );
        }
        must_equal!("FQ-3 drained", self.store, self.truth);
        must_equal!("drained", self.queue.len(), 0);
        must_equal!(
            "all received is applied",
            self.queue.applied(),
            self.queue.received()
        );
        Ok(())
    }
}

/// The items of a list: objects of their own, which no single change has.
fn items(keys: &[Key], now: u32) -> Vec<(Key, Value)> {
    keys.iter().copied().zip(LISTED + now * 16..).collect()
}

/// Runs one history to its end and drains the queue.
pub(super) fn check<Q: Judged>(ops: &[Op], attempts: u32) -> Verdict {
    let mut world = World::<Q>::new(attempts);
    for (at, op) in ops.iter().enumerate() {
        world
            .step(op)
            .map_err(|wrong| format!("after {:?}: {wrong}", &ops[..=at]))?;
    }
    world
        .drain()
        .map_err(|wrong| format!("drained after {ops:?}: {wrong}"))
}

/// By key, oldest first.
fn objects(items: &[TestItem]) -> BTreeMap<Key, Vec<Value>> {
    let mut objects = BTreeMap::<_, Vec<_>>::new();
    let mut put = |key: Key, value: Value| objects.entry(key).or_default().push(value);
    for item in items {
        match item {
            Item::Key { key, deltas } => {
                let deltas = deltas.iter().filter_map(Delta::object);
                deltas.for_each(|value| put(*key, *value));
            }
            Item::Replace { items } => items.iter().for_each(|(key, value)| put(*key, *value)),
            Item::Resync => {}
        }
    }
    objects
}
