//! Scenarios of the failure catalogue as text: what is told, and what the machine asks for.

mod scenario;
mod wire;

use std::time::Duration;

use informer_reflector::{Config, InitialState};
use scenario::check;
use wire::listing;

fn streaming() -> Config {
    listing().streaming(true)
}

/// The plain path: list, watch, events, bookmark, a close in good time (RL-15, RL-36, RL-46).
#[test]
fn lists_then_watches_and_reopens_where_it_was() {
    check(
        listing(),
        "start
         page 5 a@1 b@3
         opened
         added c@6
         modified a@7
         deleted b@8
         bookmark 20
         after 240
         closed",
        "list any limit=500
         replace a@1 b@3 -> 5
         listed Initial
         watch 5
         add c@6 -> 6
         modify a@7 -> 7
         delete b@8 -> 8
         bookmark -> 20
         watch 20",
    );
}

/// GT-01, GT-02, RL-25, RL-27, RL-28: initial events in any order are settled before they are
/// handed on; the stream goes on.
#[test]
fn a_streaming_list_becomes_the_watch() {
    check(
        streaming(),
        "start
         opened
         added a@5
         added b@3
         modified a@7
         added c@4
         deleted c@8
         end 9
         modified b@10
         after 200
         closed",
        "stream \"\"
         replace a@7 b@3 -> 9
         listed Initial
         modify b@10 -> 10
         watch 10",
    );
}

/// RFX-12, FM-25, row O: two streams that never end their initial events, then a list; the next
/// collection is listed without trying again.
#[test]
fn initial_events_without_an_end_lead_to_a_list() {
    check(
        streaming(),
        "start
         opened
         added a@5
         closed
         wait
         opened
         added a@5
         closed
         page 5 a@5
         opened
         error Expired
         wait
         page 6 a@6",
        "stream \"\"
         failed Incomplete #1, again later
         stream \"\"
         failed Incomplete #2, again now
         list any limit=500
         replace a@5 -> 5
         listed StreamingFallback
         watch 5
         abandon
         failed Expired #3, again later
         list >=5
         replace a@6 -> 6
         listed Expired
         watch 6",
    );
}

/// RFX-12: streaming is left alone for as long as configured, then tried again.
#[test]
fn streaming_is_tried_again_after_its_pause() {
    let mut config = streaming();
    config.streaming_pause = Duration::from_secs(100);
    check(
        config,
        "start
         refused Invalid
         page 5
         opened
         after 99
         relist
         page 6
         opened
         after 1
         relist",
        "stream \"\"
         failed Invalid #1, again now
         list any limit=500
         replace -> 5
         listed StreamingFallback
         watch 5
         abandon
         list >=5
         replace -> 6
         listed Requested
         watch 6
         abandon
         stream \"6\"",
    );
}

/// R9: a stream that brings nothing for a minute is not tried twice.
#[test]
fn a_silent_streaming_list_ends_in_a_list_after_a_minute() {
    check(
        streaming(),
        "start
         opened
         after 59
         added a@1
         after 59
         after 1",
        "stream \"\"
         abandon
         failed Incomplete #1, again now
         list any limit=500",
    );
}

/// FM-26, GT: 400 and 422 mean that streaming lists are not understood.
#[test]
fn a_streaming_list_that_is_not_understood_is_listed_at_once() {
    check(
        streaming(),
        "start
         refused Invalid
         page 5
         refused Expired
         wait",
        "stream \"\"
         failed Invalid #1, again now
         list any limit=500
         replace -> 5
         listed StreamingFallback
         watch 5
         failed Expired #2, again later
         list >=5",
    );
}

/// FM-11, FM-12: a server that is down would get twice the requests if a list followed at once, and
/// has not shown that it cannot stream.
#[test]
fn a_streaming_list_that_is_refused_for_now_is_not_listed_at_once() {
    check(
        streaming(),
        "start
         refused Unavailable
         wait
         page-fails Unavailable
         wait",
        "stream \"\"
         failed Unavailable #1, again later
         list any limit=500
         failed Unavailable #2, again later
         stream \"\"",
    );
}

/// FM-40: a repair that has not been accepted yet is not undone by a lesser demand.
#[test]
fn a_repair_outlives_a_relist() {
    check(
        listing(),
        "start
         page 5
         opened
         repair
         relist
         page-fails Connect
         relist
         page 6
         opened
         relist",
        "list any limit=500
         replace -> 5
         listed Initial
         watch 5
         abandon
         list latest limit=500 afresh
         abandon
         list latest limit=500 afresh
         failed Connect #1, again later
         list latest limit=500 afresh
         replace -> 6
         listed Requested
         watch 6
         abandon
         list >=6",
    );
}

/// RFX-5 (RL-10, RL-12, RL-19): expired twice, then consistent at once; the next time it waits.
#[test]
fn a_refused_version_leads_to_a_consistent_list() {
    check(
        listing(),
        "start
         page 5 a@1
         refused Expired
         wait
         page-fails Expired
         page 9 a@8
         refused TooLarge
         wait
         page 9 a@8
         refused Expired
         wait
         page-fails TooLarge
         wait
         page-fails Unavailable
         wait",
        "list any limit=500
         replace a@1 -> 5
         listed Initial
         watch 5
         failed Expired #1, again later
         list >=5
         failed Expired #2, again now
         list latest limit=500
         replace a@8 -> 9
         listed Expired
         watch 9
         failed TooLarge #3, again later
         list latest limit=500
         replace a@8 -> 9
         listed TooLarge
         watch 9
         failed Expired #4, again later
         list >=9
         failed TooLarge #5, again later
         list latest limit=500
         failed Unavailable #6, again later
         list latest limit=500",
    );
}

/// RFX-6, FM-06, GT-19: a continue token that expires, and pages that do not belong together.
#[test]
fn pages_are_of_one_version_or_of_no_use() {
    check(
        listing(),
        "start
         page 5 a@1 more=x
         page 5 b@2 more=y
         page-fails Expired
         page 6 a@1 b@2 c@6
         opened
         error Expired
         wait
         page 8 a@1 more=z
         page 9 b@9
         wait
         page 9 a@1 b@9",
        "list any limit=500
         list any limit=500 continue=x
         list any limit=500 continue=y
         failed Expired #1, again now
         list any
         replace a@1 b@2 c@6 -> 6
         listed Initial
         watch 6
         abandon
         failed Expired #2, again later
         list >=6 limit=500
         list >=6 limit=500 continue=z
         failed Expired #3, again later
         list >=6
         replace a@1 b@9 -> 9
         listed Expired
         watch 9",
    );
}

/// FM-07, row M: one item for each key, the newest wherever it stands, the last if nobody can tell.
#[test]
fn a_key_that_comes_twice_is_taken_once() {
    check(
        listing(),
        "start
         page 5 a@3 b@2 a@1 a@4 c@x c@y",
        "list any limit=500
         replace b@2 a@4 c@y -> 5
         listed Initial
         watch 5",
    );
}

/// FM-08 (row X), FM-52 (row Y), and a list without end.
#[test]
fn what_is_not_a_list_is_refused() {
    check(
        listing(),
        "start
         page a@1
         wait
         page-fails Protocol
         wait
         page 5 a@1 more=x
         page 5 b@1 more=x
         wait",
        "list any limit=500
         failed Protocol #1, again later
         list any limit=500
         failed Protocol #2, again later
         list any limit=500
         list any limit=500 continue=x
         failed Protocol #3, again later
         list any limit=500",
    );
}

/// SEC-17: what was too big is asked for in smaller pages, from where limits are heeded.
#[test]
fn a_list_that_is_too_big_is_asked_for_in_smaller_pages() {
    check(
        listing(),
        "start
         page-fails TooBig
         wait
         page-fails TooBig
         wait",
        "list any limit=500
         failed TooBig #1, again later
         list latest limit=250
         failed TooBig #2, again later
         list latest limit=125",
    );
}

/// FM-36 (row G): the final state of a deleted object may be old; it moves nothing back.
#[test]
fn an_old_delete_is_delivered_and_moves_nothing_back() {
    check(
        listing(),
        "start
         page 5 a@2
         opened
         deleted a@2
         after 40
         closed",
        "list any limit=500
         replace a@2 -> 5
         listed Initial
         watch 5
         delete a@2 -> 5
         watch 5",
    );
}

/// Row L: within a watch an old event is passed on, with the version that was received.
#[test]
fn an_old_event_in_mid_stream_moves_nothing_back() {
    check(
        listing(),
        "start
         page 5 a@2
         opened
         added c@7
         added c@7
         modified c@6
         bookmark 6",
        "list any limit=500
         replace a@2 -> 5
         listed Initial
         watch 5
         add c@7 -> 7
         add c@7 -> 7
         modify c@6 -> 7",
    );
}

/// FM-39: a fresh watch that begins below our version tells of a rewound history; a consistent list
/// settles it, and begins an epoch.
#[test]
fn a_rewound_history_is_noticed_by_a_fresh_watch() {
    for event in ["added b@42", "modified a@42", "bookmark 42"] {
        check(
            listing(),
            &format!("start\n page 50 a@40\n opened\n {event}\n wait\n page 43 a@39"),
            "list any limit=500
             replace a@40 -> 50
             listed Initial
             watch 50
             abandon
             failed TooLarge #1, again later
             list latest limit=500
             replace a@39 -> 43
             new epoch 50 -> 43
             listed TooLarge
             watch 43",
        );
    }
}

/// FM-39: the same for the watch that follows a stream, however the stream was read.
#[test]
fn a_rewound_history_is_noticed_after_a_stream() {
    check(
        streaming(),
        "start
         opened
         end 50
         added a@60
         after 40
         closed
         opened
         added b@55
         wait
         opened
         end 56",
        "stream \"\"
         replace -> 50
         listed Initial
         add a@60 -> 60
         watch 60
         abandon
         failed TooLarge #1, again later
         stream \"\"
         replace -> 56
         new epoch 60 -> 56
         listed TooLarge",
    );
}

/// FM-37, FM-39: after a consistent list old events are replays; they do not lead to another list,
/// and nobody is told of an object that had gone before it. A deletion may carry an old version,
/// and what comes after a bookmark may be what it came ahead of (FM-24).
#[test]
fn replays_after_a_consistent_list_are_not_a_rewind() {
    let mut config = listing();
    config.initial = InitialState::Consistent;
    check(
        config,
        "start
         page 50 a@40
         opened
         added a@40
         added gone@41
         modified gone@42
         deleted gone@43
         added b@51
         added c@45",
        "list latest limit=500
         replace a@40 -> 50
         listed Initial
         watch 50
         delete gone@43 -> 50
         add b@51 -> 51
         add c@45 -> 51",
    );
}

/// RFX-15, row P, FM-01: a list older than asked for is not believed until it is consistent.
#[test]
fn a_list_older_than_asked_for_is_asked_again() {
    check(
        listing(),
        "start
         page 50 a@40
         opened
         error Expired
         wait
         page 3 a@2
         page 3 a@2",
        "list any limit=500
         replace a@40 -> 50
         listed Initial
         watch 50
         abandon
         failed Expired #1, again later
         list >=50
         failed TooLarge #2, again now
         list latest limit=500
         replace a@2 -> 3
         new epoch 50 -> 3
         listed TooLarge
         watch 3",
    );
}

/// FM-41: versions that cannot be compared are taken as they come, and that is said once.
#[test]
fn incomparable_versions_are_taken_as_they_come() {
    check(
        listing(),
        "start
         page xyz a@abc
         opened
         modified a@007
         modified a@abc
         after 40
         closed",
        "list any limit=500
         replace a@abc -> xyz
         incomparable xyz
         listed Initial
         watch xyz
         modify a@007 -> 007
         modify a@abc -> abc
         watch abc",
    );
}

/// An object without a version moves nothing, and a watch never starts from nowhere (RFX-4).
#[test]
fn an_event_without_a_version_moves_nothing() {
    check(
        listing(),
        "start
         page 5
         opened
         added a@
         added b@0
         after 40
         closed",
        "list any limit=500
         replace -> 5
         listed Initial
         watch 5
         add a@ -> 5
         add b@0 -> 5
         watch 5",
    );
}

/// FM-30, FM-31, FM-33, rows B, E and W: once more from the last good version, then a list.
#[test]
fn what_is_not_the_protocol_is_watched_again_once() {
    check(
        listing(),
        "start
         page 5
         opened
         added a@6
         breaks Protocol
         wait
         opened
         breaks Protocol
         wait
         page 8 a@6 b@8",
        "list any limit=500
         replace -> 5
         listed Initial
         watch 5
         add a@6 -> 6
         failed Protocol #1, again later
         watch 6
         failed Protocol #2, again later
         list >=6
         replace a@6 b@8 -> 8
         listed WatchBroken
         watch 8",
    );
}

/// FM-52 in a watch: a source cannot make an item of an object without a name, and reports it as a
/// protocol failure; the object is not passed over.
#[test]
fn a_nameless_event_is_not_passed_over() {
    check(
        listing(),
        "start
         page 5
         opened
         breaks Protocol
         wait",
        "list any limit=500
         replace -> 5
         listed Initial
         watch 5
         failed Protocol #1, again later
         watch 5",
    );
}

/// FM-34: 500 is watched through for half a minute, then listed.
#[test]
fn internal_errors_end_in_a_list() {
    check(
        listing(),
        "start
         page 5
         opened
         error Internal
         wait
         refused Internal
         wait
         refused Internal
         after 30
         refused Internal
         wait",
        "list any limit=500
         replace -> 5
         listed Initial
         watch 5
         abandon
         failed Internal #1, again later
         watch 5
         failed Internal #2, again later
         watch 5
         failed Internal #3, again later
         watch 5
         failed Internal #4, again later
         list >=5",
    );
}

/// Rows C and D, FM-22: unavailable for long ends in a list, throttled and refused never do.
#[test]
fn unavailable_ends_in_a_list_and_throttled_does_not() {
    for (kind, next) in [
        ("Unavailable", "list >=5"),
        ("Cut", "list >=5"),
        ("Throttled", "watch 5"),
        ("Connect", "watch 5"),
    ] {
        check(
            listing(),
            &format!(
                "start\n page 5\n refused {kind}\n after 300\n refused {kind}\n
                 after 30\n refused {kind}\n wait"
            ),
            &format!(
                "list any limit=500
                 replace -> 5
                 listed Initial
                 watch 5
                 failed {kind} #1, again later
                 watch 5
                 failed {kind} #2, again later
                 watch 5
                 failed {kind} #3, again later
                 {next}"
            ),
        );
    }
}

/// FM-21, row F: the first early close is reopened at once, the second is not.
#[test]
fn early_closes_are_failures() {
    check(
        listing(),
        "start
         page 5
         opened
         closed
         opened
         closed
         wait
         opened
         after 121
         closed
         opened
         closed",
        "list any limit=500
         replace -> 5
         listed Initial
         watch 5
         failed ShortWatch #1, again now
         watch 5
         failed ShortWatch #2, again later
         watch 5
         watch 5
         failed ShortWatch #1, again now
         watch 5",
    );
}

/// FM-16, FM-17, FM-20, FM-09: what never answers is given up.
#[test]
fn nothing_is_waited_for_without_end() {
    check(
        listing(),
        "start
         wait
         wait
         page 5
         wait
         wait
         opened
         wait",
        "list any limit=500
         abandon
         failed TimedOut #1, again later
         list any limit=500
         replace -> 5
         listed Initial
         watch 5
         abandon
         failed TimedOut #2, again later
         watch 5
         abandon
         failed TimedOut #1, again later",
    );
}

/// FM-82: a panic is a failure like any other, wherever it happens.
#[test]
fn a_panic_is_survived() {
    check(
        listing(),
        "start
         panic
         wait
         page 5
         panic
         wait
         page 5
         opened
         panic
         wait
         stop",
        "list any limit=500
         failed Panicked #1, again later
         list any limit=500
         replace -> 5
         listed Initial
         watch 5
         failed Panicked #2, again later
         list >=5
         replace -> 5
         listed WatchBroken
         watch 5
         failed Panicked #3, again later
         list >=5
         abandon",
    );
}

/// What a user may demand, in each phase. Late answers to what was abandoned change nothing.
#[test]
fn demands_are_met_in_every_phase() {
    check(
        listing(),
        "relist
         start
         retry
         relist
         page-fails Connect
         retry
         page 5
         relist
         opened
         page 6
         opened
         repair
         page-fails Connect
         wait
         page 7
         opened
         retry
         stop
         relist
         start",
        "list any limit=500
         abandon
         list any limit=500
         failed Connect #1, again later
         list any limit=500
         replace -> 5
         listed Initial
         watch 5
         abandon
         list >=5
         replace -> 6
         listed Requested
         watch 6
         abandon
         list latest limit=500 afresh
         failed Connect #2, again later
         list latest limit=500 afresh
         replace -> 7
         listed Requested
         watch 7
         abandon",
    );
}
