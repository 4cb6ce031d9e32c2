//! The golden rows: the faults under which client-go and kube-runtime were measured,
//! through our whole HTTP path, each with the bound it has to keep.
//!
//! One virtual hour each, under tokio's paused clock. Run with `--nocapture` to see the counts that
//! `docs/GOLDEN_ROWS.md` shows beside those of the peers. Unless a row says otherwise the list is
//! `a@1` at version 5, a watch that nobody disturbs stays open until its timeout, and a streaming
//! list is refused with 422, as it was for the peers. Rows K and N need a store and are the
//! facade's.

mod run;
mod server;

use std::time::Duration;

use informer_reflector::FailureKind;
use run::{Seen, hour, run};
use server::{
    Answer, Ask, Piece, Verb, bad_pod, body, event, list_of, pod, status, status_json, text,
};

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
    list_of("5", &[pod("a", 1)])
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
#[tokio::test(start_paused = true)]
async fn row_a_undecodable_event() {
    let seen = hour(
        "A",
        watches(|ask| match ask.since() {
            5 => body([
                event("ADDED", &bad_pod("b", 6)),
                event("ADDED", &pod("c", 7)),
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
#[tokio::test(start_paused = true)]
async fn row_b_truncated_event() {
    for (row, always) in [("B", false), ("B always", true)] {
        let seen = hour(row, move |ask| match ask.verb {
            Verb::Stream => status(422, "Invalid"),
            Verb::List if ask.nth == 0 => usual_list(),
            Verb::List => list_of("7", &[pod("a", 1), pod("b", 6), pod("c", 7)]),
            Verb::Watch if ask.since() == 7 => idle(),
            Verb::Watch if ask.nth == 0 || always => {
                let whole = format!(r#"{{"type":"ADDED","object":{}}}"#, pod("b", 6));
                let torn = format!("{}\n", &whole[..whole.len() - 9]);
                body([
                    Piece::Text(torn),
                    event("ADDED", &pod("c", 7)),
                    Piece::UntilTimeout,
                ])
            }
            Verb::Watch => body([
                event("ADDED", &pod("b", 6)),
                event("ADDED", &pod("c", 7)),
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
#[tokio::test(start_paused = true)]
async fn row_c_too_large_event() {
    let seen = hour("C", watches(|_| {
        let causes = r#"{"code":504,"reason":"Timeout","message":"Too large resource version: 5",
            "details":{"causes":[{"reason":"ResourceVersionTooLarge"}]}}"#;
        body([event("ERROR", &causes.replace('\n', ""))])
    }))
    .await;
    keeps_to_r1(&seen);
    assert!(
        seen.lists() > 10,
        "a version that is of no use ends in lists"
    );
    tells_each(&seen, &[Verb::Stream, Verb::Watch]);
}

/// Every watch is refused with HTTP 410, or ends with an event of 410.
#[tokio::test(start_paused = true)]
async fn row_d_expired_watch() {
    let expired = status_json(410, "Expired");
    let as_event = body([event("ERROR", &expired), Piece::UntilTimeout]);
    for (row, answer) in [("D", status(410, "Expired")), ("D2", as_event)] {
        let seen = hour(row, watches(move |_| answer.clone())).await;
        keeps_to_r1(&seen);
        assert!(
            seen.lists() > 10,
            "a version that is of no use ends in lists"
        );
        tells_each(&seen, &[Verb::Stream, Verb::Watch]);
    }
}

/// A watch brings `FOO b@6`, then `c@7`: the version does not move past what was not understood.
#[tokio::test(start_paused = true)]
async fn row_e_unknown_event() {
    let seen = hour("E", |ask: &Ask| match ask.verb {
        Verb::Stream => status(422, "Invalid"),
        Verb::List if ask.nth == 0 => usual_list(),
        Verb::List => list_of("7", &[pod("a", 1), pod("b", 6), pod("c", 7)]),
        Verb::Watch if ask.since() == 7 => idle(),
        Verb::Watch => body([
            event("FOO", &pod("b", 6)),
            event("ADDED", &pod("c", 7)),
            Piece::UntilTimeout,
        ]),
    })
    .await;
    assert_eq!(seen.stored(), ["a@1", "b@6", "c@7"]);
    assert_eq!(seen.took(), ["replace 1 at 5", "replace 3 at 7"]);
    assert_eq!(seen.lists(), 2);
}

/// Every watch closes at once, or after 2 s, without an event.
#[tokio::test(start_paused = true)]
async fn row_f_early_close() {
    let seen = hour("F", watches(|_| body([]))).await;
    keeps_to_r1(&seen);
    let seen = hour(
        "F2",
        watches(|_| body([Piece::Wait(Duration::from_secs(2))])),
    )
    .await;
    assert!(seen.asked.len() <= 200, "{} requests", seen.asked.len());
    tells_each(&seen, &[Verb::Stream, Verb::Watch]);
}

/// Every watch brings one event, then closes: paced, and each event is there within 5 s. The bound
/// is for an hour like any other; the first one has a few quick attempts more.
#[tokio::test(start_paused = true)]
async fn row_f3_close_after_event() {
    let hour = Duration::from_secs(3600);
    let script = watches(|ask| {
        let next = ask.since() + 1;
        body([event("MODIFIED", &pod("a", next))])
    });
    let seen = run("F3", 2 * hour, script).await;
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
#[tokio::test(start_paused = true)]
async fn row_g_old_delete() {
    let seen = hour(
        "G",
        watches(|ask| match ask.nth {
            0 => body([
                event("DELETED", &pod("a", 2)),
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
#[tokio::test(start_paused = true)]
async fn row_h_silent_watch() {
    let seen = hour("H", watches(|_| body([Piece::Hang]))).await;
    silence_is_bounded(&seen);
}

/// The headers of a watch never arrive.
#[tokio::test(start_paused = true)]
async fn row_q2_watch_headers() {
    let seen = hour("Q2", watches(|_| Answer::Silence)).await;
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
#[tokio::test(start_paused = true)]
async fn row_h_default_timeout_is_within_r5() {
    let day = Duration::from_secs(24 * 3600);
    let seen = run("H default", day, watches(|_| body([Piece::Hang]))).await;
    let watches = seen.asked.iter().filter(|ask| ask.verb == Verb::Watch);
    let longest = watches.map(|ask| ask.timeout).max().expect("watches");
    assert!(longest <= Duration::from_secs(300), "{longest:?}");
}

/// 429 with `Retry-After: 1` on every watch: waited for, and never a reason to list.
#[tokio::test(start_paused = true)]
async fn row_j_throttled_watch() {
    let status = status_json(429, "TooManyRequests");
    let seen = hour(
        "J",
        watches(move |_| {
            let status = vec![Piece::Text(status.clone())];
            Answer::Reply(429, "application/json", Some(1), status)
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
#[tokio::test(start_paused = true)]
async fn row_l_older_event() {
    let seen = hour(
        "L",
        watches(|ask| match ask.nth {
            0 => body([
                event("ADDED", &pod("c", 7)),
                event("ADDED", &pod("c", 7)),
                event("MODIFIED", &pod("c", 6)),
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
#[tokio::test(start_paused = true)]
async fn row_m_duplicate_key() {
    for items in [[pod("a", 1), pod("a", 3)], [pod("a", 3), pod("a", 1)]] {
        let seen = hour("M", move |ask| match ask.verb {
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
#[tokio::test(start_paused = true)]
async fn row_o_endless_initial_events() {
    for (row, end) in [("O", None), ("O hangs", Some(Piece::Hang))] {
        let seen = hour(row, move |ask| match ask.verb {
            Verb::Stream => body(
                [event("ADDED", &pod("a", 1))]
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
#[tokio::test(start_paused = true)]
async fn row_p_restored_server() {
    let seen = hour("P", |ask: &Ask| match ask.verb {
        Verb::Stream => status(422, "Invalid"),
        Verb::List if ask.nth == 0 => list_of("50", &[pod("a", 40)]),
        Verb::List => list_of("3", &[pod("a", 2)]),
        Verb::Watch if ask.since() == 50 => body([event("ERROR", &status_json(410, "Expired"))]),
        Verb::Watch => idle(),
    })
    .await;
    assert_eq!(seen.stored(), ["a@2"]);
    assert_eq!(seen.took().last(), Some(&"replace 1 at 3 new epoch"));
    assert_eq!(seen.watched_from().last(), Some(&"3"));
    assert!(seen.lists() <= 4, "{} lists", seen.lists());
}

/// Lists never complete: no answer at all, or a body that stops.
#[tokio::test(start_paused = true)]
async fn row_q_endless_list() {
    let stalls = body([Piece::Text(r#"{"kind":"PodList","#.into()), Piece::Hang]);
    for (row, answer, deadline) in [("Q", Answer::Silence, 60), ("Q stalls", stalls, 30)] {
        let seen = hour(row, move |ask| match ask.verb {
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
#[tokio::test(start_paused = true)]
async fn rows_r_s_t_u_refusals() {
    let refusals = [
        ("R", 403, "Forbidden"),
        ("S", 401, "Unauthorized"),
        ("T", 404, "NotFound"),
        ("U", 500, "InternalError"),
    ];
    for (row, code, reason) in refusals {
        let seen = hour(row, move |_| status(code, reason)).await;
        keeps_to_r1(&seen);
        tells_each(&seen, &[Verb::Stream, Verb::List]);
        // R8: a grant is noticed within a minute, by a stream or by a list.
        let longest = seen.longest_pause(&[Verb::Stream, Verb::List]);
        assert!(longest <= Duration::from_secs(60), "{row}: {longest:?}");
        assert!(seen.taken.is_empty());
    }
}

/// One of two items of a list does not decode: the other is there, and one list was enough.
#[tokio::test(start_paused = true)]
async fn row_v_undecodable_item() {
    let seen = hour("V", |ask: &Ask| match ask.verb {
        Verb::Stream => status(422, "Invalid"),
        Verb::List => list_of("5", &[bad_pod("b", 2), pod("a", 1)]),
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
#[tokio::test(start_paused = true)]
async fn row_w_html() {
    for (row, content_type) in [("W", "text/html"), ("W lies", "application/json")] {
        let seen = hour(
            row,
            watches(move |_| {
                let page = vec![Piece::Text("<html>log in</html>\n".into())];
                Answer::Reply(200, content_type, None, page)
            }),
        )
        .await;
        keeps_to_r1(&seen);
        tells_each(&seen, &[Verb::Stream, Verb::Watch]);
        let protocol = seen
            .failures
            .iter()
            .filter(|f| f.kind == FailureKind::Protocol);
        assert_eq!(protocol.count() + 1, seen.failures.len(), "{row}");
    }
}

/// Lists have no version.
#[tokio::test(start_paused = true)]
async fn row_x_no_version() {
    let seen = hour("X", |ask: &Ask| match ask.verb {
        Verb::Stream => status(422, "Invalid"),
        Verb::List => list_of("", &[pod("a", 1)]),
        Verb::Watch => panic!("nothing to watch from"),
    })
    .await;
    keeps_to_r1(&seen);
    tells_each(&seen, &[Verb::Stream, Verb::List]);
}

/// An object has no name: it is never handed on, from a list or from a watch.
#[tokio::test(start_paused = true)]
async fn row_y_nameless() {
    let seen = hour("Y list", |ask: &Ask| match ask.verb {
        Verb::Stream => status(422, "Invalid"),
        Verb::List => list_of("5", &[pod("a", 1), pod("", 2)]),
        Verb::Watch => panic!("nothing to watch from"),
    })
    .await;
    keeps_to_r1(&seen);
    assert!(seen.taken.is_empty());
    tells_each(&seen, &[Verb::Stream, Verb::List]);
    let seen = hour("Y watch", watches(|_| body([event("ADDED", &pod("", 6))]))).await;
    keeps_to_r1(&seen);
    assert_eq!(seen.stored(), ["a@1"]);
    tells_each(&seen, &[Verb::Stream, Verb::Watch]);
}

/// A day without a fault: one list, and watches as long as they were asked to be.
#[tokio::test(start_paused = true)]
async fn no_fault() {
    let day = Duration::from_secs(24 * 3600);
    let seen = run("none", day, watches(|_| idle())).await;
    assert_eq!((seen.lists(), seen.stored()), (1, vec!["a@1".to_owned()]));
    assert!(
        seen.watches() <= 24 * 3600 / 240,
        "{} watches",
        seen.watches()
    );
}

/// Nothing that HTTP can bring ends a reflector: the whole text of an answer may be anything.
#[tokio::test(start_paused = true)]
async fn nonsense_is_survived() {
    for nonsense in [
        "",
        "\n",
        "null",
        "{}",
        "[]",
        "\u{0}",
        "{\"type\":\"ADDED\"}\n",
    ] {
        let seen = hour(&format!("nonsense {nonsense:?}"), move |_| text(nonsense)).await;
        keeps_to_r1(&seen);
        assert!(seen.taken.is_empty());
    }
}
