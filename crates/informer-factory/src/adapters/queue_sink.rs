//! Puts what the reflector accepted into the queue, and what nobody can use into quarantine.

use std::sync::Arc;

use informer_deltafifo::{Final, Producer};
use informer_reflector::{Body, Change, DecodeError, Emission, Item, ObjectMeta};
use informer_reflector::{Refused, ResourceVersion, Sink};
use informer_store::{Entry, ObjectKey, Scope, Snapshot};

use crate::adapters::KnownKeys;
use crate::arrival::{Arrival, key_of};
use crate::core::{Core, Watcher};

/// The producing end of one source.
pub(crate) struct QueueSink<T: Send + Sync + 'static> {
    core: Arc<Core<T>>,
    scope: Scope,
    producer: Producer<ObjectKey, Arrival<T>, ResourceVersion>,
    watcher: Watcher<T>,
    epoch: u32,
}

impl<T: Send + Sync + 'static> QueueSink<T> {
    pub(crate) fn new(
        core: Arc<Core<T>>,
        scope: Scope,
        producer: Producer<ObjectKey, Arrival<T>, ResourceVersion>,
    ) -> Self {
        let (epoch, watcher) = (core.epoch(&scope), producer.watcher());
        Self {
            core,
            scope,
            producer,
            watcher,
            epoch,
        }
    }

    async fn replace(
        &mut self,
        items: Vec<Item<T>>,
        received: ResourceVersion,
        new_epoch: bool,
    ) -> Result<(), Refused> {
        self.epoch += u32::from(new_epoch);
        // A relist names afresh whoever is still bad.
        self.core.quarantine.release_scope(&self.scope);
        let snapshot = self.core.reader.snapshot();
        let listed = items
            .into_iter()
            .filter_map(|item| self.listed(item, &snapshot))
            .collect();
        drop(snapshot);
        self.note_quarantine();
        let known = || self.known();
        self.producer
            .replace(listed, received, known)
            .await
            .map_err(|_| Refused)?;
        self.note_progress();
        Ok(())
    }

    /// One item of a list; a bad one is represented by its last good version, if there is one of
    /// the same life (FM-53).
    fn listed(&self, item: Item<T>, store: &Snapshot<T>) -> Option<(ObjectKey, Arrival<T>)> {
        let key = self.key(&item.meta)?;
        let arrival = match item.body {
            Body::Decoded(object) | Body::Reused(object) => {
                Arrival::new(object, &item.meta, self.epoch)
            }
            Body::Undecodable(error) => {
                self.core.quarantine.put(key.clone(), &item.meta, error);
                let entry = store
                    .get(key.as_str())
                    .filter(|e| same_life(e, &item.meta))?
                    .clone();
                Arrival {
                    entry,
                    epoch: self.epoch,
                }
            }
        };
        Some((key, arrival))
    }

    async fn change(
        &mut self,
        change: Change,
        item: Item<T>,
        received: ResourceVersion,
    ) -> Result<(), Refused> {
        let Some(key) = self.key(&item.meta) else {
            return self.bookmark(received).await;
        };
        match (change, item.body) {
            (Change::Deleted, body) => {
                self.release(&key);
                let last = match body {
                    Body::Decoded(object) | Body::Reused(object) => {
                        Final::Observed(Arrival::new(object, &item.meta, self.epoch))
                    }
                    // That it is gone can be told all the same; how it looked cannot.
                    Body::Undecodable(_) => Final::Unknown(None),
                };
                self.delete(key, last, received).await
            }
            (_, Body::Undecodable(error)) => self.bad(key, &item.meta, error, received).await,
            (change, Body::Decoded(object) | Body::Reused(object)) => {
                self.release(&key);
                let arrival = Arrival::new(object, &item.meta, self.epoch);
                let accepted = if change == Change::Added {
                    self.producer.add(key, arrival, received).await
                } else {
                    self.producer.update(key, arrival, received).await
                };
                accepted.map_err(|_| Refused)
            }
        }
    }

    /// A version that nobody can use: its key is quarantined, and the last good version stays,
    /// unless it belongs to an object that is no more (FM-54).
    async fn bad(
        &mut self,
        key: ObjectKey,
        meta: &ObjectMeta,
        error: DecodeError,
        received: ResourceVersion,
    ) -> Result<(), Refused> {
        self.core.quarantine.put(key.clone(), meta, error);
        self.note_quarantine();
        let stored = self.core.reader.get_entry(key.as_str());
        if stored.is_some_and(|entry| !same_life(&entry, meta)) {
            return self.delete(key, Final::Unknown(None), received).await;
        }
        self.bookmark(received).await
    }

    async fn delete(
        &self,
        key: ObjectKey,
        last: Final<Arrival<T>>,
        received: ResourceVersion,
    ) -> Result<(), Refused> {
        let known = || self.known();
        self.producer
            .delete(key, last, received, known)
            .await
            .map(drop)
            .map_err(|_| Refused)?;
        self.note_progress();
        Ok(())
    }

    async fn bookmark(&self, received: ResourceVersion) -> Result<(), Refused> {
        self.producer
            .bookmark(received)
            .await
            .map_err(|_| Refused)?;
        self.note_progress();
        Ok(())
    }

    /// With nothing pending there is no commit that would tell of the progress.
    fn note_progress(&self) {
        if self.producer.is_empty() {
            self.core
                .publish(&self.scope, &self.watcher, Some(self.epoch));
        }
    }

    fn key(&self, meta: &ObjectMeta) -> Option<ObjectKey> {
        match key_of(meta) {
            Ok(key) => Some(key),
            Err(error) => {
                tracing::warn!(informer = %self.core.name, "an object was left out: {error}");
                None
            }
        }
    }

    fn release(&self, key: &ObjectKey) {
        if self.core.quarantine.len() > 0 {
            self.core.quarantine.release(key);
            self.note_quarantine();
        }
    }

    fn note_quarantine(&self) {
        self.core.board.set_quarantined(self.core.quarantine.len());
    }

    /// Taken under the queue's lock, so that queue and store are seen in step.
    fn known(&self) -> KnownKeys<T> {
        let (snapshot, scope) = (self.core.reader.snapshot(), self.scope.clone());
        KnownKeys {
            snapshot,
            scope,
            epoch: self.epoch,
        }
    }
}

/// Whether an entry and metadata from the wire may be of one object.
fn same_life<T>(entry: &Entry<T>, meta: &ObjectMeta) -> bool {
    entry.uid.is_empty() || meta.uid.is_empty() || entry.uid == meta.uid
}

impl<T: Send + Sync + 'static> Sink<T> for QueueSink<T> {
    async fn accept(&mut self, emission: Emission<T>) -> Result<(), Refused> {
        match emission {
            Emission::Replace {
                items,
                received,
                new_epoch,
            } => self.replace(items, received, new_epoch).await,
            Emission::Change {
                change,
                item,
                received,
            } => self.change(change, item, received).await,
            Emission::Bookmark { received } => self.bookmark(received).await,
        }
    }
}
