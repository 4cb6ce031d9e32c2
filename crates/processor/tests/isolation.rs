//! PR-9, FM-64: a handler that blocks delays neither the sender nor another handler.

mod recorder;

use std::sync::{Arc, mpsc};
use std::time::Duration;

use informer_processor::{ListenerConfig, Overflow, Processor, Replay, async_fn, handler_fn};
use recorder::{News, Recorder, added};

const COUNT: u32 = 1_000;

/// One handler blocks its thread, one never becomes ready, one stream is never polled; the fourth
/// gets everything.
async fn others_go_on() {
    let processor: Processor<&'static str, u32> = Processor::default();
    let (release, blocked) = mpsc::channel::<()>();
    let blocking = handler_fn(move |_: &News| {
        // An error is the release as well: the test is over.
        assert!(blocked.recv().is_err());
    });
    let joining = processor.add_blocking(blocking, ListenerConfig::named("blocked"));
    let blocked = joining.expect("a thread").begin(0, Replay::empty());
    let pending = async_fn(|_: Arc<News>| std::future::pending());
    let config = ListenerConfig::named("pending").overflow(Overflow::Coalesce);
    let pending = processor
        .add_async(pending, config)
        .expect("running")
        .begin(0, Replay::empty());
    let (joining, stream) = processor
        .add_stream(ListenerConfig::named("idle"))
        .expect("running");
    let idle = joining.begin(0, Replay::empty());

    let recorder = Recorder::new();
    let mut to = recorder.clone();
    let joining = processor.add(
        handler_fn(move |n: &News| to.hear(n)),
        ListenerConfig::named("busy"),
    );
    let busy = joining.expect("running").begin(0, Replay::empty());
    for sequence in 1..=COUNT {
        processor.distribute(u64::from(sequence), &[Arc::new(added("a", sequence))]);
        if sequence % 10 == 0 {
            tokio::task::yield_now().await;
        }
    }
    while busy.status().depth > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(recorder.heard().len(), COUNT as usize);
    assert_eq!(blocked.status().delivered, 0);
    assert!(blocked.status().depth >= COUNT as usize - 1);
    assert!(
        pending.status().depth <= 2,
        "RB-4: one waits, one is being handled"
    );
    assert_eq!(idle.status().depth, COUNT as usize);
    drop((release, stream));
    let report = processor.stop(Duration::ZERO).await;
    assert_eq!(
        report.listeners.len(),
        3,
        "the dropped stream removed its listener"
    );
}

#[tokio::test]
async fn a_blocked_handler_delays_nobody_on_one_thread() {
    others_go_on().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_blocked_handler_delays_nobody_on_two_threads() {
    others_go_on().await;
}

/// The sender needs no runtime at all, and waits for nobody.
#[test]
fn the_sender_needs_no_runtime() {
    let processor: Processor<&'static str, u32> = Processor::default();
    let (joining, stream) = processor
        .add_stream(ListenerConfig::default())
        .expect("running");
    let handle = joining.begin(0, Replay::empty());
    processor.distribute(1, &[Arc::new(added("a", 1))]);
    assert_eq!(handle.status().depth, 1);
    assert_eq!(handle.name(), "EventStream");
    drop(stream);
    assert!(processor.listeners().is_empty());

    let refused = processor.add(handler_fn(|_: &News| {}), ListenerConfig::default());
    let error = refused.expect_err("no runtime").to_string();
    assert!(error.contains("runtime"), "{error}");
}

/// On a current-thread runtime a long backlog lets other tasks have their turn.
#[tokio::test]
async fn a_long_backlog_lets_other_tasks_run() {
    let processor: Processor<&'static str, u32> = Processor::default();
    let recorder = Recorder::new();
    let mut to = recorder.clone();
    let joining = processor.add(
        handler_fn(move |n: &News| to.hear(n)),
        ListenerConfig::default(),
    );
    drop(joining.expect("running").begin(0, Replay::empty()));
    let batch: Vec<_> = (0..100_000).map(|n| Arc::new(added("a", n))).collect();
    processor.distribute(1, &batch);
    for _ in 0..3 {
        tokio::task::yield_now().await;
    }
    assert!(
        recorder.heard().len() < 100_000,
        "the handler's task did not let this one run"
    );
}
