//! An index that is prepared over a snapshot and installed later.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use informer_store::{Batch, Entry, IndexError, ObjectKey, StoreWriter, store};

const MOST: NonZeroUsize = NonZeroUsize::new(2).expect("two is not zero");

fn key(at: usize) -> ObjectKey {
    format!("default/{at:04}").parse().expect("a key")
}

/// A store of `count` objects, each of which is its number.
fn filled(count: usize) -> StoreWriter<usize> {
    let (mut writer, _) = store();
    let mut batch = Batch::new();
    for at in 0..count {
        batch.upsert(key(at), Entry::anonymous(at));
    }
    writer.commit(batch);
    writer
}

/// An index function that counts its calls, and panics on the object 13.
fn counted(calls: &Arc<AtomicUsize>) -> impl Fn(&usize) -> [String; 1] + Send + Sync + use<> {
    let calls = Arc::clone(calls);
    move |object| {
        calls.fetch_add(1, Ordering::Relaxed);
        assert_ne!(*object, 13, "as the test wants it");
        [(object % 2).to_string()]
    }
}

#[test]
fn installation_calls_the_function_only_for_objects_stored_since() {
    let calls = Arc::default();
    let mut writer = filled(12);
    let prepared = writer
        .snapshot()
        .prepare_index("parity", MOST, counted(&calls));
    let mut prepared = prepared.expect("a new name");
    assert_eq!(calls.swap(0, Ordering::Relaxed), 12);

    writer.upsert(key(1), Entry::anonymous(100));
    prepared.catch_up(&writer.snapshot());
    assert_eq!(calls.swap(0, Ordering::Relaxed), 1);

    // Another index gives every record another address, and leaves every object as it is.
    writer.add_index("all", |_| [""]).expect("a new name");
    writer.upsert(key(20), Entry::anonymous(21));
    writer.remove(&key(0));
    let (parity, above) = writer.install_index(prepared).expect("a new name");
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    assert_eq!(
        (parity.count("0"), parity.count("1"), above.len()),
        (6, 6, 0)
    );
    let snapshot = writer.snapshot();
    assert_eq!(snapshot.by_index("all", "").expect("indexed").len(), 12);
    assert_eq!((snapshot.len(), snapshot.sequence()), (12, 4));
}

#[test]
fn name_is_refused_at_preparation_and_at_installation() {
    let mut writer = filled(3);
    let prepare =
        |writer: &StoreWriter<usize>| writer.snapshot().prepare_index("a", MOST, |_| [""]);
    let prepared = prepare(&writer).expect("a new name");
    writer.add_index("a", |_| ["first"]).expect("a new name");
    let taken = IndexError::NameTaken { name: "a".into() };
    assert_eq!(prepare(&writer).err(), Some(taken.clone()));
    assert_eq!(writer.install_index(prepared).err(), Some(taken));
    let snapshot = writer.snapshot();
    assert_eq!(snapshot.by_index("a", "first").expect("indexed").len(), 3);
}

#[test]
fn panic_of_the_function_leaves_store_and_prepared_index_as_they_were() {
    let calls = Arc::default();
    let mut writer = filled(12);
    let prepare = |writer: &StoreWriter<usize>| {
        writer
            .snapshot()
            .prepare_index("parity", MOST, counted(&calls))
    };
    let mut prepared = prepare(&writer).expect("a new name");
    writer.upsert(key(1), Entry::anonymous(100));
    writer.upsert(key(13), Entry::anonymous(13));
    let panics = |run: &mut dyn FnMut()| catch_unwind(AssertUnwindSafe(run)).is_err();
    assert!(panics(&mut || drop(prepare(&writer))));
    let again = prepare(&filled(0)).expect("a new name");
    assert!(panics(&mut || prepared.catch_up(&writer.snapshot())));
    let mut again = Some(again);
    assert!(panics(&mut || {
        let taken = again.take().expect("called once");
        drop(writer.install_index(taken));
    }));
    assert_eq!(
        (writer.snapshot().len(), writer.snapshot().sequence()),
        (13, 3)
    );
    assert!(writer.snapshot().by_index("parity", "0").is_err());

    writer.remove(&key(13));
    let (parity, _) = writer.install_index(prepared).expect("a new name");
    assert_eq!((parity.count("0"), parity.count("1")), (7, 5));
}

#[test]
fn objects_above_the_bound_are_those_of_the_installation() {
    let mut writer = filled(40);
    let values = |count: &usize| (0..*count).map(|at| at.to_string()).collect::<Vec<_>>();
    writer.upsert(key(0), Entry::anonymous(3));
    for at in 3..40 {
        writer.upsert(key(at), Entry::anonymous(0));
    }
    writer.upsert(key(9), Entry::anonymous(3));
    writer.upsert(key(10), Entry::anonymous(3));
    let prepared = writer.snapshot().prepare_index("count", MOST, values);
    let mut prepared = prepared.expect("a new name");
    writer.upsert(key(0), Entry::anonymous(1));
    writer.remove(&key(9));
    writer.upsert(key(5), Entry::anonymous(3));
    prepared.catch_up(&writer.snapshot());
    // Everything is computed anew after this, and the bound of unchanged objects is kept.
    writer.add_index("all", |_| [""]).expect("a new name");
    let (count, above) = writer.install_index(prepared).expect("a new name");
    assert_eq!(above, [key(5), key(10)]);
    assert_eq!((count.count("0"), count.count("1")), (3, 1));
}

/// Tells when it is dropped.
struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn snapshot_before_a_commit_keeps_destructors_out_of_the_commit() {
    let dropped = Arc::<AtomicUsize>::default();
    let entry = || Entry::anonymous(Dropped(Arc::clone(&dropped)));
    let (mut writer, _) = store();
    writer.upsert(key(0), entry());
    writer.upsert(key(1), entry());
    let before = writer.snapshot();
    let mut batch = Batch::new();
    batch.upsert(key(0), entry());
    batch.remove(key(1));
    writer.commit(batch);
    assert_eq!(dropped.load(Ordering::Relaxed), 0);
    drop(before);
    assert_eq!(dropped.load(Ordering::Relaxed), 2);
}
