//! A judge that never objects proves nothing: every rule of `witness` is broken here once.

use std::sync::Arc;

use informer_factory::store::{Entry, store};
use informer_factory::{Added, Cause, Deleted, Notification, ObjectKey, Updated};
use k8s_openapi::api::core::v1::ConfigMap;

use crate::collection::{Identity, Truth};
use crate::witness::{Rules, Witness};

type Told = Notification<ObjectKey, ConfigMap>;

const STRICT: Rules = Rules {
    ordered: true,
    initial_first: true,
    one_life_per_uid: true,
};

fn object(name: &str, uid: &str, version: u64) -> Arc<ConfigMap> {
    let mut map = ConfigMap::default();
    map.metadata.namespace = Some("n".to_owned());
    map.metadata.name = Some(name.to_owned());
    map.metadata.uid = Some(uid.to_owned());
    map.metadata.resource_version = Some(version.to_string());
    Arc::new(map)
}

fn key(name: &str) -> ObjectKey {
    ObjectKey::new(Some("n"), name).expect("the name is good")
}

fn added(name: &str, uid: &str, version: u64, initial: bool) -> Told {
    Notification::Added(Added::new(key(name), object(name, uid, version)).initial(initial))
}

fn updated(name: &str, old: (&str, u64), new: (&str, u64)) -> Told {
    Notification::Updated(Updated::new(
        key(name),
        object(name, old.0, old.1),
        object(name, new.0, new.1),
        Cause::Watch,
    ))
}

fn deleted(name: &str, uid: &str, version: u64) -> Told {
    let last = object(name, uid, version);
    Notification::Deleted(Deleted::Known {
        key: key(name),
        last,
    })
}

fn missed(name: &str, uid: &str, version: u64) -> Told {
    let last = Some(object(name, uid, version));
    Notification::Deleted(Deleted::Unknown {
        key: key(name),
        last,
    })
}

/// The rules that this history breaks, beside a store that has `n/a` at a version, or nothing.
fn broken_beside(stored: Option<(&str, u64)>, told: &[Told]) -> Vec<String> {
    let (mut writer, reader) = store();
    if let Some((uid, version)) = stored {
        let entry = Entry::new(object("a", uid, version), uid, version.to_string());
        writer.upsert(key("a"), entry);
    }
    let witness = Witness::new("planted".to_owned(), STRICT, reader);
    told.iter().for_each(|told| witness.see(told));
    let breaches = witness.breaches();
    let rules = breaches.iter().filter_map(|breach| breach.split_once(": "));
    rules.map(|(rule, _)| rule.to_owned()).collect()
}

fn broken(told: &[Told]) -> Vec<String> {
    broken_beside(None, told)
}

#[test]
fn a_good_history_breaks_no_rule() {
    let told = [
        added("a", "1", 1, true),
        added("b", "2", 2, true),
        updated("a", ("1", 1), ("1", 3)),
        deleted("b", "2", 4),
        added("b", "3", 5, false),
        missed("a", "1", 3),
        added("a", "4", 6, false),
    ];
    assert_eq!(broken(&told), Vec::<String>::new());
}

#[test]
fn every_rule_can_be_broken() {
    let first = || added("a", "1", 5, false);
    assert_eq!(broken(&[first(), added("a", "2", 6, false)]), ["PR-2"]);
    assert_eq!(broken(&[updated("a", ("1", 1), ("1", 2))]), ["PR-2"]);
    assert_eq!(broken(&[deleted("a", "1", 1)]), ["PR-2"]);
    assert_eq!(
        broken(&[first(), updated("a", ("1", 6), ("1", 7))]),
        ["PR-3"]
    );
    assert_eq!(broken(&[first(), missed("a", "1", 6)]), ["PR-3"]);
    assert_eq!(
        broken(&[first(), updated("a", ("1", 5), ("2", 6))]),
        ["PR-4"]
    );
    assert_eq!(broken(&[first(), deleted("a", "2", 6)]), ["PR-4"]);
    assert_eq!(
        broken(&[first(), updated("a", ("1", 5), ("1", 5))]),
        ["PR-5"]
    );
    assert_eq!(broken(&[first(), added("b", "2", 6, true)]), ["PR-8"]);
    assert_eq!(
        broken(&[first(), missed("a", "1", 5), added("a", "1", 6, false)]),
        ["PR-13"]
    );
    assert_eq!(broken(&[first(), added("b", "2", 4, false)]), ["PR-14"]);
    let reborn = [first(), missed("a", "1", 5), added("a", "2", 5, false)];
    assert_eq!(broken(&reborn), ["PR-5"]);
}

#[test]
fn a_store_behind_its_handlers_is_found() {
    let told = || [added("a", "1", 5, false)];
    assert_eq!(broken_beside(Some(("1", 4)), &told()), ["IN-3"]);
    for newer in [Some(("1", 5)), Some(("1", 6)), Some(("2", 7)), None] {
        assert_eq!(
            broken_beside(newer, &told()),
            Vec::<String>::new(),
            "{newer:?}"
        );
    }
}

#[test]
fn a_fold_that_differs_is_found() {
    let fold = Witness::new("planted".to_owned(), STRICT, store().1);
    fold.see(&added("a", "1", 5, false));
    fold.see(&added("b", "2", 6, false));
    let mut truth = Truth::default();
    let mut put = |name: &str, uid: &str, version: &str| {
        let identity = Identity::from_parts(uid, version);
        truth.objects.insert(key(name).to_string(), identity);
        fold.compare(&truth)
    };
    assert!(put("a", "1", "5").is_err_and(|text| text.contains("n/b: is 2@6, should not be")));
    assert!(put("b", "2", "7").is_err_and(|text| text.contains("n/b: is 2@6, should be 2@7")));
    assert!(put("b", "9", "6").is_err_and(|text| text.contains("should be 9@6")));
    assert_eq!(put("b", "2", "6"), Ok(()));
    assert!(put("c", "3", "8").is_err_and(|text| text.contains("n/c: missing")));
}
