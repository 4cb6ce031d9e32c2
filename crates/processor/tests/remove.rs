//! PR-11, FM-67, FM-70: removing a listener, from everywhere.

mod recorder;

use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures::{FutureExt, StreamExt};
use informer_processor::{
    AddError, ListenerConfig, ListenerPhase, NeverSynced, Overflow, Processor, Registration,
    RemoveError, Replay, async_fn, handler_fn,
};
use recorder::{News, Recorder, added, initial};
use tokio::sync::{oneshot, watch};

type Numbers = Processor<&'static str, u32>;

/// A place for a handle that its own handler uses.
type Slot = Arc<Mutex<Option<Registration>>>;

fn batch(count: u32) -> Vec<Arc<News>> {
    (0..count).map(|n| Arc::new(added("a", n))).collect()
}

/// From its own callback a handler may remove itself; the callback is its last.
#[tokio::test]
async fn a_handler_removes_itself() {
    for overflow in [Overflow::default(), Overflow::Coalesce] {
        let processor = Numbers::default();
        let slot = Slot::default();
        let recorder = Recorder::new();
        let (own, mut to) = (Arc::clone(&slot), recorder.clone());
        let handler = handler_fn(move |n: &News| {
            to.hear(n);
            let handle = own.lock().expect("no panic").clone().expect("set");
            handle.remove_now();
            handle.remove_now();
            assert_eq!(
                handle.remove().now_or_never(),
                Some(Err(RemoveError::FromOwnCallback))
            );
        });
        let config = ListenerConfig::named("leaves").overflow(overflow);
        let joining = processor.add(handler, config).expect("running");
        let handle = joining.begin(0, Replay::new([initial("a", 1), initial("b", 2)]));
        *slot.lock().expect("no panic") = Some(handle.clone());
        processor.distribute(1, &batch(100));
        handle.remove().await.expect("from outside");
        handle.remove().await.expect("again");
        assert!(recorder.heard().len() <= 1);
        assert!(processor.listeners().is_empty());
        assert_eq!(handle.status().phase, ListenerPhase::Ended);
    }
}

/// In an asynchronous callback the wait for its own end is refused, not endless.
#[tokio::test]
async fn an_async_handler_cannot_wait_for_itself() {
    let processor = Numbers::default();
    let slot = Slot::default();
    let (tell, told) = watch::channel(None);
    let own = Arc::clone(&slot);
    let handler = async_fn(move |_: Arc<News>| {
        let (own, tell) = (Arc::clone(&own), tell.clone());
        async move {
            tokio::task::yield_now().await;
            let handle = own.lock().expect("no panic").clone().expect("set");
            tell.send_replace(Some(handle.remove().await));
        }
    });
    let joining = processor
        .add_async(handler, ListenerConfig::default())
        .expect("running");
    let handle = joining.begin(0, Replay::empty());
    *slot.lock().expect("no panic") = Some(handle.clone());
    processor.distribute(1, &batch(10));
    let mut told = told;
    let answer = told
        .wait_for(Option::is_some)
        .await
        .expect("the handler tells")
        .to_owned();
    assert_eq!(answer, Some(Err(RemoveError::FromOwnCallback)));
    handle.remove().await.expect("from outside");
    assert_eq!(handle.status().delivered, 1);
}

/// Two handlers may wait for each other's end: each waits outside of its own.
#[tokio::test]
async fn a_handler_waits_for_another() {
    let processor = Numbers::default();
    let recorder = Recorder::new();
    let mut to = recorder.clone();
    let other = processor.add(
        handler_fn(move |n: &News| to.hear(n)),
        ListenerConfig::default(),
    );
    let other = other.expect("running").begin(0, Replay::empty());
    let target = other.clone();
    let handler = async_fn(move |_: Arc<News>| {
        let removal = target.remove();
        async move { removal.await.expect("another one's end") }
    });
    let joining = processor
        .add_async(handler, ListenerConfig::default())
        .expect("running");
    drop(joining.begin(0, Replay::empty()));
    processor.distribute(1, &batch(3));
    let report = processor.stop(Duration::from_secs(3600)).await;
    assert_eq!(
        report.listeners.last().map(|listener| listener.delivered),
        Some(3)
    );
}

/// `remove` returns when the running callback has, and the handler is gone by then.
#[tokio::test]
async fn awaiting_a_removal_waits_for_the_running_callback() {
    let processor = Numbers::default();
    let (started, mut has_started) = watch::channel(0);
    let (release, gate) = watch::channel(false);
    let guard = Arc::new(());
    let held = Arc::clone(&guard);
    let handler = async_fn(move |_: Arc<News>| {
        let _held = &held;
        started.send_modify(|count| *count += 1);
        let mut gate = gate.clone();
        async move { drop(gate.wait_for(|open| *open).await) }
    });
    let joining = processor
        .add_async(handler, ListenerConfig::default())
        .expect("running");
    let handle = joining.begin(0, Replay::empty());
    processor.distribute(1, &batch(10));
    has_started
        .wait_for(|count| *count == 1)
        .await
        .expect("it starts");
    let mut removal = Box::pin(handle.remove());
    assert!(
        (&mut removal).now_or_never().is_none(),
        "the callback is running"
    );
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    assert!((&mut removal).now_or_never().is_none(), "it still is");
    assert_eq!(Arc::strong_count(&guard), 2);
    release.send_replace(true);
    removal.await.expect("from outside");
    assert_eq!(
        Arc::strong_count(&guard),
        1,
        "FM-70: the handler is dropped first"
    );
    assert_eq!(
        *has_started.borrow(),
        1,
        "PR-11: nothing started after the removal"
    );
    assert_eq!(handle.status().abandoned, 9);
    assert_eq!(handle.status().delivered, 1);
}

/// The same on a thread of its own, which the removal ends.
#[tokio::test]
async fn awaiting_a_removal_waits_for_a_blocking_callback() {
    let processor = Numbers::default();
    let (started, has_started) = oneshot::channel();
    let (release, gate) = mpsc::channel::<()>();
    let guard = Arc::new(());
    let (held, mut started) = (Arc::clone(&guard), Some(started));
    let handler = handler_fn(move |_: &News| {
        let _held = &held;
        if let Some(started) = started.take() {
            started.send(()).expect("the test waits");
        }
        gate.recv().expect("released");
    });
    let joining = processor.add_blocking(handler, ListenerConfig::named("own thread"));
    let handle = joining.expect("a thread").begin(0, Replay::empty());
    processor.distribute(1, &batch(10));
    has_started.await.expect("it starts");
    let mut removal = Box::pin(handle.remove());
    assert!(
        (&mut removal).now_or_never().is_none(),
        "the callback is running"
    );
    release.send(()).expect("it waits");
    removal.await.expect("from outside");
    assert_eq!(Arc::strong_count(&guard), 1);
    assert_eq!(handle.status().delivered, 1);
}

/// A listener that never began goes with its `Joining`, and its handler with it.
#[tokio::test]
async fn a_joining_that_never_begins_is_removed() {
    let processor = Numbers::default();
    let guard = Arc::new(());
    let held = Arc::clone(&guard);
    let handler = handler_fn(move |_: &News| drop(Arc::clone(&held)));
    let joining = processor
        .add(handler, ListenerConfig::default())
        .expect("running");
    processor.distribute(1, &batch(10));
    assert_eq!(processor.listeners()[0].phase, ListenerPhase::Joining);
    assert_eq!(processor.listeners()[0].depth, 10);
    drop(joining);
    assert!(processor.listeners().is_empty());
    while Arc::strong_count(&guard) > 1 {
        tokio::task::yield_now().await;
    }
}

/// Dropping the handle keeps the handler; dropping the stream removes its listener.
#[tokio::test]
async fn dropping_a_handle_and_dropping_a_stream() {
    let processor = Numbers::default();
    let recorder = Recorder::new();
    let mut to = recorder.clone();
    let joining = processor.add(
        handler_fn(move |n: &News| to.hear(n)),
        ListenerConfig::default(),
    );
    drop(joining.expect("running").begin(0, Replay::empty()));
    let (joining, stream) = processor
        .add_stream(ListenerConfig::default())
        .expect("running");
    let handle = joining.begin(0, Replay::empty());
    assert_eq!(processor.listeners().len(), 2);
    processor.distribute(1, &batch(2));
    drop(stream);
    assert_eq!(processor.listeners().len(), 1);
    assert_eq!(handle.status().abandoned, 2);
    handle.remove().await.expect("a second removal");
    assert!(processor.stop(Duration::from_secs(1)).await.is_clean());
    assert_eq!(recorder.heard().len(), 2);
}

/// A removed stream is not waited for, ends, and gives nothing more.
#[tokio::test]
async fn a_removed_stream_ends() {
    let processor = Numbers::default();
    let (joining, mut stream) = processor
        .add_stream(ListenerConfig::default())
        .expect("running");
    let handle = joining.begin(0, Replay::new([initial("a", 1), initial("b", 2)]));
    processor.distribute(1, &batch(100));
    assert!(stream.next().await.is_some());
    handle.remove().await.expect("nothing of ours runs");
    assert!(stream.next().await.is_none());
    assert!(stream.next().await.is_none());
    assert_eq!(handle.wait_synced().await, Err(NeverSynced::Ended));
}

/// The last handle of a processor is dropped without a stop: nothing starts any more (IN-6).
#[tokio::test]
async fn dropping_the_processor_ends_its_listeners() {
    let processor = Numbers::default();
    let recorder = Recorder::new();
    let mut to = recorder.clone();
    let joining = processor.add(
        handler_fn(move |n: &News| to.hear(n)),
        ListenerConfig::default(),
    );
    let handle = joining.expect("running").begin(0, Replay::empty());
    let stuck = async_fn(|_: Arc<News>| std::future::pending());
    let joining = processor
        .add_async(stuck, ListenerConfig::default())
        .expect("running");
    let stuck = joining.begin(0, Replay::empty());
    let clone = processor.clone();
    clone.distribute(1, &batch(10));
    drop(processor);
    assert_eq!(handle.status().phase, ListenerPhase::Live);
    drop(clone);
    handle.remove().await.expect("it ends by itself");
    stuck.remove().await.expect("its task is aborted");
    assert!(recorder.heard().is_empty());
}

/// A handle outlives its processor and says so.
#[tokio::test]
async fn add_after_stop_is_refused() {
    let processor = Numbers::default();
    assert!(processor.stop(Duration::from_secs(1)).await.is_clean());
    let refused = processor.add(handler_fn(|_: &News| {}), ListenerConfig::default());
    assert!(matches!(refused, Err(AddError::Stopped)));
    assert!(matches!(
        processor.add_stream(ListenerConfig::default()),
        Err(AddError::Stopped)
    ));
    // Nobody is there to hear it.
    processor.distribute(1, &batch(1));
}

/// A stream that is asked after its processor's stop gives what it had, then ends.
#[test]
fn a_stopped_stream_gives_what_it_had() {
    let processor = Numbers::default();
    let (joining, mut stream) = processor
        .add_stream(ListenerConfig::default())
        .expect("running");
    drop(joining.begin(0, Replay::new([initial("a", 1)])));
    processor.distribute(1, &batch(2));
    let mut cx = Context::from_waker(Waker::noop());
    let mut stop = Box::pin(processor.stop(Duration::ZERO));
    drop(stop.as_mut().poll(&mut cx));
    // No grace: what waited was thrown away.
    assert_eq!(
        stream.poll_next_unpin(&mut cx).map(|item| item.is_some()),
        Poll::Ready(false)
    );
}

/// FM-67: a callback may use everything there is, of its own processor too.
#[tokio::test]
async fn a_callback_may_use_the_whole_processor() {
    for overflow in [Overflow::default(), Overflow::Coalesce] {
        let processor = Numbers::default();
        let slot = Slot::default();
        let (inner, own) = (processor.clone(), Arc::clone(&slot));
        let mut calls = 0;
        let handler = handler_fn(move |_: &News| {
            calls += 1;
            assert!(inner.calling_listener().is_some());
            let handle = own.lock().expect("no panic").clone().expect("set");
            assert_eq!(inner.calling_listener(), Some(handle.id()));
            let _synced = (handle.is_synced(), handle.status(), handle.resync());
            assert!(!inner.listeners().is_empty());
            let (joining, stream) = inner
                .add_stream(ListenerConfig::default())
                .expect("running");
            let other = joining.begin(100, Replay::new([initial("x", 1)]));
            inner.upstream_synced();
            if calls < 3 {
                inner.distribute(100 + calls, &[Arc::new(added("b", 1))]);
            }
            assert_eq!(inner.next_resync(), None);
            other.remove_now();
            drop(stream);
            if calls == 3 {
                let stopped = inner
                    .stop(Duration::ZERO)
                    .now_or_never()
                    .expect("no waiting");
                assert_eq!(stopped.listeners.len(), 1);
                assert!(stopped.listeners[0].still_running);
            }
        });
        let config = ListenerConfig::named("curious").overflow(overflow);
        let joining = processor.add(handler, config).expect("running");
        let handle = joining.begin(0, Replay::empty());
        *slot.lock().expect("no panic") = Some(handle.clone());
        processor.distribute(1, &batch(1));
        while handle.status().phase != ListenerPhase::Ended {
            tokio::task::yield_now().await;
        }
        let status = handle.status();
        assert_eq!((status.delivered, status.panics), (3, 0));
        // The handler holds its processor and its own handle: let go of both.
        *slot.lock().expect("no panic") = None;
    }
}
