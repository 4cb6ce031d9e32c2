//! A source of news as the facade is one: commits become visible, and then are distributed.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::heard::{Heard, Hearing};
use crate::sync::Mutex;
use crate::{
    AddError, Added, Cause, Deleted, ListenerConfig, Notification, Overflow, Processor,
    ProcessorConfig, Registration, Replay, Updated,
};

pub(super) type Key = u8;
pub(super) type Object = u64;
pub(super) type State = BTreeMap<Key, Arc<Object>>;

pub(super) struct World {
    pub(super) processor: Processor<Key, Object>,
    /// What a snapshot shows, with the sequence of the commit that made it so.
    published: Mutex<(u64, State)>,
    /// Held from a commit until it is distributed.
    writer: Mutex<()>,
}

impl World {
    pub(super) fn new() -> Arc<Self> {
        Self::over(ProcessorConfig::default())
    }

    pub(super) fn over(config: ProcessorConfig) -> Arc<Self> {
        Arc::new(Self {
            processor: Processor::new(config),
            published: Mutex::default(),
            writer: Mutex::new(()),
        })
    }

    pub(super) fn snapshot(&self) -> (u64, State) {
        self.published.lock().expect("nobody panics").clone()
    }

    pub(super) fn state(&self) -> BTreeMap<Key, Object> {
        let (_, state) = self.snapshot();
        state.iter().map(|(key, object)| (*key, **object)).collect()
    }

    pub(super) fn set(&self, key: Key, object: Object) {
        let new = Arc::new(object);
        self.commit(|state| match state.insert(key, Arc::clone(&new)) {
            None => Notification::Added(Added::new(key, new)),
            Some(old) => Notification::Updated(Updated::new(key, old, new, Cause::Watch)),
        });
    }

    pub(super) fn delete(&self, key: Key) {
        self.commit(|state| {
            let last = state.remove(&key).expect("only what is there is deleted");
            Notification::Deleted(Deleted::Known { key, last })
        });
    }

    fn commit(&self, change: impl FnOnce(&mut State) -> Notification<Key, Object>) {
        let writing = self.writer.lock().expect("nobody panics");
        let mut published = self.published.lock().expect("nobody panics");
        published.0 += 1;
        let (sequence, news) = (published.0, Arc::new(change(&mut published.1)));
        drop(published);
        self.processor.distribute(sequence, &[news]);
        drop(writing);
    }

    /// Hands a resync to who is due, between two commits.
    pub(super) fn resync(&self, now: std::time::Instant) {
        let writing = self.writer.lock().expect("nobody panics");
        let (sequence, state) = self.snapshot();
        self.processor.distribute_resync(sequence, now, || {
            Replay::new(state.clone().into_iter().map(|(key, object)| {
                Notification::Updated(Updated::new(
                    key,
                    Arc::clone(&object),
                    object,
                    Cause::Resync,
                ))
            }))
        });
        drop(writing);
    }

    /// A handler that hears everything there is, and everything from then on.
    pub(super) fn add(&self, heard: &Arc<Heard>) -> Result<Registration, AddError> {
        self.add_with(heard, Overflow::default())
    }

    pub(super) fn add_with(
        &self,
        heard: &Arc<Heard>,
        overflow: Overflow,
    ) -> Result<Registration, AddError> {
        let config = ListenerConfig::named("hearing").overflow(overflow);
        self.add_configured(heard, config)
    }

    pub(super) fn add_configured(
        &self,
        heard: &Arc<Heard>,
        config: ListenerConfig,
    ) -> Result<Registration, AddError> {
        let hearing = Hearing(Arc::clone(heard));
        let joining = self.processor.add_blocking(hearing, config)?;
        let (sequence, state) = self.snapshot();
        Ok(joining.begin(sequence, replay(state)))
    }
}

/// What is there when a listener joins.
pub(super) fn replay(state: State) -> Replay<Key, Object> {
    Replay::new(
        state
            .into_iter()
            .map(|(key, object)| Notification::Added(Added::new(key, object).initial(true))),
    )
}
