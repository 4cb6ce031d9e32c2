//! Scenarios of client-go's tests of its store, index and listers, in our own code.
//!
//! Each test names the upstream test whose intent it covers.

use std::collections::BTreeSet;
use std::sync::Arc;

use informer_store::{
    Batch, Entry, IndexError, KeyError, Lister, ObjectKey, Scope, StoreWriter, store,
};

/// An object with the values it is to be indexed by.
#[derive(Debug, PartialEq)]
struct Thing(Vec<&'static str>);

fn key(text: &str) -> ObjectKey {
    text.parse().expect("well formed")
}

fn entry(values: &[&'static str], version: &str) -> Entry<Thing> {
    Entry::new(Thing(values.to_vec()), "uid", version)
}

fn values(thing: &Thing) -> Vec<&'static str> {
    thing.0.clone()
}

fn keys(found: &[ObjectKey]) -> Vec<&str> {
    found.iter().map(ObjectKey::as_str).collect()
}

fn texts(found: &[Arc<str>]) -> Vec<&str> {
    found.iter().map(|text| &**text).collect()
}

/// client-go `TestThreadSafeStoreDeleteRemovesEmptySetsFromIndex` (IX-06, FM-59).
#[test]
fn delete_removes_an_empty_set() {
    let (mut writer, reader) = store();
    let index = writer.add_index("test", values).expect("new");
    writer.upsert(key("key"), entry(&["value"], "1"));
    assert_eq!(texts(&index.values()), ["value"]);
    assert!(index.contains("value"));
    writer.remove(&key("key"));
    assert!(index.values().is_empty() && !index.contains("value"));
    assert_eq!(reader.by_index("test", "value"), Ok(vec![]));
}

/// client-go `TestThreadSafeStoreAddKeepsNonEmptySetPostDeleteFromIndex` (IX-06).
#[test]
fn delete_keeps_a_set_that_is_not_empty() {
    let (mut writer, _) = store();
    let index = writer.add_index("test", values).expect("new");
    writer.upsert(key("keep"), entry(&["value"], "1"));
    writer.upsert(key("delete"), entry(&["value"], "2"));
    writer.remove(&key("delete"));
    assert_eq!(keys(&index.keys("value")), ["keep"]);
}

/// client-go `TestThreadSafeStoreIndexingFunctionsWithMultipleValues` (IX-04): an object moves from
/// and to sets of values, in eight steps.
#[test]
fn updates_move_between_sets_of_values() {
    let (mut writer, _) = store();
    let index = writer.add_index("test", values).expect("new");
    type Held<'a> = [&'a [&'a str]; 3];
    let mut step = |key_text: &str, to: &[&'static str], expected: Held<'_>| {
        writer.upsert(key(key_text), entry(to, "1"));
        for (value, expected) in ["foo", "bar", "baz"].into_iter().zip(expected) {
            assert_eq!(
                keys(&index.keys(value)),
                expected,
                "{value} after {key_text} -> {to:?}"
            );
        }
    };
    step("key1", &["foo"], [&["key1"], &[], &[]]);
    step("key2", &["foo"], [&["key1", "key2"], &[], &[]]);
    step("key1", &["foo", "bar"], [&["key1", "key2"], &["key1"], &[]]);
    step(
        "key1",
        &["bar", "foo", "bar"],
        [&["key1", "key2"], &["key1"], &[]],
    );
    step("key1", &["bar", "baz"], [&["key2"], &["key1"], &["key1"]]);
    step("key1", &["foo", "bar"], [&["key1", "key2"], &["key1"], &[]]);
    step("key1", &["foo"], [&["key1", "key2"], &[], &[]]);
    step("key1", &[], [&["key2"], &[], &[]]);
}

/// client-go `TestThreadSafeStoreRV` (IX-13): the applied version is marked by
/// whoever applies, and becomes visible with the objects; no write moves it by itself.
#[test]
fn the_applied_version_is_the_marked_one() {
    let (mut writer, reader) = store();
    assert_eq!(reader.version(&Scope::All), None);
    writer.upsert(key("a"), entry(&[], "10"));
    assert_eq!(reader.version(&Scope::All), None);

    let mut batch = Batch::new();
    batch.upsert(key("a"), entry(&[], "11"));
    batch.set_version(Scope::All, "11".into());
    writer.commit(batch);
    assert_eq!(reader.version(&Scope::All), Some("11".into()));

    writer.replace(Scope::All, vec![(key("b"), entry(&[], "7"))], "20".into());
    assert_eq!(reader.version(&Scope::All), Some("20".into()));
    writer.remove(&key("b"));
    assert_eq!(reader.version(&Scope::All), Some("20".into()));

    let namespace = Scope::Namespace("ns".into());
    let mut batch = Batch::new();
    batch.set_version(namespace.clone(), "3".into());
    writer.commit(batch);
    assert_eq!(reader.version(&namespace), Some("3".into()));
    assert_eq!(reader.version(&Scope::All), Some("20".into()));
    let mut batch = Batch::new();
    batch.clear_version(namespace.clone());
    writer.commit(batch);
    assert_eq!(reader.version(&namespace), None);
}

/// client-go `TestGetIndexFuncValues` (IX-09).
#[test]
fn values_of_an_index_are_listed_sorted() {
    let (mut writer, reader) = store();
    let index = writer.add_index("test", values).expect("new");
    writer.upsert(key("one"), entry(&["foo"], "1"));
    writer.upsert(key("two"), entry(&["bar"], "2"));
    writer.upsert(key("tre"), entry(&["foo"], "3"));
    assert_eq!(texts(&index.values()), ["bar", "foo"]);
    assert_eq!(reader.index_values("test"), Ok(index.values()));
}

/// client-go `TestMultiIndexKeys` (IX-03, IX-08): several values through add, delete and update.
#[test]
fn one_object_is_found_under_all_its_values() {
    let (mut writer, reader) = store();
    writer.add_index("by_user", values).expect("new");
    writer.upsert(key("one"), entry(&["ernie", "bert"], "1"));
    writer.upsert(key("two"), entry(&["bert", "oscar"], "2"));
    writer.upsert(key("tre"), entry(&["ernie", "elmo"], "3"));
    let users = |value: &str| {
        let found = reader.index_keys("by_user", value).expect("known");
        found.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(users("ernie"), ["one", "tre"]);
    assert_eq!(users("bert"), ["one", "two"]);
    assert_eq!(users("elmo"), ["tre"]);
    assert_eq!(users("oscar"), ["two"]);
    assert!(users("cookie").is_empty());
    writer.remove(&key("tre"));
    assert_eq!(users("ernie"), ["one"]);
    assert!(users("elmo").is_empty());
    let objects = reader.by_index("by_user", "bert").expect("known");
    assert_eq!(objects.len(), 2);
    writer.upsert(key("two"), entry(&["bert", "fozzie"], "4"));
    assert!(users("oscar").is_empty());
    assert_eq!(
        (users("bert"), users("fozzie")),
        (vec!["one".into(), "two".into()], vec!["two".into()])
    );
}

/// client-go `TestIndexer` (IX-10): indexes join a filled store; a taken name adds nothing.
#[test]
fn indexes_are_added_to_a_filled_store_and_names_are_unique() {
    let (mut writer, reader) = store();
    writer.upsert(key("a/x"), entry(&["v"], "1"));
    let late = writer.add_index("late", values).expect("new");
    assert_eq!(keys(&late.keys("v")), ["a/x"]);
    let refused = writer.add_index("late", |_: &Thing| ["other"]);
    assert_eq!(
        refused.err(),
        Some(IndexError::NameTaken {
            name: "late".into()
        })
    );
    assert_eq!(texts(&late.values()), ["v"]);
    assert_eq!(texts(&reader.index_names()), ["late"]);

    let unknown = IndexError::UnknownIndex {
        name: "soon".into(),
        known: vec!["late".into()],
    };
    assert_eq!(reader.by_index("soon", "v"), Err(unknown.clone()));
    assert_eq!(reader.index_keys("soon", "v"), Err(unknown.clone()));
    assert_eq!(reader.index_values("soon"), Err(unknown.clone()));
    assert_eq!(
        unknown.to_string(),
        r#"no index is named "soon"; known: ["late"]"#
    );

    // A handle to a removed index answers nothing, even when the name is used again.
    writer.remove_index("late").expect("known");
    let again = writer.add_index("late", values).expect("free again");
    assert_eq!((late.count("v"), again.count("v")), (0, 1));
    assert!(writer.remove_index("soon").is_err());
}

fn store_contract(writer: &mut StoreWriter<Thing>) {
    let reader = writer.reader();
    let add = writer.upsert(key("foo"), entry(&["bar"], "1"));
    assert_eq!((add.sequence, add.inserted, add.updated), (1, 1, 0));
    assert_eq!(reader.get("foo").as_deref(), Some(&Thing(vec!["bar"])));
    let update = writer.upsert(key("foo"), entry(&["baz"], "2"));
    assert_eq!(
        (update.sequence, update.inserted, update.updated),
        (2, 0, 1)
    );
    let found = reader.get_entry("foo").expect("stored");
    assert_eq!(*found.object, Thing(vec!["baz"]));
    assert_eq!(found.version, "2");
    // A missing key: update inserts, delete is silent; an older version overwrites (ST-02, ST-03).
    writer.upsert(key("late"), entry(&["bar"], "1"));
    writer.upsert(key("foo"), entry(&["bar"], "1"));
    assert_eq!(writer.remove(&key("absent")).removed, 0);
    assert_eq!(writer.remove(&key("late")).removed, 1);
    assert!(!reader.contains("late") && reader.get("late").is_none());

    writer.upsert(key("a/b"), entry(&["bar"], "3"));
    writer.upsert(key("c"), entry(&["bar"], "3"));
    assert_eq!(keys(&reader.keys()), ["a/b", "c", "foo"]);
    assert_eq!((reader.list().len(), reader.len()), (3, 3));

    let list = vec![
        (key("foo"), entry(&["foo"], "9")),
        (key("x"), entry(&["y"], "9")),
    ];
    let replaced = writer.replace(Scope::All, list, "9".into());
    assert_eq!(
        (replaced.inserted, replaced.updated, replaced.removed),
        (1, 1, 2)
    );
    assert_eq!(keys(&reader.keys()), ["foo", "x"]);
    assert_eq!(reader.sequence(), replaced.sequence);
}

/// client-go `TestCache`, `TestIndex` and `TestFIFOCache` (ST-01..05): the common contract, without
/// and with an index.
#[test]
fn the_store_keeps_its_contract() {
    store_contract(&mut store().0);
    let (mut writer, _) = store();
    let index = writer.add_index("by_val", values).expect("new");
    store_contract(&mut writer);
    assert_eq!(texts(&index.values()), ["foo", "y"]);
}

/// The last of several entries with one key wins (ST-05).
#[test]
fn a_replacement_takes_the_last_of_equal_keys() {
    let (mut writer, reader) = store();
    let list = ["1", "2", "3"].map(|version| (key("k"), entry(&[], version)));
    let commit = writer.replace(Scope::All, list.into(), "3".into());
    assert_eq!((commit.inserted, commit.updated), (1, 0));
    assert_eq!(
        reader.get_entry("k").map(|entry| entry.version),
        Some("3".into())
    );
}

/// Two sources in one store (STX-3, FM-14): each replaces its own, and cannot write another's.
#[test]
fn a_replacement_of_one_namespace_leaves_the_others_alone() {
    let (mut writer, reader) = store();
    for text in ["a/1", "a-b/1", "b/1", "node"] {
        writer.upsert(key(text), entry(&[], "1"));
    }
    let list = vec![(key("a/2"), entry(&[], "2")), (key("b/2"), entry(&[], "2"))];
    let commit = writer.replace(Scope::Namespace("a".into()), list, "2".into());
    assert_eq!((commit.inserted, commit.removed, commit.refused), (1, 1, 1));
    assert_eq!(keys(&reader.keys()), ["a-b/1", "a/2", "b/1", "node"]);
}

/// client-go `TestKeyError` and `TestObjectNames` (KY-04..06): what is wrong is in the error.
#[test]
fn key_errors_tell_what_is_wrong() {
    let error: Result<ObjectKey, KeyError> = "a/b/c".parse();
    let text = r#"unexpected object key format "a/b/c": at most one slash may stand in it"#;
    assert_eq!(error.expect_err("two slashes").to_string(), text);
}

/// client-go `TestListAll` (LI-01, LI-02): all, by predicate, by namespace.
#[test]
fn listers_list_and_select() {
    let objects = ["a/1", "a/2", "b/1", "node"].map(|text| {
        let values = if text.ends_with('1') {
            vec!["even"]
        } else {
            vec![]
        };
        (key(text), Thing(values))
    });
    let lister = Lister::from_objects(objects);
    assert_eq!(lister.all().len(), 4);
    assert_eq!(lister.matching(|thing| thing.0.is_empty()).len(), 2);
    assert!(lister.matching(|_| false).is_empty());
    let a = lister.namespace("a");
    assert_eq!(
        (a.all().len(), a.matching(|thing| !thing.0.is_empty()).len()),
        (2, 1)
    );
    // LI-04: the stored objects themselves, no copies.
    assert!(Arc::ptr_eq(
        &a.get("1").expect("stored"),
        &lister.get("a/1").expect("stored")
    ));
    assert!(a.get("3").is_none() && lister.namespace("none").all().is_empty());
    assert_eq!(lister.namespace("").all().len(), 4);
    assert!(lister.namespace("").get("node").is_some());
}

/// An index function that panics leaves the store as it was (STX-10).
#[test]
fn a_panic_in_an_index_function_changes_nothing() {
    let (mut writer, reader) = store();
    let index = writer
        .add_index("test", |thing: &Thing| {
            assert!(thing.0 != ["bad"], "no value for this");
            thing.0.clone()
        })
        .expect("new");
    writer.upsert(key("a"), entry(&["v"], "1"));
    let mut batch = Batch::new();
    batch.upsert(key("b"), entry(&["v"], "2"));
    batch.remove(key("a"));
    batch.upsert(key("c"), entry(&["bad"], "3"));
    let commit = std::panic::AssertUnwindSafe(|| writer.commit(batch));
    assert!(std::panic::catch_unwind(commit).is_err());
    assert_eq!((keys(&reader.keys()), reader.sequence()), (vec!["a"], 1));
    assert_eq!(keys(&index.keys("v")), ["a"]);
    // The writer goes on from there.
    writer.upsert(key("b"), entry(&["v"], "4"));
    assert_eq!(
        (keys(&index.keys("v")), reader.sequence()),
        (vec!["a", "b"], 2)
    );

    let panics = std::panic::AssertUnwindSafe(|| {
        writer.add_index("bad", |_: &Thing| -> [&'static str; 1] { panic!("never") })
    });
    assert!(std::panic::catch_unwind(panics).is_err());
    assert_eq!(texts(&reader.index_names()), ["test"]);
}

/// An index function that changes its mind leaves no dead key behind (FM-58).
#[test]
fn an_impure_index_function_cannot_corrupt() {
    let (mut writer, _) = store();
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let index = writer
        .add_index("test", move |_: &Thing| {
            [asked
                .fetch_add(1, std::sync::atomic::Ordering::Relaxed)
                .to_string()]
        })
        .expect("new");
    for _ in 0..3 {
        for text in ["a", "b"] {
            writer.upsert(key(text), entry(&[], "1"));
        }
    }
    let held: BTreeSet<_> = index
        .values()
        .iter()
        .flat_map(|value| index.keys(value))
        .collect();
    assert_eq!((index.values().len(), held.len()), (2, 2));
    writer.remove(&key("a"));
    writer.remove(&key("b"));
    assert!(index.values().is_empty());
}

/// Many keys and values come and go; nothing of them stays (FM-59, L5).
#[test]
fn churn_leaves_nothing_behind() {
    let (mut writer, reader) = store();
    let index = writer
        .add_index("version", |thing: &u32| [thing.to_string()])
        .expect("new");
    for i in 0..20_000 {
        writer.upsert(key(&format!("ns/{i}")), Entry::anonymous(i));
        if i >= 5 {
            writer.remove(&key(&format!("ns/{}", i - 5)));
        }
    }
    assert_eq!((reader.len(), index.values().len()), (5, 5));
}
