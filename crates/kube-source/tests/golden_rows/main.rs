//! The golden rows: the faults under which client-go and kube-runtime were measured,
//! through our whole HTTP path, each with the bound it has to keep.
//!
//! One virtual hour each, under tokio's paused clock. Run with `--nocapture` to see the counts that
//! `docs/GOLDEN_ROWS.md` shows beside those of the peers. Unless a row says otherwise the list is
//! `a@1` at version 5, a watch that nobody disturbs stays open until its timeout, and a streaming
//! list is refused with 422, as it was for the peers. Rows K and N need a store and are the
//! facade's. Each row runs in JSON, in protobuf, and in the format that the default selects.

mod run;
mod server;
mod wire;

use std::time::Duration;

use informer_reflector::FailureKind;
use run::{Seen, hour, run};
use server::{Answer, Ask, Piece, Verb, body, event, list_of, status, text};
use wire::{Object, Wire};

/// Answers lists and streams as usual, and watches by the script.
fn watches(
    script: impl Fn(&Ask) -> Answer + Send + Sync + Clone + 'static,
) -> impl Fn(&Ask) -> Answer + Send + Sync + Clone + 'static {
    move |ask| match ask.verb {
        Verb::Stream => status(422, "Invalid"),
        Verb::List => usual_list(),
        Verb::Watch => script(ask),
    }
}

fn usual_list() -> Answer {
    list_of("5", &[Object::pod("a", 1)])
}

fn idle() -> Answer {
    body([Piece::UntilTimeout])
}

/// R1, RFX-13: whatever persists, no more than this, and each failure told once with a cause.
fn keeps_to_r1(seen: &Seen) {
    assert!(seen.lists() <= 200, "{} lists", seen.lists());
    assert!(seen.asked.len() <= 400, "{} requests", seen.asked.len());
    let told = seen
        .failures
        .iter()
        .all(|failure| !failure.to_string().is_empty());
    assert!(told, "a failure without a cause");
}

/// Every request of these verbs failed and was told; the last may still be on its way.
fn tells_each(seen: &Seen, verbs: &[Verb]) {
    let failed = seen.asked.iter().filter(|ask| verbs.contains(&ask.verb));
    let (failed, told) = (failed.count(), seen.failures.len());
    assert!(
        told == failed || told + 1 == failed,
        "{told} told of {failed}"
    );
}

/// A watch brings `b@6`, undecodable, then `c@7`: b is quarantined, c is there, nothing is listed.
async fn row_a_undecodable_event(wire: Wire) {
    let seen = hour(
        wire,
        "A",
        watches(|ask| match ask.since() {
            5 => body([
                event("ADDED", &Object::bad_pod("b", 6)),
                event("ADDED", &Object::pod("c", 7)),
                Piece::UntilTimeout,
            ]),
            7 => idle(),
            version => panic!("watched from {version}"),
        }),
    )
    .await;
    assert_eq!(seen.stored(), ["a@1", "b@6!", "c@7"]);
    assert_eq!(
        (seen.lists(), seen.failures.len()),
        (1, 1),
        "only the stream refused"
    );
}

/// A watch brings `b@6` cut off but with its newline, then `c@7`, once or always: nothing is lost.
async fn row_b_truncated_event(wire: Wire) {
    for (row, always) in [("B", false), ("B always", true)] {
        let seen = hour(wire, row, move |ask| match ask.verb {
            Verb::Stream => status(422, "Invalid"),
            Verb::List if ask.nth == 0 => usual_list(),
            Verb::List => list_of(
                "7",
                &[
                    Object::pod("a", 1),
                    Object::pod("b", 6),
                    Object::pod("c", 7),
                ],
            ),
            Verb::Watch if ask.since() == 7 => idle(),
            Verb::Watch if ask.nth == 0 || always => body([
                Piece::Torn("ADDED", Object::pod("b", 6)),
                event("ADDED", &Object::pod("c", 7)),
                Piece::UntilTimeout,
            ]),
            Verb::Watch => body([
                event("ADDED", &Object::pod("b", 6)),
                event("ADDED", &Object::pod("c", 7)),
                Piece::UntilTimeout,
            ]),
        })
        .await;
        assert_eq!(seen.stored(), ["a@1", "b@6", "c@7"], "{row}");
        assert_eq!(seen.lists(), if always { 2 } else { 1 }, "{row}");
        assert!(
            seen.failures
                .iter()
                .any(|failure| failure.kind == FailureKind::Protocol)
        );
    }
}

/// Every watch ends with an event that the version is too large.
async fn row_c_too_large_event(wire: Wire) {
    let seen = hour(
        wire,
        "C",
        watches(|_| body([event("ERROR", &Object::too_large())])),
    )
    .await;
    keeps_to_r1(&seen);
    assert!(
        seen.lists() > 10,
        "a version that is of no use ends in lists"
    );
    tells_each(&seen, &[Verb::Stream, Verb::Watch]);
}

/// Every watch is refused with HTTP 410, or ends with an event of 410.
async fn row_d_expired_watch(wire: Wire) {
    let expired = Object::status(410, "Expired");
    let as_event = body([event("ERROR", &expired), Piece::UntilTimeout]);
    for (row, answer) in [("D", status(410, "Expired")), ("D2", as_event)] {
        let seen = hour(wire, row, watches(move |_| answer.clone())).await;
        keeps_to_r1(&seen);
        assert!(
            seen.lists() > 10,
            "a version that is of no use ends in lists"
        );
        tells_each(&seen, &[Verb::Stream, Verb::Watch]);
    }
}

/// A watch brings `FOO b@6`, then `c@7`: the version does not move past what was not understood.
async fn row_e_unknown_event(wire: Wire) {
    let seen = hour(wire, "E", |ask: &Ask| match ask.verb {
        Verb::Stream => status(422, "Invalid"),
        Verb::List if ask.nth == 0 => usual_list(),
        Verb::List => list_of(
            "7",
            &[
                Object::pod("a", 1),
                Object::pod("b", 6),
                Object::pod("c", 7),
            ],
        ),
        Verb::Watch if ask.since() == 7 => idle(),
        Verb::Watch => body([
            event("FOO", &Object::pod("b", 6)),
            event("ADDED", &Object::pod("c", 7)),
            Piece::UntilTimeout,
        ]),
    })
    .await;
    assert_eq!(seen.stored(), ["a@1", "b@6", "c@7"]);
    assert_eq!(seen.took(), ["replace 1 at 5", "replace 3 at 7"]);
    assert_eq!(seen.lists(), 2);
}

/// Every watch closes at once, or after 2 s, without an event.
async fn row_f_early_close(wire: Wire) {
    let seen = hour(wire, "F", watches(|_| body([]))).await;
    keeps_to_r1(&seen);
    let seen = hour(
        wire,
        "F2",
        watches(|_| body([Piece::Wait(Duration::from_secs(2))])),
    )
    .await;
    assert!(seen.asked.len() <= 200, "{} requests", seen.asked.len());
    tells_each(&seen, &[Verb::Stream, Verb::Watch]);
}

/// Every watch brings one event, then closes: paced, and each event is there within 5 s. The bound
/// is for an hour like any other; the first one has a few quick attempts more.
async fn row_f3_close_after_event(wire: Wire) {
    let hour = Duration::from_secs(3600);
    let script = watches(|ask| {
        let next = ask.since() + 1;
        body([event("MODIFIED", &Object::pod("a", next))])
    });
    let seen = run(wire, "F3", 2 * hour, script).await;
    let second = seen.asked.iter().filter(|ask| ask.at >= hour).count();
    assert!(second <= 720, "{second} requests in the second hour");
    assert!(
        seen.asked.len() <= second + 730,
        "{} requests",
        seen.asked.len()
    );
    assert_eq!(seen.lists(), 1);
    let pauses = seen.taken.windows(2).map(|pair| pair[1].0 - pair[0].0);
    let longest = pauses.max().expect("events");
    // The server takes a millisecond of its own.
    assert!(longest <= Duration::from_millis(5001), "{longest:?}");
}

/// `DELETED a@2` comes after a list of version 5: the next watch starts from 5.
async fn row_g_old_delete(wire: Wire) {
    let seen = hour(
        wire,
        "G",
        watches(|ask| match ask.nth {
            0 => body([
                event("DELETED", &Object::pod("a", 2)),
                Piece::Wait(Duration::from_secs(60)),
            ]),
            _ => idle(),
        }),
    )
    .await;
    assert!(seen.watched_from().iter().all(|version| *version == "5"));
    assert!(seen.stored().is_empty());
    assert_eq!(seen.lists(), 1);
}

/// Watches are accepted and never say or end anything.
async fn row_h_silent_watch(wire: Wire) {
    let seen = hour(wire, "H", watches(|_| body([Piece::Hang]))).await;
    silence_is_bounded(&seen);
}

/// The headers of a watch never arrive.
async fn row_q2_watch_headers(wire: Wire) {
    let seen = hour(wire, "Q2", watches(|_| Answer::Silence)).await;
    silence_is_bounded(&seen);
}

/// R5, R6: given up 5 s after the timeout asked for; then the longest delay, and a list perhaps.
fn silence_is_bounded(seen: &Seen) {
    let watches: Vec<_> = seen
        .asked
        .iter()
        .filter(|ask| ask.verb == Verb::Watch)
        .collect();
    assert!(watches.len() >= 5, "{} watches", watches.len());
    for pair in watches.windows(2) {
        let silence = pair[1].at - pair[0].at;
        let bound = pair[0].timeout + Duration::from_secs(5 + 31);
        assert!(silence <= bound, "{silence:?} > {bound:?}");
    }
    tells_each(seen, &[Verb::Stream, Verb::Watch]);
}

/// R5: by default no watch is asked for longer than 300 s, so that silence is over after 305 s.
async fn row_h_default_timeout_is_within_r5(wire: Wire) {
    let day = Duration::from_secs(24 * 3600);
    let seen = run(wire, "H default", day, watches(|_| body([Piece::Hang]))).await;
    let watches = seen.asked.iter().filter(|ask| ask.verb == Verb::Watch);
    let longest = watches.map(|ask| ask.timeout).max().expect("watches");
    assert!(longest <= Duration::from_secs(300), "{longest:?}");
}

/// 429 with `Retry-After: 1` on every watch: waited for, and never a reason to list.
async fn row_j_throttled_watch(wire: Wire) {
    let status = Object::status(429, "TooManyRequests");
    let seen = hour(
        wire,
        "J",
        watches(move |_| {
            let status = vec![Piece::Status(status.clone())];
            Answer::Reply(429, None, Some(1), status)
        }),
    )
    .await;
    keeps_to_r1(&seen);
    assert_eq!(seen.lists(), 1);
    let watched = seen.asked.iter().filter(|ask| ask.verb == Verb::Watch);
    let times: Vec<_> = watched.map(|ask| ask.at).collect();
    for pair in times.windows(2) {
        assert!(pair[1] - pair[0] >= Duration::from_secs(1), "{pair:?}");
    }
}

/// `ADDED c@7` twice, then `MODIFIED c@6`, then the end: the next watch starts from 7.
async fn row_l_older_event(wire: Wire) {
    let seen = hour(
        wire,
        "L",
        watches(|ask| match ask.nth {
            0 => body([
                event("ADDED", &Object::pod("c", 7)),
                event("ADDED", &Object::pod("c", 7)),
                event("MODIFIED", &Object::pod("c", 6)),
            ]),
            _ => idle(),
        }),
    )
    .await;
    let (first, rest) = seen
        .watched_from()
        .split_first()
        .map(|(f, r)| (*f, r.to_vec()))
        .expect("watches");
    assert_eq!(first, "5");
    assert!(rest.iter().all(|version| *version == "7"), "{rest:?}");
    assert_eq!(seen.lists(), 1);
}

/// A list holds `a` twice: one a, the newer.
async fn row_m_duplicate_key(wire: Wire) {
    for items in [
        [Object::pod("a", 1), Object::pod("a", 3)],
        [Object::pod("a", 3), Object::pod("a", 1)],
    ] {
        let seen = hour(wire, "M", move |ask| match ask.verb {
            Verb::Stream => status(422, "Invalid"),
            Verb::List => list_of("5", &items),
            Verb::Watch => idle(),
        })
        .await;
        assert_eq!(seen.stored(), ["a@3"]);
        assert_eq!(seen.took(), ["replace 1 at 5"]);
    }
}

/// Streaming lists bring an event and then close, or say no more: a list within the bound (R9).
async fn row_o_endless_initial_events(wire: Wire) {
    for (row, end) in [("O", None), ("O hangs", Some(Piece::Hang))] {
        let seen = hour(wire, row, move |ask| match ask.verb {
            Verb::Stream => body(
                [event("ADDED", &Object::pod("a", 1))]
                    .into_iter()
                    .chain(end.clone()),
            ),
            Verb::List => usual_list(),
            Verb::Watch => idle(),
        })
        .await;
        assert_eq!(seen.stored(), ["a@1"]);
        let (synced, _) = seen.taken[0];
        let listed = seen.asked.iter().position(|ask| ask.verb == Verb::List);
        let streams = listed.expect("a list");
        assert!(
            synced <= Duration::from_secs(61) || streams <= 2,
            "{row}: {synced:?}"
        );
        assert!(seen.count(Verb::Stream) <= 4, "{row}");
        assert!(
            seen.failures
                .iter()
                .any(|f| f.kind == FailureKind::Incomplete)
        );
    }
}

/// The server was restored from a backup: its list is older than what we have, and is taken.
async fn row_p_restored_server(wire: Wire) {
    let seen = hour(wire, "P", |ask: &Ask| match ask.verb {
        Verb::Stream => status(422, "Invalid"),
        Verb::List if ask.nth == 0 => list_of("50", &[Object::pod("a", 40)]),
        Verb::List => list_of("3", &[Object::pod("a", 2)]),
        Verb::Watch if ask.since() == 50 => body([event("ERROR", &Object::status(410, "Expired"))]),
        Verb::Watch => idle(),
    })
    .await;
    assert_eq!(seen.stored(), ["a@2"]);
    assert_eq!(seen.took().last(), Some(&"replace 1 at 3 new epoch"));
    assert_eq!(seen.watched_from().last(), Some(&"3"));
    assert!(seen.lists() <= 4, "{} lists", seen.lists());
}

/// Lists never complete: no answer at all, or a body that stops.
async fn row_q_endless_list(wire: Wire) {
    let stalls = body([Piece::HalfAList, Piece::Hang]);
    for (row, answer, deadline) in [("Q", Answer::Silence, 60), ("Q stalls", stalls, 30)] {
        let seen = hour(wire, row, move |ask| match ask.verb {
            Verb::Stream => status(422, "Invalid"),
            Verb::List => answer.clone(),
            Verb::Watch => panic!("nothing to watch from"),
        })
        .await;
        keeps_to_r1(&seen);
        let longest = seen.longest_pause(&[Verb::List]);
        // The deadline, and the longest delay after it.
        assert!(
            longest <= Duration::from_secs(deadline + 33),
            "{row}: {longest:?}"
        );
        tells_each(&seen, &[Verb::Stream, Verb::List]);
    }
}

/// Every request is refused.
async fn rows_r_s_t_u_refusals(wire: Wire) {
    let refusals = [
        ("R", 403, "Forbidden"),
        ("S", 401, "Unauthorized"),
        ("T", 404, "NotFound"),
        ("U", 500, "InternalError"),
    ];
    for (row, code, reason) in refusals {
        let seen = hour(wire, row, move |_| status(code, reason)).await;
        keeps_to_r1(&seen);
        tells_each(&seen, &[Verb::Stream, Verb::List]);
        // R8: a grant is noticed within a minute, by a stream or by a list.
        let longest = seen.longest_pause(&[Verb::Stream, Verb::List]);
        assert!(longest <= Duration::from_secs(60), "{row}: {longest:?}");
        assert!(seen.taken.is_empty());
    }
}

/// One of two items of a list does not decode: the other is there, and one list was enough.
async fn row_v_undecodable_item(wire: Wire) {
    let seen = hour(wire, "V", |ask: &Ask| match ask.verb {
        Verb::Stream => status(422, "Invalid"),
        Verb::List => list_of("5", &[Object::bad_pod("b", 2), Object::pod("a", 1)]),
        Verb::Watch => idle(),
    })
    .await;
    assert_eq!(seen.stored(), ["a@1", "b@2!"]);
    assert_eq!(
        (seen.lists(), seen.failures.len()),
        (1, 1),
        "only the stream refused"
    );
}

/// Every watch is 200 with HTML, honest about it or not.
async fn row_w_html(wire: Wire) {
    for (row, content_type) in [("W", Some("text/html")), ("W lies", None)] {
        let seen = hour(
            wire,
            row,
            watches(move |_| {
                let page = vec![Piece::Text("<html>log in</html>\n".into())];
                Answer::Reply(200, content_type, None, page)
            }),
        )
        .await;
        keeps_to_r1(&seen);
        tells_each(&seen, &[Verb::Stream, Verb::Watch]);
        // The first four bytes of a watch in protobuf are a length, here of a gigabyte.
        let found = (seen.failures.iter()).filter(|f| f.kind == FailureKind::Protocol);
        assert_eq!(found.count() + 1, seen.failures.len(), "{row}");
    }
}

/// Lists have no version.
async fn row_x_no_version(wire: Wire) {
    let seen = hour(wire, "X", |ask: &Ask| match ask.verb {
        Verb::Stream => status(422, "Invalid"),
        Verb::List => list_of("", &[Object::pod("a", 1)]),
        Verb::Watch => panic!("nothing to watch from"),
    })
    .await;
    keeps_to_r1(&seen);
    tells_each(&seen, &[Verb::Stream, Verb::List]);
}

/// An object has no name: it is never handed on, from a list or from a watch.
async fn row_y_nameless(wire: Wire) {
    let seen = hour(wire, "Y list", |ask: &Ask| match ask.verb {
        Verb::Stream => status(422, "Invalid"),
        Verb::List => list_of("5", &[Object::pod("a", 1), Object::pod("", 2)]),
        Verb::Watch => panic!("nothing to watch from"),
    })
    .await;
    keeps_to_r1(&seen);
    assert!(seen.taken.is_empty());
    tells_each(&seen, &[Verb::Stream, Verb::List]);
    let seen = hour(
        wire,
        "Y watch",
        watches(|_| body([event("ADDED", &Object::pod("", 6))])),
    )
    .await;
    keeps_to_r1(&seen);
    assert_eq!(seen.stored(), ["a@1"]);
    tells_each(&seen, &[Verb::Stream, Verb::Watch]);
}

/// A day without a fault: one list, and watches as long as they were asked to be.
async fn no_fault(wire: Wire) {
    let day = Duration::from_secs(24 * 3600);
    let seen = run(wire, "none", day, watches(|_| idle())).await;
    assert_eq!((seen.lists(), seen.stored()), (1, vec!["a@1".to_owned()]));
    assert!(
        seen.watches() <= 24 * 3600 / 240,
        "{} watches",
        seen.watches()
    );
}

/// Nothing that HTTP can bring ends a reflector: the whole text of an answer may be anything.
async fn nonsense_is_survived(wire: Wire) {
    for nonsense in [
        "",
        "\n",
        "null",
        "{}",
        "[]",
        "\u{0}",
        "{\"type\":\"ADDED\"}\n",
    ] {
        let seen = hour(wire, &format!("nonsense {nonsense:?}"), move |_| {
            text(nonsense)
        })
        .await;
        keeps_to_r1(&seen);
        assert!(seen.taken.is_empty());
    }
}

/// Makes three tests of each row.
macro_rules! in_each_format {
    ($($row:ident,)*) => {
        in_each_format!(json Json $($row)*);
        in_each_format!(protobuf Protobuf $($row)*);
        in_each_format!(auto Auto $($row)*);
    };
    ($format:ident $wire:ident $($row:ident)*) => {
        mod $format {
            $(#[tokio::test(start_paused = true)]
            async fn $row() {
                super::$row(super::Wire::$wire).await;
            })*
        }
    };
}

in_each_format! {
    row_a_undecodable_event,
    row_b_truncated_event,
    row_c_too_large_event,
    row_d_expired_watch,
    row_e_unknown_event,
    row_f_early_close,
    row_f3_close_after_event,
    row_g_old_delete,
    row_h_silent_watch,
    row_q2_watch_headers,
    row_h_default_timeout_is_within_r5,
    row_j_throttled_watch,
    row_l_older_event,
    row_m_duplicate_key,
    row_o_endless_initial_events,
    row_p_restored_server,
    row_q_endless_list,
    rows_r_s_t_u_refusals,
    row_v_undecodable_item,
    row_w_html,
    row_x_no_version,
    row_y_nameless,
    no_fault,
    nonsense_is_survived,
}
