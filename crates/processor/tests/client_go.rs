//! Scenarios of client-go's `shared_informer_test.go`, `processor_listener_test.go` and
//! `synctrack_test.go` that concern this layer. Own code; the upstream test is named at each. Those
//! of resync periods are in `resync.rs`.

mod recorder;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use futures::FutureExt;
use informer_processor::{
    AddError, Callbacks, ListenerConfig, Processor, Registration, Replay, handler_fn,
};
use recorder::{Heard, News, Recorder, added, initial, updated};
use tokio::sync::watch;

type Numbers = Processor<&'static str, u32>;

const LONG: Duration = Duration::from_secs(3600);

fn record(processor: &Numbers, name: &'static str) -> (Registration, Recorder) {
    let recorder = Recorder::new();
    let mut to = recorder.clone();
    let handler = handler_fn(move |n: &News| to.hear(n));
    let joining = processor
        .add(handler, ListenerConfig::named(name))
        .expect("running");
    (joining.begin(0, Replay::empty()), recorder)
}

/// `TestSharedInformerRemoveHandler`: of two handlers the one that stays goes on.
#[tokio::test]
async fn one_of_two_handlers_is_removed() {
    let processor = Numbers::default();
    let (first, heard_first) = record(&processor, "first");
    let (_second, heard_second) = record(&processor, "second");
    assert_eq!(processor.listeners().len(), 2);
    first.remove().await.expect("from outside");
    assert_eq!(processor.listeners().len(), 1);
    processor.distribute(1, &[Arc::new(added("a", 1))]);
    assert!(processor.stop(LONG).await.is_clean());
    assert!(heard_first.heard().is_empty());
    assert_eq!(heard_second.heard().len(), 1);
}

/// `TestSharedInformerRemoveForeignHandler`: a handle removes its own listener and no other, also
/// when another processor has one with the same number.
#[tokio::test]
async fn a_handle_removes_its_own_listener_only() {
    let (one, two) = (Numbers::default(), Numbers::default());
    let (handle, _heard) = record(&one, "same");
    let (_other, heard) = record(&two, "same");
    handle.remove().await.expect("from outside");
    assert!(one.listeners().is_empty());
    two.distribute(1, &[Arc::new(added("a", 1))]);
    assert!(two.stop(LONG).await.is_clean());
    assert_eq!(heard.heard().len(), 1);
}

/// `TestSharedInformerMultipleRegistration`: a handler may be added twice; each is its own.
#[tokio::test]
async fn a_handler_added_twice_is_two_listeners() {
    let processor = Numbers::default();
    let recorder = Recorder::new();
    let handles: Vec<_> = (0..2)
        .map(|_| {
            let mut to = recorder.clone();
            let handler = handler_fn(move |n: &News| to.hear(n));
            let joining = processor.add(handler, ListenerConfig::named("twice"));
            joining.expect("running").begin(0, Replay::empty())
        })
        .collect();
    assert_ne!(handles[0].id(), handles[1].id());
    handles[0].remove().await.expect("from outside");
    processor.distribute(1, &[Arc::new(added("a", 1))]);
    assert!(processor.stop(LONG).await.is_clean());
    assert_eq!(recorder.heard().len(), 1);
}

/// `TestRemovingRemovedSharedInformer`, `TestRemoveOnStoppedSharedInformer`: no error, no effect.
#[tokio::test]
async fn a_removed_listener_is_removed_again_also_after_the_stop() {
    let processor = Numbers::default();
    let (handle, _heard) = record(&processor, "gone");
    let (kept, _heard) = record(&processor, "kept");
    handle.remove_now();
    handle.remove_now();
    handle.remove().await.expect("from outside");
    assert!(processor.stop(LONG).await.is_clean());
    handle.remove().await.expect("from outside");
    kept.remove().await.expect("from outside");
}

/// `TestAddOnStoppedSharedInformer`.
#[tokio::test]
async fn nothing_is_added_to_a_stopped_processor() {
    let processor = Numbers::default();
    processor.stop(LONG).await;
    let refused = processor.add(Callbacks::new(), ListenerConfig::default());
    assert!(matches!(refused, Err(AddError::Stopped)));
    let refused = processor.add_blocking(Callbacks::new(), ListenerConfig::default());
    assert!(matches!(refused, Err(AddError::Stopped)));
}

/// `TestRemoveWhileActive`: nothing of what is sent after the removal arrives.
#[tokio::test]
async fn a_listener_is_removed_while_news_arrive() {
    let processor = Numbers::default();
    let (handle, heard) = record(&processor, "active");
    processor.upstream_synced();
    processor.distribute(1, &[Arc::new(added("a", 1))]);
    handle.wait_synced().await.expect("nothing was there");
    while heard.heard().is_empty() {
        tokio::task::yield_now().await;
    }
    handle.remove().await.expect("from outside");
    processor.distribute(2, &[Arc::new(added("b", 1))]);
    assert!(processor.stop(LONG).await.is_clean());
    assert_eq!(heard.heard(), [Heard::Add("a", 1, false)]);
}

/// `TestAddWhileActive`: a late handler is not synced before it has handled what was there, even
/// though the processor has been for long.
#[tokio::test]
async fn a_late_handler_is_synced_after_what_was_there() {
    let processor = Numbers::default();
    let (first, _heard) = record(&processor, "first");
    processor.distribute(1, &[Arc::new(added("a", 1))]);
    processor.upstream_synced();
    first.wait_synced().await.expect("nothing was there");

    let (release, gate) = mpsc::channel::<()>();
    let recorder = Recorder::new();
    let mut to = recorder.clone();
    let handler = handler_fn(move |n: &News| {
        gate.recv().expect("released");
        to.hear(n);
    });
    let joining = processor.add_blocking(handler, ListenerConfig::named("late"));
    let late = joining
        .expect("a thread")
        .begin(1, Replay::new([initial("a", 1)]));
    processor.distribute(2, &[Arc::new(updated("a", 1, 2))]);
    assert!(!late.is_synced());
    assert!(first.is_synced());
    release.send(()).expect("it waits");
    late.wait_synced().await.expect("it goes on");
    assert!(recorder.heard().starts_with(&[Heard::Add("a", 1, true)]));
    release.send(()).expect("it waits");
    assert!(processor.stop(LONG).await.is_clean());
    assert_eq!(recorder.heard().len(), 2);
}

/// `TestRemoveEventHandler_AsynchronousPanic`: the removal itself does not wait for the callback.
/// `TestRemoveEventHandler_SynchronousShutdown`: awaiting it does.
#[tokio::test]
async fn a_removal_waits_only_where_it_is_awaited() {
    let processor = Numbers::default();
    let (release, gate) = mpsc::channel::<()>();
    let (started, mut has_started) = watch::channel(false);
    let ended = Arc::new(AtomicBool::new(false));
    let end = Arc::clone(&ended);
    let handler = handler_fn(move |_: &News| {
        started.send_replace(true);
        gate.recv().expect("released");
        end.store(true, Ordering::SeqCst);
    });
    let joining = processor.add_blocking(handler, ListenerConfig::named("busy"));
    let handle = joining.expect("a thread").begin(0, Replay::empty());
    processor.distribute(1, &[Arc::new(added("a", 1))]);
    has_started
        .wait_for(|started| *started)
        .await
        .expect("it starts");
    handle.remove_now();
    assert!(!ended.load(Ordering::SeqCst), "the callback is still there");
    let mut removal = Box::pin(handle.remove());
    assert!((&mut removal).now_or_never().is_none());
    release.send(()).expect("it waits");
    removal.await.expect("from outside");
    assert!(ended.load(Ordering::SeqCst));
}

/// `TestShutDownEventHandler_Lifecycles`: removed before it began, after, and after the stop.
#[tokio::test]
async fn a_removal_ends_in_every_state_of_life() {
    let processor = Numbers::default();
    drop(
        processor
            .add(Callbacks::new(), ListenerConfig::default())
            .expect("running"),
    );
    assert!(processor.listeners().is_empty());
    let (before, _heard) = record(&processor, "before");
    before.remove().await.expect("from outside");
    let (after, _heard) = record(&processor, "after");
    processor.distribute(1, &[Arc::new(added("a", 1))]);
    after.remove().await.expect("from outside");
    let (stopped, _heard) = record(&processor, "stopped");
    assert!(processor.stop(LONG).await.is_clean());
    stopped.remove().await.expect("from outside");
}

/// `TestEventPanics`: each panicking call is one, and the other handler hears everything.
#[tokio::test]
async fn a_handler_that_always_panics_harms_nobody() {
    let processor = Numbers::default();
    let handler = handler_fn(|_: &News| panic!("planned"));
    let joining = processor
        .add(handler, ListenerConfig::named("panics"))
        .expect("running");
    let panics = joining.begin(0, Replay::new([initial("a", 1), initial("b", 1)]));
    let (_other, heard) = record(&processor, "other");
    processor.upstream_synced();
    let batch: Vec<_> = (0..10).map(|n| Arc::new(added("c", n))).collect();
    processor.distribute(1, &batch);
    panics
        .wait_synced()
        .await
        .expect("k/k#129024 does not happen here");
    assert!(processor.stop(LONG).await.is_clean());
    assert_eq!(panics.status().panics, 12);
    assert_eq!(heard.heard().len(), 10);
}

/// `TestSharedInformerHandlerAbuse`: a hundred tasks add and remove while news arrive and while the
/// processor stops.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_tasks_add_and_remove_while_news_arrive() {
    let processor = Numbers::default();
    let calls = Arc::new(AtomicUsize::new(0));
    let tasks: Vec<_> = (0..100)
        .map(|task| {
            let (processor, calls) = (processor.clone(), Arc::clone(&calls));
            tokio::spawn(async move {
                for round in 0..100 {
                    let calls = Arc::clone(&calls);
                    let handler = handler_fn(move |_: &News| {
                        calls.fetch_add(1, Ordering::Relaxed);
                    });
                    let Ok(joining) = processor.add(handler, ListenerConfig::default()) else {
                        assert!(processor.is_stopped());
                        return;
                    };
                    let handle = joining.begin(0, Replay::new([initial("x", 1)]));
                    if (task + round) % 3 == 0 {
                        tokio::task::yield_now().await;
                    }
                    match round % 2 {
                        0 => handle.remove().await.expect("from outside"),
                        _ => handle.remove_now(),
                    }
                }
            })
        })
        .collect();
    for sequence in 1..=10_000 {
        processor.distribute(sequence, &[Arc::new(added("a", 1))]);
        if sequence % 100 == 0 {
            tokio::task::yield_now().await;
        }
    }
    let report = processor.stop(LONG).await;
    assert!(
        report
            .listeners
            .iter()
            .all(|listener| !listener.still_running)
    );
    for task in tasks {
        task.await.expect("no task panics");
    }
}

/// `BenchmarkListener` as a test: one listener, many notifications, all of them, in order.
#[tokio::test]
async fn a_listener_hears_a_hundred_thousand_in_order() {
    const COUNT: u32 = 100_000;
    let processor = Numbers::default();
    let next = Arc::new(AtomicUsize::new(0));
    let expected = Arc::clone(&next);
    let handler = Callbacks::<&'static str, u32>::new().on_add(move |added| {
        assert_eq!(
            expected.fetch_add(1, Ordering::Relaxed),
            *added.object as usize
        );
    });
    let joining = processor
        .add(handler, ListenerConfig::named("bench"))
        .expect("running");
    let handle = joining.begin(0, Replay::empty());
    for n in 0..COUNT {
        processor.distribute(u64::from(n) + 1, &[Arc::new(added("a", n))]);
    }
    assert!(processor.stop(LONG).await.is_clean());
    assert_eq!(next.load(Ordering::Relaxed), COUNT as usize);
    assert_eq!(handle.status().panics, 0);
    assert_eq!(handle.status().high_water, COUNT as usize);
}

/// SI-10, FM-72: joined before the start, with the initial list still held: synced only when it has
/// been handled, though the source was done before delivery began.
#[tokio::test]
async fn what_is_held_counts_for_being_synced() {
    let processor = Numbers::default();
    let recorder = Recorder::new();
    let mut to = recorder.clone();
    let handler = handler_fn(move |n: &News| to.hear(n));
    let joining = processor
        .add(handler, ListenerConfig::default())
        .expect("running");
    processor.distribute(1, &[Arc::new(initial("a", 1))]);
    processor.upstream_synced();
    let handle = joining.begin(0, Replay::empty());
    assert!(!handle.is_synced());
    handle.wait_synced().await.expect("it is handled");
    assert_eq!(recorder.heard(), [Heard::Add("a", 1, true)]);

    let (joining, _stream) = processor
        .add_stream(ListenerConfig::default())
        .expect("running");
    assert!(
        joining.begin(1, Replay::empty()).is_synced(),
        "nothing was there"
    );
}
