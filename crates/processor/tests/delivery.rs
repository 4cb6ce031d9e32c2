//! What every kind of listener gets, on both kinds of runtime.

mod recorder;

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use informer_processor::{
    Cause, ListenerConfig, Overflow, Processor, Replay, async_fn, handler_fn,
};
use recorder::{Heard, News, Recorder, added, deleted, initial, moved_away, updated};

async fn everyone_gets_everything() {
    let processor: Processor<&'static str, u32> = Processor::default();
    let (sync, asynchronous, blocking) = (Recorder::new(), Recorder::new(), Recorder::new());

    let mut to = sync.clone();
    let one = processor.add(
        handler_fn(move |n: &News| to.hear(n)),
        ListenerConfig::named("sync"),
    );
    let to = asynchronous.clone();
    let deferred = async_fn(move |n: Arc<News>| {
        let mut to = to.clone();
        async move {
            tokio::task::yield_now().await;
            to.hear(&n);
        }
    });
    let two = processor.add_async(deferred, ListenerConfig::named("async"));
    let mut to = blocking.clone();
    let three = processor.add_blocking(
        handler_fn(move |n: &News| to.hear(n)),
        ListenerConfig::default(),
    );
    let (four, stream) = processor
        .add_stream(ListenerConfig::named("stream"))
        .expect("running");
    let handles: Vec<_> = [one, two, three]
        .into_iter()
        .map(|joining| {
            joining
                .expect("running")
                .begin(0, Replay::new([initial("a", 1)]))
        })
        .chain([four.begin(0, Replay::new([initial("a", 1)]))])
        .collect();

    processor.distribute(1, &[Arc::new(added("b", 2)), Arc::new(updated("a", 1, 3))]);
    processor.upstream_synced();
    processor.distribute(2, &[Arc::new(deleted("b", 2))]);
    let expected = vec![
        Heard::Add("a", 1, true),
        Heard::Add("b", 2, false),
        Heard::Update("a", 1, 3, Cause::Watch),
        Heard::Delete("b", Some(2), true),
    ];
    let mut streamed = Recorder::new();
    let taken = stream.take(4).for_each(|n| {
        streamed.hear(&n);
        std::future::ready(())
    });
    taken.await;
    assert_eq!(streamed.heard(), expected);
    for handle in &handles[..3] {
        handle.wait_synced().await.expect("nobody ends it");
    }
    let report = processor.stop(Duration::from_secs(3600)).await;
    assert!(report.is_clean(), "{report:?}");
    for recorder in [sync, asynchronous, blocking] {
        assert_eq!(recorder.heard(), expected);
    }
    assert_eq!(report.delivered, 12);
}

#[tokio::test]
async fn every_kind_of_listener_gets_everything_on_one_thread() {
    everyone_gets_everything().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_kind_of_listener_gets_everything_on_two_threads() {
    everyone_gets_everything().await;
}

/// RB-5: what is merged while a handler is busy arrives as one.
#[tokio::test]
async fn a_coalescing_listener_gets_the_news_of_a_key_as_one() {
    let processor: Processor<&'static str, u32> = Processor::default();
    let mut recorder = Recorder::new();
    let heard = recorder.clone();
    let config = ListenerConfig::named("slow").overflow(Overflow::Coalesce);
    let joining = processor.add(handler_fn(move |n: &News| recorder.hear(n)), config);
    let handle = joining.expect("running").begin(0, Replay::empty());
    // On one thread the task runs only when this one awaits.
    for (sequence, news) in [
        added("a", 1),
        updated("a", 1, 2),
        added("b", 1),
        deleted("b", 1),
        updated("a", 2, 3),
    ]
    .into_iter()
    .enumerate()
    {
        processor.distribute(sequence as u64 + 1, &[Arc::new(news)]);
    }
    assert_eq!(handle.status().depth, 1);
    assert!(processor.stop(Duration::from_secs(1)).await.is_clean());
    assert_eq!(heard.heard(), [Heard::Add("a", 3, false)]);
    assert_eq!(handle.status().coalesced, 4);
}

/// An object that left the shard of this replica: delivered as such, merged as a deletion is.
#[tokio::test]
async fn an_object_that_moved_away_is_delivered_as_such() {
    for overflow in [Overflow::default(), Overflow::Coalesce] {
        let processor: Processor<&'static str, u32> = Processor::default();
        let mut recorder = Recorder::new();
        let heard = recorder.clone();
        let config = ListenerConfig::named("sharded").overflow(overflow);
        let joining = processor.add(handler_fn(move |n: &News| recorder.hear(n)), config);
        let replay = Replay::new([initial("a", 1), initial("b", 1)]);
        let handle = joining.expect("running").begin(0, replay);
        handle.wait_delivered().await.expect("running");
        // On one thread the task runs only when this one awaits.
        processor.distribute(1, &[Arc::new(updated("a", 1, 2))]);
        processor.distribute(2, &[Arc::new(moved_away("a", 3))]);
        processor.distribute(3, &[Arc::new(added("c", 1))]);
        processor.distribute(4, &[Arc::new(moved_away("c", 2))]);
        handle.wait_delivered().await.expect("running");
        let mut expected = vec![Heard::Add("a", 1, true), Heard::Add("b", 1, true)];
        expected.extend(match overflow {
            Overflow::Coalesce => vec![Heard::Move("a", 3)],
            Overflow::Grow { .. } => vec![
                Heard::Update("a", 1, 2, Cause::Watch),
                Heard::Move("a", 3),
                Heard::Add("c", 1, false),
                Heard::Move("c", 2),
            ],
        });
        assert_eq!(heard.heard(), expected, "{overflow:?}");
    }
}
