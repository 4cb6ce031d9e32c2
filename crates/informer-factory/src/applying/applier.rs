//! The step that changes an informer: one commit to the store, then one distribution.
//!
//! `apply` decides what is committed and delivered. This module carries it out, and tries again
//! without the objects that an index refuses.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use informer_deltafifo::Item;
use informer_processor::{Joining, Processor, Registration};
use informer_reflector::ResourceVersion;
use informer_store::{
    Batch, Index, IndexError, ObjectKey, Scope, Snapshot, StoreReader, StoreWriter,
};
use tokio::sync::Notify;

use crate::applying::apply::{Applied, Event, Fold};
use crate::applying::epochs::Epochs;
use crate::applying::listed::is_relist;
use crate::applying::probe::Probes;
use crate::applying::quarantine::{Quarantine, QuarantineReason};
use crate::applying::received_item::ReceivedItem;
use crate::applying::replay;
use crate::applying::verdict::{Judgement, Refused};
use crate::status::shared::SharedStatus;
use crate::sync::{Mutex, MutexGuard};

/// The progress observer of one source's queue.
pub(crate) type ProgressObserver<T> =
    informer_deltafifo::ProgressObserver<ObjectKey, ReceivedItem<T>, ResourceVersion>;

/// An item that the queue has given up.
type GivenUp<T> = informer_deltafifo::Exhausted<ObjectKey, ReceivedItem<T>>;

/// The store, the handlers and the quarantine of one informer, which change together.
pub(crate) struct Applier<T: Send + Sync + 'static> {
    pub(crate) status: Arc<SharedStatus>,
    /// The number of values one object may give one index.
    index_values: NonZeroUsize,
    pub(crate) reader: StoreReader<T>,
    pub(crate) processor: Processor<ObjectKey, T>,
    pub(crate) quarantine: Quarantine,
    /// Notified when a handler with a resync period of its own has joined.
    pub(crate) resync_changed: Notify,
    /// Notified when the store, its version or the backlogs of handlers may have changed.
    pub(crate) sample_due: Notify,
    probes: Probes<T>,
    writing: Mutex<Writing<T>>,
}

/// The writing side. Locked for one commit at a time; readers do not need it.
pub(super) struct Writing<T> {
    pub(super) writer: StoreWriter<T>,
    /// The epochs of what the store holds, per source.
    epochs: HashMap<Scope, Epochs>,
}

/// The content of one lease of a source's queue.
pub(crate) struct Lease<'a, T> {
    pub(crate) scope: &'a Scope,
    pub(crate) items: Vec<&'a Item<ObjectKey, ReceivedItem<T>>>,
    pub(crate) initial: bool,
    /// The version of the store after the lease, if the lease decides it.
    pub(crate) version: Option<&'a ResourceVersion>,
}

impl<T: Send + Sync + 'static> Applier<T> {
    pub(crate) fn new(
        status: Arc<SharedStatus>,
        index_values: NonZeroUsize,
        quarantine: Quarantine,
        processor: Processor<ObjectKey, T>,
    ) -> Self {
        let (writer, reader) = informer_store::store();
        Self {
            status,
            index_values,
            reader,
            processor,
            quarantine,
            resync_changed: Notify::new(),
            sample_due: Notify::new(),
            probes: Probes::default(),
            writing: Mutex::new(Writing {
                writer,
                epochs: HashMap::new(),
            }),
        }
    }

    /// Applies the items of one lease: one commit, then one distribution, in this order.
    ///
    /// Keys in `refused` keep their stored objects: their new ones were tried often enough.
    ///
    /// Both happen under the writer's lock, so that listeners receive commits in commit order.
    /// Distribution only appends to rings; no handler runs here.
    // C-05, PR-14
    pub(crate) fn apply(&self, lease: &Lease<'_, T>, mut refused: Refused) {
        let mut writing = self.lock();
        let (sequence, applied, before) = loop {
            match self.try_apply(&mut writing, lease, &refused) {
                Ok(applied) => break applied,
                Err(culprits) => refused.extend(culprits),
            }
        };
        match applied.replayed {
            0 => self.processor.distribute(sequence, &applied.notifications),
            _ => self.distribute_collection(),
        }
        drop(writing);
        // The objects that the commit displaced are dropped here, outside of the lock.
        if catch_unwind(AssertUnwindSafe(|| drop(before))).is_err() {
            tracing::error!(informer = %self.status.name, "the drop of an object panicked");
            self.status.count_task_panic();
        }
        self.sample_due.notify_one();
        self.judge(applied.judged, refused);
        let objects = self.reader.len();
        let notified = applied.notifications.len() as u64 + applied.replayed;
        self.status.count_events(notified, applied.dropped, objects);
    }

    /// Moves keys into quarantine and out of it, as they were applied.
    // IN-7
    fn judge(&self, judged: BTreeMap<ObjectKey, Judgement>, refused: Refused) {
        if judged.is_empty() && refused.is_empty() {
            return;
        }
        for (key, judgement) in judged {
            match judgement {
                Judgement::Good => self.quarantine.release(&key, false),
                Judgement::Kept => self.quarantine.release(&key, true),
                Judgement::Unusable { version, error } => {
                    self.refuse(&key, &version, &QuarantineReason::Undecodable(error));
                }
            }
        }
        for (key, reason) in refused {
            self.refuse(&key, &ResourceVersion::unset(), &reason);
        }
        self.note_quarantine();
    }

    /// Quarantines what the queue has given up, by key; the store keeps the last good version.
    pub(crate) fn give_up(&self, failed: Vec<GivenUp<T>>) {
        for GivenUp { item, attempts, .. } in failed {
            let attempts = attempts.get();
            let reason = QuarantineReason::Unappliable { attempts };
            let put = |key: &ObjectKey| self.refuse(key, &ResourceVersion::unset(), &reason);
            match item {
                Item::Key { key, .. } => put(&key),
                Item::Replace { items } => items.iter().for_each(|(key, _)| put(key)),
                Item::Resync => {}
            }
        }
        self.note_quarantine();
    }

    /// Quarantines one key, and logs what is new about it.
    fn refuse(&self, key: &ObjectKey, version: &ResourceVersion, reason: &QuarantineReason) {
        let informer = &self.status.name;
        if self.quarantine.put(key, version, reason) {
            tracing::warn!(%informer, %key, %version, "{reason}");
        }
    }

    /// Publishes the number of quarantined keys.
    pub(crate) fn note_quarantine(&self) {
        self.status.set_quarantined(self.quarantine.len());
    }

    /// Commits without the objects of `refused`, and returns the state before it as well.
    ///
    /// # Errors
    ///
    /// The objects for which nothing was committed: those on which an index function panics, which
    /// changes nothing, or those that give an index more values than are allowed.
    // STX-10
    fn try_apply(
        &self,
        writing: &mut Writing<T>,
        lease: &Lease<'_, T>,
        refused: &Refused,
    ) -> Result<(u64, Applied<T>, Snapshot<T>), Refused> {
        let Writing { writer, epochs } = writing;
        let epochs = epochs.entry(lease.scope.clone()).or_default();
        let snapshot = self.reader.snapshot();
        let initial = lease.initial && !self.status.is_synced();
        let fold = |replayed| {
            let mut fold = Fold::new(&snapshot, lease.scope, epochs, initial, refused);
            fold.track_good = self.quarantine.len() > 0;
            fold.lease(&lease.items, replayed);
            fold.finish()
        };
        // An empty store becomes the collection: a replay of it delivers the same notifications,
        // and they are not in memory all together.
        let replayed = initial && snapshot.is_empty() && *lease.scope == Scope::All;
        let mut applied = fold(replayed && lease.items.iter().all(|item| is_relist(item)));
        if let Some(version) = lease.version {
            let (scope, version) = (lease.scope.clone(), version.clone());
            applied.batch.set_version(scope, version);
        }
        let batch = std::mem::take(&mut applied.batch);
        let most = self.index_values;
        let committed = catch_unwind(AssertUnwindSafe(|| writer.commit_bounded(batch, most)));
        match committed {
            Ok(Ok(commit)) => {
                *epochs = std::mem::take(&mut applied.epochs);
                Ok((commit.sequence, applied, snapshot))
            }
            Ok(Err(above_bound)) => {
                let reason = QuarantineReason::TooManyValues { most };
                Err(for_reason(above_bound.keys, &reason))
            }
            Err(payload) => {
                tracing::error!(informer = %self.status.name, "an index function panicked");
                self.status.count_task_panic();
                let culprits = self.probes.culprits(&fold(false).notifications);
                if culprits.is_empty() {
                    // No object is to blame: the supervision of this task tries again.
                    resume_unwind(payload);
                }
                let reason = QuarantineReason::Unappliable { attempts: 1 };
                Err(for_reason(culprits, &reason))
            }
        }
    }

    /// Delivers the first collection, which is all there is in the store.
    fn distribute_collection(&self) {
        let snapshot = self.reader.snapshot();
        let replay = || replay::present(snapshot.clone());
        self.processor
            .distribute_initial(snapshot.sequence(), replay);
    }

    /// The notifications that applying one item would deliver, without applying it.
    pub(crate) fn preview(
        &self,
        scope: &Scope,
        item: &Item<ObjectKey, ReceivedItem<T>>,
        initial: bool,
    ) -> Vec<Event<T>> {
        let epochs = self.lock().epochs.get(scope).cloned().unwrap_or_default();
        let snapshot = self.reader.snapshot();
        let (initial, refused) = (initial && !self.status.is_synced(), Refused::new());
        let mut fold = Fold::new(&snapshot, scope, &epochs, initial, &refused);
        fold.item(item);
        fold.finish().notifications
    }

    /// Publishes how far the store is, and that it is synced, after the effect is visible.
    ///
    /// Also where nothing was applied: a bookmark moves the version without a change, and an empty
    /// collection is synced without one. A caller for which everything received has been applied
    /// passes the epoch of it.
    pub(crate) fn publish(&self, scope: &Scope, queue: &ProgressObserver<T>, epoch: Option<u32>) {
        // Read under the lock, so that of two concurrent calls the later one publishes more.
        let mut writing = self.lock();
        let epochs = writing.epochs.entry(scope.clone()).or_default();
        epochs.advance(epoch.unwrap_or(0));
        let epoch = epochs.store();
        let mut progress = queue.progress();
        if planted!(ReceivedIsApplied) {
            progress.applied = progress.received;
        }
        if let Some(version) = &progress.applied
            && self.reader.version(scope).as_ref() != Some(version)
        {
            let mut batch = Batch::new();
            batch.set_version(scope.clone(), version.clone());
            writing.writer.commit(batch);
        }
        self.status
            .set_progress(scope, progress.applied, epoch, progress.unsettled);
        drop(writing);
        if progress.synced && self.status.set_synced(scope) {
            self.processor.upstream_synced();
        }
        self.status.set_queued_items(progress.unsettled);
        self.sample_due.notify_one();
    }

    /// Removes everything a source brought, with a tombstone for each object.
    // FM-79
    pub(crate) fn clear(&self, scope: &Scope) {
        let nothing = Item::Replace { items: Vec::new() };
        let lease = Lease {
            scope,
            items: vec![&nothing],
            initial: false,
            version: None,
        };
        self.apply(&lease, Refused::new());
        let mut batch = Batch::new();
        batch.clear_version(scope.clone());
        let mut writing = self.lock();
        writing.writer.commit(batch);
        writing.epochs.remove(scope);
        drop(writing);
        self.quarantine.retain(|key| !scope.covers(key));
        self.note_quarantine();
    }

    /// Adds an index and, before the next commit, the probe for it. Objects that give it
    /// too many values are not in it, and are quarantined.
    // IX-10
    pub(crate) fn add_index<F, I, V>(
        &self,
        name: Arc<str>,
        values: F,
    ) -> Result<Index<T>, IndexError>
    where
        F: Fn(&T) -> I + Send + Sync + 'static,
        I: IntoIterator<Item = V>,
        V: Into<Arc<str>>,
    {
        let most = self.index_values;
        let values = Arc::new(values);
        let probe = Arc::clone(&values);
        // The function runs for all stored objects before the lock is taken. Under the lock it runs
        // only for those committed since `before`, which also keeps the old state until the end.
        let snapshot = self.reader.snapshot();
        let mut prepared = snapshot.prepare_index(name, most, move |object: &T| values(object))?;
        let before = self.reader.snapshot();
        prepared.catch_up(&before);
        let mut writing = self.lock();
        let (index, above_bound) = writing.writer.install_index(prepared)?;
        self.probes.add(move |object| {
            let values = probe(object).into_iter().take(most.get());
            values.for_each(|value| drop::<Arc<str>>(value.into()));
        });
        let reason = QuarantineReason::TooManyValues { most };
        self.judge(BTreeMap::new(), for_reason(above_bound, &reason));
        drop(writing);
        drop((snapshot, before));
        Ok(index)
    }

    /// The store as exactly what one source received up to a version, if it is so at this moment:
    /// the first collection is applied, and nothing waits.
    pub(crate) fn exact_snapshot(
        &self,
        queue: &ProgressObserver<T>,
    ) -> Option<(Snapshot<T>, ResourceVersion)> {
        // No commit of what is leased meanwhile can come between, since it needs this lock.
        let _writing = self.lock();
        let progress = queue.progress();
        let applied = progress.applied.filter(ResourceVersion::is_exact)?;
        (progress.synced && progress.unsettled == 0).then(|| (self.reader.snapshot(), applied))
    }

    /// The epoch of what the store holds of a source.
    pub(crate) fn epoch(&self, scope: &Scope) -> u32 {
        self.lock().epochs.get(scope).map_or(0, Epochs::store)
    }

    /// Lets a registered listener begin: everything there is, then every commit after it.
    /// The writer does not pause for it.
    pub(crate) fn join(&self, joining: Joining<ObjectKey, T>) -> Registration {
        let snapshot = self.reader.snapshot();
        let registration = joining.begin(snapshot.sequence(), replay::present(snapshot));
        self.resync_changed.notify_one();
        self.sample_due.notify_one();
        registration
    }

    /// Hands one resync to every listener for which it is due, between two commits.
    pub(crate) fn resync(&self, now: Instant) {
        let _writing = self.lock();
        let snapshot = self.reader.snapshot();
        let replay = || replay::unchanged(snapshot.clone(), self.reader.clone());
        self.processor
            .distribute_resync(snapshot.sequence(), now, replay);
    }

    /// Makes all gauges exist, before there is anything to report.
    pub(crate) fn begin_metrics(&self) {
        self.status.count_events(0, 0, self.reader.len());
        self.note_quarantine();
        self.status.set_queued_items(0);
        self.sample_due.notify_one();
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Writing<T>> {
        // A panicking index function leaves the store as it was (STX-10), so the lock's poison
        // has no meaning.
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keys that are refused for one reason.
fn for_reason(keys: Vec<ObjectKey>, reason: &QuarantineReason) -> Refused {
    let refused = keys.into_iter().map(|key| (key, reason.clone()));
    refused.collect()
}
