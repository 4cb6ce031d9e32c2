//! SEC-24: an object that gives an index too many values is named, and the store stays as it was.

use std::num::NonZeroUsize;

use informer_store::{Batch, Entry, ObjectKey, StoreWriter, store};

const MOST: NonZeroUsize = NonZeroUsize::new(3).expect("three is not zero");

fn key(at: usize) -> ObjectKey {
    format!("default/{at:04}").parse().expect("a key")
}

/// A store with an index that gives as many values as the object says.
fn counting() -> StoreWriter<usize> {
    let (mut writer, _) = store::<usize>();
    let values = |count: &usize| (0..*count).map(|at| at.to_string()).collect::<Vec<_>>();
    writer.add_index("count", values).expect("a new name");
    writer
}

/// `count` objects of two values each, but for those at the given positions, which have four.
fn batch(count: usize, above: &[usize]) -> Batch<usize> {
    let mut batch = Batch::new();
    for at in 0..count {
        let values = if above.contains(&at) { 4 } else { 2 };
        batch.upsert(key(at), Entry::anonymous(values));
    }
    batch
}

/// Small batches are filed one by one, large ones are built anew.
#[test]
fn batch_with_an_object_above_the_bound_changes_nothing_and_names_it() {
    for count in [5, 2_000] {
        let mut writer = counting();
        writer.upsert(key(0), Entry::anonymous(1));
        let refused = writer.commit_bounded(batch(count, &[4, 1]), MOST);
        let refused = refused.expect_err("two objects are above the bound");
        assert_eq!((refused.keys, refused.most), (vec![key(1), key(4)], MOST));
        assert_eq!(
            (writer.snapshot().len(), writer.snapshot().sequence()),
            (1, 1)
        );
        assert_eq!(
            writer.snapshot().get(key(0)).map(|entry| *entry.object),
            Some(1)
        );

        let commit = writer.commit_bounded(batch(count, &[]), MOST);
        assert_eq!(commit.expect("all are within the bound").sequence, 2);
        assert_eq!(writer.snapshot().len(), count);
    }
}

#[test]
fn object_at_the_bound_is_within_it_and_an_endless_index_function_ends() {
    let (mut writer, _) = store::<usize>();
    writer
        .add_index("endless", |_: &usize| std::iter::repeat_n("v", usize::MAX))
        .expect("a new name");
    let batch = |values| {
        let mut batch = Batch::new();
        batch.upsert(key(0), Entry::anonymous(values));
        batch
    };
    assert!(writer.commit_bounded(batch(1), MOST).is_err());
    let mut writer = counting();
    assert!(writer.commit_bounded(batch(3), MOST).is_ok());
    assert!(writer.commit_bounded(batch(4), MOST).is_err());
}

#[test]
fn index_added_later_leaves_out_stored_objects_above_the_bound() {
    let (mut writer, reader) = store::<usize>();
    writer.upsert(key(0), Entry::anonymous(2));
    writer.upsert(key(1), Entry::anonymous(4));
    let values = |count: &usize| (0..*count).map(|at| at.to_string()).collect::<Vec<_>>();
    let added = writer.add_index_bounded("count", MOST, values);
    let (index, above) = added.expect("a new name");
    assert_eq!(above, [key(1)]);
    assert_eq!((index.get("0").len(), reader.len()), (1, 2));
    writer.remove(&key(1));
    writer.remove(&key(0));
    assert!(index.get("0").is_empty());
}
