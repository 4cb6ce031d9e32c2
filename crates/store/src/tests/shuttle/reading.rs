//! Readers beside the writer. Each commit makes all objects carry its number, in items and index
//! alike, so that an answer with two numbers in it is of two states.

use std::sync::Arc;

use shuttle::thread;

use super::explore;
use crate::tests::Small;
use crate::{Batch, Entry, ObjectKey, Scope, StoreReader, StoreWriter};

fn key(number: u64) -> ObjectKey {
    ObjectKey::new(Some("ns"), &format!("n{number}")).expect("a legal name")
}

/// All objects of one generation, and one object more with each.
fn generation(generation: u64) -> Vec<(ObjectKey, Entry<u64>)> {
    let entry = || Entry::new(generation, "u", generation.to_string());
    (0..generation + 1)
        .map(|number| (key(number), entry()))
        .collect()
}

fn write(writer: &mut StoreWriter<u64, Small>, number: u64) {
    let mut batch = Batch::new();
    for (key, entry) in generation(number) {
        batch.upsert(key, entry);
    }
    batch.set_version(Scope::All, number.to_string().into());
    writer.commit(batch);
}

/// A store with two objects of generation 1 and an index that tells the generation.
fn indexed() -> (StoreWriter<u64, Small>, StoreReader<u64, Small>) {
    let mut writer = StoreWriter::new();
    let reader = writer.reader();
    writer
        .add_index("generation", |object: &u64| [object.to_string()])
        .expect("the first index");
    write(&mut writer, 1);
    (writer, reader)
}

/// STX-4: a snapshot is of one commit, and later ones are not older.
pub(super) fn snapshots() {
    let (mut writer, reader) = indexed();
    let writing = thread::spawn(move || (2..4).for_each(|number| write(&mut writer, number)));
    let mut last = 0;
    for _ in 0..3 {
        let snapshot = reader.snapshot();
        assert!(snapshot.sequence() >= last, "time runs backwards");
        last = snapshot.sequence();
        let version = snapshot.version(&Scope::All).expect("marked").to_string();
        let found = snapshot
            .by_index("generation", &version)
            .expect("it is there");
        assert_eq!(found.len(), snapshot.len(), "STX-4: index and items");
        assert!(
            snapshot
                .iter()
                .all(|(_, entry)| entry.object.to_string() == version),
            "STX-4: items of two commits"
        );
    }
    writing.join().expect("it ends");
}

/// STX-4: one query is answered from one state.
pub(super) fn queries() {
    let (mut writer, reader) = indexed();
    let writing = thread::spawn(move || (2..4).for_each(|number| write(&mut writer, number)));
    for number in 1..4_u64 {
        let text = number.to_string();
        let found = reader.by_index("generation", &text).expect("it is there");
        assert!(
            found.iter().all(|object| **object == number),
            "STX-4: {found:?} under {number}"
        );
        assert!(
            found.is_empty() || found.len() as u64 == number + 1,
            "STX-4: {found:?}"
        );
    }
    writing.join().expect("it ends");
}

/// STX-3, FM-13: a replacement is seen whole, by two readers, and what they hold does not change.
pub(super) fn replacements() {
    let (mut writer, reader) = indexed();
    let writing = thread::spawn(move || {
        writer.replace(Scope::All, generation(3), "3".into());
        writer.replace(Scope::All, generation(0), "0".into());
    });
    let look = |reader: StoreReader<u64, Small>| {
        move || {
            let kept = reader.list();
            let seen: Vec<u64> = kept.iter().map(|object| **object).collect();
            let whole = [vec![1; 2], vec![3; 4], vec![0; 1]];
            assert!(whole.contains(&seen), "STX-4: {seen:?}");
            assert!(!reader.is_empty(), "no commit empties it");
            let again: Vec<u64> = kept.iter().map(|object| **object).collect();
            assert_eq!(seen, again, "STX-5");
        }
    };
    let other = thread::spawn(look(reader.clone()));
    look(reader)();
    other.join().expect("it ends");
    writing.join().expect("it ends");
}

/// FM-60: an index is there with everything in it, or not at all; a handle outlives it.
pub(super) fn indexes() {
    let (mut writer, reader) = indexed();
    let writing = thread::spawn(move || {
        let added = writer.add_index("parity", |object: &u64| [(object % 2).to_string()]);
        let handle = added.expect("a new name");
        write(&mut writer, 3);
        writer.remove_index("parity").expect("it is there");
        handle
    });
    for _ in 0..3 {
        if let Ok(odd) = reader.by_index("parity", "1") {
            assert!([2, 4].contains(&odd.len()), "FM-60: {odd:?}");
        }
    }
    let handle = writing.join().expect("it ends");
    assert_eq!(handle.count("1"), 0, "it was removed");
    assert_eq!(
        Arc::strong_count(&reader.list()[0]),
        2,
        "nobody else keeps it"
    );
}

#[test]
fn snapshots_are_of_one_commit() {
    explore(snapshots);
}

#[test]
fn a_query_is_answered_from_one_state() {
    explore(queries);
}

#[test]
fn replacements_are_seen_whole() {
    explore(replacements);
}

#[test]
fn an_index_is_seen_filled_or_not_at_all() {
    explore(indexes);
}
