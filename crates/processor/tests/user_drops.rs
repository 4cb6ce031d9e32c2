//! PR-12: a panic of user code other than a callback (a drop, a waker, an iterator) costs what it
//! belongs to, and neither the listener nor another one.

mod recorder;

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use futures::{FutureExt, Stream, StreamExt};
use informer_processor::{
    AddError, Added, Deleted, Joining, ListenerConfig, Notification, Overflow, Processor, Replay,
    async_fn, handler_fn,
};

/// An object whose drop panics if it is armed.
struct Bomb {
    armed: bool,
}

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(!self.armed, "planned");
    }
}

type News = Notification<&'static str, Bomb>;

fn added(key: &'static str, armed: bool) -> News {
    Notification::Added(Added::new(key, Arc::new(Bomb { armed })).initial(true))
}

fn gone(key: &'static str) -> Arc<News> {
    Arc::new(Notification::Deleted(Deleted::Unknown { key, last: None }))
}

/// The keys a handler received, in order.
#[derive(Clone, Default)]
struct Keys(Arc<std::sync::Mutex<Vec<&'static str>>>);

impl Keys {
    fn push(&self, news: &News) {
        self.0.lock().expect("no panic under it").push(news.key());
    }

    fn get(&self) -> Vec<&'static str> {
        self.0.lock().expect("no panic under it").clone()
    }
}

/// A future that is ready and whose drop panics for one key.
struct PanicsWhenDropped {
    planned: bool,
}

impl Future for PanicsWhenDropped {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }
}

impl Drop for PanicsWhenDropped {
    fn drop(&mut self) {
        assert!(!self.planned, "planned");
    }
}

type Registered = Result<Joining<&'static str, Bomb>, AddError>;

fn add_each(processor: &Processor<&'static str, Bomb>, keys: &Keys) -> [Registered; 3] {
    let config = || ListenerConfig::named("drops");
    let [a, b, c] = [keys.clone(), keys.clone(), keys.clone()];
    let asynchronous = async_fn(move |news: Arc<News>| {
        b.push(&news);
        std::future::ready(())
    });
    [
        processor.add(handler_fn(move |news: &News| a.push(news)), config()),
        processor.add_async(asynchronous, config()),
        processor.add_blocking(handler_fn(move |news: &News| c.push(news)), config()),
    ]
}

#[tokio::test]
async fn a_delivered_object_whose_drop_panics_is_counted_and_the_next_item_follows() {
    for kind in 0..3 {
        let processor = Processor::default();
        let keys = Keys::default();
        let joining = add_each(&processor, &keys).into_iter().nth(kind);
        let joining = joining.expect("three kinds").expect("running");
        let replay = Replay::new([added("a", true), added("b", false), added("c", false)]);
        let handle = joining.begin(0, replay);
        processor.upstream_synced();
        handle.wait_synced().await.expect("every item was handled");
        assert_eq!(keys.get(), ["a", "b", "c"], "kind {kind}");
        let report = processor.stop(Duration::from_secs(3600)).await;
        assert!(report.is_clean(), "kind {kind}: {report:?}");
        assert_eq!((handle.status().delivered, handle.status().panics), (3, 1));
    }
}

#[tokio::test]
async fn a_stream_whose_item_panics_when_it_is_dropped_goes_on() {
    let processor: Processor<&str, Bomb> = Processor::default();
    let (joining, mut stream) = processor
        .add_stream(ListenerConfig::named("stream"))
        .expect("running");
    let handle = joining.begin(0, Replay::new([added("a", true), added("b", false)]));
    assert_eq!(stream.next().await.map(|news| *news.key()), Some("a"));
    assert_eq!(stream.next().await.map(|news| *news.key()), Some("b"));
    assert_eq!(handle.status().panics, 1);
}

#[tokio::test]
async fn a_future_of_a_handler_whose_drop_panics_is_counted_and_the_next_item_follows() {
    let processor = Processor::default();
    let keys = Keys::default();
    let to = keys.clone();
    let handler = async_fn(move |news: Arc<News>| {
        to.push(&news);
        PanicsWhenDropped {
            planned: *news.key() == "a",
        }
    });
    let joining = processor.add_async(handler, ListenerConfig::named("drops"));
    let replay = Replay::new([added("a", false), added("b", false)]);
    let handle = joining.expect("running").begin(0, replay);
    processor.upstream_synced();
    handle.wait_synced().await.expect("every item was handled");
    assert!(processor.stop(Duration::from_secs(3600)).await.is_clean());
    assert_eq!(keys.get(), ["a", "b"]);
    assert_eq!((handle.status().delivered, handle.status().panics), (2, 1));
}

#[tokio::test]
async fn a_removal_whose_pending_object_panics_when_it_is_dropped_is_complete() {
    for overflow in [Overflow::default(), Overflow::Coalesce] {
        let processor = Processor::default();
        let config = ListenerConfig::named("removed").overflow(overflow);
        let joining = processor.add(handler_fn(|_: &News| {}), config);
        let handle = joining.expect("running").begin(0, Replay::empty());
        processor.distribute(1, &[Arc::new(added("a", true))]);
        handle.remove().await.expect("not its own callback");
        assert!(processor.listeners().is_empty());
        assert_eq!((handle.status().abandoned, handle.status().panics), (1, 1));
    }
}

#[tokio::test]
async fn a_displaced_object_whose_drop_panics_costs_no_other_listener_the_batch() {
    let processor = Processor::default();
    let config = ListenerConfig::named("merging").overflow(Overflow::Coalesce);
    let merging = processor.add(handler_fn(|_: &News| {}), config);
    let merging = merging.expect("running").begin(0, Replay::empty());
    processor.distribute(1, &[Arc::new(added("a", true))]);

    let keys = Keys::default();
    let to = keys.clone();
    let handler = handler_fn(move |news: &News| to.push(news));
    let joining = processor.add(handler, ListenerConfig::named("beside"));
    let beside = joining.expect("running").begin(1, Replay::empty());
    processor.distribute(2, &[gone("a")]);
    assert!(processor.stop(Duration::from_secs(3600)).await.is_clean());
    assert_eq!(keys.get(), ["a"]);
    assert_eq!(
        (merging.status().coalesced, beside.status().delivered),
        (2, 1)
    );
}

struct PanicsWhenWoken;

impl Wake for PanicsWhenWoken {
    fn wake(self: Arc<Self>) {
        panic!("planned");
    }
}

#[tokio::test]
async fn a_waker_that_panics_costs_no_other_listener_the_batch() {
    let processor = Processor::default();
    let (joining, stream) = processor
        .add_stream(ListenerConfig::named("stream"))
        .expect("running");
    let handle = joining.begin(0, Replay::empty());
    let mut stream = pin!(stream);
    let waker = Waker::from(Arc::new(PanicsWhenWoken));
    let polled = stream.as_mut().poll_next(&mut Context::from_waker(&waker));
    assert!(polled.is_pending());

    let keys = Keys::default();
    let to = keys.clone();
    let handler = handler_fn(move |news: &News| to.push(news));
    let joining = processor.add(handler, ListenerConfig::named("beside"));
    let beside = joining.expect("running").begin(0, Replay::empty());
    processor.distribute(1, &[gone("a")]);
    let received = stream.next().now_or_never().flatten();
    assert_eq!(received.map(|news| *news.key()), Some("a"));
    drop(processor.stop(Duration::ZERO).await);
    assert_eq!((handle.status().panics, beside.status().panics), (1, 0));
    assert_eq!(beside.status().received, 1);
}

/// A resync that cannot be made for one listener is made for the others.
#[tokio::test(start_paused = true)]
async fn a_resync_that_panics_for_one_listener_is_distributed_to_the_others() {
    let period = Duration::from_secs(10);
    let config = informer_processor::ProcessorConfig::default().check_period(period);
    let processor: Processor<&str, u32> = Processor::new(config);
    let add = |name: &str| {
        let config = ListenerConfig::named(name).resync(period);
        let joining = processor.add(handler_fn(|_: &recorder::News| {}), config);
        joining.expect("running").begin(0, Replay::empty())
    };
    let (first, second) = (add("first"), add("second"));
    let made = std::cell::Cell::new(0);
    let later = tokio::time::Instant::now().into_std() + period;
    processor.distribute_resync(0, later, || {
        made.set(made.get() + 1);
        assert!(made.get() > 1, "planned");
        Replay::new([recorder::initial("a", 1)])
    });
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    assert_eq!((first.status().panics, second.status().panics), (1, 0));
    assert_eq!(
        (first.status().delivered, second.status().delivered),
        (0, 1)
    );
}
