//! Runs one history through the fold and a real store, beside model and witness.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use informer_processor::{Added, Cause, Deleted, Notification, Updated};
use informer_store::{Entry, StoreReader, StoreWriter};

use super::history::{History, KEYS, Lease, Source, key};
use super::invariants::Witness;
use super::model::{Model, Told};
use crate::applying::apply::{Applied, Event, Fold};
use crate::applying::epochs::Epochs;
use crate::applying::quarantine::QuarantineReason;
use crate::applying::verdict::{Judgement, Refused};

/// The object of another source, under the key that is not ours.
const FOREIGN: usize = usize::MAX;

/// Checks a history. The error says what went wrong first.
pub(super) fn check(history: &History) -> Result<(), String> {
    let (mut writer, reader) = informer_store::store();
    if history.one_namespace {
        let entry = Entry::new(Arc::new(FOREIGN), "f", "5");
        writer.upsert(key(KEYS[2]), entry);
    }
    let mut run = Run {
        source: Source::new(history),
        model: Model::default(),
        witness: Witness::default(),
        epochs: Epochs::default(),
        quarantined: BTreeSet::new(),
        writer,
        reader,
    };
    for (at, lease) in history.leases.iter().enumerate() {
        run.lease(history, lease)
            .map_err(|why| format!("lease {at}: {why}"))?;
    }
    Ok(())
}

struct Run {
    source: Source,
    model: Model,
    witness: Witness,
    epochs: Epochs,
    quarantined: BTreeSet<&'static str>,
    writer: StoreWriter<usize>,
    reader: StoreReader<usize>,
}

impl Run {
    fn lease(&mut self, history: &History, lease: &Lease) -> Result<(), String> {
        let (items, events) = self.source.lease(&lease.ops);
        let refused = lease
            .refused
            .map(|at| (key(KEYS[at]), QuarantineReason::Unappliable { attempts: 1 }));
        let refused: Refused = refused.into_iter().collect();
        let (snapshot, scope) = (self.reader.snapshot(), history.scope());
        let mut fold = Fold::new(&snapshot, &scope, &self.epochs, lease.initial, &refused);
        fold.track_good = !self.quarantined.is_empty();
        items.iter().for_each(|item| fold.item(item));
        let Applied {
            batch,
            notifications,
            epochs,
            judged,
            ..
        } = fold.finish();
        self.writer.commit(batch);
        for (key, judgement) in judged {
            match judgement {
                Judgement::Good | Judgement::Kept => self.quarantined.remove(name(key.as_str())?),
                Judgement::Unusable { .. } => self.quarantined.insert(name(key.as_str())?),
            };
        }
        self.epochs = epochs;
        let told = notifications
            .iter()
            .map(tell)
            .collect::<Result<Vec<_>, _>>()?;

        let received = &self.source.received;
        let refused = lease.refused.map(|at| KEYS[at]);
        let expected = self.model.apply(&events, received, lease.initial, refused);
        for told in &told {
            self.witness.hear(told, received)?;
        }
        if told != expected {
            return Err(format!("told {told:?}, expected {expected:?}"));
        }
        let mut stored = BTreeMap::new();
        for (key, entry) in self.reader.snapshot().iter() {
            stored.insert(name(key.as_str())?, *entry.object);
        }
        if history.one_namespace && stored.remove(KEYS[2]) != Some(FOREIGN) {
            return Err("FM-14: another source's object was touched".into());
        }
        self.witness.agrees_with(&stored)?;
        // Keys that were never good are released by the sink of a list, not by the fold.
        let known = |key: &&&str| stored.contains_key(**key);
        let ours: Vec<_> = self.quarantined.iter().filter(known).collect();
        let theirs: Vec<_> = self.model.quarantined.iter().filter(known).collect();
        if ours != theirs {
            return Err(format!("IN-7: {ours:?} quarantined, expected {theirs:?}"));
        }
        if stored != self.model.stored {
            return Err(format!(
                "stored {stored:?}, expected {:?}",
                self.model.stored
            ));
        }
        Ok(())
    }
}

fn name(key: &str) -> Result<&'static str, String> {
    KEYS.into_iter()
        .find(|name| *name == key)
        .ok_or_else(|| format!("{key} is not ours"))
}

fn tell(notification: &Event<usize>) -> Result<Told, String> {
    let key = name(notification.key().as_str())?;
    Ok(match &**notification {
        Notification::Added(Added {
            object, initial, ..
        }) => Told::Added {
            key,
            object: **object,
            initial: *initial,
        },
        Notification::Updated(Updated {
            old, new, cause, ..
        }) => {
            let relist = *cause == Cause::Relist;
            Told::Updated {
                key,
                old: **old,
                new: **new,
                relist,
            }
        }
        Notification::Deleted(Deleted::Known { last, .. }) => Told::Deleted { key, last: **last },
        Notification::Deleted(Deleted::Unknown {
            last: Some(last), ..
        }) => Told::Tombstone { key, last: **last },
        Notification::Deleted(Deleted::Unknown { last: None, .. }) => {
            return Err(format!("PR-3: a tombstone of {key} without what was known"));
        }
        Notification::Deleted(Deleted::MovedAway { .. }) => {
            return Err(format!("PR-13: {key} moved away, and nothing is sharded"));
        }
    })
}
