//! The bytes that an object costs beside its own.
//!
//! A program of its own, because it counts every byte that is allocated.

use std::alloc::System;
use std::sync::Arc;

use informer_store::{Batch, Entry, ObjectKey, Scope, StoreReader, StoreWriter, store};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

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

/// The live bytes of what `fill` leaves in a store, an object, without the object's own.
fn bytes_each(fill: impl Fn(&mut StoreWriter<Object>)) -> usize {
    let region = Region::new(ALLOCATOR);
    let (mut writer, reader): (_, StoreReader<Object>) = store();
    fill(&mut writer);
    assert_eq!(reader.len(), OBJECTS);
    let change = region.change();
    // A block that grows or shrinks in place is counted by its change.
    let grown = change.bytes_reallocated;
    let live = change.bytes_allocated as isize - change.bytes_deallocated as isize + grown;
    let each = usize::try_from(live).expect("more than nothing") / OBJECTS;
    each - size_of::<Object>()
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
    println!("beside the object: {relist} relisted, {one_by_one} added, {updated} updated");
    for bytes in [relist, one_by_one, updated] {
        assert!(bytes <= MOST, "{bytes} bytes beside an object of 250");
    }
}
