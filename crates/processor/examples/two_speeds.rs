//! Two handlers of different speed hear of the same changes; neither waits for the other.
//!
//! `cargo run -p informer-processor --example two_speeds`
//!
//! The fast one is told of every change. The slow one coalesces: it is told less often, and in the
//! end knows the same.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use informer_processor::{
    Added, Callbacks, Cause, ListenerConfig, Notification, Overflow, Processor, Replay, Updated,
    async_fn,
};

type News = Notification<&'static str, u32>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let processor: Processor<&'static str, u32> = Processor::default();

    // Closures for what is of interest; what is not given is skipped.
    let fast = Callbacks::new()
        .on_add(|added| println!("fast: added {}, initial {}", added.object, added.initial))
        .on_update(|updated| println!("fast: {} -> {}", updated.old, updated.new));
    let fast = processor.add(fast, ListenerConfig::named("fast"))?;

    // A handler that awaits gets the next notification when its future is ready.
    let slow = async_fn(|news: Arc<News>| async move {
        tokio::time::sleep(Duration::from_millis(50)).await;
        if let Notification::Updated(Updated { key, old, new, .. }) = &*news {
            println!("slow: {key} went from {old} to {new}");
        }
    });
    let config = ListenerConfig::named("slow").overflow(Overflow::Coalesce);
    let slow = processor.add_async(slow, config)?;

    // What is there when they join comes first, marked as initial, and then everything after it.
    let initial = || {
        let object = Arc::new(0);
        Replay::new([Added::new("counter", object).initial(true).into()])
    };
    let fast = fast.begin(0, initial());
    let slow = slow.begin(0, initial());
    processor.upstream_synced();
    fast.wait_synced().await?;
    slow.wait_synced().await?;

    for number in 1..=10 {
        let (old, new) = (Arc::new(number - 1), Arc::new(number));
        let updated = Updated::new("counter", old, new, Cause::Watch);
        processor.distribute(u64::from(number), &[Arc::new(updated.into())]);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }

    // Nothing new from here on; what waits is delivered, and what was done is told.
    let report = processor.stop(Duration::from_secs(5)).await;
    for listener in report.listeners {
        println!("{}: {} delivered", listener.name, listener.delivered);
    }
    Ok(())
}
