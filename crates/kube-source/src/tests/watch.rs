//! Watches: truncated at every byte, broken, silent or endless; events of all types.

use std::{io, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::{StreamExt, stream};
use informer_reflector::{Body, Failure, ListWatch, Reuse, WatchEvent};
use kube_core::DynamicObject;
use tokio::time::Instant;

use super::{requests::*, scripted};

const FIVE: &str = concat!(
    r#"{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","#,
    r#""namespace":"x","uid":"u","resourceVersion":"6"},"spec":{"n":1}}}"#,
    "\n",
    r#"{"object":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"x","#,
    r#""resourceVersion":"7"}},"type":"MODIFIED"}"#,
    "\n\n",
    r#"{"type":"DELETED","object":{"metadata":{"name":"a","namespace":"x","#,
    r#""resourceVersion":"8"}}}"#,
    "\r\n",
    r#"{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"#,
    r#""resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}}}"#,
    "\n",
    r#"{"type":"ERROR","object":{"code":410,"message":"too old resource version"}}"#,
    "\n",
);

fn told(event: &Result<WatchEvent<DynamicObject>, Failure>) -> String {
    match event {
        Ok(WatchEvent::Added(item)) => format!("added {}", key(item)),
        Ok(WatchEvent::Modified(item)) => format!("modified {}", key(item)),
        Ok(WatchEvent::Deleted(item)) => format!("deleted {}", key(item)),
        Ok(WatchEvent::Bookmark {
            version,
            initial_events_end,
        }) => format!("bookmark {version} {initial_events_end}"),
        Ok(WatchEvent::Error(failure)) => format!("error {:?}", failure.kind),
        Err(failure) => format!("failure {:?}", failure.kind),
    }
}

const TOLD: [&str; 5] = [
    "added x/a@6",
    "modified x/a@7",
    "deleted x/a@8",
    "bookmark 9 true",
    "error Expired",
];

async fn told_of(body: impl Into<Bytes>) -> Vec<String> {
    watch_of(body).await.iter().map(told).collect()
}

/// All types in either order of fields, with and without type, a blank line, a carriage return.
#[tokio::test]
async fn events_are_read() {
    assert_eq!(told_of(FIVE).await, TOLD);
}

/// FM-30, RFX-1: cut at every byte. What was complete is told; a torn end is nothing; a torn end
/// with a newline ends the stream as a failure.
#[tokio::test]
async fn a_stream_cut_anywhere_loses_nothing_silently() {
    for cut in 0..=FIVE.len() {
        let part = &FIVE[..cut];
        let complete =
            part.lines().count() - usize::from(!part.is_empty() && !part.ends_with('\n'));
        let blank = part[..part.rfind('\n').map_or(0, |end| end + 1)]
            .lines()
            .filter(|line| line.is_empty())
            .count();
        let expected = &TOLD[..complete - blank];
        assert_eq!(told_of(part).await, expected, "cut at {cut}");
        let torn = part.rsplit('\n').next().unwrap_or_default();
        let ended = told_of(format!("{part}\n")).await;
        let is_whole = serde_json::from_str::<serde_json::Value>(torn).is_ok();
        if torn.trim().is_empty() {
            assert_eq!(ended, expected, "blank at {cut}");
        } else if is_whole {
            assert_eq!(ended, &TOLD[..=expected.len()], "whole at {cut}");
        } else {
            let mut expected = expected.to_vec();
            expected.push("failure Protocol");
            assert_eq!(ended, expected, "torn at {cut}");
        }
    }
}

/// Any chunking, here one byte at a time and cut in two anywhere, tells the same.
#[tokio::test]
async fn chunks_do_not_matter() {
    let told_in = |pieces: Vec<Bytes>| async move {
        let client =
            always(move || scripted::pieces(stream::iter(pieces.clone().into_iter().map(Ok))));
        let watched = watch(&pods(client), Arc::new(())).await;
        watched.iter().map(told).collect::<Vec<_>>()
    };
    let bytes = FIVE.as_bytes();
    assert_eq!(
        told_in(bytes.chunks(1).map(Bytes::from_static).collect()).await,
        TOLD
    );
    for cut in 0..bytes.len() {
        let (one, two) = bytes.split_at(cut);
        let pieces = vec![Bytes::from_static(one), Bytes::from_static(two)];
        assert_eq!(told_in(pieces).await, TOLD, "cut at {cut}");
    }
}

/// FM-30, FM-31, FM-33, FM-35, FM-52: what is no event ends the stream, and what follows is not
/// told.
#[tokio::test]
async fn what_is_no_event_ends_the_stream() {
    let good = FIVE.lines().next().expect("a line");
    for bad in [
        "<html>log in</html>",
        "null",
        "{}",
        r#"{"type":"ADDED"}"#,
        r#"{"type":"FOO","object":{"metadata":{"name":"b","resourceVersion":"6"}}}"#,
        r#"{"type":5,"object":{}}"#,
        r#"{"type":"ADDED","object":null}"#,
        r#"{"type":"ADDED","object":{"metadata":{"name":"b"}}}}"#,
        r#"{"type":"ADDED","object":{"metadata":{"name":"b"}}"#,
        r#"{"type":"ADDED","object":{"metadata":{"name":""}}}"#,
        r#"{"type":"ADDED","object":{"metadata":{"name":9}}}"#,
        r#"{"type":"ADDED","object":{"metadata":{"name":"a/b"}}}"#,
        r#"{"type":"ADDED","object":{"kind":"Table","apiVersion":"meta.k8s.io/v1","rows":[]}}"#,
        r#"{"type":"ADDED","object":{"metadata":{"name":"b"},"kind":"Service"}}"#,
        r#"{"type":"MODIFIED","object":{"kind":"Status","apiVersion":"v1","code":410}}"#,
        "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"b\"}}}\u{c}",
        r#"{"type":"BOOKMARK","object":{"metadata":{}}}"#,
        r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":""}}}"#,
        r#"{"type":"BOOKMARK","object":{"kind":"Node","metadata":{"resourceVersion":"9"}}}"#,
    ] {
        let told = told_of(format!("{good}\n{bad}\n{good}\n")).await;
        assert_eq!(told, ["added x/a@6", "failure Protocol"], "{bad}");
    }
    let not_text = [
        b"{\"type\":\"ADDED\",\"object\":{\"a\":\"".as_slice(),
        b"\xff\"}}\n",
    ]
    .concat();
    assert_eq!(told_of(not_text).await, ["failure Protocol"]);
}

/// FM-27: an error is an error however little it says.
#[tokio::test]
async fn errors_are_errors() {
    for (object, kind) in [
        (
            r#"{"kind":"Status","apiVersion":"v1","code":504,"reason":"Timeout","details":{"causes":
            [{"reason":"ResourceVersionTooLarge"}]}}"#,
            "TooLarge",
        ),
        (r#"{"kind":"","apiVersion":"","reason":"Gone"}"#, "Expired"),
        (r#"{"code":429}"#, "Throttled"),
        (r#"{"code":500}"#, "Internal"),
        ("null", "Other"),
        ("[]", "Other"),
        ("{}", "Other"),
    ] {
        let line = format!(r#"{{"type":"ERROR","object":{object}}}"#).replace('\n', "");
        assert_eq!(
            told_of(line + "\n").await,
            [format!("error {kind}")],
            "{object}"
        );
    }
}

/// FM-54: an object that does not fit its type still says whose it is, and the stream goes on.
#[tokio::test]
async fn an_undecodable_object_keeps_its_key() {
    let body = concat!(
        r#"{"type":"MODIFIED","object":{"metadata":{"name":"b","labels":5,"#,
        r#""resourceVersion":"6"}}}"#,
        "\n",
        r#"{"type":"MODIFIED","object":{"metadata":{"name":"c","resourceVersion":"7"}}}"#,
        "\n",
    );
    let events = watch_of(body).await;
    let Ok(WatchEvent::Modified(item)) = &events[0] else {
        panic!("{events:?}");
    };
    assert_eq!(key(item), "-/b@6");
    let Body::Undecodable(error) = &item.body else {
        panic!("{item:?}");
    };
    assert_eq!(error.path, "metadata.labels");
    assert_eq!(told(&events[1]), "modified -/c@7");
}

/// FM-28: a refused watch is one failure, and its body no stream of events.
#[tokio::test]
async fn a_refused_watch_is_one_failure() {
    let refused = always(|| scripted::refusal(403, "{\n \"reason\": \"Forbidden\"\n}\n"));
    let events = watch(&pods(refused), Arc::new(())).await;
    assert_eq!(
        events.iter().map(told).collect::<Vec<_>>(),
        ["failure Forbidden"]
    );
}

/// FM-32: what no layer below has decompressed is not read as if it had.
#[tokio::test]
async fn a_compressed_watch_is_refused() {
    let compressed = always(|| {
        let mut answer = scripted::json(FIVE);
        let encoding = http::HeaderValue::from_static("gzip");
        answer.headers_mut().insert("content-encoding", encoding);
        answer
    });
    let events = watch(&pods(compressed), Arc::new(())).await;
    let told: Vec<_> = events.iter().map(told).collect();
    assert_eq!(told, ["failure Protocol"]);
}

/// A reset connection is a cut, and nothing after it.
#[tokio::test]
async fn a_reset_is_a_cut() {
    let client = always(|| {
        let first = FIVE.lines().next().expect("a line");
        let reset = io::Error::from(io::ErrorKind::ConnectionReset);
        scripted::pieces(stream::iter([
            Ok(Bytes::from(format!("{first}\n{{"))),
            Err(reset),
        ]))
    });
    let events = watch(&pods(client), Arc::new(())).await;
    let told: Vec<_> = events.iter().map(told).collect();
    assert_eq!(told, ["added x/a@6", "failure Cut"]);
}

/// FM-16, FM-17, FM-20, R5: no headers, silence, or no end: given up 5 s after the timeout.
#[tokio::test(start_paused = true)]
async fn an_overdue_watch_is_given_up() {
    let line = FIVE.lines().next().expect("a line").to_owned() + "\n";
    let never = scripted::client(|_| std::future::pending());
    let silent = always(|| scripted::pieces(stream::pending()));
    let endless = always(move || {
        let line = Bytes::from(line.clone());
        scripted::pieces(
            stream::repeat_with(move || line.clone()).then(|line| async {
                tokio::time::sleep(Duration::from_secs(7)).await;
                Ok(line)
            }),
        )
    });
    for client in [never, silent, endless] {
        let start = Instant::now();
        let events = watch(&pods(client), Arc::new(())).await;
        let last = events.last().expect("a failure");
        assert_eq!(told(last), "failure TimedOut");
        assert_eq!(start.elapsed().as_secs(), 305);
    }
}

/// FQ-13: what has arrived is told even if it was fetched long after the deadline.
#[tokio::test(start_paused = true)]
async fn a_slow_reader_is_not_a_silent_server() {
    let client = always(|| scripted::json(FIVE));
    let opened = pods(client).watch(watch_request(), Arc::new(())).await;
    let events = opened.expect("opened");
    tokio::time::sleep(Duration::from_secs(4000)).await;
    let events: Vec<_> = events.collect().await;
    assert_eq!(events.iter().map(told).collect::<Vec<_>>(), TOLD);
}

/// SEC-16, RFX-17: an endless line is given up at the limit.
#[tokio::test]
async fn an_endless_line_is_too_big() {
    let endless = always(|| {
        let piece = Bytes::from(vec![b'x'; 1000]);
        scripted::pieces(stream::repeat_with(move || Ok(piece.clone())))
    });
    let pods = pods_with(endless, |source| source.limits.event_bytes = 10_000);
    let events = watch(&pods, Arc::new(())).await;
    assert_eq!(
        events.iter().map(told).collect::<Vec<_>>(),
        ["failure TooBig"]
    );
}

/// The same with a complete line before it, when all of it has arrived.
#[tokio::test]
async fn an_endless_line_behind_another_one_is_too_big() {
    let added = FIVE.lines().next().expect("a line");
    for (first, count) in [
        (Bytes::from("\n"), 0),
        (Bytes::from(format!("{added}\n")), 1),
    ] {
        let endless = always(move || {
            let piece = Bytes::from(vec![b'x'; 1000]);
            let rest = stream::repeat_with(move || Ok(piece.clone()));
            scripted::pieces(stream::iter([Ok(first.clone())]).chain(rest))
        });
        let pods = pods_with(endless, |source| source.limits.event_bytes = 10_000);
        let events = watch(&pods, Arc::new(())).await;
        let told: Vec<_> = events.iter().map(told).collect();
        assert_eq!(told.last().map(|last| &**last), Some("failure TooBig"));
        assert_eq!(told.len() - 1, count, "{told:?}");
    }
}

struct HasAll;

impl Reuse<DynamicObject> for HasAll {
    fn reuse(&self, _: &informer_reflector::Identity) -> Option<Arc<DynamicObject>> {
        Some(Arc::new(DynamicObject {
            types: None,
            metadata: kube_core::ObjectMeta::default(),
            data: serde_json::Value::Null,
        }))
    }
}

/// Only initial events are reused, and only those with a uid.
#[tokio::test]
async fn only_initial_events_are_reused() {
    let added = FIVE.lines().next().expect("a line");
    let bookmark = FIVE.lines().nth(4).expect("a line");
    let nobody = added.replace("\"uid\":\"u\",", "");
    let body = format!("{added}\n{nobody}\n{bookmark}\n{added}\n");
    let pods = pods(always(move || scripted::json(body.clone())));
    let reused = |events: Watched| {
        let added = events.into_iter().filter_map(|event| match event {
            Ok(WatchEvent::Added(item)) => Some(matches!(item.body, Body::Reused(_))),
            _ => None,
        });
        added.collect::<Vec<_>>()
    };
    let request = watch_request().with_initial_events();
    assert_eq!(
        reused(watch(&pods, Arc::new(HasAll)).await),
        [false, false, false]
    );
    let events = watch_as(&pods, request, Arc::new(HasAll)).await;
    assert_eq!(reused(events), [true, false, false]);
}
