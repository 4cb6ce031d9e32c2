//! FM-18: how soon a dead connection is found is the caller's to choose.

mod scenario;
mod wire;

use std::time::Duration;

use informer_reflector::Config;
use scenario::check;
use wire::listing;

/// For a consumer that must act within half a minute.
fn vigilant() -> Config {
    let mut config = listing();
    config.watch_timeout = Duration::from_secs(15)..=Duration::from_secs(15);
    config
}

/// Silence is over after 20 s, and not before.
#[test]
fn a_silent_watch_is_given_up_after_twenty_seconds() {
    let patient = "list any limit=500
         replace -> 5
         listed Initial
         watch 5";
    check(vigilant(), "start\n page 5\n opened\n after 19", patient);
    let given_up = format!("{patient}\n abandon\n failed TimedOut #1, again later");
    check(
        vigilant(),
        "start\n page 5\n opened\n after 19\n after 1",
        &given_up,
    );
}

/// A watch that the server ends when it was asked to is no failure, though it was short; one that
/// ends before is.
#[test]
fn a_short_watch_that_was_asked_for_is_no_failure() {
    check(
        vigilant(),
        "start
         page 5
         opened
         after 15
         closed
         opened
         after 15
         closed
         opened
         after 14
         closed
         opened
         after 14
         closed
         wait",
        "list any limit=500
         replace -> 5
         listed Initial
         watch 5
         watch 5
         watch 5
         failed ShortWatch #1, again now
         watch 5
         failed ShortWatch #2, again later
         watch 5",
    );
}
