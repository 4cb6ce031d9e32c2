//! Traces with one defect each, and a server that is made to have one: a validator that accepts
//! them proves nothing.

use proptest::{prelude::*, strategy::ValueTree, test_runner::TestRunner};

use super::{
    history::{Record, write, writes},
    properties::{Told, Trace, check},
    watches::{START, paused, watched},
};
use crate::{ApiServer, EventKind, Fault, ListOptions, Resource, Selection};

/// A history with some length, and the true trace of it from its start.
fn true_trace() -> (Trace, Record) {
    let mut runner = TestRunner::deterministic();
    loop {
        let history = writes(30).new_tree(&mut runner).unwrap().current();
        let server = ApiServer::new();
        let mut record = Record::new(1);
        history
            .iter()
            .for_each(|one| write(&server, &mut record, one));
        let state = server.server().lock();
        let id = state.cluster.find(&Resource::pods()).unwrap();
        let changes = state.changes_after(id, 1, usize::MAX).unwrap();
        let told: Vec<Told> = changes
            .iter()
            .filter_map(|change| change.seen_by(&Selection::default()))
            .map(|(kind, object)| Told::Event {
                kind,
                name: object.name().to_owned(),
                uid: object.uid().to_owned(),
                version: object.version(),
            })
            .collect();
        let has = |wanted| {
            told.iter()
                .any(|told| matches!(told, Told::Event { kind, .. } if *kind == wanted))
        };
        if told.len() > 8 && has(EventKind::Deleted) && has(EventKind::Modified) {
            let until = record.last();
            return (
                Trace {
                    from: 1,
                    label: None,
                    told,
                    until,
                },
                record,
            );
        }
    }
}

fn verdict(change: impl FnOnce(&mut Trace)) -> String {
    let (mut trace, record) = true_trace();
    assert_eq!(check(&trace, &record), Ok(()), "the true trace is accepted");
    change(&mut trace);
    check(&trace, &record).expect_err("the defect must be seen")
}

fn first(trace: &Trace, wanted: EventKind) -> usize {
    let is_wanted = |told: &Told| matches!(told, Told::Event { kind, .. } if *kind == wanted);
    trace.told.iter().position(is_wanted).unwrap()
}

#[test]
fn a_lost_event_is_seen() {
    assert!(verdict(|trace| drop(trace.told.remove(3))).starts_with("Reliable"));
}

#[test]
fn an_event_told_twice_is_seen() {
    let verdict = verdict(|trace| trace.told.insert(3, trace.told[3].clone()));
    assert!(verdict.starts_with("Unique"), "{verdict}");
}

#[test]
fn swapped_events_are_seen() {
    assert!(verdict(|trace| trace.told.swap(2, 3)).starts_with("Ordered"));
}

#[test]
fn an_early_bookmark_is_seen() {
    let verdict = verdict(|trace| {
        let Told::Event { version, .. } = trace.told[4] else {
            unreachable!()
        };
        trace.told.insert(4, Told::Bookmark(version));
    });
    assert!(verdict.starts_with("Bookmarkable"), "{verdict}");
}

#[test]
fn a_wrong_kind_of_event_is_seen() {
    let verdict = verdict(|trace| {
        let place = first(trace, EventKind::Modified);
        let Told::Event { kind, .. } = &mut trace.told[place] else {
            unreachable!()
        };
        *kind = EventKind::Added;
    });
    assert!(verdict.starts_with("IsCreate"), "{verdict}");
}

#[test]
fn a_uid_of_another_life_is_seen() {
    let verdict = verdict(|trace| {
        let place = first(trace, EventKind::Deleted);
        let Told::Event { uid, .. } = &mut trace.told[place] else {
            unreachable!()
        };
        uid.push('x');
    });
    assert!(verdict.starts_with("PrevKV"), "{verdict}");
}

#[test]
fn an_event_of_another_selection_is_seen() {
    assert!(verdict(|trace| trace.label = Some(2)).starts_with("Filter"));
}

/// The record is what judges, so it must itself be judged: by a list of the last state.
#[test]
fn the_record_agrees_with_a_list() {
    let server = ApiServer::new();
    let mut record = Record::new(1);
    let mut runner = TestRunner::deterministic();
    let history = writes(60).new_tree(&mut runner).unwrap().current();
    history
        .iter()
        .for_each(|one| write(&server, &mut record, one));
    let listing = server
        .list(&Resource::pods(), &ListOptions::default())
        .unwrap();
    let names: Vec<_> = listing
        .items
        .iter()
        .map(|item| item.name().to_owned())
        .collect();
    assert!(names.iter().eq(record.at(u64::MAX).keys()));
}

/// Defects of the server itself, by its own script: the check over random histories finds each.
#[test]
fn a_defective_server_is_seen() {
    let defects = [
        (Fault::LoseEvent(1), ["Reliable", "Bookmarkable"]),
        (Fault::ReplaySuffix(1), ["Ordered", "Reliable"]),
        (Fault::EarlyBookmark, ["Bookmarkable", "Bookmarkable"]),
    ];
    for (defect, broken) in defects {
        let mut runner = TestRunner::deterministic();
        let found = (0..100).find_map(|_| {
            let history = writes(20).new_tree(&mut runner).unwrap().current();
            let from = START + history.len() as u64 / 2;
            let fault = Some(defect.clone());
            let watch = watched(&history, history.len() / 2, from, None, fault);
            let (trace, record) = paused().block_on(watch);
            check(&trace, &record).err()
        });
        let found = found.expect("within 100 histories");
        assert!(
            broken.iter().any(|name| found.starts_with(name)),
            "{defect:?}: {found}"
        );
    }
}
