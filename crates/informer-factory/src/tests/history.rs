//! Random leases, as a queue would hand them out.
//!
//! Anything goes for uids and versions, unset and incomparable ones included. A new epoch begins
//! with a relist, as the reflector promises; before that nothing of it is seen.

use std::sync::Arc;

use informer_deltafifo::{Delta, Deltas, Final, Item};
use informer_reflector::{self as reflector, Body, DecodeError, DecodeErrorCategory};
use informer_store::{ObjectKey, Scope};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::Identity;
use crate::applying::received_item::ReceivedItem;

/// Two keys of one namespace, and one of another.
pub(super) const KEYS: [&str; 3] = ["one/a", "one/b", "two/a"];

/// A received object; the number distinguishes objects.
#[derive(Clone, Copy, Debug)]
pub(super) struct Version {
    pub(super) uid: &'static str,
    pub(super) version: &'static str,
    /// Whether it can be decoded.
    pub(super) readable: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Op {
    Added(usize, Version),
    Updated(usize, Version),
    Deleted(usize, Version),
    Vanished(usize),
    /// One entry per key that is listed, and whether the history was rewound before.
    Relist(Vec<(usize, Version)>, bool),
}

#[derive(Clone, Debug)]
pub(super) struct Lease {
    pub(super) ops: Vec<Op>,
    pub(super) initial: bool,
    /// A key on which an index function panics.
    pub(super) refused: Option<usize>,
}

#[derive(Clone, Debug)]
pub(super) struct History {
    /// The in-order queue hands out a relist in one piece, DeltaFIFO hands out keys.
    pub(super) in_order: bool,
    /// The source covers namespace `one` only; `two/a` is another source's.
    pub(super) one_namespace: bool,
    pub(super) leases: Vec<Lease>,
}

impl History {
    pub(super) fn scope(&self) -> Scope {
        match self.one_namespace {
            true => Scope::Namespace("one".into()),
            false => Scope::All,
        }
    }

    /// The keys that this source may speak of.
    fn keys(&self) -> &'static [&'static str] {
        if self.one_namespace {
            &KEYS[..2]
        } else {
            &KEYS
        }
    }
}

fn versions() -> impl Strategy<Value = Version> {
    let uid = prop_oneof![4 => Just("u1"), 3 => Just("u2"), 1 => Just("")];
    let version = prop_oneof![
        12 => prop::sample::select(vec!["1", "2", "3", "9", "10", "11"]),
        1 => Just(""),
        1 => Just("odd"),
    ];
    let readable = prop::bool::weighted(0.85);
    (uid, version, readable).prop_map(|(uid, version, readable)| Version {
        uid,
        version,
        readable,
    })
}

fn ops() -> impl Strategy<Value = Op> {
    let key = || 0..KEYS.len();
    let items = prop::sample::subsequence(vec![0, 1, 2], 0..=3).prop_shuffle();
    let items = items.prop_flat_map(|keys| {
        let len = keys.len();
        vec(versions(), len).prop_map(move |all| keys.iter().copied().zip(all).collect())
    });
    prop_oneof![
        3 => (key(), versions()).prop_map(|(key, version)| Op::Added(key, version)),
        4 => (key(), versions()).prop_map(|(key, version)| Op::Updated(key, version)),
        3 => (key(), versions()).prop_map(|(key, version)| Op::Deleted(key, version)),
        1 => key().prop_map(Op::Vanished),
        2 => (items, prop::bool::weighted(0.3)).prop_map(|(items, new)| Op::Relist(items, new)),
    ]
}

pub(super) fn histories() -> impl Strategy<Value = History> {
    let refused = prop_oneof![5 => Just(None), 1 => (0..KEYS.len()).prop_map(Some)];
    let lease = (vec(ops(), 1..5), any::<bool>(), refused);
    let lease = lease.prop_map(|(ops, initial, refused)| Lease {
        ops,
        initial,
        refused,
    });
    (any::<bool>(), any::<bool>(), vec(lease, 1..8)).prop_map(
        |(in_order, one_namespace, leases)| History {
            in_order,
            one_namespace,
            leases,
        },
    )
}

/// An object as it was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Received {
    pub(super) key: &'static str,
    pub(super) uid: &'static str,
    pub(super) version: &'static str,
    pub(super) epoch: u32,
    pub(super) readable: bool,
}

/// One event in the order in which the source brought it; objects are numbers.
#[derive(Clone, Debug)]
pub(super) enum Event {
    Upsert {
        object: usize,
        relist: bool,
    },
    Deleted {
        object: usize,
    },
    Vanished {
        key: &'static str,
    },
    /// What is not in it is gone: deletions first, in key order.
    LeftOut {
        kept: Vec<&'static str>,
    },
}

/// Turns leases into items, and into the events that the model applies.
pub(super) struct Source {
    in_order: bool,
    keys: &'static [&'static str],
    epoch: u32,
    /// Every object so far.
    pub(super) received: Vec<Received>,
}

impl Source {
    pub(super) fn new(history: &History) -> Self {
        let (in_order, keys) = (history.in_order, history.keys());
        Self {
            in_order,
            keys,
            epoch: 0,
            received: Vec::new(),
        }
    }

    /// The items of one lease, and what happens in them, each in order.
    pub(super) fn lease(
        &mut self,
        ops: &[Op],
    ) -> (Vec<Item<ObjectKey, ReceivedItem<usize>>>, Vec<Event>) {
        let mut leased = LeasedItems {
            in_order: self.in_order,
            items: Vec::new(),
        };
        let mut events = Vec::new();
        let of_others = |key: &usize| *key >= self.keys.len();
        for op in ops {
            match op {
                Op::Added(key, _)
                | Op::Updated(key, _)
                | Op::Deleted(key, _)
                | Op::Vanished(key)
                    if of_others(key) => {}
                Op::Added(key, version) | Op::Updated(key, version) => {
                    let (object, item) = receive(&mut self.received, *key, version, self.epoch);
                    let delta = match op {
                        Op::Added(..) => Delta::Added(item),
                        _ => Delta::Updated(item),
                    };
                    leased.key(KEYS[*key], delta);
                    events.push(Event::Upsert {
                        object,
                        relist: false,
                    });
                }
                Op::Deleted(key, version) => {
                    let (object, item) = receive(&mut self.received, *key, version, self.epoch);
                    leased.key(KEYS[*key], Delta::Deleted(Final::Observed(item)));
                    events.push(Event::Deleted { object });
                }
                Op::Vanished(key) => {
                    leased.key(KEYS[*key], Delta::Deleted(Final::Unknown(None)));
                    events.push(Event::Vanished { key: KEYS[*key] });
                }
                Op::Relist(items, new_epoch) => {
                    self.epoch += u32::from(*new_epoch);
                    let ours = items.iter().filter(|(key, _)| !of_others(key));
                    let mut kept = Vec::new();
                    let mut upserts = Vec::new();
                    let mut listed = Vec::new();
                    for (key, version) in ours {
                        let (object, item) = receive(&mut self.received, *key, version, self.epoch);
                        kept.push(KEYS[*key]);
                        upserts.push(Event::Upsert {
                            object,
                            relist: true,
                        });
                        listed.push((KEYS[*key], item));
                    }
                    leased.relist(listed, self.keys);
                    events.push(Event::LeftOut { kept });
                    events.extend(upserts);
                }
            }
        }
        let (in_order, items) = (leased.in_order, leased.finish());
        if !in_order {
            // DeltaFIFO keeps the order of each key only.
            events = by_key(&items, &events, &self.received);
        }
        (items, events)
    }
}

fn receive(
    received: &mut Vec<Received>,
    key: usize,
    version: &Version,
    epoch: u32,
) -> (usize, ReceivedItem<usize>) {
    let (uid, version, readable) = (version.uid, version.version, version.readable);
    let object = received.len();
    received.push(Received {
        key: KEYS[key],
        uid,
        version,
        epoch,
        readable,
    });
    let body = if readable {
        Body::Decoded(Arc::new(object))
    } else {
        let category = DecodeErrorCategory::Data;
        let error = DecodeError::new(category, "spec".to_owned(), 1, 1);
        Body::Undecodable(Box::new(error))
    };
    let identity = Identity::new(self::key(KEYS[key]), uid, version);
    let (_, item) = ReceivedItem::new(reflector::Item::new(identity, body), epoch);
    (object, item)
}

pub(super) fn key(text: &str) -> ObjectKey {
    text.parse().expect("a key")
}

/// The items of one lease, as they are made.
struct LeasedItems {
    in_order: bool,
    items: Vec<(Option<&'static str>, Pending)>,
}

enum Pending {
    Key(Vec<Delta<ReceivedItem<usize>>>),
    Replace(Vec<(ObjectKey, ReceivedItem<usize>)>),
}

impl LeasedItems {
    fn key(&mut self, key: &'static str, delta: Delta<ReceivedItem<usize>>) {
        let waits = self.items.iter_mut().find(|(of, _)| *of == Some(key));
        match waits {
            Some((_, Pending::Key(deltas))) if !self.in_order => deltas.push(delta),
            _ => self.items.push((Some(key), Pending::Key(vec![delta]))),
        }
    }

    fn relist(&mut self, items: Vec<(&'static str, ReceivedItem<usize>)>, keys: &[&'static str]) {
        if self.in_order {
            let items = items
                .into_iter()
                .map(|(text, item)| (key(text), item))
                .collect();
            self.items.push((None, Pending::Replace(items)));
            return;
        }
        let left_out: Vec<_> = keys
            .iter()
            .filter(|key| items.iter().all(|(kept, _)| kept != *key))
            .collect();
        for (key, item) in items {
            self.key(key, Delta::Replaced(item));
        }
        for key in left_out {
            self.key(key, Delta::Deleted(Final::Unknown(None)));
        }
    }

    fn finish(self) -> Vec<Item<ObjectKey, ReceivedItem<usize>>> {
        let items = self.items.into_iter().map(|(of, pending)| match pending {
            Pending::Replace(items) => Item::Replace { items },
            Pending::Key(deltas) => {
                let mut deltas = deltas.into_iter();
                let first = deltas.next().expect("made with one");
                let key = key(of.expect("a key's item has a key"));
                Item::Key {
                    key,
                    deltas: Deltas::of(first, deltas),
                }
            }
        });
        items.collect()
    }
}

/// The events of each key together, keys in the order of the items.
fn by_key(
    items: &[Item<ObjectKey, ReceivedItem<usize>>],
    events: &[Event],
    received: &[Received],
) -> Vec<Event> {
    let mut sorted = Vec::new();
    for item in items {
        let Item::Key { key, .. } = item else {
            continue;
        };
        for event in events {
            match event {
                Event::Upsert { object, .. } | Event::Deleted { object }
                    if received[*object].key == key.as_str() =>
                {
                    sorted.push(event.clone());
                }
                Event::Vanished { key: of } if *of == key.as_str() => sorted.push(event.clone()),
                Event::LeftOut { kept } if !kept.contains(&key.as_str()) => {
                    let text = KEYS.iter().find(|text| **text == key.as_str());
                    sorted.push(Event::Vanished {
                        key: text.expect("one of ours"),
                    });
                }
                _ => {}
            }
        }
    }
    sorted
}
