//! Readers on other threads while the writer works: every answer is of one commit (STX-4, FM-13).
//!
//! Each commit makes all objects carry its number, in items and index alike, so that an answer
//! with two numbers in it is a torn one. Nothing here depends on timing: more overlap finds more,
//! and `caught` shows without threads that a torn commit is found.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Small;
use crate::table::shape::{Shape, Shipped};
use crate::{Batch, Entry, ObjectKey, Scope, Snapshot, StoreReader, StoreWriter};

const OBJECTS: usize = 300;

fn key(number: usize) -> ObjectKey {
    ObjectKey::new(Some("ns"), &format!("n{number:03}")).unwrap()
}

/// Everything in a snapshot is of one commit: the marked version, the items, the index.
fn is_whole<S: Shape>(snapshot: &Snapshot<u64, S>) -> bool {
    let Some(version) = snapshot.version(&Scope::All) else {
        return snapshot.is_empty();
    };
    let generation = version.as_number().unwrap();
    let indexed = snapshot.by_index("generation", &version.to_string());
    let indexed = indexed.unwrap();
    indexed.len() == snapshot.len()
        && indexed
            .zip(snapshot.iter())
            .all(|((key, found), (listed, entry))| {
                key == listed && found.is_same(entry) && *entry.object == generation
            })
        && snapshot.index_values("generation").unwrap().count() == 1
}

fn look_on<S: Shape>(reader: &StoreReader<u64, S>, done: &AtomicBool) -> usize {
    let mut torn = 0;
    let mut last = 0;
    while !done.load(Ordering::Relaxed) {
        let snapshot = reader.snapshot();
        assert!(snapshot.sequence() >= last, "time does not run backwards");
        last = snapshot.sequence();
        torn += usize::from(!is_whole(&snapshot));
        // A single query sees items and index together, too.
        let listed = reader.list();
        torn += usize::from(listed.iter().any(|object| **object != *listed[0]));
    }
    torn
}

/// Whether readers saw a torn state while batches and replacements were committed.
fn readers_see_torn_states<S: Shape>(commits: u64) -> bool {
    let mut writer = StoreWriter::<u64, S>::new();
    let reader = writer.reader();
    writer
        .add_index("generation", |object: &u64| [object.to_string()])
        .unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let lookers: Vec<_> = (0..2)
            .map(|_| scope.spawn(|| look_on(&reader, &done)))
            .collect();
        for generation in 0..commits {
            let object = Arc::new(generation);
            let entry = || Entry::new(Arc::clone(&object), "u", generation.to_string());
            let mut batch = Batch::new();
            // In turn by single changes and by replacement, of more and of fewer objects.
            let count = OBJECTS - (generation as usize % 3) * 50;
            if generation % 2 == 0 {
                (0..count).for_each(|number| batch.upsert(key(number), entry()));
                (count..OBJECTS).for_each(|number| batch.remove(key(number)));
            } else {
                let list = (0..count).map(|number| (key(number), entry())).collect();
                batch.replace(Scope::All, list);
            }
            batch.set_version(Scope::All, generation.to_string().into());
            writer.commit(batch);
        }
        done.store(true, Ordering::Relaxed);
        lookers
            .into_iter()
            .map(|looker| looker.join().unwrap())
            .sum::<usize>()
            > 0
    })
}

#[test]
fn readers_see_whole_commits_only() {
    assert!(!readers_see_torn_states::<Small>(300));
    assert!(!readers_see_torn_states::<Shipped>(300));
}
