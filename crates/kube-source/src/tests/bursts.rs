//! Bursts of a watch: chunks and threads do not change the events or their order.

use std::{
    io,
    sync::{Arc, Mutex},
};

use bytes::Bytes;
use futures::{FutureExt, Stream, StreamExt, stream};
use http::Request;
use informer_reflector::WatchEvent;
use kube_client::client::Body;
use kube_core::DynamicObject;
use proptest::prelude::*;
use serde::{Deserialize, Deserializer, de::DeserializeOwned};

use super::scripted;
use crate::{KubeEvents, ReceivedWire, http::answer, watch::stream::Answer};

/// The longest line that is read.
const LIMIT: usize = 60_000;

/// What one line says, and what is told of it.
#[derive(Clone, Copy, Debug)]
enum Line {
    Good,
    Blank,
    Undecodable,
    Malformed,
    TooLong,
    Unknown,
    Bookmark,
}

impl Line {
    fn text(self, number: usize, padding: usize) -> String {
        let name = format!("pod-{number}");
        let object = |rest: &str| {
            let meta = format!(r#""name":"{name}","resourceVersion":"{number}","uid":"u"{rest}"#);
            let spec = "x".repeat(padding);
            format!(r#"{{"kind":"Pod","metadata":{{{meta}}},"spec":{{"x":"{spec}"}}}}"#)
        };
        match self {
            Self::Good => format!(r#"{{"type":"MODIFIED","object":{}}}"#, object("")),
            Self::Blank => " \r".to_owned(),
            Self::Undecodable => {
                format!(
                    r#"{{"type":"ADDED","object":{}}}"#,
                    object(r#","labels":5"#)
                )
            }
            Self::Malformed => format!(r#"{{"type":"ADDED","object":{}"#, object("")),
            Self::TooLong => "x".repeat(LIMIT + 1),
            Self::Unknown => format!(r#"{{"type":"FOO","object":{}}}"#, object("")),
            Self::Bookmark => format!(r#"{{"type":"BOOKMARK","object":{}}}"#, object("")),
        }
    }

    /// `Err` ends the stream.
    fn told(self, number: usize) -> Result<Option<String>, String> {
        match self {
            Self::Good => Ok(Some(format!("pod-{number}@{number} true"))),
            Self::Undecodable => Ok(Some(format!("pod-{number}@{number} false"))),
            Self::Bookmark => Ok(Some(format!("all until {number}"))),
            Self::Blank => Ok(None),
            Self::Malformed | Self::Unknown => Err("Protocol".to_owned()),
            Self::TooLong => Err("TooBig".to_owned()),
        }
    }
}

async fn events<T: DeserializeOwned + Send + Sync + 'static>(
    pieces: impl Stream<Item = Result<Bytes, io::Error>> + Send + 'static,
    threads: usize,
) -> KubeEvents<T> {
    let mut source = scripted::source();
    source.limits.event_bytes = LIMIT;
    // Every other piece is late.
    let pieces = pieces.enumerate().then(|(number, piece)| async move {
        if number % 2 == 1 {
            tokio::task::yield_now().await;
        }
        piece
    });
    let answer = Arc::new(Mutex::new(Some(scripted::pieces(pieces))));
    let client = scripted::client(move |_| {
        let answer = answer.lock().expect("no panic").take();
        std::future::ready(answer.expect("asked once"))
    });
    let answered = client.send(Request::new(Body::empty())).await;
    let pieces = answer::pieces(answered.expect("an answer").into_body());
    let answer = Answer {
        format: ReceivedWire::Json,
        pieces,
        received: None,
    };
    KubeEvents::new(answer, Arc::new(source), None, None, false, threads)
}

async fn told(events: KubeEvents<DynamicObject>) -> Vec<String> {
    let told = events.map(|event| match event {
        Ok(WatchEvent::Added(item) | WatchEvent::Modified(item)) => {
            let is_decoded = item.body.object().is_some();
            let (key, version) = (&item.identity.key, &item.identity.version);
            format!("{}@{version} {is_decoded}", key.name())
        }
        Ok(WatchEvent::Bookmark { version, .. }) => format!("all until {version}"),
        Ok(event) => format!("{event:?}"),
        Err(failure) => format!("{:?}", failure.kind),
    });
    told.collect().await
}

fn line() -> impl Strategy<Value = (Line, usize)> {
    let line = prop_oneof![
        200 => Just(Line::Good),
        5 => Just(Line::Blank),
        5 => Just(Line::Undecodable),
        1 => Just(Line::Malformed),
        1 => Just(Line::TooLong),
        1 => Just(Line::Unknown),
        9 => Just(Line::Bookmark),
    ];
    (
        line,
        prop_oneof![Just(0_usize), 1_000_usize..9_000, Just(LIMIT / 2)],
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// RFX-1: events come in the order of their lines, up to the first failure; nothing after it.
    #[test]
    fn any_chunking_and_any_threads_tell_the_same(
        lines in prop::collection::vec(line(), 0..80),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..40),
        threads in 1_usize..4,
        breaks in any::<bool>(),
    ) {
        let mut expected = Vec::new();
        let mut ends = false;
        let mut body = String::new();
        for (number, (line, padding)) in lines.iter().enumerate() {
            body += &line.text(number, *padding);
            body.push('\n');
            match line.told(number) {
                _ if ends => {}
                Ok(told) => expected.extend(told),
                Err(told) => {
                    expected.push(told);
                    ends = true;
                }
            }
        }
        if breaks && !ends {
            expected.push("Cut".to_owned());
        }
        // What is torn is nothing.
        body += r#"{"type":"ADDED","object":{"#;
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len())).collect();
        cuts.sort_unstable();
        let body = Bytes::from(body);
        let mut pieces = Vec::new();
        let mut from = 0;
        for cut in cuts.into_iter().chain([body.len()]) {
            pieces.push(Ok(body.slice(from..cut)));
            from = cut;
        }
        if breaks {
            pieces.push(Err(io::ErrorKind::ConnectionReset.into()));
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("a runtime");
        let pieces = stream::iter(pieces);
        let found = runtime.block_on(async { told(events(pieces, threads).await).await });
        prop_assert_eq!(found, expected);
    }
}

fn burst(count: usize) -> Bytes {
    let lines = (0..count).map(|number| Line::Good.text(number, 4_000) + "\n");
    lines.collect::<String>().into()
}

/// One piece with so many lines.
fn burst_of(count: usize) -> impl Stream<Item = Result<Bytes, io::Error>> {
    stream::iter([Ok(burst(count))])
}

/// On a paused clock and on several threads.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bursts_run_on_every_runtime() {
    let found = told(events(burst_of(300), 3).await).await;
    assert_eq!(found.len(), 300);
    assert_eq!(found[299], "pod-299@299 true");
}

/// FM-53: a `Deserialize` that panics costs the object, on another thread too.
#[tokio::test(start_paused = true)]
async fn panic_of_deserialize_costs_the_object() {
    #[derive(Debug)]
    struct Panics;

    impl<'de> Deserialize<'de> for Panics {
        fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
            // Not by `panic!`, whose hook would write to standard error.
            std::panic::resume_unwind(Box::new("on purpose"))
        }
    }

    let mut events = events::<Panics>(burst_of(100), 2).await;
    for _ in 0..100 {
        let event = events.next().await.expect("a hundred events");
        let Ok(WatchEvent::Modified(object)) = event else {
            panic!("{event:?}");
        };
        let informer_reflector::Body::Undecodable(error) = object.body else {
            panic!("it cannot be decoded");
        };
        assert_eq!(
            error.category,
            informer_reflector::DecodeErrorCategory::Panicked
        );
    }
}

/// RFX-17: others get their turn in the middle of a burst, however much is ready.
#[tokio::test]
async fn a_burst_makes_pauses() {
    for threads in [1, 2] {
        let mut events = events::<DynamicObject>(burst_of(200), threads).await;
        let mut longest = 0;
        let mut run = 0;
        futures::future::poll_fn(|context| {
            use std::task::Poll;
            loop {
                match events.poll_next_unpin(context) {
                    Poll::Ready(Some(_)) => run += 1,
                    Poll::Ready(None) => return Poll::Ready(()),
                    Poll::Pending => break,
                }
                longest = longest.max(run);
            }
            run = 0;
            Poll::Pending
        })
        .await;
        assert!((1..=24).contains(&longest), "{longest} with {threads}");
    }
}

/// A watch that has told all there was keeps no memory for what may be long in coming; one that is
/// at work does.
#[tokio::test]
async fn a_quiet_watch_keeps_no_room() {
    for (last, threads) in [(Line::Good, 1), (Line::Bookmark, 1), (Line::Bookmark, 2)] {
        let last_line = Bytes::from(last.text(200, 0) + "\n");
        let pieces = burst_of(200).chain(stream::iter([Ok(last_line)]));
        let mut events = events::<DynamicObject>(pieces.chain(stream::pending()), threads).await;
        for _ in 0..=200 {
            assert!(events.next().await.is_some());
        }
        // Some of its pauses are turns of others.
        for _ in 0..4 {
            assert!(events.next().now_or_never().is_none());
            tokio::task::yield_now().await;
        }
        let keeps = events.room() > 0;
        assert_eq!(
            keeps,
            matches!(last, Line::Good),
            "{last:?}, {threads} threads"
        );
    }
}
