//! The failures that the machine itself detects.

use std::time::Duration;

use crate::{Failure, FailureKind};

/// The server is older than the version that was requested.
// FM-39
pub(super) fn server_behind() -> Failure {
    let message = "the server's history ends before the version we have";
    Failure::new(FailureKind::TooLarge, "ServerBehind", message)
}

/// The source panicked. The payload is not shown, because it could hold an object.
// FM-82
pub(super) fn panicked() -> Failure {
    let message = "the source of lists and watches panicked";
    Failure::new(FailureKind::Panicked, "Panicked", message)
}

pub(super) fn list_overdue() -> Failure {
    let message = "the page did not arrive in time";
    Failure::new(FailureKind::TimedOut, "ListTimeout", message)
}

pub(super) fn watch_overdue() -> Failure {
    let message = "the watch outlived its deadline";
    Failure::new(FailureKind::TimedOut, "WatchTimeout", message)
}

pub(super) fn short_watch(lived: Duration, events: u64) -> Failure {
    let message = format!("the watch was closed after {lived:?} and {events} events");
    Failure::new(FailureKind::ShortWatch, "ShortWatch", message)
}

pub(super) fn incomplete() -> Failure {
    let message = "the initial events did not end with a bookmark";
    Failure::new(FailureKind::Incomplete, "InitialEventsIncomplete", message)
}

/// A list or a bookmark has no version. `message` names which.
// FM-08
pub(super) fn no_version(message: &str) -> Failure {
    Failure::new(FailureKind::Protocol, "NoResourceVersion", message)
}

/// The server calls this an inconsistent continue, which is as good as an expired token.
// FM-06
pub(super) fn inconsistent_pages() -> Failure {
    let message = "the pages of the list are of different versions";
    Failure::new(FailureKind::Expired, "InconsistentPages", message)
}

pub(super) fn endless_list() -> Failure {
    let message = "the list continues where it continued before";
    Failure::new(FailureKind::Protocol, "EndlessList", message)
}
