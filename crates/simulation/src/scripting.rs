//! What each kind of fault is made of: steps of the plan.

use std::time::Duration;

use informer_testkit::{Damage, Fault, Rejection, Times};

use crate::{
    FaultKind as K, canary,
    chance::Chance,
    drawing::{draw_listener, write_of},
    plan::{Action, Plan, Requests},
};

/// A spell of one kind, beginning at a moment.
pub(crate) fn script(plan: &mut Plan, kind: K, at: Duration, chance: &mut Chance) {
    match kind {
        K::HalfOpen | K::OneWay | K::DnsMove => partition(plan, kind, at, chance),
        K::Compaction => {
            gap_if(plan, at, chance);
            plan.step(at, Action::Compact);
        }
        K::Restore => plan.step(at, Action::Restore(chance.between(1, 30))),
        K::UidChange | K::Ephemeral | K::LabelFlip | K::Wipe => {
            gap_if(plan, at, chance);
            let write = write_of(kind, chance);
            plan.step(at, Action::Write(write));
            if chance.percent(40) {
                plan.step(at, Action::Compact);
            }
        }
        K::Replay => {
            // An open watch may repeat something, too; what else is drawn stays what it was.
            plan.step(at, Action::Repeat);
            plan.step(at + Duration::from_millis(700), Action::Repeat);
            request_fault(plan, kind, at, chance);
        }
        K::LowerBookmark => plan.step(at, Action::LowerBookmark(chance.between(1, 200))),
        K::HandlerSlow | K::HandlerBlocked | K::HandlerPanics | K::HandlerReenters => {}
        K::TransformError | K::SeedExtremes => {}
        K::HandlerAdd => {
            let listener = draw_listener(chance);
            plan.step(at, Action::Add(kind, listener));
        }
        K::HandlerRemove => plan.step(at, Action::Remove(chance.index(8))),
        K::HandlerReadd => plan.step(at, Action::Readd(chance.index(8))),
        K::IndexAdd => plan.step(at, Action::AddIndex),
        K::ClockJump => plan.step(at, Action::Jump(chance.millis(1_000, 90_000))),
        K::Cancel => {
            let polls = chance.pick(&[0, 1, 2, 3, 10]);
            plan.step(at, Action::Cancel(polls));
        }
        _ => request_fault(plan, kind, at, chance),
    }
}

/// Often what happens to objects happens while nobody watches.
fn gap_if(plan: &mut Plan, at: Duration, chance: &mut Chance) {
    match chance.index(3) {
        0 => plan.step(at, Action::Cut),
        1 => plan.step(at, Action::Close),
        _ => {}
    }
}

/// Open watches fall silent, or not, and new requests come to nothing.
fn partition(plan: &mut Plan, kind: K, at: Duration, chance: &mut Chance) {
    let until = at + chance.millis(500, 150_000);
    let fault = match kind {
        K::DnsMove => Fault::Unreachable,
        _ => Fault::HangHeaders,
    };
    if kind != K::OneWay {
        plan.step(at, Action::Silence(kind));
    }
    plan.step(
        at,
        Action::Script(kind, Requests::Any, fault, Times::Always),
    );
    plan.step(until, Action::Unscript(kind));
}

/// A fault of requests, for some of them or for all of them during a while.
fn request_fault(plan: &mut Plan, kind: K, at: Duration, chance: &mut Chance) {
    let (requests, fault) = fault_of(kind, chance);
    let times = match chance.index(4) {
        0 => Times::Always,
        1 => Times::Times(chance.between(2, 6)),
        _ => Times::Once,
    };
    let longest = chance.pick(&[10_000, 60_000, 300_000]);
    let until = at + chance.millis(1_000, longest);
    // The open watch goes, or what is scripted for the next would not come for minutes.
    if chance.percent(70) {
        let end = chance.pick(&[0, 1]);
        let end = if end == 0 { Action::Cut } else { Action::Close };
        plan.step(at, Action::Script(kind, requests, fault, times));
        plan.step(at, end);
    } else {
        plan.step(at, Action::Script(kind, requests, fault, times));
    }
    // Lists come after a gap only.
    if matches!(
        requests,
        Requests::Lists | Requests::Pages | Requests::Streams
    ) {
        plan.step(at, Action::Skip(1));
        plan.step(at, Action::Compact);
        plan.step(at, Action::Cut);
    }
    plan.step(until, Action::Unscript(kind));
}

fn fault_of(kind: K, chance: &mut Chance) -> (Requests, Fault) {
    let any = chance.pick(&[Requests::Any, Requests::Lists, Requests::Watches]);
    let status = |code, reason, message| (any, Fault::status(code, reason, message));
    match kind {
        K::Refuse => (
            Requests::Any,
            chance.pick_clone(&[Fault::Refuse, Fault::Unreachable]),
        ),
        K::Reset => (any, Fault::CutAfterBytes(chance.between(1, 3_000))),
        K::Stall => (any, Fault::Stall(chance.millis(100, 90_000))),
        K::Latency => (Requests::Any, Fault::Delay(chance.millis(1, 8_000))),
        K::Tls => (Requests::Any, Fault::Handshake),
        K::CloseAfterHeaders => (any, Fault::CutAfterBytes(0)),
        K::CloseAtOnce => (Requests::Watches, Fault::CloseAfter(Duration::ZERO)),
        K::CloseSubsecond => (
            Requests::Watches,
            Fault::CloseAfter(chance.millis(1, 1_000)),
        ),
        K::CloseSeconds => (
            Requests::Watches,
            Fault::CloseAfter(chance.millis(2_000, 6_000)),
        ),
        K::CloseAfterEvent => (Requests::Watches, Fault::CloseAfterEvents(1)),
        K::Http400 => status(400, "BadRequest", "no"),
        K::Http401 => status(401, "Unauthorized", "Unauthorized"),
        K::Http403 => status(403, "Forbidden", "forbidden"),
        K::Http404 => status(404, "NotFound", "not found"),
        K::Http410 => status(410, "Expired", "too old resource version"),
        K::Http429 => (any, throttled(chance)),
        K::Http500 => status(500, "InternalError", "internal"),
        K::Http502 => (any, page(502, "<html>Bad Gateway</html>")),
        K::Http503 => status(503, "ServiceUnavailable", "unavailable"),
        K::Http504 => (any, Fault::Status(too_large(chance))),
        K::Html => (any, Fault::Html),
        K::ListHang => (Requests::Lists, Fault::Hang),
        K::ListCut => (
            Requests::Lists,
            Fault::CutAfterBytes(chance.between(1, 2_000)),
        ),
        K::DuplicateKey => (Requests::Lists, Fault::DuplicateKey),
        K::EmptyVersion => (Requests::Lists, Fault::EmptyResourceVersion),
        K::LowerVersion => (Requests::Lists, Fault::OlderVersion(chance.between(1, 5))),
        K::StaleReplica => (Requests::Lists, Fault::StaleBy(chance.between(1, 20))),
        K::Page410 => (Requests::Pages, Fault::Status(Rejection::expired(1, 2))),
        K::BadItem => (Requests::Lists, Fault::UndecodableItem),
        K::HugeItem => (Requests::Lists, Fault::HugeItem(20_000)),
        // Only watches have frames.
        K::WireLength => {
            let damage = Damage::FrameLength(chance.pick(&[0, 1, u32::MAX]));
            (Requests::Watches, Fault::Protobuf(damage))
        }
        _ if K::IN_PROTOBUF.contains(&kind) => (any, Fault::Protobuf(damage_of(kind))),
        _ => watch_fault_of(kind, chance),
    }
}

fn damage_of(kind: K) -> Damage {
    match kind {
        K::WireMagic => Damage::Magic,
        K::WireVarint => Damage::TruncatedVarint,
        K::WireValue => Damage::ValueNotUtf8,
        K::WireName => Damage::NameNotUtf8,
        K::WireNesting => Damage::Nesting(1_000),
        K::WireTwoNames => Damage::NameTwice,
        K::WireTwoMetadata => Damage::MetadataTwice,
        K::WireGroup => Damage::Group,
        _ => Damage::UnknownField,
    }
}

fn watch_fault_of(kind: K, chance: &mut Chance) -> (Requests, Fault) {
    let fault = match kind {
        K::HeaderDelay => match chance.percent(30) {
            true => Fault::HangHeaders,
            false => Fault::Delay(chance.millis(1_000, 60_000)),
        },
        K::Truncated => Fault::TruncatedLine,
        K::Garbage => Fault::GarbageLine,
        K::UnknownType => Fault::UnknownType,
        K::ErrorEvent => Fault::ErrorEvent {
            after: chance.between(0, 3),
            status: any(chance),
        },
        K::BareError => Fault::BareError {
            after: chance.between(0, 3),
            status: any(chance),
        },
        K::WrongKind => Fault::WrongKind,
        K::Nameless => Fault::Nameless,
        K::Undecodable => Fault::UndecodableItem,
        K::Replay => Fault::ReplaySuffix(1 + chance.index(6)),
        K::OlderEvent => Fault::OlderVersion(chance.between(1, 90)),
        K::DeletedOlder => Fault::DeletedOlderVersion,
        K::NoBookmarks => Fault::BookmarkNever,
        K::EarlyBookmark => Fault::EarlyBookmark,
        K::NoInitialEnd => return (Requests::Streams, Fault::NoInitialEventsEnd),
        K::Gzip => Fault::Gzip,
        K::LostEvent => Fault::LoseEvent(chance.between(1, 4)),
        // The others are no faults of requests.
        _ => Fault::IgnoreTimeout,
    };
    (Requests::Watches, fault)
}

/// Every form in which a server may ask for patience, and nonsense.
fn throttled(chance: &mut Chance) -> Fault {
    let forms = [
        "1",
        "7",
        "600",
        "0",
        "-3",
        "soon",
        "Wed, 21 Oct 2026 07:28:00 GMT",
        "",
    ];
    Fault::Answer {
        code: 429,
        retry_after: chance.percent(80).then(|| chance.pick(&forms).to_owned()),
        media_type: "text/plain",
        body: "Too many requests, please try again later.\n".into(),
    }
}

fn page(code: u16, body: &str) -> Fault {
    Fault::Answer {
        code,
        retry_after: None,
        media_type: "text/html",
        body: format!("{body}{}", canary::mark()),
    }
}

fn too_large(chance: &mut Chance) -> Rejection {
    match chance.index(3) {
        0 => Rejection::too_large(9_000, 8_000),
        1 => Rejection::new(
            504,
            "Timeout",
            "Too large resource version: 9000, current: 8000",
        ),
        _ => Rejection::new(504, "Timeout", "timeout").with_cause("", "Too large resource version"),
    }
}

fn any(chance: &mut Chance) -> Rejection {
    let (code, reason) = chance.pick(&[
        (400, "BadRequest"),
        (401, "Unauthorized"),
        (403, "Forbidden"),
        (404, "NotFound"),
        (410, "Expired"),
        (410, "Gone"),
        (429, "TooManyRequests"),
        (500, "InternalError"),
        (503, "ServiceUnavailable"),
        (504, "Timeout"),
        (0, ""),
    ]);
    Rejection::new(code, reason, "on purpose")
}
