//! A judge that never objects proves nothing: everything the comparison is to find is planted here
//! once. Needs no server.

use std::collections::{BTreeMap, BTreeSet};

use kube_core::ObjectMeta;

use crate::comparison::{Findings, Law, Side, Start, agree, walk, whole};
use crate::history::{History, View};
use crate::told::{Identity, Objects, Tale, Told, difference};
use crate::watched::{SIDE, Scope};

const KEY: &str = "n/a";

const CALM: Law = Law {
    side: Side::Ours,
    reminded: false,
    gap: false,
    holes: false,
};
const GAP: Law = Law { gap: true, ..CALM };
const HOLES: Law = Law { holes: true, ..GAP };

fn identity(uid: &str, version: u64) -> Identity {
    Identity {
        uid: uid.to_owned(),
        version,
    }
}

fn added(uid: &str, version: u64) -> Told {
    let (new, initial) = (identity(uid, version), false);
    Told::Added { new, initial }
}

fn initial(uid: &str, version: u64) -> Told {
    let (new, initial) = (identity(uid, version), true);
    Told::Added { new, initial }
}

fn updated(old: (&str, u64), new: (&str, u64)) -> Told {
    Told::Updated {
        old: identity(old.0, old.1),
        new: identity(new.0, new.1),
    }
}

fn deleted(uid: &str, version: u64) -> Told {
    let last = identity(uid, version);
    Told::Deleted { last }
}

fn missed(uid: &str, version: u64) -> Told {
    let last = identity(uid, version);
    Told::Missed { last }
}

fn tale(told: &[Told]) -> Tale {
    BTreeMap::from([(KEY.to_owned(), told.to_vec())])
}

fn alive(uid: &str, version: u64) -> Objects {
    BTreeMap::from([(KEY.to_owned(), identity(uid, version))])
}

fn meta(uid: &str, version: u64, side: &str) -> ObjectMeta {
    ObjectMeta {
        namespace: Some("n".to_owned()),
        name: Some("a".to_owned()),
        uid: Some(uid.to_owned()),
        resource_version: Some(version.to_string()),
        labels: Some(BTreeMap::from([(SIDE.0.to_owned(), side.to_owned())])),
        ..ObjectMeta::default()
    }
}

/// Two lives: x at 1, 2, 3, ended at 4, and y at 5 and 6. At 2 it was out of the selection.
fn history() -> History {
    let mut history = History::default();
    for (uid, version, side) in [("x", 1, "in"), ("x", 2, "out"), ("x", 3, "in")] {
        history.was(&meta(uid, version, side));
    }
    history.ended(&meta("x", 4, "in"));
    history.was(&meta("y", 5, "in"));
    history.was(&meta("y", 6, "in"));
    history
}

fn view() -> View {
    history().view(&Scope::default())
}

/// Everything there is to tell.
fn all() -> Vec<Told> {
    vec![
        added("x", 1),
        updated(("x", 1), ("x", 2)),
        updated(("x", 2), ("x", 3)),
        deleted("x", 4),
        added("y", 5),
        updated(("y", 5), ("y", 6)),
    ]
}

fn walked(told: &[Told], law: Law) -> Findings {
    walk(&Objects::new(), &tale(told), &view(), law)
}

#[track_caller]
fn is_good(found: &Findings) {
    assert_eq!(found.breaches, Vec::<String>::new());
}

#[track_caller]
fn is_found(found: &Findings, text: &str) {
    let told = found.breaches.iter().any(|breach| breach.contains(text));
    assert!(told, "{text:?} was not found, but {:?}", found.breaches);
}

#[test]
fn the_history_itself_is_good() {
    let found = walked(&all(), CALM);
    is_good(&found);
    assert_eq!((found.events, found.skipped), (6, 0));
    let before = Objects::new();
    is_good(&whole(Start::Knowing(&before, 0), &tale(&all()), &view()));
    is_good(&agree(&tale(&all()), &tale(&all()), &BTreeSet::new()));
}

#[test]
fn a_selection_is_left_and_entered() {
    let selected = Scope {
        namespace: None,
        selected: true,
    };
    let view = history().view(&selected);
    let told = [
        added("x", 1),
        deleted("x", 2),
        added("x", 3),
        deleted("x", 4),
        added("y", 5),
        updated(("y", 5), ("y", 6)),
    ];
    let before = Objects::new();
    is_good(&whole(Start::Knowing(&before, 0), &tale(&told), &view));
    is_good(&walk(&before, &tale(&told), &view, CALM));
    is_found(
        &walk(&before, &tale(&all()), &view, GAP),
        "the server never said so",
    );
    let elsewhere = Scope {
        namespace: Some("m".to_owned()),
        selected: false,
    };
    assert!(history().view(&elsewhere).is_empty());
}

#[test]
fn a_step_that_is_wrong_is_found() {
    let cases: [(&[Told], &str); 9] = [
        (&[added("x", 1), added("x", 2)], "is alive"),
        (&[updated(("x", 1), ("x", 2))], "nothing is alive"),
        (&[deleted("x", 4)], "nothing is alive"),
        (
            &[added("x", 1), updated(("x", 2), ("x", 3))],
            "told before is x@1",
        ),
        (
            &[added("x", 3), updated(("x", 3), ("x", 2))],
            "it goes back",
        ),
        (
            &[added("x", 3), deleted("x", 4), added("x", 1)],
            "4 was told before",
        ),
        (&[added("x", 7)], "the server never said so"),
        (&[added("x", 3), deleted("y", 6)], "x@3 is another life"),
        (&[added("x", 2), missed("x", 1)], "told before is x@2"),
    ];
    for law in [CALM, GAP, HOLES] {
        for (told, text) in cases {
            is_found(&walked(told, law), text);
        }
    }
}

#[test]
fn what_only_a_gap_allows_is_found_without_one() {
    let skipped = [added("x", 1), updated(("x", 1), ("x", 3))];
    is_found(&walked(&skipped, CALM), "1 changes since 1 were left out");
    let found = walked(&skipped, GAP);
    is_good(&found);
    assert_eq!(found.skipped, 1);
    let tombstone = [added("x", 3), missed("x", 3)];
    is_found(&walked(&tombstone, CALM), "nothing was missed");
    is_good(&walked(&tombstone, GAP));
    let unseen_end = [added("y", 6), deleted("y", 9)];
    is_found(&walked(&unseen_end, GAP), "the server never said so");
    is_good(&walked(&unseen_end, HOLES));
    is_found(
        &walked(&[added("y", 5), deleted("y", 6)], HOLES),
        "y@6 lived on",
    );
}

#[test]
fn only_client_go_may_join_two_lives_and_only_in_a_gap() {
    let joined = [added("x", 3), updated(("x", 3), ("y", 6))];
    let theirs = Side::ClientGo;
    is_good(&walked(
        &joined,
        Law {
            side: theirs,
            ..GAP
        },
    ));
    is_found(
        &walked(
            &joined,
            Law {
                side: theirs,
                ..CALM
            },
        ),
        "one life became another",
    );
    is_found(&walked(&joined, GAP), "one life became another");
}

#[test]
fn a_reminder_must_have_been_asked_for() {
    let again = [added("x", 1), updated(("x", 1), ("x", 1))];
    is_found(&walked(&again, CALM), "nobody asked for it");
    is_found(&walked(&again, GAP), "nobody asked for it");
    let found = walked(
        &again,
        Law {
            reminded: true,
            ..CALM
        },
    );
    is_good(&found);
    assert_eq!((found.events, found.reminders), (1, 1));
    // A relist of client-go's.
    let theirs = Side::ClientGo;
    is_good(&walked(
        &again,
        Law {
            side: theirs,
            ..GAP
        },
    ));
    is_found(
        &walked(
            &again,
            Law {
                side: theirs,
                ..CALM
            },
        ),
        "nobody asked for it",
    );
}

#[test]
fn each_line_that_is_missing_or_twice_is_found() {
    let before = Objects::new();
    let nothing = BTreeSet::new();
    for i in 0..all().len() {
        let mut missing = all();
        missing.remove(i);
        let mut twice = all();
        twice.insert(i, twice[i].clone());
        for told in [missing, twice] {
            let found = whole(Start::Knowing(&before, 0), &tale(&told), &view());
            is_found(&found, "should be");
            is_found(&agree(&tale(&all()), &tale(&told), &nothing), "ours");
            is_found(&agree(&tale(&told), &tale(&all()), &nothing), "client-go");
        }
    }
    is_found(
        &whole(Start::Knowing(&before, 0), &Tale::new(), &view()),
        "should be",
    );
    is_found(&agree(&tale(&all()), &Tale::new(), &nothing), "ours: []");
    let except = BTreeSet::from([KEY.to_owned()]);
    is_good(&agree(&tale(&all()), &Tale::new(), &except));
}

#[test]
fn a_tale_goes_on_from_what_was_known() {
    let before = alive("x", 3);
    let start = Start::Knowing(&before, 3);
    let told = &all()[3..];
    is_good(&whole(start, &tale(told), &view()));
    is_good(&walk(&before, &tale(told), &view(), CALM));
    is_found(&whole(start, &tale(&told[1..]), &view()), "deleted x@4");
    is_found(&walk(&before, &tale(&told[1..]), &view(), CALM), "is alive");
}

#[test]
fn who_joins_begins_anywhere_and_misses_nothing_after() {
    let whole = |told: &[Told], in_peace| whole(Start::Joining { in_peace }, &tale(told), &view());
    for first in [added("x", 3), initial("x", 3)] {
        let mut told = all();
        told.splice(..3, [first]);
        is_good(&whole(&told, false));
        told.pop();
        is_found(&whole(&told, false), "should be");
    }
    is_found(&whole(&[], false), "should be");
    is_found(&whole(&[added("x", 2)], false), "should be");
    is_found(&whole(&[added("z", 9)], false), "should be");
    is_good(&whole(&[initial("y", 6)], true));
    is_found(&whole(&[added("y", 6)], true), "(initial)");
}

#[test]
fn the_rules_explain_what_their_rows_say_and_no_more() {
    let nothing = BTreeSet::new();
    let theirs = tale(&[updated(("x", 3), ("x", 3)), updated(("x", 3), ("y", 6))]);
    let found = agree(&theirs, &tale(&[missed("x", 3), added("y", 6)]), &nothing);
    is_good(&found);
    assert_eq!((found.ruled, found.events), (1, 2));
    for wrong in [
        vec![deleted("x", 4), added("y", 6)],
        vec![missed("x", 3), added("y", 5), updated(("y", 5), ("y", 6))],
        vec![missed("x", 3), initial("y", 6)],
        vec![added("y", 6)],
        vec![updated(("x", 3), ("y", 6))],
    ] {
        is_found(&agree(&theirs, &tale(&wrong), &nothing), "client-go");
    }
}

#[test]
fn a_store_that_differs_is_found() {
    let truth = alive("x", 3);
    assert_eq!(difference(&truth, &truth), None);
    for (other, text) in [
        (Objects::new(), "n/a: missing, should be x@3"),
        (alive("x", 2), "n/a: is x@2, should be x@3"),
        (alive("y", 3), "n/a: is y@3, should be x@3"),
    ] {
        let found = difference(&truth, &other).expect("they differ");
        assert!(found.contains(text), "{found}");
    }
    let found = difference(&Objects::new(), &truth).expect("they differ");
    assert!(found.contains("n/a: is x@3, should not be"), "{found}");
}
