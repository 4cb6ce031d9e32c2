//! RB-5, RB-6: the table, each pair of it, judged by what a handler would know afterwards.

use std::sync::Arc;

use super::history::{Fold, Key, News, Object};
use crate::backlog::compress::{Merge, compress};
use crate::notification::{Added, Cause, Deleted, Notification, Updated};

const KEY: Key = 0;

/// What a merge leaves, as notifications.
fn result(older: &News, newer: &News) -> Vec<News> {
    let key = KEY;
    let older_again = || older.clone();
    match compress(older, newer) {
        Merge::KeepOlder => vec![older_again()],
        Merge::KeepNewer => vec![newer.clone()],
        Merge::Added(object, initial) => vec![added(*object, initial)],
        Merge::Updated(old, new, cause) => {
            vec![Notification::Updated(Updated::new(key, old, new, cause))]
        }
        Merge::Unknown(last) => vec![unknown(Some(*last))],
        Merge::Annihilate => vec![],
        Merge::Append => vec![older_again(), newer.clone()],
        Merge::AppendAdded(object) => vec![older_again(), added(*object, false)],
    }
}

fn object(number: Object) -> Arc<Object> {
    Arc::new(number)
}

fn added(number: Object, initial: bool) -> News {
    Notification::Added(Added::new(KEY, object(number)).initial(initial))
}

fn updated(old: Object, new: Object, cause: Cause) -> News {
    Notification::Updated(Updated::new(KEY, object(old), object(new), cause))
}

fn known(last: Object) -> News {
    Notification::Deleted(Deleted::Known {
        key: KEY,
        last: object(last),
    })
}

fn unknown(last: Option<Object>) -> News {
    Notification::Deleted(Deleted::Unknown {
        key: KEY,
        last: last.map(object),
    })
}

fn moved(last: Object) -> News {
    Notification::Deleted(Deleted::MovedAway {
        key: KEY,
        last: object(last),
    })
}

/// All notifications that can follow when the object is in state `state`.
fn successors(state: Option<Object>, next: Object) -> Vec<News> {
    match state {
        None => vec![added(next, false), added(next, true)],
        Some(state) => vec![
            updated(state, next, Cause::Watch),
            updated(state, next, Cause::Relist),
            updated(state, state, Cause::Resync),
            known(next),
            moved(next),
            unknown(Some(state)),
            unknown(None),
        ],
    }
}

/// Each legal pair, from both possible states: the same knowledge, legal in itself, and never more
/// entries than the two.
pub(super) fn check_every_legal_pair() -> Result<(), String> {
    for start in [None, Some(1)] {
        let mut before = Fold::default();
        before.state.extend(start.map(|state| (KEY, state)));
        for older in successors(start, 2) {
            let mut after_older = before.clone();
            after_older.hear(&older)?;
            for newer in successors(after_older.state.get(&KEY).copied(), 3) {
                check_pair(&before, &older, &newer)
                    .map_err(|why| format!("{older:?} then {newer:?}: {why}"))?;
            }
        }
    }
    Ok(())
}

fn check_pair(before: &Fold, older: &News, newer: &News) -> Result<(), String> {
    let mut plain = before.clone();
    plain.hear(older)?;
    plain.hear(newer)?;
    let mut merged = before.clone();
    let result = result(older, newer);
    for news in &result {
        merged.hear(news)?;
    }
    if merged.state != plain.state {
        return Err(format!("RB-6: {merged:?} instead of {plain:?}"));
    }
    // RB-5: the flag is kept as long as the addition is delivered.
    if !merged.state.is_empty() && merged.initial != plain.initial {
        return Err("RB-5: the flag of the initial list is lost".to_owned());
    }
    // RB-4: one entry, or a deletion and an addition.
    match &result[..] {
        [] | [_] | [Notification::Deleted(_), Notification::Added(Added { .. })] => Ok(()),
        more => Err(format!("RB-4: {more:?}")),
    }
}

#[test]
fn every_legal_pair_is_compressed_legally() {
    check_every_legal_pair().expect("RB-5, RB-6");
}

/// The result of a merge, in words.
#[expect(
    clippy::needless_pass_by_value,
    reason = "each row makes its notifications in place"
)]
fn shown(older: News, newer: News) -> Vec<String> {
    let text = |news: &News| match news {
        Notification::Added(Added {
            object, initial, ..
        }) => format!("add {object} {initial}"),
        Notification::Updated(Updated {
            old, new, cause, ..
        }) => format!("{old}->{new} {cause:?}"),
        Notification::Deleted(Deleted::Known { last, .. }) => format!("gone {last}"),
        Notification::Deleted(Deleted::MovedAway { last, .. }) => format!("moved {last}"),
        Notification::Deleted(Deleted::Unknown { last, .. }) => format!("missed {last:?}"),
    };
    result(&older, &newer).iter().map(text).collect()
}

/// The rows of RB-5 and of the contract, word for word.
#[test]
fn the_table_says_what_the_invariants_say() {
    let (watch, relist, resync) = (Cause::Watch, Cause::Relist, Cause::Resync);
    assert_eq!(shown(added(1, true), updated(1, 2, watch)), ["add 2 true"]);
    assert_eq!(
        shown(added(1, false), updated(1, 2, watch)),
        ["add 2 false"]
    );
    assert_eq!(
        shown(updated(1, 2, watch), updated(2, 3, watch)),
        ["1->3 Watch"]
    );
    assert_eq!(
        shown(updated(1, 2, watch), updated(2, 3, relist)),
        ["1->3 Relist"]
    );
    assert_eq!(shown(updated(1, 2, watch), known(3)), ["gone 3"]);
    assert_eq!(
        shown(updated(1, 2, watch), unknown(Some(2))),
        ["missed Some(1)"]
    );
    assert_eq!(
        shown(updated(1, 2, watch), unknown(None)),
        ["missed Some(1)"]
    );
    assert_eq!(shown(added(1, true), known(2)), Vec::<String>::new());
    assert_eq!(shown(known(1), added(2, false)), ["gone 1", "add 2 false"]);
    // A reminder merges into anything, and anything into a reminder.
    assert_eq!(shown(added(1, true), updated(1, 1, resync)), ["add 1 true"]);
    assert_eq!(
        shown(updated(1, 2, watch), updated(2, 2, resync)),
        ["1->2 Watch"]
    );
    assert_eq!(
        shown(updated(1, 1, resync), updated(1, 2, watch)),
        ["1->2 Watch"]
    );
    assert_eq!(shown(known(1), updated(1, 1, resync)), ["gone 1"]);
    // What a correct source does not send still leads to the newest state.
    assert_eq!(shown(added(1, true), added(2, false)), ["add 2 true"]);
    assert_eq!(shown(updated(1, 2, watch), added(3, false)), ["1->3 Watch"]);
    assert_eq!(
        shown(known(1), updated(1, 2, watch)),
        ["gone 1", "add 2 false"]
    );
    assert_eq!(shown(unknown(None), known(1)), ["gone 1"]);
    assert_eq!(shown(known(1), unknown(Some(1))), ["gone 1"]);
    assert_eq!(shown(unknown(Some(1)), unknown(None)), ["missed Some(1)"]);
    assert_eq!(shown(known(1), known(2)), ["gone 1"]);
}

/// A move away merges as a deletion with a known last state does.
#[test]
fn a_move_away_merges_as_a_deletion_does() {
    let (watch, resync) = (Cause::Watch, Cause::Resync);
    assert_eq!(shown(updated(1, 2, watch), moved(3)), ["moved 3"]);
    assert_eq!(shown(added(1, true), moved(2)), Vec::<String>::new());
    assert_eq!(shown(moved(1), added(2, false)), ["moved 1", "add 2 false"]);
    assert_eq!(shown(moved(1), updated(1, 1, resync)), ["moved 1"]);
    assert_eq!(shown(unknown(None), moved(1)), ["moved 1"]);
    assert_eq!(shown(moved(1), unknown(Some(1))), ["moved 1"]);
    assert_eq!(shown(moved(1), known(2)), ["gone 2"]);
    assert_eq!(shown(known(1), moved(2)), ["moved 2"]);
    assert_eq!(shown(moved(1), moved(2)), ["moved 1"]);
}
