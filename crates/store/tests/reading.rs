//! Every way of reading gives the same answer: writer, reader, snapshot, lister, index (ST-08).

use std::sync::Arc;

use informer_store::{Batch, Entry, Lister, ObjectKey, Scope, StoreReader, StoreWriter, store};

fn key(namespace: &str, name: &str) -> ObjectKey {
    ObjectKey::new(Some(namespace), name).expect("well formed")
}

/// Three objects in two namespaces, indexed by their first letter.
fn filled() -> (StoreWriter<String>, StoreReader<String>) {
    let (mut writer, reader) = store::<String>();
    writer
        .add_index("letter", |object: &String| [object[..1].to_owned()])
        .expect("the first of that name");
    let mut batch = Batch::with_capacity(4);
    assert!(batch.is_empty());
    for (namespace, name, object) in [("a", "x", "one"), ("a", "y", "two"), ("b", "x", "three")] {
        let entry = Entry::new(object.to_owned(), "uid", "1");
        batch.upsert(key(namespace, name), entry);
    }
    batch.set_version(Scope::Namespace("a".into()), "7".into());
    assert_eq!(batch.len(), 4);
    writer.commit(batch);
    (writer, reader)
}

fn texts(objects: &[Arc<String>]) -> Vec<&str> {
    objects.iter().map(|object| object.as_str()).collect()
}

#[test]
fn sizes_agree() {
    let (writer, reader) = store::<String>();
    assert!(writer.snapshot().is_empty() && reader.is_empty() && reader.snapshot().is_empty());
    let (writer, reader) = filled();
    let snapshot = reader.snapshot();
    assert!(!writer.snapshot().is_empty() && !reader.is_empty() && !snapshot.is_empty());
    let sizes = [
        writer.snapshot().len(),
        reader.len(),
        snapshot.len(),
        Lister::new(reader.clone()).all().len(),
    ];
    assert_eq!(sizes, [3; 4]);
    let sequences = [
        writer.snapshot().sequence(),
        reader.sequence(),
        snapshot.sequence(),
    ];
    assert_eq!(sequences, [1; 3]);
    assert_eq!(snapshot.cursor().sequence(), 1);
}

#[test]
fn versions_agree() {
    let (writer, reader) = filled();
    let (marked, other) = (Scope::Namespace("a".into()), Scope::Namespace("b".into()));
    let snapshot = reader.snapshot();
    assert_eq!(writer.snapshot().version(&marked), Some(&"7".into()));
    assert_eq!(snapshot.version(&marked), reader.version(&marked).as_ref());
    assert_eq!(
        (writer.snapshot().version(&other), reader.version(&other)),
        (None, None)
    );
}

#[test]
fn one_object_is_found_everywhere() {
    let (writer, reader) = filled();
    let snapshot = reader.snapshot();
    let lister = Lister::new(reader.clone()).clone();
    let (there, gone) = (key("b", "x"), key("b", "y"));
    let text: &str = there.as_ref();
    assert_eq!(text, "b/x");
    assert!(snapshot.contains("b/x") && !snapshot.contains("b/y"));
    let after = writer.snapshot();
    let held = after.get(&there).expect("it was stored");
    let found = [
        reader.get("b/x"),
        lister.get("b/x"),
        lister.namespace("b").clone().get("x"),
    ];
    assert!(
        found
            .iter()
            .flatten()
            .all(|one| Arc::ptr_eq(one, &held.object)),
        "one object"
    );
    assert_eq!(found.iter().flatten().count(), 3);
    let counted = Arc::strong_count(&held.object);
    let look = |entry: &Entry<String>| (entry.is_same(held), Arc::strong_count(&entry.object));
    assert_eq!(reader.look("b/x", look), Some((true, counted)), "in place");
    assert_eq!(reader.look("b/y", look), None);
    assert!(writer.snapshot().get(&gone).is_none() && lister.reader().get("b/y").is_none());
}

#[test]
fn a_namespace_and_an_index_value_are_found_everywhere() {
    let (_writer, reader) = filled();
    let snapshot = reader.snapshot();
    assert_eq!(texts(&reader.namespace("a")), ["one", "two"]);
    assert_eq!(
        texts(&Lister::new(reader.clone()).namespace("a").all()),
        ["one", "two"]
    );
    let of_snapshot = (&snapshot).into_iter().map(|(key, _)| key.as_str());
    assert_eq!(of_snapshot.collect::<Vec<_>>(), ["a/x", "a/y", "b/x"]);

    assert_eq!(
        texts(&reader.by_index("letter", "t").expect("indexed")),
        ["two", "three"]
    );
    let keys = reader.index_keys("letter", "t").expect("indexed");
    let of_snapshot = snapshot.index_keys("letter", "t").expect("indexed");
    assert!(keys.iter().eq(of_snapshot));
    assert_eq!(keys, [key("a", "y"), key("b", "x")]);
    let entries = snapshot.by_index("letter", "t").expect("indexed");
    assert!(entries.map(|(key, _)| key).eq(&keys));
}

#[test]
fn a_handle_of_an_index_answers_as_its_name_does() {
    let (mut writer, reader) = filled();
    let index = writer
        .add_index("length", |object: &String| [object.len().to_string()])
        .expect("the first of that name")
        .clone();
    assert_eq!(index.name(), "length");
    let by_name = reader.by_index(index.name(), "3").expect("indexed");
    assert_eq!(texts(&index.get("3")), texts(&by_name));
    assert_eq!(index.keys("3"), [key("a", "x"), key("a", "y")]);
    assert_eq!((index.count("3"), index.contains("4")), (2, false));
}

/// An unknown index is an error and never an empty answer (IX-08).
#[test]
fn an_unknown_index_is_an_error() {
    let (_writer, reader) = filled();
    let snapshot = reader.snapshot();
    assert!(reader.by_index("none", "t").is_err());
    assert!(reader.index_keys("none", "t").is_err());
    assert!(snapshot.by_index("none", "t").is_err());
    assert!(snapshot.index_keys("none", "t").is_err());
}
