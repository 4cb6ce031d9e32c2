//! Runs one history through the store and the model and compares every answer after every step.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use super::model::{Change, INDEXES, Model, Step, Thing, values};
use super::sound;
use crate::table::shape::Shape;
use crate::{
    Batch, Entries, Entry, ObjectKey, PreparedIndex, Scope, Snapshot, StoreReader, StoreWriter,
};

/// The store under test, its model, and a look from inside the index functions.
pub(crate) struct History<S: Shape> {
    pub(crate) writer: StoreWriter<Thing, S>,
    /// Shared with index functions, which must not keep the store alive that holds them.
    reader: Arc<StoreReader<Thing, S>>,
    model: Model,
    prepared: Option<(usize, PreparedIndex<Thing, S>)>,
    serial: u64,
    /// Set when an index function, which runs in the middle of a commit, saw a state other than
    /// the one before the commit (STX-4).
    torn: Arc<AtomicBool>,
    before: Arc<Mutex<Option<Snapshot<Thing, S>>>>,
    /// Snapshots held for the whole history, with what they showed when they were taken.
    held: Vec<(Snapshot<Thing, S>, Content)>,
}

/// The same content, the same identity of records, the same marks.
fn is_same<S: Shape>(left: &Snapshot<Thing, S>, right: &Snapshot<Thing, S>) -> bool {
    let equal = || {
        left.sequence() == right.sequence()
            && left.len() == right.len()
            && left
                .iter()
                .zip(right.iter())
                .all(|((l, a), (r, b))| l == r && a.is_same(b))
    };
    Arc::ptr_eq(&left.state, &right.state) || equal()
}

type Content = Vec<(String, Thing)>;

fn content<S: Shape>(snapshot: &Snapshot<Thing, S>) -> Content {
    snapshot
        .iter()
        .map(|(key, entry)| (key.to_string(), Thing::clone(&entry.object)))
        .collect()
}

/// A walk item by item, and one that passes the rest at once after some, meet the same.
fn check_walk<S: Shape>(entries: &Entries<'_, Thing, S>) -> Result<(), String> {
    let mut single = Vec::new();
    for (key, _) in entries.clone() {
        single.push(key);
    }
    for taken in [0, 1, single.len() / 2] {
        let mut rest = entries.clone();
        let mut met: Vec<_> = rest.by_ref().take(taken).map(|(key, _)| key).collect();
        rest.for_each(|(key, _)| met.push(key));
        same("a walk at once", &met, &single)?;
    }
    Ok(())
}

fn key(text: &str) -> ObjectKey {
    text.parse().expect("histories have well-formed keys")
}

fn scope(namespace: Option<&str>) -> Scope {
    namespace.map_or(Scope::All, |namespace| Scope::Namespace(namespace.into()))
}

impl<S: Shape> History<S> {
    pub(crate) fn new() -> Self {
        let writer = StoreWriter::new();
        Self {
            reader: Arc::new(writer.reader()),
            writer,
            model: Model::default(),
            prepared: None,
            serial: 0,
            torn: Arc::default(),
            before: Arc::default(),
            held: Vec::new(),
        }
    }

    /// Runs the steps; the error is the first difference.
    pub(crate) fn run(steps: &[Step]) -> Result<(), String> {
        let mut history = Self::new();
        for (at, step) in steps.iter().enumerate() {
            history.step(step);
            history
                .check()
                .map_err(|what| format!("after step {at} ({step:?}): {what}"))?;
        }
        Ok(())
    }

    pub(crate) fn step(&mut self, step: &Step) {
        *self.before.lock().expect("one thread") = Some(self.reader.snapshot());
        match step {
            Step::Commit(changes) => self.commit(changes),
            Step::AddIndex(index) => {
                let added = self
                    .writer
                    .add_index(INDEXES[*index], self.function(*index));
                assert_eq!(
                    added.is_ok(),
                    self.model.indexes.insert(*index),
                    "NameTaken if and only if taken"
                );
            }
            Step::PrepareIndex(index) => {
                let snapshot = self.reader.snapshot();
                let function = self.function(*index);
                let prepared = snapshot.prepare_index(INDEXES[*index], NonZeroUsize::MAX, function);
                assert_eq!(prepared.is_err(), self.model.indexes.contains(index));
                self.prepared = prepared.ok().map(|prepared| (*index, prepared));
            }
            Step::CatchUp => {
                if let Some((_, prepared)) = &mut self.prepared {
                    prepared.catch_up(&self.reader.snapshot());
                }
            }
            Step::InstallIndex => {
                if let Some((index, prepared)) = self.prepared.take() {
                    let installed = self.writer.install_index(prepared);
                    assert_eq!(installed.is_ok(), self.model.indexes.insert(index));
                }
            }
            Step::RemoveIndex(index) => {
                let removed = self.writer.remove_index(INDEXES[*index]).is_ok();
                assert_eq!(removed, self.model.indexes.remove(index));
            }
        }
        *self.before.lock().expect("one thread") = None;
    }

    /// An index function that notices when half a commit is visible.
    fn function(&self, index: usize) -> impl Fn(&Thing) -> Vec<String> + Send + Sync + use<S> {
        let (torn, before) = (Arc::clone(&self.torn), Arc::clone(&self.before));
        let reader = Arc::downgrade(&self.reader);
        move |thing: &Thing| {
            let before = before.lock().expect("one thread");
            let reader = reader.upgrade().expect("nothing is stored after the end");
            if before
                .as_ref()
                .is_some_and(|before| !is_same(before, &reader.snapshot()))
            {
                torn.store(true, Ordering::Relaxed);
            }
            values(index, thing)
        }
    }

    fn commit(&mut self, changes: &[Change]) {
        let mut batch = Batch::new();
        let mut next = self.model.clone();
        for change in changes {
            let first = self.serial + 1;
            next.apply(change, || {
                self.serial += 1;
                self.serial
            });
            let mut serial = first..;
            let mut entry = |labels: &Vec<u8>| {
                let serial = serial.next().expect("endless");
                Entry::new(
                    Thing {
                        labels: labels.clone(),
                        serial,
                    },
                    "u",
                    serial.to_string(),
                )
            };
            match change {
                Change::Upsert { key: text, labels } => batch.upsert(key(text), entry(labels)),
                Change::Delete { key: text } => batch.remove(key(text)),
                Change::Replace { namespace, list } => {
                    let list = list.iter().map(|(text, labels)| (key(text), entry(labels)));
                    batch.replace(scope(namespace.as_deref()), list.collect());
                }
                Change::Relist => {
                    // Only what is committed can be listed again: alone in a batch it is a no-op.
                    if changes.len() == 1 {
                        let stored = self.reader.snapshot().into_iter().collect();
                        batch.replace(Scope::All, stored);
                    }
                }
                Change::Mark { namespace, version } => {
                    batch.set_version(scope(namespace.as_deref()), version.to_string().into());
                }
            }
        }
        next.sequence += 1;
        let before = self.model.items.len();
        let commit = self.writer.commit(batch);
        assert_eq!(commit.sequence, next.sequence);
        assert_eq!(
            before + commit.inserted - commit.removed,
            next.items.len(),
            "counts add up"
        );
        self.model = next;
    }

    /// Compares every answer with the model's, and the parts of the store with each other.
    pub(crate) fn check(&mut self) -> Result<(), String> {
        let snapshot = self.reader.snapshot();
        let model: Vec<_> = self.model.items.clone().into_iter().collect();
        same("list", &content(&snapshot), &model)?;
        check_walk(&snapshot.iter())?;
        same("sequence", &snapshot.sequence(), &self.model.sequence)?;
        let cursor = snapshot.clone().cursor();
        same("cursor's length", &cursor.len(), &model.len())?;
        let walked: Vec<_> = cursor
            .map(|(key, entry)| (key.to_string(), Thing::clone(&entry.object)))
            .collect();
        same("cursor", &walked, &model)?;
        for namespace in ["a", "b", "a-b", ""] {
            let found = snapshot.namespace(namespace);
            same("a range's length", &found.len(), &found.clone().count())?;
            check_walk(&found)?;
            let found: Vec<_> = found.map(|(key, _)| key.to_string()).collect();
            let keys = self.model.items.keys();
            let expected: Vec<_> = keys
                .filter(|key| Model::belongs(key, Some(namespace)))
                .cloned()
                .collect();
            same("namespace", &found, &expected)?;
        }
        for (text, thing) in &self.model.items {
            let entry = snapshot
                .get(text)
                .ok_or_else(|| format!("{text} cannot be got"))?;
            same("get", &*entry.object, thing)?;
            same("version", &entry.version, &thing.serial.to_string().into())?;
            same(
                "the writer's get",
                &self
                    .writer
                    .snapshot()
                    .get(key(text))
                    .map(|e| e.is_same(entry)),
                &Some(true),
            )?;
        }
        for (namespace, version) in &self.model.versions {
            let held = snapshot
                .version(&scope(namespace.as_deref()))
                .map(ToString::to_string);
            same("applied version", &held.as_ref(), &Some(version))?;
        }
        for index in 0..INDEXES.len() {
            self.check_index(&snapshot, index)?;
        }
        if !sound::state(&self.writer.state) {
            return Err("the parts of the store disagree".into());
        }
        if self.torn.load(Ordering::Relaxed) {
            return Err("STX-4: half a commit was visible".into());
        }
        self.check_held(snapshot)
    }

    fn check_index(&self, snapshot: &Snapshot<Thing, S>, index: usize) -> Result<(), String> {
        let name = INDEXES[index];
        if !self.model.indexes.contains(&index) {
            return same(
                "an unknown index",
                &snapshot.by_index(name, "x").is_err(),
                &true,
            );
        }
        let expected = self.model.index(index);
        let values = snapshot
            .index_values(name)
            .map_err(|error| error.to_string())?;
        let values: Vec<_> = values.map(ToString::to_string).collect();
        same(
            "STX-2: values",
            &values,
            &expected.keys().cloned().collect::<Vec<_>>(),
        )?;
        for (value, keys) in &expected {
            let found = snapshot
                .by_index(name, value)
                .map_err(|error| error.to_string())?;
            same("a bucket's length", &found.len(), &keys.len())?;
            check_walk(&found)?;
            for ((found, entry), expected) in found.zip(keys) {
                same("STX-1: key", &found.as_str(), &expected.as_str())?;
                same("STX-1: object", &*entry.object, &self.model.items[expected])?;
            }
        }
        same(
            "an unknown value",
            &snapshot.by_index(name, "x").map(|found| found.len()),
            &Ok(0),
        )
    }

    /// Snapshots never change (STX-5), however much is committed after them.
    fn check_held(&mut self, snapshot: Snapshot<Thing, S>) -> Result<(), String> {
        for (held, shown) in &self.held {
            same("STX-5: a held snapshot", &content(held), shown)?;
        }
        if self.held.len() < 4 {
            let shown = content(&snapshot);
            self.held.push((snapshot, shown));
        }
        Ok(())
    }
}

fn same<T: PartialEq + std::fmt::Debug + ?Sized>(
    what: &str,
    found: &T,
    expected: &T,
) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what}: found {found:?}, expected {expected:?}"))
}

/// A history leaves nothing behind, or an hour of the fuzzer would not fit into memory.
#[test]
fn a_history_is_freed_with_its_objects() {
    let mut history = History::<super::Small>::new();
    history.step(&Step::AddIndex(0));
    history.step(&Step::Commit(vec![Change::Upsert {
        key: "a/n0".to_owned(),
        labels: vec![1],
    }]));
    let object = Arc::downgrade(&history.reader.get("a/n0").expect("it was stored"));
    drop(history);
    assert_eq!(object.strong_count(), 0);
}
