//! D1, PL-04, FM-67: the orderly stop, on a paused clock.

mod recorder;

use std::sync::{Arc, mpsc};
use std::time::Duration;

use futures::{FutureExt, StreamExt};
use informer_processor::{
    AddError, ListenerConfig, ListenerPhase, Notification, Processor, Replay, StopReport, async_fn,
    handler_fn,
};
use recorder::{News, Recorder, added, initial};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

type Numbers = Processor<&'static str, u32>;

const SECOND: Duration = Duration::from_secs(1);

fn batch(count: u32) -> Vec<Arc<News>> {
    (0..count).map(|n| Arc::new(added("a", n))).collect()
}

/// A handler that takes `pace` for each notification.
fn slow(processor: &Numbers, pace: Duration) -> informer_processor::Registration {
    let handler = async_fn(move |_: Arc<News>| sleep(pace));
    let joining = processor
        .add_async(handler, ListenerConfig::named("slow"))
        .expect("running");
    joining.begin(0, Replay::new([initial("x", 0)]))
}

#[tokio::test(start_paused = true)]
async fn what_waits_is_delivered_within_the_grace() {
    let processor = Numbers::default();
    let handle = slow(&processor, SECOND);
    processor.distribute(1, &batch(9));
    let start = Instant::now();
    let report = processor.stop(60 * SECOND).await;
    assert_eq!(
        start.elapsed(),
        10 * SECOND,
        "as long as it takes, no longer"
    );
    assert!(report.is_clean());
    assert_eq!((report.delivered, report.abandoned), (10, 0));
    assert_eq!(handle.status().phase, ListenerPhase::Ended);
    assert_eq!(processor.stop(SECOND).await, report, "again");
}

#[tokio::test(start_paused = true)]
async fn what_waits_after_the_grace_is_reported() {
    let processor = Numbers::default();
    let handle = slow(&processor, SECOND);
    let fast = Recorder::new();
    let mut to = fast.clone();
    let joining = processor.add(
        handler_fn(move |n: &News| to.hear(n)),
        ListenerConfig::named("fast"),
    );
    drop(joining.expect("running").begin(0, Replay::empty()));
    processor.distribute(1, &batch(99));
    let start = Instant::now();
    let report = processor.stop(5 * SECOND + SECOND / 2).await;
    assert_eq!(start.elapsed(), 5 * SECOND + SECOND / 2);
    assert!(!report.is_clean());
    assert_eq!(report.listeners[0].delivered, 5);
    assert_eq!(report.listeners[0].abandoned, 95);
    assert!(report.listeners[0].still_running);
    assert_eq!(
        (report.listeners[1].delivered, report.listeners[1].abandoned),
        (99, 0)
    );
    assert_eq!((report.delivered, report.abandoned), (104, 95));
    handle.remove().await.expect("its task was aborted");
    assert_eq!(handle.status().delivered, 5);
    assert_eq!(fast.heard().len(), 99);
}

/// A handler that never begins its replay to the end is told of.
#[tokio::test(start_paused = true)]
async fn unfinished_initial_replay_is_reported() {
    let processor = Numbers::default();
    let handler = async_fn(|_: Arc<News>| sleep(SECOND));
    let joining = processor
        .add_async(handler, ListenerConfig::default())
        .expect("running");
    let handle = joining.begin(0, Replay::new((0..100).map(|n| initial("x", n))));
    let report = processor.stop(SECOND + SECOND / 2).await;
    assert!(report.listeners[0].initial_unfinished);
    assert!(!report.is_clean());
    assert!(handle.wait_synced().await.is_err());
}

/// A callback that blocks its thread cannot be ended: it is left and reported, and is its last.
#[tokio::test(start_paused = true)]
async fn a_blocked_thread_is_left_alone() {
    let processor = Numbers::default();
    let (release, gate) = mpsc::channel::<()>();
    let (started, mut has_started) = watch::channel(0);
    let handler = handler_fn(move |_: &News| {
        started.send_modify(|count| *count += 1);
        assert!(gate.recv().is_ok());
    });
    let joining = processor.add_blocking(handler, ListenerConfig::named("blocked"));
    let handle = joining.expect("a thread").begin(0, Replay::empty());
    processor.distribute(1, &batch(10));
    has_started
        .wait_for(|count| *count == 1)
        .await
        .expect("it starts");
    let report = processor.stop(5 * SECOND).await;
    assert!(report.listeners[0].still_running);
    assert_eq!(report.listeners[0].abandoned, 10);
    release.send(()).expect("it waits");
    handle
        .remove()
        .await
        .expect("the thread ends after its callback");
    assert_eq!(*has_started.borrow(), 1, "nothing followed");
    assert_eq!(handle.status().delivered, 1);
    assert_eq!(handle.status().abandoned, 9);
}

/// D1: with nothing to do a stop takes no time, with and without grace.
#[tokio::test(start_paused = true)]
async fn an_idle_processor_stops_at_once() {
    for grace in [Duration::ZERO, SECOND, Duration::MAX] {
        let processor = Numbers::default();
        let (stream_joining, _stream) = processor
            .add_stream(ListenerConfig::default())
            .expect("running");
        drop(stream_joining.begin(0, Replay::empty()));
        let joining = processor.add(handler_fn(|_: &News| {}), ListenerConfig::default());
        drop(joining.expect("running").begin(0, Replay::empty()));
        let _joining = processor.add(handler_fn(|_: &News| {}), ListenerConfig::default());
        let start = Instant::now();
        let report = processor.stop(grace).await;
        assert_eq!(start.elapsed(), Duration::ZERO);
        assert_eq!(report.abandoned, 0);
    }
}

/// A stream has the grace to take what is left, then ends.
#[tokio::test(start_paused = true)]
async fn a_stream_is_drained_by_its_reader() {
    let processor = Numbers::default();
    let (joining, stream) = processor
        .add_stream(ListenerConfig::default())
        .expect("running");
    drop(joining.begin(0, Replay::empty()));
    processor.distribute(1, &batch(10));
    let read = stream.then(|_news| sleep(SECOND)).count();
    let (report, count) = tokio::join!(processor.stop(60 * SECOND), read);
    assert_eq!(count, 10);
    assert!(report.is_clean(), "{report:?}");
}

/// FM-67: from a callback a stop does not wait for that callback, and says so.
#[tokio::test(start_paused = true)]
async fn a_callback_stops_its_own_processor() {
    let processor = Numbers::default();
    let (tell, told) = watch::channel(None::<StopReport>);
    let inner = processor.clone();
    let handler = async_fn(move |_: Arc<News>| {
        let (processor, tell) = (inner.clone(), tell.clone());
        async move {
            assert!(processor.calling_listener().is_some());
            let report = processor.stop(3_600 * SECOND).await;
            tell.send_replace(Some(report));
        }
    });
    let joining = processor
        .add_async(handler, ListenerConfig::default())
        .expect("running");
    let handle = joining.begin(0, Replay::empty());
    let recorder = Recorder::new();
    let mut to = recorder.clone();
    let other = processor.add(
        handler_fn(move |n: &News| to.hear(n)),
        ListenerConfig::default(),
    );
    drop(other.expect("running").begin(0, Replay::empty()));
    assert_eq!(processor.calling_listener(), None);
    let start = Instant::now();
    processor.distribute(1, &batch(3));
    let mut told = told;
    told.wait_for(Option::is_some)
        .await
        .expect("the handler tells");
    assert_eq!(
        start.elapsed(),
        Duration::ZERO,
        "it did not wait for itself"
    );
    let report = told.borrow().clone().expect("told");
    assert!(report.listeners[0].still_running);
    assert_eq!(
        report.listeners[1].delivered, 3,
        "the other one was waited for"
    );
    assert_eq!(recorder.heard().len(), 3);
    handle.remove().await.expect("it ends");
}

/// Dropping a stop loses nothing; the next one goes on.
#[tokio::test(start_paused = true)]
async fn a_dropped_stop_can_be_repeated() {
    let processor = Numbers::default();
    let _handle = slow(&processor, SECOND);
    processor.distribute(1, &batch(9));
    assert!(processor.stop(60 * SECOND).now_or_never().is_none());
    assert!(processor.is_stopped());
    processor.distribute(2, &batch(9));
    let report = processor.stop(60 * SECOND).await;
    assert_eq!((report.delivered, report.abandoned), (10, 0));
}

/// A handler that was removed a moment ago is waited for all the same: after a stop no callback
/// runs (IN-5).
#[tokio::test(start_paused = true)]
async fn a_stop_waits_for_a_removed_handler_that_still_runs() {
    let processor = Numbers::default();
    let handle = slow(&processor, SECOND);
    let start = Instant::now();
    sleep(SECOND / 2).await;
    handle.remove_now();
    assert!(processor.listeners().is_empty());
    let report = processor.stop(60 * SECOND).await;
    assert_eq!(start.elapsed(), SECOND, "as long as its callback takes");
    assert_eq!(handle.status().phase, ListenerPhase::Ended);
    assert!(report.listeners.is_empty(), "it ended: {report:?}");
}

/// One that does not end in time is told of.
#[tokio::test(start_paused = true)]
async fn a_removed_handler_that_outlasts_the_grace_is_reported() {
    let processor = Numbers::default();
    let handle = slow(&processor, 60 * SECOND);
    sleep(SECOND).await;
    handle.remove_now();
    let report = processor.stop(SECOND).await;
    assert_eq!(report.listeners.len(), 1);
    assert_eq!(report.listeners[0].id, handle.id());
    assert!(report.listeners[0].still_running && !report.is_clean());
}

/// A listener on a runtime that has ended would never be called.
#[test]
fn handler_added_after_the_end_of_the_processors_runtime_is_refused() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    let processor = runtime.block_on(async { Processor::<&str, u32>::default() });
    drop(runtime);
    let added = processor.add(
        handler_fn(|_: &Notification<&str, u32>| {}),
        ListenerConfig::default(),
    );
    assert!(matches!(added, Err(AddError::RuntimeGone)), "{added:?}");
    assert!(processor.listeners().is_empty());
}
