//! Which handles may cross threads, and that the writer cannot be copied.

use informer_store::{
    Batch, Commit, Cursor, Entries, Entry, Index, IndexError, KeyError, Lister, NamespaceLister,
    ObjectKey, Scope, Snapshot, StoreReader, StoreWriter,
};

/// An object that is `Send + Sync` and nothing more.
struct Plain;

const fn send<T: Send>() {}
const fn send_sync<T: Send + Sync + Unpin>() {}
const fn clone<T: Clone>() {}

const _: () = {
    send_sync::<StoreReader<Plain>>();
    send_sync::<Snapshot<Plain>>();
    send_sync::<Entries<'static, Plain>>();
    send_sync::<Cursor<Plain>>();
    send_sync::<Index<Plain>>();
    send_sync::<Lister<Plain>>();
    send_sync::<NamespaceLister<Plain>>();
    send_sync::<Entry<Plain>>();
    send_sync::<Batch<Plain>>();
    send_sync::<(ObjectKey, Scope, Commit, KeyError, IndexError)>();
    send::<StoreWriter<Plain>>();

    // None of these asks the object to be `Clone`.
    clone::<StoreReader<Plain>>();
    clone::<Snapshot<Plain>>();
    clone::<Entries<'static, Plain>>();
    clone::<Index<Plain>>();
    clone::<Lister<Plain>>();
    clone::<NamespaceLister<Plain>>();
    clone::<Entry<Plain>>();
};

/// Two ways to choose for a type that is `Clone`, one for a type that is not.
trait ClonesOrNot<Marker> {
    fn chosen() {}
}
struct IsClone;
impl<T> ClonesOrNot<()> for T {}
impl<T: Clone> ClonesOrNot<IsClone> for T {}

/// There is one writer per store: this would be ambiguous, and not compile, if it were `Clone`.
#[test]
fn the_writer_is_not_clone() {
    <StoreWriter<Plain> as ClonesOrNot<_>>::chosen();
}

/// SEC: an object may be a Secret, so no handle prints it. `Plain` is not even `Debug`.
#[test]
fn debug_prints_keys_and_identities_only() {
    let (mut writer, reader) = informer_store::store::<Plain>();
    let index = writer
        .add_index("none", |_| [""; 0])
        .expect("the first index");
    let key = ObjectKey::new(Some("ns"), "name").expect("well formed");
    let entry = Entry::new(Plain, "uid-1", "7");
    assert_eq!(
        format!("{entry:?}"),
        r#"Entry { uid: "uid-1", version: "7", .. }"#
    );
    let mut batch = Batch::new();
    batch.upsert(key, entry);
    assert_eq!(
        format!("{batch:?}"),
        "Batch { operations: [Upsert(Draft(Record { key: ObjectKey(\"ns/name\"), \
         entry: Entry { uid: \"uid-1\", version: \"7\", .. }, .. }))] }"
    );
    writer.commit(batch);
    let mut batch = Batch::<Plain>::default();
    let key = ObjectKey::new(None, "node").expect("well formed");
    batch.remove(key.clone());
    batch.replace(Scope::All, vec![(key, Entry::new(Plain, "uid-2", "8"))]);
    batch.set_version(Scope::All, "9".into());
    batch.clear_version(Scope::All);
    assert_eq!(
        format!("{batch:?}"),
        "Batch { operations: [Remove { key: ObjectKey(\"node\") }, Replace { scope: All, .. }, \
         SetVersion { scope: All, version: \"9\" }, ClearVersion { scope: All }] }"
    );
    let lister = Lister::new(reader.clone());
    let shown = [
        format!("{writer:?}"),
        format!("{reader:?}"),
        format!("{:?}", reader.snapshot()),
        format!("{:?}", reader.snapshot().iter()),
        format!("{:?}", reader.snapshot().cursor()),
        format!("{index:?}"),
        format!("{lister:?}"),
        format!("{:?}", lister.namespace("ns")),
    ];
    let expected = [
        "StoreWriter { sequence: 1, objects: 1, .. }",
        "StoreReader { sequence: 1, objects: 1, .. }",
        "Snapshot { sequence: 1, objects: 1, .. }",
        "Entries { left: 1 }",
        "Cursor { sequence: 1, left: 1, .. }",
        r#"Index { name: "none", .. }"#,
        "Lister { objects: 1, .. }",
        r#"NamespaceLister { namespace: "ns", .. }"#,
    ];
    assert_eq!(shown, expected);
}
