//! What each question has led to: one place for each key, taken by one at a time.
//!
//! It is a `DashMap`, whose shards let different questions be asked at once. A thread that waits
//! for a shard waits out of sight of a schedule, so in a test under `cfg(shuttle)` it is a map
//! behind shuttle's lock: what is shown there is what is done in a place, not the map.

#[cfg(not(all(test, shuttle)))]
pub(crate) use sharded::{Place, SharingMap};
#[cfg(all(test, shuttle))]
pub(crate) use visible::{Place, SharingMap};

#[cfg(not(all(test, shuttle)))]
mod sharded {
    use dashmap::DashMap;
    use dashmap::mapref::entry::Entry;

    use crate::sharing::key::SharingKey;

    pub(crate) struct SharingMap<V>(DashMap<SharingKey, V>);

    /// The place of one key, whether something is in it or not. Nobody else has it meanwhile.
    pub(crate) struct Place<'a, V>(Entry<'a, SharingKey, V>);

    impl<V> Default for SharingMap<V> {
        fn default() -> Self {
            Self(DashMap::new())
        }
    }

    impl<V> SharingMap<V> {
        /// Waits for whoever has it. Not to be held while anything else of the map is asked for.
        pub(crate) fn place(&self, key: SharingKey) -> Place<'_, V> {
            Place(self.0.entry(key))
        }

        /// Something of all there is, copied, so that nothing stays taken.
        pub(crate) fn copied<C>(&self, copy: impl Fn(&SharingKey, &V) -> C) -> Vec<C> {
            let entries = self.0.iter();
            entries
                .map(|entry| copy(entry.key(), entry.value()))
                .collect()
        }

        /// Takes out what is asked for, for the caller to drop when nothing is taken any more.
        pub(crate) fn take(&self, is_it: impl Fn(&V) -> bool) -> Option<V> {
            let found = self.0.iter().find(|entry| is_it(entry.value()));
            let key = found.map(|entry| entry.key().clone())?;
            let (_, taken) = self.0.remove_if(&key, |_, value| is_it(value))?;
            Some(taken)
        }
    }

    impl<V> Place<'_, V> {
        pub(crate) fn key(&self) -> &SharingKey {
            self.0.key()
        }

        pub(crate) fn present(&self) -> Option<&V> {
            match &self.0 {
                Entry::Occupied(present) => Some(present.get()),
                Entry::Vacant(_) => None,
            }
        }

        /// What was there before, for the caller to drop: the place is free by then.
        pub(crate) fn put(self, value: V) -> Option<V> {
            match self.0 {
                Entry::Occupied(mut present) => Some(present.insert(value)),
                Entry::Vacant(place) => {
                    place.insert(value);
                    None
                }
            }
        }
    }
}

#[cfg(all(test, shuttle))]
mod visible {
    use std::collections::HashMap;
    use std::sync::PoisonError;

    use crate::sharing::key::SharingKey;
    use crate::sync::{Mutex, MutexGuard};

    pub(crate) struct SharingMap<V>(Mutex<HashMap<SharingKey, V>>);

    pub(crate) struct Place<'a, V> {
        map: MutexGuard<'a, HashMap<SharingKey, V>>,
        key: SharingKey,
    }

    impl<V> Default for SharingMap<V> {
        fn default() -> Self {
            Self(Mutex::new(HashMap::new()))
        }
    }

    impl<V> SharingMap<V> {
        fn lock(&self) -> MutexGuard<'_, HashMap<SharingKey, V>> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }

        pub(crate) fn place(&self, key: SharingKey) -> Place<'_, V> {
            Place {
                map: self.lock(),
                key,
            }
        }

        pub(crate) fn copied<C>(&self, copy: impl Fn(&SharingKey, &V) -> C) -> Vec<C> {
            let map = self.lock();
            map.iter().map(|(key, value)| copy(key, value)).collect()
        }

        pub(crate) fn take(&self, is_it: impl Fn(&V) -> bool) -> Option<V> {
            let taken = self.lock().extract_if(|_, value| is_it(value)).next();
            taken.map(|(_, value)| value)
        }
    }

    impl<V> Place<'_, V> {
        pub(crate) fn key(&self) -> &SharingKey {
            &self.key
        }

        pub(crate) fn present(&self) -> Option<&V> {
            self.map.get(&self.key)
        }

        pub(crate) fn put(self, value: V) -> Option<V> {
            let Self { mut map, key } = self;
            map.insert(key, value)
        }
    }
}
