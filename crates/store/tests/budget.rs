//! The bytes that an object costs beside its own.
//!
//! A program of its own, because it counts every byte that is allocated.

use std::alloc::System;
use std::sync::{Arc, Mutex, PoisonError};

use informer_store::{Batch, Entry, ObjectKey, Scope, StoreReader, StoreWriter, store};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Tests take turns, since all of the program's allocations are counted.
static TURN: Mutex<()> = Mutex::new(());

const OBJECTS: usize = 100_000;

/// The most bytes for the record (with key, uid, version and index values), for both counts of the
/// object's `Arc`, and for a share of the tables.
const MOST: usize = 330;

type Object = [u8; 250];

fn key(number: usize) -> ObjectKey {
    let name = format!("deployment-{:05}-7d9f8b6c5-{:05x}", number / 10, number);
    ObjectKey::new(Some(&format!("team-{}", number % 100)), &name).expect("well formed")
}

fn entry(number: usize, version: usize) -> Entry<Object> {
    let uid = format!("0b2c1f4e-3d67-4f0a-9d53-{number:012x}");
    Entry::new(Arc::new([0; 250]), uid, version.to_string())
}

/// The live bytes of what `fill` leaves in a store, an object, without the object's own; and the
/// store's own estimate of them.
fn bytes_each(fill: impl Fn(&mut StoreWriter<Object>)) -> (usize, usize) {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let region = Region::new(ALLOCATOR);
    let (mut writer, reader): (_, StoreReader<Object>) = store();
    fill(&mut writer);
    let objects = reader.len();
    let change = region.change();
    // A block that grows or shrinks in place is counted by its change.
    let grown = change.bytes_reallocated;
    let live = change.bytes_allocated as isize - change.bytes_deallocated as isize + grown;
    let each = usize::try_from(live).expect("more than nothing") / objects;
    let estimate = reader.snapshot().memory();
    let estimate = (estimate.records + estimate.indexes) / objects;
    (each - size_of::<Object>(), estimate)
}

#[test]
fn an_object_costs_at_most_its_budget() {
    let relist = bytes_each(|writer| {
        let entries = (0..OBJECTS).map(|number| (key(number), entry(number, 1)));
        writer.replace(Scope::All, entries.collect(), "1".into());
    });
    let one_by_one = bytes_each(|writer| {
        // In an order that splits chunks everywhere.
        for number in (0..OBJECTS).map(|turn| turn * 61_543 % OBJECTS) {
            writer.upsert(key(number), entry(number, 1));
        }
    });
    let updated = bytes_each(|writer| {
        let entries = (0..OBJECTS).map(|number| (key(number), entry(number, 1)));
        writer.replace(Scope::All, entries.collect(), "1".into());
        for number in 0..OBJECTS {
            let mut batch = Batch::new();
            batch.upsert(key(number), entry(number, 2));
            writer.commit(batch);
        }
    });
    println!("beside the object: {relist:?} relisted, {one_by_one:?} added, {updated:?} updated");
    for (bytes, estimate) in [relist, one_by_one, updated] {
        assert!(bytes <= MOST, "{bytes} bytes beside an object of 250");
        assert_near(bytes, estimate);
    }
}

/// Indexes of few values, of a value for each object, and of several values; long keys.
#[test]
fn estimate_is_near_the_bytes_of_indexes_and_long_keys() {
    let few = |object: &Object| [object[0].to_string()];
    let each = |object: &Object| [format!("unique-{:?}", &object[..4])];
    let many = |object: &Object| {
        (0..5)
            .map(|i| format!("{}-{i}", object[0]))
            .collect::<Vec<_>>()
    };
    for (shape, long, one_by_one) in [
        ("relisted", false, false),
        ("relisted, long keys", true, false),
        ("one by one", false, true),
        ("one by one, long keys", true, true),
    ] {
        let key = |number: usize| match long {
            true => ObjectKey::new(
                Some(&"n".repeat(40)),
                &format!("{}{number}", "x".repeat(40)),
            ),
            false => Ok(key(number)),
        };
        let entry = |number: usize| {
            let mut object = [0; 250];
            object[..4].copy_from_slice(&(number as u32).to_be_bytes().map(|byte| byte));
            object.swap(0, 3);
            Entry::anonymous(object)
        };
        let (bytes, estimate) = bytes_each(|writer| {
            drop(writer.add_index("few", few));
            drop(writer.add_index("each", each));
            drop(writer.add_index("many", many));
            let entries = (0..OBJECTS / 10).map(|n| (key(n).expect("well formed"), entry(n)));
            match one_by_one {
                true => entries.for_each(|(key, entry)| _ = writer.upsert(key, entry)),
                false => _ = writer.replace(Scope::All, entries.collect(), "1".into()),
            }
        });
        println!("{shape}: {bytes} bytes, estimated {estimate}");
        assert_near(bytes, estimate);
    }
}

/// An estimate is off by a third at most.
fn assert_near(bytes: usize, estimate: usize) {
    let range = bytes * 2 / 3..=bytes * 4 / 3;
    assert!(
        range.contains(&estimate),
        "{bytes} bytes were estimated as {estimate}"
    );
}
