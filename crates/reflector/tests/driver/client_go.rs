//! Scenarios of client-go's `reflector_test.go` that are about tasks, streams and time, with code
//! of our own. Each test names the upstream test whose intent it has; see `tests/client_go.rs`.

use std::{
    future::pending,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use informer_reflector::{Config, Input, Outcome, Reflector, WatchEvent, WatchRequest};
use tokio::time::sleep;

use crate::{
    scripted::{Answer, Notes, Scripted, Step, Taker},
    wire::{failure, listing, page},
};

async fn run(source: &Arc<Scripted>, sink: &Taker, time: Duration) -> Outcome {
    let (reuse, notes) = (Arc::new(()), Notes::default());
    let source = Arc::clone(source);
    let reflector = Reflector::new(source, sink.clone(), reuse, notes, listing(), 3);
    reflector.run(sleep(time)).await
}

fn list(text: &str) -> Answer {
    Answer::Now(Input::Page(Ok(page(text))))
}

/// `TestCloseWatchChannelOnError`: an `ERROR` event closes the watch.
#[tokio::test(start_paused = true)]
async fn an_error_event_closes_the_watch() {
    let error = Step::Event(WatchEvent::Error(failure("Other")));
    let source = Arc::new(Scripted::new(vec![list("1"), Answer::Events(vec![error])]));
    run(&source, &Taker::default(), Duration::from_millis(1)).await;
    assert_eq!(source.asked().len(), 2);
    assert_eq!(source.alive(), 0);
}

/// `TestRunUntil`, `TestReflectorWatchStoppedAfter`, `TestReflectorHandleWatchStoppedAfter`: a stop
/// ends the run and its watch.
#[tokio::test(start_paused = true)]
async fn a_stop_ends_the_watch() {
    let source = Arc::new(Scripted::new(vec![list("1"), Answer::Events(Vec::new())]));
    let outcome = run(&source, &Taker::default(), Duration::from_secs(9)).await;
    assert_eq!(outcome, Outcome::Stopped);
    assert_eq!((source.asked().len(), source.alive()), (2, 0));
}

/// `TestReflectorStopWatch`: after a stop nothing is asked for.
#[tokio::test(start_paused = true)]
async fn nothing_is_asked_for_after_a_stop() {
    let source = Arc::new(Scripted::new(vec![list("1"), Answer::Events(Vec::new())]));
    let sink = Taker {
        pause: Duration::from_secs(60),
        ..Taker::default()
    };
    // Stopped while the sink takes the list: the watch is never opened.
    run(&source, &sink, Duration::from_secs(9)).await;
    sleep(Duration::from_secs(100)).await;
    assert_eq!(source.asked().len(), 1);
    assert_eq!(source.polled.load(Ordering::SeqCst), 0);
}

/// `TestNewReflectorWithCustomBackoff`: the delays are the caller's to choose.
#[tokio::test(start_paused = true)]
async fn delays_are_configurable() {
    let fails = || Answer::Now(Input::Page(Err(failure("Connect"))));
    let source = Arc::new(Scripted::new((0..4).map(|_| fails()).collect()));
    let mut config = listing();
    config.backoff.base = Duration::from_secs(100);
    config.backoff.cap = Duration::from_secs(200);
    let (sink, reuse) = (Taker::default(), Arc::new(()));
    let reflector = Reflector::new(Arc::clone(&source), sink, reuse, (), config, 3);
    tokio::select! {
        _ = reflector.run(pending()) => unreachable!("nothing ends it"),
        () = sleep(Duration::from_secs(2000)) => {}
    }
    let times = source.times();
    let gaps: Vec<_> = times
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).as_secs())
        .collect();
    assert!((50..=100).contains(&gaps[0]), "{gaps:?}");
    assert!(
        gaps[1..4].iter().all(|gap| (100..=200).contains(gap)),
        "{gaps:?}"
    );
}

/// `TestWatchTimeout`: whole seconds within the range, whatever the range is.
#[tokio::test(start_paused = true)]
async fn watch_timeouts_lie_within_their_range() {
    for (from, to) in [(240, 300), (20, 20)] {
        let refusals = (0..50).map(|_| Answer::Now(Input::WatchOpened(Err(failure("Connect")))));
        let answers = [list("1")].into_iter().chain(refusals);
        let source = Arc::new(Scripted::new(answers.collect()));
        let mut config = listing();
        config.watch_timeout = Duration::from_secs(from)..=Duration::from_secs(to);
        let (sink, reuse) = (Taker::default(), Arc::new(()));
        let reflector = Reflector::new(Arc::clone(&source), sink, reuse, (), config, 3);
        reflector.run(sleep(Duration::from_secs(3600))).await;
        let timeouts: Vec<_> = source.watches().iter().map(|watch| watch.timeout).collect();
        assert!(timeouts.len() > 40);
        for timeout in timeouts {
            assert_eq!(timeout.subsec_nanos(), 0);
            assert!((from..=to).contains(&timeout.as_secs()), "{timeout:?}");
        }
    }
}

/// `TestNewReflectorWithDisablementWatchList`: off in the configuration, or declined by the source.
#[tokio::test(start_paused = true)]
async fn streaming_can_be_off_and_can_be_declined() {
    for (configured, declined) in [(true, false), (true, true), (false, false), (false, true)] {
        let mut source = Scripted::new(Vec::new());
        source.no_streaming = declined;
        let source = Arc::new(source);
        let mut config = Config::default();
        config.streaming = configured;
        let (sink, reuse) = (Taker::default(), Arc::new(()));
        let reflector = Reflector::new(Arc::clone(&source), sink, reuse, (), config, 3);
        reflector.run(sleep(Duration::from_secs(1))).await;
        let streamed = source
            .watches()
            .iter()
            .any(WatchRequest::sends_initial_events);
        assert_eq!(streamed, configured && !declined);
    }
}
