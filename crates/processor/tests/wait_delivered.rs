//! PR-15: a caller waits until everything distributed so far has been handled.

mod recorder;

use std::sync::Arc;
use std::time::Duration;

use futures::{FutureExt, StreamExt};
use informer_processor::{
    ListenerConfig, NotDelivered, Overflow, Processor, Registration, Replay, async_fn, handler_fn,
};
use recorder::{News, Recorder, added, deleted, initial, updated};
use tokio::time::{Instant, sleep};

type Numbers = Processor<&'static str, u32>;

const SECOND: Duration = Duration::from_secs(1);

/// A handler that takes a second for each notification.
fn slow(
    processor: &Numbers,
    overflow: Overflow,
    replay: Replay<&'static str, u32>,
) -> Registration {
    let handler = async_fn(|_: Arc<News>| sleep(SECOND));
    let config = ListenerConfig::named("slow").overflow(overflow);
    let joining = processor.add_async(handler, config).expect("running");
    joining.begin(0, replay)
}

fn batch<const N: usize>(news: [News; N]) -> [Arc<News>; N] {
    news.map(Arc::new)
}

#[tokio::test(start_paused = true)]
async fn a_wait_ends_with_the_last_callback_of_what_was_distributed_before() {
    let processor = Numbers::default();
    let handle = slow(&processor, Overflow::default(), Replay::empty());
    processor.distribute(1, &batch([added("a", 1), added("b", 1), added("c", 1)]));
    let start = Instant::now();
    let first = handle.wait_delivered();
    processor.distribute(2, &batch([added("d", 1), added("e", 1)]));
    first.await.expect("running");
    assert_eq!(start.elapsed(), 3 * SECOND, "without what came later");
    handle.wait_delivered().await.expect("running");
    assert_eq!(start.elapsed(), 5 * SECOND);
    handle
        .wait_delivered()
        .await
        .expect("nothing is outstanding");
    assert_eq!(start.elapsed(), 5 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_wait_counts_the_running_callback() {
    let processor = Numbers::default();
    let handle = slow(&processor, Overflow::Coalesce, Replay::empty());
    processor.distribute(1, &batch([added("a", 1)]));
    let start = Instant::now();
    sleep(SECOND / 2).await;
    assert_eq!(handle.status().depth, 1, "it runs");
    handle.wait_delivered().await.expect("running");
    assert_eq!(start.elapsed(), SECOND);
}

/// The update of `a` is part of the pending addition, so that the wait ends with that one.
#[tokio::test(start_paused = true)]
async fn a_merged_notification_is_handled_with_the_one_it_became_part_of() {
    let processor = Numbers::default();
    let handle = slow(&processor, Overflow::Coalesce, Replay::empty());
    processor.distribute(1, &batch([added("a", 1), added("b", 1), added("c", 1)]));
    processor.distribute(2, &batch([updated("a", 1, 2), deleted("c", 1)]));
    let start = Instant::now();
    let both = handle.wait_delivered();
    processor.distribute(3, &batch([updated("b", 1, 2), added("d", 1)]));
    both.await.expect("running");
    assert_eq!(
        start.elapsed(),
        2 * SECOND,
        "a and b, of c there is nothing to deliver"
    );
}

#[tokio::test(start_paused = true)]
async fn a_wait_includes_the_initial_objects() {
    for overflow in [Overflow::default(), Overflow::Coalesce] {
        let processor = Numbers::default();
        let replay = Replay::new([initial("a", 1), initial("b", 1)]);
        let handle = slow(&processor, overflow, replay);
        let start = Instant::now();
        handle.wait_delivered().await.expect("running");
        assert_eq!(start.elapsed(), 2 * SECOND);
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_delivers_what_a_caller_waits_for() {
    let processor = Numbers::default();
    let handle = slow(&processor, Overflow::default(), Replay::empty());
    processor.distribute(1, &batch([added("a", 1), added("b", 1)]));
    let wait = handle.wait_delivered();
    let report = processor.stop(60 * SECOND).await;
    assert!(report.is_clean(), "{report:?}");
    wait.await.expect("everything was handled before the end");
    let late = handle.wait_delivered().await;
    assert_eq!(late, Err(NotDelivered::Ended), "it ended before the call");
}

#[tokio::test(start_paused = true)]
async fn a_removal_ends_the_wait() {
    let processor = Numbers::default();
    let handle = slow(&processor, Overflow::default(), Replay::empty());
    processor.distribute(1, &batch([added("a", 1), added("b", 1)]));
    let wait = handle.wait_delivered();
    sleep(SECOND / 2).await;
    handle.remove_now();
    assert_eq!(wait.await, Err(NotDelivered::Ended));
}

#[tokio::test]
async fn a_callback_that_panics_counts_as_handled() {
    let processor = Numbers::default();
    let handler = handler_fn(|_: &News| panic!("a handler's own bug"));
    let joining = processor.add(handler, ListenerConfig::named("panics"));
    let handle = joining.expect("running").begin(0, Replay::empty());
    processor.distribute(1, &batch([added("a", 1), added("b", 1)]));
    handle.wait_delivered().await.expect("running");
    assert_eq!(handle.status().panics, 2);
}

#[tokio::test]
async fn an_initial_replay_that_panics_is_an_error() {
    let processor = Numbers::default();
    let joining = processor.add(handler_fn(|_: &News| {}), ListenerConfig::named("joins"));
    let items = std::iter::once(initial("a", 1)).chain(std::iter::once_with(|| panic!("a bug")));
    let handle = joining.expect("running").begin(0, Replay::new(items));
    let wait = handle.wait_delivered().await;
    assert_eq!(wait, Err(NotDelivered::ReplayPanicked));
}

#[tokio::test]
async fn a_callback_cannot_wait_for_itself() {
    let processor = Numbers::default();
    let (send, mut answers) = tokio::sync::mpsc::unbounded_channel();
    let own = Arc::new(std::sync::OnceLock::<Registration>::new());
    let handler = async_fn({
        let own = Arc::clone(&own);
        move |_: Arc<News>| {
            let (own, send) = (Arc::clone(&own), send.clone());
            async move {
                let wait = own.get().expect("set below").wait_delivered();
                send.send(wait.await).expect("the test receives it");
            }
        }
    });
    let joining = processor.add_async(handler, ListenerConfig::named("own"));
    let handle = joining.expect("running").begin(0, Replay::empty());
    own.set(handle.clone()).expect("set once");
    processor.distribute(1, &batch([added("a", 1)]));
    let answer = answers.recv().await.expect("the handler sends it");
    assert_eq!(answer, Err(NotDelivered::FromOwnCallback));
    handle.wait_delivered().await.expect("the test may wait");
}

#[tokio::test]
async fn a_stream_has_handled_an_item_when_it_is_asked_for_the_next() {
    let processor = Numbers::default();
    let (joining, mut stream) = processor
        .add_stream(ListenerConfig::named("stream"))
        .expect("running");
    let handle = joining.begin(0, Replay::empty());
    processor.distribute(1, &batch([added("a", 1), added("b", 1)]));
    let mut wait = Box::pin(handle.wait_delivered());
    let mut received = Recorder::new();
    for _ in 0..2 {
        let news = stream.next().await.expect("it is pending");
        received.hear(&news);
        assert_eq!((&mut wait).now_or_never(), None);
    }
    assert!(stream.next().now_or_never().is_none(), "nothing is pending");
    wait.await.expect("running");
    drop(stream);
    assert_eq!(handle.wait_delivered().await, Err(NotDelivered::Ended));
}
