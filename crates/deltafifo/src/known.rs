//! Port: what the consumer already holds.
//!
//! A queue asks it three things: whether a deletion is about anything, what a relist
//! leaves out, and what there is to resync. It is asked while the queue is
//! locked, so that queue and store are seen in step: hand in a cheap snapshot, not a store
//! that has to be locked.

// DF-04, DF-07, DF-13

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

use indexmap::IndexMap;

/// What the consumer already holds, answered from one snapshot.
///
/// `()` knows nothing; maps know what is in them. The order of `for_each` is the order in
/// which a queue reports what vanished and what is resynced, so a `HashMap` makes that order
/// unspecified.
#[doc(alias = "KeyListerGetter")]
#[doc(alias = "knownObjects")]
pub trait Known<K, V> {
    /// The object held for `key`.
    fn get(&self, key: &K) -> Option<V>;

    /// Visits all that is held, each key once.
    fn for_each(&self, visit: &mut dyn FnMut(&K, &V));

    /// Whether anything is held for `key`.
    fn contains(&self, key: &K) -> bool {
        self.get(key).is_some()
    }

    /// Whether just this object is held for `key`, so that a relist with it tells the consumer
    /// nothing. A queue may then leave it out, unless something waits for the key.
    ///
    /// Never by default: only who can tell equal objects may say so.
    fn holds(&self, key: &K, value: &V) -> bool {
        let _unused = (key, value);
        false
    }

    /// Visits the keys of all that is held, in the order of `for_each`.
    fn for_each_key(&self, visit: &mut dyn FnMut(&K)) {
        self.for_each(&mut |key, _| visit(key));
    }
}

impl<K, V> Known<K, V> for () {
    fn get(&self, _: &K) -> Option<V> {
        None
    }

    fn for_each(&self, _: &mut dyn FnMut(&K, &V)) {}
}

macro_rules! known_from_a_map {
    ($map:ty, $($generics:tt)*) => {
        impl<$($generics)*> Known<K, V> for $map {
            fn get(&self, key: &K) -> Option<V> {
                self.get(key).cloned()
            }

            fn for_each(&self, visit: &mut dyn FnMut(&K, &V)) {
                self.iter().for_each(|(key, value)| visit(key, value));
            }
        }
    };
}

known_from_a_map!(HashMap<K, V, S>, K: Eq + Hash, V: Clone, S: BuildHasher);
known_from_a_map!(IndexMap<K, V, S>, K: Eq + Hash, V: Clone, S: BuildHasher);
known_from_a_map!(BTreeMap<K, V>, K: Ord, V: Clone);

macro_rules! known_through_a_pointer {
    ($($pointer:ty),*) => {$(
        impl<K, V, T: Known<K, V> + ?Sized> Known<K, V> for $pointer {
            fn get(&self, key: &K) -> Option<V> {
                (**self).get(key)
            }

            fn for_each(&self, visit: &mut dyn FnMut(&K, &V)) {
                (**self).for_each(visit);
            }

            fn contains(&self, key: &K) -> bool {
                (**self).contains(key)
            }

            fn holds(&self, key: &K, value: &V) -> bool {
                (**self).holds(key, value)
            }

            fn for_each_key(&self, visit: &mut dyn FnMut(&K)) {
                (**self).for_each_key(visit);
            }
        }
    )*};
}

known_through_a_pointer!(&T, Box<T>, Arc<T>);
