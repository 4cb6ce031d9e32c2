//! RB-7: depth, oldest age, high-water mark and counts at quiescent points, on a paused clock.

mod recorder;

use std::sync::Arc;
use std::time::Duration;

use informer_processor::{ListenerConfig, ListenerPhase, Overflow, Processor, Replay, async_fn};
use recorder::{News, added, deleted, updated};
use tokio::sync::Semaphore;
use tokio::time::advance;

const SECOND: Duration = Duration::from_secs(1);

/// Lets the handler's task do all it can.
async fn settle() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_numbers_of_a_slow_listener_are_exact() {
    let processor: Processor<&'static str, u32> = Processor::default();
    let permits = Arc::new(Semaphore::new(0));
    let inner = Arc::clone(&permits);
    let handler = async_fn(move |_: Arc<News>| {
        let permits = Arc::clone(&inner);
        async move { permits.acquire().await.expect("never closed").forget() }
    });
    let config = ListenerConfig::named("slow").overflow(Overflow::Coalesce);
    let joining = processor.add_async(handler, config).expect("running");
    assert_eq!(processor.listeners()[0].phase, ListenerPhase::Joining);
    let handle = joining.begin(0, Replay::empty());
    assert_eq!(handle.status().oldest_age, None);

    processor.distribute(1, &[Arc::new(added("a", 1))]);
    settle().await;
    advance(SECOND).await;
    processor.distribute(2, &[Arc::new(added("b", 1)), Arc::new(updated("b", 1, 2))]);
    processor.distribute(3, &[Arc::new(added("c", 1)), Arc::new(deleted("c", 2))]);
    advance(SECOND).await;
    settle().await;
    let status = handle.status();
    assert_eq!(
        (status.depth, status.high_water),
        (2, 2),
        "one is being handled, one waits"
    );
    assert_eq!(
        status.oldest_age,
        Some(2 * SECOND),
        "of the one that is being handled"
    );
    assert_eq!(
        (status.received, status.delivered, status.coalesced),
        (5, 0, 3)
    );

    permits.add_permits(1);
    settle().await;
    let status = handle.status();
    assert_eq!((status.depth, status.delivered), (1, 1));
    assert_eq!(status.oldest_age, Some(SECOND));

    permits.add_permits(1);
    settle().await;
    let status = handle.status();
    assert_eq!(
        (status.depth, status.delivered, status.oldest_age),
        (0, 2, None)
    );
    assert_eq!(status.high_water, 2);
    assert_eq!(status.phase, ListenerPhase::Live);
}
