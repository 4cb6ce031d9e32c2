//! Scenarios of client-go's `reflector_test.go` and `reflector_watchlist_test.go`, with code of our
//! own. Each test names the upstream test whose intent it has. Those about tasks, streams and time
//! are in `tests/driver/client_go.rs`.
//!
//! Not here, with the reason:
//!
//! - `TestReflectorResyncChan`, `TestReflectorResync`: resync belongs to the processor; the
//!   reflector keeps no such timer.
//! - `TestGetTypeDescription…`, `TestGetExpectedGVK…`, `TestIsUnsupportedTableObject`,
//!   `TestReflectorWatchHandler` (wrong types): what an object is, is the source's to check.
//! - `TestReflectorListExtract`, `TestReflectorRespectStoreTransformer`: objects are decoded one by
//!   one into `Arc`s, and the source transforms each once (FM-57).
//! - `TestReflectorResourceVersionUpdate`: every emission carries the version received.
//! - `TestInitialEventsEndBookmarkTicker`: patience ends in a list instead of a warning (RFX-12).
//! - `TestReflectorListAndWatchInitConnBackoff`: `src/backoff.rs`, and `tests/pacing.rs`.

mod scenario;
mod wire;

use std::{num::NonZeroU32, time::Duration};

use scenario::check;
use wire::listing;

/// `TestReflectorWatchStoppedBefore`, `TestReflectorHandleWatchStoppedBefore`,
/// `TestReflectorHandleWatchResultChanClosedBefore` and `…After`: a stream that ends at once is a
/// failure of its own kind.
#[test]
fn a_stream_that_ends_at_once_is_a_short_watch() {
    check(
        listing(),
        "start
         page 1
         opened
         closed",
        "list any limit=500
         replace -> 1
         listed Initial
         watch 1
         failed ShortWatch #1, again now
         watch 1",
    );
}

/// `TestReflectorListAndWatch`, without streaming: options of the requests, and what is handed on.
#[test]
fn lists_and_watches() {
    check(
        listing(),
        "start
         page 1
         opened
         added foo@2
         added bar@3
         modified foo@4
         deleted bar@5",
        "list any limit=500
         replace -> 1
         listed Initial
         watch 1
         add foo@2 -> 2
         add bar@3 -> 3
         modify foo@4 -> 4
         delete bar@5 -> 5",
    );
}

/// `TestReflectorListAndWatch`, with streaming, and `TestWatchList` (options of the request; synced
/// after the bookmark; changes and deletes before it are settled).
#[test]
fn streams_and_goes_on() {
    check(
        listing().streaming(true),
        "start
         opened
         added foo@2
         added bar@3
         modified foo@4
         deleted bar@5
         end 6
         added baz@7",
        "stream \"\"
         replace foo@4 -> 6
         listed Initial
         add baz@7 -> 7",
    );
}

/// `TestReflectorListAndWatchWithErrors`: good and bad answers, and in the end everything is there.
#[test]
fn converges_through_errors() {
    check(
        listing(),
        "start
         page-fails Other
         wait
         page 3 foo@1
         refused Other
         wait
         page 5 foo@1 bar@4
         opened
         added baz@6
         error Other
         wait
         page 7 foo@1 bar@4 baz@6",
        "list any limit=500
         failed Other #1, again later
         list any limit=500
         replace foo@1 -> 3
         listed Initial
         watch 3
         failed Other #2, again later
         list >=3
         replace foo@1 bar@4 -> 5
         listed WatchBroken
         watch 5
         add baz@6 -> 6
         abandon
         failed Other #3, again later
         list >=6
         replace foo@1 bar@4 baz@6 -> 7
         listed WatchBroken
         watch 7",
    );
}

/// `TestBackoffOnTooManyRequests`: 429 waits, when the watch is opened and within it.
#[test]
fn too_many_requests_wait() {
    check(
        listing(),
        "start
         page 1
         refused Throttled
         wait
         opened
         error Throttled
         wait
         opened
         added foo@2",
        "list any limit=500
         replace -> 1
         listed Initial
         watch 1
         failed Throttled #1, again later
         watch 1
         abandon
         failed Throttled #2, again later
         watch 1
         add foo@2 -> 2",
    );
}

/// `TestNoRelistOnTooManyRequests`: four 429 are five watches and one list.
#[test]
fn too_many_requests_do_not_relist() {
    let refusals = "refused Throttled\n wait\n".repeat(4);
    let answers = (1..=4).map(|n| format!("failed Throttled #{n}, again later\n watch 1\n"));
    check(
        listing(),
        &format!("start\n page 1\n {refusals}"),
        &format!(
            "list any limit=500\n replace -> 1\n listed Initial\n watch 1\n {}",
            answers.collect::<String>()
        ),
    );
}

/// `TestRetryInternalError`: within the window the watch is repeated, after it there is a list; and
/// news restart the window.
#[test]
fn internal_errors_are_retried_within_a_window() {
    let mut never = listing();
    never.internal_patience = Duration::ZERO;
    check(
        never,
        "start
         page 1
         opened
         error Internal
         wait
         opened
         error Internal
         wait",
        "list any limit=500
         replace -> 1
         listed Initial
         watch 1
         abandon
         failed Internal #1, again later
         watch 1
         abandon
         failed Internal #2, again later
         list >=1",
    );
    check(
        listing(),
        "start
         page 1
         opened
         error Internal
         wait
         opened
         after 29
         added foo@2
         error Internal
         wait
         opened
         after 29
         error Internal
         wait",
        "list any limit=500
         replace -> 1
         listed Initial
         watch 1
         abandon
         failed Internal #1, again later
         watch 1
         add foo@2 -> 2
         abandon
         failed Internal #2, again later
         watch 2
         abandon
         failed Internal #3, again later
         list >=2",
    );
}

/// `TestReflectorWatchListPageSize`: an explicit page size holds for every version.
#[test]
fn an_explicit_page_size_is_always_used() {
    let mut config = listing();
    config.page_size = NonZeroU32::new(4);
    check(
        config,
        "start
         page 10 a@1 more=x
         page 10 b@2
         refused Expired
         wait",
        "list any limit=4
         list any limit=4 continue=x
         replace a@1 b@2 -> 10
         listed Initial
         watch 10
         failed Expired #1, again later
         list >=10 limit=4",
    );
}

/// `TestReflectorNotPaginatingNotConsistentReads`: a list at our version has no limit, so that the
/// watch cache can answer it.
#[test]
fn a_list_at_our_version_is_not_paged() {
    check(
        listing(),
        "start
         page 10 a@1
         refused Expired
         wait
         page 11 a@1",
        "list any limit=500
         replace a@1 -> 10
         listed Initial
         watch 10
         failed Expired #1, again later
         list >=10
         replace a@1 -> 11
         listed Expired
         watch 11",
    );
}

/// `TestReflectorPaginatingNonConsistentReadsIfWatchCacheDisabled`: pages once, pages for ever.
#[test]
fn without_a_watch_cache_lists_are_paged() {
    check(
        listing(),
        "start
         page 10 a@1 more=x
         page 10 b@2
         refused Expired
         wait
         page 11 a@1
         refused Expired
         wait",
        "list any limit=500
         list any limit=500 continue=x
         replace a@1 b@2 -> 10
         listed Initial
         watch 10
         failed Expired #1, again later
         list >=10 limit=500
         replace a@1 -> 11
         listed Expired
         watch 11
         failed Expired #2, again later
         list >=11 limit=500",
    );
}

/// `TestReflectorResyncWithResourceVersion`: any version first, then not older than the last.
#[test]
fn later_lists_are_not_older_than_earlier_ones() {
    check(
        listing(),
        "start
         page 10
         relist
         page 20
         relist",
        "list any limit=500
         replace -> 10
         listed Initial
         watch 10
         abandon
         list >=10
         replace -> 20
         listed Requested
         watch 20
         abandon
         list >=20",
    );
}

/// `TestReflectorExpiredExactResourceVersion` and `TestReflectorFullListIfTooLarge`: a version that
/// is refused is replaced by a consistent read, at once. (The encodings: `src/failure.rs`.)
#[test]
fn a_refused_version_is_replaced_by_a_consistent_read() {
    for kind in ["Expired", "TooLarge"] {
        check(
            listing(),
            &format!(
                "start
                 page 10
                 relist
                 page-fails {kind}
                 page 11"
            ),
            &format!(
                "list any limit=500
                 replace -> 10
                 listed Initial
                 watch 10
                 abandon
                 list >=10
                 failed {kind} #1, again now
                 list latest limit=500
                 replace -> 11
                 listed {kind}
                 watch 11"
            ),
        );
    }
}

/// `TestReflectorFullListIfExpired`: a continue token that expired is answered with one full list
/// at the version asked for, and if that is refused with a consistent one.
#[test]
fn an_expired_token_is_replaced_by_a_full_list() {
    let mut config = listing();
    config.page_size = NonZeroU32::new(4);
    check(
        config,
        "start
         page 10 a@1
         relist
         page 11 a@1 more=x
         page-fails Expired
         page-fails Expired
         page 12 a@1",
        "list any limit=4
         replace a@1 -> 10
         listed Initial
         watch 10
         abandon
         list >=10 limit=4
         list >=10 limit=4 continue=x
         failed Expired #1, again now
         list >=10
         failed Expired #2, again now
         list latest limit=4
         replace a@1 -> 12
         listed Expired
         watch 12",
    );
}

/// `TestReflectorReplacesStoreOnUnsafeDelete`: an `ERROR` event that says the store cannot be read
/// ends in a list that replaces everything.
#[test]
fn a_store_read_error_is_answered_with_a_list() {
    check(
        listing(),
        "start
         page 1 a@1 b@1
         opened
         error Other
         wait
         page 2 b@1",
        "list any limit=500
         replace a@1 b@1 -> 1
         listed Initial
         watch 1
         abandon
         failed Other #1, again later
         list >=1
         replace b@1 -> 2
         listed WatchBroken
         watch 2",
    );
}

/// `TestWatchListResourceVersion`: initial events never are a version to resume from.
#[test]
fn the_version_of_a_stream_is_that_of_its_end() {
    check(
        listing().streaming(true),
        "start
         opened
         added a@100
         added b@50
         end 70
         after 40
         closed",
        "stream \"\"
         replace a@100 b@50 -> 70
         listed Initial
         watch 70",
    );
}

/// `TestWatchList`: without a bookmark nothing is synced; a bookmark without the annotation is not
/// the one; every error but those a list would meet as well leads to a list.
#[test]
fn a_stream_is_complete_with_its_bookmark_only() {
    check(
        listing().streaming(true),
        "start
         opened
         added a@1
         bookmark 2
         breaks Other
         page 3 a@1",
        "stream \"\"
         failed Other #1, again now
         list any limit=500
         replace a@1 -> 3
         listed StreamingFallback
         watch 3",
    );
}

/// `TestWatchList`: 429 is waited for, and the stream asked for again.
#[test]
fn a_throttled_stream_is_asked_for_again() {
    check(
        listing().streaming(true),
        "start
         refused Throttled
         wait
         refused Connect
         wait
         opened
         error Throttled
         wait",
        "stream \"\"
         failed Throttled #1, again later
         stream \"\"
         failed Connect #2, again later
         stream \"\"
         abandon
         failed Throttled #3, again later
         stream \"\"",
    );
}

/// `TestWatchList`: a stream whose version expired is asked for consistently, at once; the watch
/// that follows a stream resumes from its last version, and expires like any other.
#[test]
fn an_expired_stream_is_asked_for_consistently() {
    check(
        listing().streaming(true),
        "start
         opened
         end 5
         added a@6
         after 31
         closed
         refused Expired
         wait
         opened
         error Expired
         opened
         added a@6
         end 9",
        "stream \"\"
         replace -> 5
         listed Initial
         add a@6 -> 6
         watch 6
         failed Expired #1, again later
         stream \"6\"
         abandon
         failed Expired #2, again now
         stream \"\"
         replace a@6 -> 9
         listed Expired",
    );
}
