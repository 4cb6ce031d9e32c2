//! Three changes of one object while the consumer is busy: one delivery, nothing lost.
//!
//! Run with `cargo run -p informer-deltafifo --example coalesce`.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use informer_deltafifo::{Config, Delta, DeltaFifo, Final, Item, channel};

/// What the consumer makes of a batch: its store after it.
fn apply(store: &mut BTreeMap<String, u32>, items: &[Item<String, u32>]) {
    for item in items {
        let Item::Key { key, deltas } = item else {
            unreachable!("DeltaFifo hands out keys")
        };
        println!("{key}: {deltas:?}");
        match deltas.newest() {
            Delta::Deleted(_) => store.remove(key),
            newest => store.insert(key.clone(), *newest.object().expect("not deleted")),
        };
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let bound = NonZeroUsize::new(2_000).ok_or("not zero")?;
    let batch = NonZeroUsize::new(1_000).ok_or("not zero")?;
    let queue = DeltaFifo::<String, u32, u64>::new(Config::default());
    let (producer, consumer) = channel(queue, bound);
    let mut store = BTreeMap::new();

    futures::executor::block_on(async {
        // A list, at version 10, is the initial population.
        let list = vec![("web".into(), 1), ("db".into(), 1)];
        producer.replace(list, 10, || &store).await?;
        let lease = consumer.next(batch).await.ok_or("closed")?;
        println!(
            "-- initial: {}, synced: {}",
            lease.initial,
            producer.progress().synced
        );
        apply(&mut store, lease.items());
        lease.ack();
        println!(
            "-- synced: {}, applied: {:?}",
            producer.progress().synced,
            producer.progress().applied
        );

        // While the consumer is away, one object changes three times and one disappears.
        for version in 11..14 {
            producer
                .update("web".into(), version, version.into())
                .await?;
        }
        producer
            .delete("db".into(), Final::Observed(2), 14, || &store)
            .await?;
        producer.close();
        while let Some(lease) = consumer.next(batch).await {
            println!(
                "-- {} keys, applied after: {:?}",
                lease.items().len(),
                lease.applied_after
            );
            apply(&mut store, lease.items());
            lease.ack();
        }
        assert_eq!(store, BTreeMap::from([("web".into(), 13)]));
        Ok(())
    })
}
