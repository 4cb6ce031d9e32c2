//! The step `fault`, in the words of the testkit.

use std::time::Duration;

use informer_testkit::{ApiServer, Fault, Match, Rejection, Times};

use super::settings::duration;
use crate::scenario::Step;

/// Scripts `fault <request> <what> [times=n|always] [retry=s]`; none if it makes no sense.
pub(super) fn script(server: &ApiServer, step: &Step) -> Option<()> {
    let [request, what, ..] = step.args.as_slice() else {
        return None;
    };
    let requests = match request.as_str() {
        "any" => Match::any(),
        "list" => Match::list(),
        "page" => Match::list().continuation(true),
        "watch" => Match::watch(),
        "stream" => Match::watch().initial_events(true),
        _ => return None,
    };
    let times = match step.option("times") {
        Some("always") => Times::Always,
        Some(times) => Times::Times(times.parse().ok()?),
        None if step.has("always") => Times::Always,
        None => Times::Once,
    };
    let retry = match step.option("retry") {
        Some(seconds) => Some(Duration::from_secs(seconds.parse().ok()?)),
        None => None,
    };
    server.fault(requests, with_retry(fault(what)?, retry), times);
    Some(())
}

fn with_retry(mut fault: Fault, retry: Option<Duration>) -> Fault {
    if let (Fault::Status(status) | Fault::ErrorEvent { status, .. }, Some(retry)) =
        (&mut fault, retry)
    {
        *status = status.clone().with_retry_after(retry);
    }
    fault
}

fn fault(text: &str) -> Option<Fault> {
    if let Some(fault) = plain(text) {
        return Some(fault);
    }
    let (word, after) = match text.split_once('@') {
        Some((word, after)) => (word, Some(after.parse::<u64>().ok()?)),
        None => (text, None),
    };
    let (name, value) = word.split_once('=').unwrap_or((word, ""));
    Some(match (name, after) {
        ("close", Some(events)) => Fault::CloseAfterEvents(events),
        ("cut", Some(events)) => Fault::CutAfterEvents(events),
        ("end", Some(changes)) => Fault::LateInitialEventsEnd(changes),
        ("error", after) => Fault::ErrorEvent {
            after: after.unwrap_or(0),
            status: status(value)?,
        },
        ("old", None) => Fault::OlderVersion(value.parse().ok()?),
        ("delay", None) => Fault::Delay(duration(value)?),
        _ => Fault::Status(status(text)?),
    })
}

fn plain(text: &str) -> Option<Fault> {
    Some(match text {
        "refuse" => Fault::Unreachable,
        "reset" => Fault::Refuse,
        "no-end" => Fault::NoInitialEventsEnd,
        "no-bookmarks" => Fault::BookmarkNever,
        "garbage" => Fault::GarbageLine,
        "unknown-type" => Fault::UnknownType,
        "table" => Fault::WrongKind,
        "nameless" => Fault::Nameless,
        "undecodable" => Fault::UndecodableItem,
        "duplicate" => Fault::DuplicateKey,
        "empty-version" => Fault::EmptyResourceVersion,
        "hang" => Fault::Hang,
        _ => return None,
    })
}

/// A status by its code, or one of the two that have a name.
fn status(text: &str) -> Option<Rejection> {
    const SAID: &str = "a fault said so";
    let reason = match text {
        "too-large" => {
            let message = "Too large resource version: a fault said so";
            let status = Rejection::new(504, "Timeout", message);
            return Some(
                status.with_cause("ResourceVersionTooLarge", "Too large resource version"),
            );
        }
        "gone" => return Some(Rejection::new(410, "Gone", SAID)),
        "400" => "BadRequest",
        "401" => "Unauthorized",
        "403" => "Forbidden",
        "404" => "NotFound",
        "409" => "Conflict",
        "410" => "Expired",
        "422" => "Invalid",
        "429" => "TooManyRequests",
        "500" => "InternalError",
        "503" => "ServiceUnavailable",
        "504" => "Timeout",
        _ => return None,
    };
    Some(Rejection::new(text.parse().ok()?, reason, SAID))
}
