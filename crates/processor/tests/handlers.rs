//! EH-01, EH-02, EH-03: handlers made of others.

mod recorder;

use std::sync::{Arc, Mutex};

use informer_processor::{Callbacks, Cause, Deleted, Filtered, Handler, handler_fn};
use recorder::{Heard, News, Recorder, added, deleted, initial, moved_away, reminder, updated};

#[test]
fn callbacks_that_are_not_given_are_skipped() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let to = Arc::clone(&heard);
    let mut only_adds: Callbacks<&'static str, u32> = Callbacks::new().on_add(move |added| {
        to.lock()
            .expect("no panic")
            .push((*added.object, added.initial));
    });
    for news in [
        initial("a", 1),
        updated("a", 1, 2),
        deleted("a", 2),
        added("b", 3),
    ] {
        only_adds.on_notification(&news);
    }
    assert_eq!(*heard.lock().expect("no panic"), [(1, true), (3, false)]);
}

#[test]
fn callbacks_get_what_is_theirs() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let (updates, deletes) = (Arc::clone(&heard), Arc::clone(&heard));
    let mut handler: Callbacks<&'static str, u32> = Callbacks::new()
        .on_update(move |updated| {
            let text = format!("{} {} {:?}", updated.old, updated.new, updated.cause);
            updates.lock().expect("no panic").push(text);
        })
        .on_delete(move |deleted: &Deleted<&'static str, u32>| {
            let text = format!("{} {:?}", deleted.key(), deleted.last());
            deletes.lock().expect("no panic").push(text);
        });
    for news in [
        initial("a", 1),
        updated("a", 1, 2),
        reminder("a", 2),
        deleted("a", 3),
        moved_away("b", 4),
    ] {
        handler.on_notification(&news);
    }
    assert_eq!(
        *heard.lock().expect("no panic"),
        ["1 2 Watch", "2 2 Resync", "a Some(3)", "b Some(4)"]
    );
}

/// The table of EH-02. Even objects match.
#[test]
fn a_filter_turns_updates_into_adds_and_deletes() {
    let unknown = |last: Option<u32>| {
        News::Deleted(Deleted::Unknown {
            key: "a",
            last: last.map(Arc::new),
        })
    };
    let rows = [
        (initial("a", 2), Some(Heard::Add("a", 2, true))),
        (initial("a", 1), None),
        (
            updated("a", 2, 4),
            Some(Heard::Update("a", 2, 4, Cause::Watch)),
        ),
        (updated("a", 1, 2), Some(Heard::Add("a", 2, false))),
        (updated("a", 2, 3), Some(Heard::Delete("a", Some(2), true))),
        (updated("a", 1, 3), None),
        (
            reminder("a", 2),
            Some(Heard::Update("a", 2, 2, Cause::Resync)),
        ),
        (reminder("a", 1), None),
        (deleted("a", 2), Some(Heard::Delete("a", Some(2), true))),
        (deleted("a", 1), None),
        (moved_away("a", 2), Some(Heard::Move("a", 2))),
        (moved_away("a", 1), None),
        (unknown(Some(2)), Some(Heard::Delete("a", Some(2), false))),
        (unknown(Some(1)), None),
        (unknown(None), Some(Heard::Delete("a", None, false))),
    ];
    for (news, expected) in rows {
        let recorder = Recorder::new();
        let mut to = recorder.clone();
        let inner = handler_fn(move |n: &News| to.hear(n));
        let mut handler = Filtered::new(|object: &u32| object.is_multiple_of(2), inner);
        handler.on_notification(&news);
        assert_eq!(recorder.heard(), Vec::from_iter(expected), "{news:?}");
    }
}
