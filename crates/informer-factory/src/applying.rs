//! The one step in which things change: one commit to the store, then one distribution.
//!
//! `apply` decides what is committed and delivered. This module carries it out, and tries again
//! without the objects that an index refuses.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use informer_deltafifo::Item;
use informer_reflector::ResourceVersion;
use informer_store::{ObjectKey, Scope, StoreWriter};

use crate::apply::{Applied, Fold, Notice};
use crate::arrival::Arrival;
use crate::core::Core;
use crate::epochs::Epochs;
use crate::verdict::{Judgement, Refusal, Refused};

/// The writing side. Held for one commit at a time; readers have nothing to do with it.
pub(crate) struct Applier<T> {
    pub(crate) writer: StoreWriter<T>,
    /// The epochs of what the store holds, per source.
    pub(crate) epochs: HashMap<Scope, Epochs>,
}

/// Why nothing was committed.
enum NotCommitted {
    /// An index function panicked, on these objects.
    Panicked {
        payload: Box<dyn std::any::Any + Send>,
        culprits: Vec<ObjectKey>,
    },
    /// These objects give an index more values than are allowed (SEC-24).
    TooManyValues(Vec<ObjectKey>),
}

impl<T: Send + Sync + 'static> Core<T> {
    /// Applies the works of one lease: one commit, then one distribution, in this order (C-05).
    ///
    /// Keys in `given_up` keep what they have: their new objects were tried often enough.
    ///
    /// Both happen under the writer's lock, so that listeners hear of commits in commit order
    /// (PR-14). Distribution only appends to rings; no handler runs here.
    pub(crate) fn apply<'w>(
        &self,
        scope: &Scope,
        works: impl IntoIterator<Item = &'w Item<ObjectKey, Arrival<T>>>,
        initial: bool,
        version: Option<&ResourceVersion>,
        given_up: &BTreeSet<ObjectKey>,
    ) {
        let works: Vec<_> = works.into_iter().collect();
        let mut applier = self.lock();
        let attempts = self.settings.attempts.get();
        let tried_often = |key: &ObjectKey| (key.clone(), Refusal::Failed { attempts });
        let mut refused: Refused = given_up.iter().map(tried_often).collect();
        let (sequence, applied) = loop {
            match self.try_apply(&mut applier, scope, &works, initial, version, &refused) {
                Ok(applied) => break applied,
                Err(NotCommitted::TooManyValues(keys)) => {
                    refused.extend(keys.into_iter().map(|key| (key, Refusal::TooManyValues)));
                }
                Err(NotCommitted::Panicked { culprits, .. }) if !culprits.is_empty() => {
                    let refusal = Refusal::Failed { attempts: 1 };
                    refused.extend(culprits.into_iter().map(|key| (key, refusal)));
                }
                // No object is to blame: the supervision of this task tries again.
                Err(NotCommitted::Panicked { payload, .. }) => resume_unwind(payload),
            }
        };
        self.processor.distribute(sequence, &applied.notices);
        drop(applier);
        self.backlogs_changed.notify_one();
        self.judge(applied.judged, refused);
        self.count(applied.notices.len() as u64, applied.dropped);
    }

    /// Moves keys into quarantine and out of it, as they were applied (IN-7).
    fn judge(&self, judged: BTreeMap<ObjectKey, Judgement>, refused: Refused) {
        if judged.is_empty() && refused.is_empty() {
            return;
        }
        for (key, judgement) in judged {
            match judgement {
                Judgement::Good => self.quarantine.release(&key),
                Judgement::Kept => self.quarantine.release_kept(&key),
                Judgement::Unusable { version, error } => {
                    if self.quarantine.put(key.clone(), &version, error.clone()) {
                        tracing::warn!(informer = %self.name, %key, %version, "{error}");
                    }
                }
            }
        }
        for (key, refusal) in refused {
            match refusal {
                Refusal::Failed { attempts } => self.quarantine.put_unappliable(key, attempts),
                Refusal::TooManyValues => self.refuse_values(&key),
            }
        }
        self.note_quarantine();
    }

    /// Quarantines a key whose object gives an index more values than are allowed.
    pub(crate) fn refuse_values(&self, key: &ObjectKey) {
        let most = self.settings.index_values;
        if self.quarantine.put_too_many_values(key.clone(), most) {
            tracing::warn!(informer = %self.name, %key, %most, "too many values for an index");
        }
    }

    /// Tells the board how many keys are quarantined.
    pub(crate) fn note_quarantine(&self) {
        self.board.set_quarantined(self.quarantine.len());
    }

    /// One commit without the objects of `refused`. When an index function panics nothing has
    /// changed (STX-10), and the objects it panics on are the culprits.
    fn try_apply(
        &self,
        applier: &mut Applier<T>,
        scope: &Scope,
        works: &[&Item<ObjectKey, Arrival<T>>],
        initial: bool,
        version: Option<&ResourceVersion>,
        refused: &Refused,
    ) -> Result<(u64, Applied<T>), NotCommitted> {
        let epochs = applier.epochs.entry(scope.clone()).or_default();
        let snapshot = self.reader.snapshot();
        let initial = initial && !self.board.is_synced();
        let mut fold = Fold::new(&snapshot, scope, epochs, initial, refused);
        fold.track_good(self.quarantine.len() > 0);
        fold.reserve(works.len());
        works.iter().for_each(|work| fold.work(work));
        let mut applied = fold.finish();
        drop(snapshot);
        if let Some(version) = version {
            applied.batch.mark(scope.clone(), version.to_shared());
        }
        let batch = std::mem::take(&mut applied.batch);
        let most = self.settings.index_values;
        let before = applier.writer.sequence();
        let committed = catch_unwind(AssertUnwindSafe(|| {
            applier.writer.commit_bounded(batch, most)
        }));
        // The state before is dropped after the new one is visible, and with it the user's objects.
        let is_visible = applier.writer.sequence() > before;
        match committed {
            _ if is_visible => {
                if committed.is_err() {
                    tracing::error!(informer = %self.name, "the drop of an object panicked");
                    self.board.count_task_panic();
                }
                *epochs = std::mem::take(&mut applied.epochs);
                Ok((applier.writer.sequence(), applied))
            }
            Ok(Ok(_)) => unreachable!("each commit has a sequence of its own"),
            Ok(Err(above_bound)) => Err(NotCommitted::TooManyValues(above_bound.keys)),
            Err(payload) => {
                tracing::error!(informer = %self.name, "an index function panicked");
                self.board.count_task_panic();
                let culprits = self.probes.culprits(&applied.notices);
                Err(NotCommitted::Panicked { payload, culprits })
            }
        }
    }

    /// What applying one work would tell, without applying it.
    pub(crate) fn preview(
        &self,
        scope: &Scope,
        work: &Item<ObjectKey, Arrival<T>>,
        initial: bool,
    ) -> Vec<Notice<T>> {
        let epochs = self.lock().epochs.get(scope).cloned().unwrap_or_default();
        let snapshot = self.reader.snapshot();
        let (initial, refused) = (initial && !self.board.is_synced(), Refused::new());
        let mut fold = Fold::new(&snapshot, scope, &epochs, initial, &refused);
        fold.work(work);
        fold.finish().notices
    }
}
