//! Looks at the informer from outside, as its user does.

use std::sync::Arc;

use informer_factory::{ResourceVersion, store::Scope};

use crate::{
    evidence::Sample,
    object::{Form, held_in},
    run::World,
};

impl<T: Form> World<T> {
    /// Everything there is to see at this moment.
    pub(crate) fn sample(&mut self) {
        self.search_for_payloads();
        let status = self.informer.status();
        let snapshot = self.informer.reader().snapshot();
        let held = held_in(&snapshot);
        let index = self.index.as_ref().map(|index| {
            let values = snapshot.index_values(index.name());
            let values: Vec<Arc<str>> = values
                .map(|values| values.cloned().collect())
                .unwrap_or_default();
            let keys = |value: &Arc<str>| {
                let found = snapshot.with(index, value);
                let mut keys: Vec<String> = found.map(|(key, _)| key.to_string()).collect();
                keys.sort_unstable();
                (Arc::clone(value), keys)
            };
            let mut all: Vec<_> = values.iter().map(keys).collect();
            all.sort_unstable();
            all
        });
        let applied = snapshot
            .version(&Scope::All)
            .and_then(ResourceVersion::as_number);
        let listeners = self.joined.iter().map(|one| {
            (
                one.joined.registration.is_synced(),
                one.joined.notebook.told().len(),
            )
        });
        self.samples.push(Sample {
            at: self.now(),
            state: status.state,
            is_synced: status.synced,
            applied,
            held,
            index,
            quarantined: status.quarantined,
            lists: status.sources.iter().map(|source| source.lists).collect(),
            is_failing: status.sources.iter().any(|source| source.failure.is_some()),
            listeners: listeners.collect(),
        });
    }
}
