//! L5 and M3: a layer alone, so that nothing else has memory.

use std::future::pending;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use informer_factory::ObjectKey;
use informer_factory::processor::{
    Added, AsyncHandler, Cause, ListenerConfig, Notification, Overflow, Processor, Replay, Updated,
};
use informer_factory::store::{Batch, Entry, store};

use crate::resident::resident;

/// How many objects live at a time, and how many in all.
const LIVE: u64 = 100_000;
const KEYS: u64 = 10_000_000;
const BATCH: u64 = 1_000;

/// L5.
pub(crate) fn churn() -> Result<()> {
    let (mut writer, reader) = store();
    let index = writer.add_index("tens", |value: &u64| [(value / 10).to_string()])?;
    let key = |i: u64| ObjectKey::new(Some("default"), &format!("object-{i:09}"));
    let before = resident()?;
    let mut full = 0.0;
    for first in (0..KEYS).step_by(usize::try_from(BATCH)?) {
        let mut batch = Batch::new();
        for i in first..first + BATCH {
            batch.upsert(key(i)?, Entry::anonymous(i));
            if i >= LIVE {
                batch.remove(key(i - LIVE)?);
            }
        }
        writer.commit(batch);
        if first + BATCH == LIVE {
            full = resident()? - before;
        }
    }
    let after = resident()? - before;
    let live = reader.len() as u64;
    ensure!(live == LIVE, "{live} objects live");
    ensure!(
        index.values().len() as u64 == LIVE / 10,
        "an index value is left over"
    );
    println!(
        "L5: {KEYS} keys, {LIVE} at a time: {full:.1} MiB when they first were, {after:.1} after \
         all: {:.2} of at most 2",
        after / full
    );
    ensure!(after <= 2.0 * full, "memory grows");
    Ok(())
}

struct Blocked;

impl AsyncHandler<ObjectKey, Vec<u8>> for Blocked {
    async fn on_notification(&mut self, _: Arc<Notification<ObjectKey, Vec<u8>>>) {
        pending::<()>().await;
    }
}

const MIB: f64 = 1024.0 * 1024.0;
const OBJECT: usize = 2048;

/// M3.
pub(crate) async fn blocked() -> Result<()> {
    let coalescing = updates(Overflow::Coalesce, 1_000_000)?;
    println!(
        "M3: 1,000,000 updates of 1,000 keys to a blocked handler that coalesces: \
              {coalescing:+.1} MiB of at most 16"
    );
    // As many as fit; each is an object, and what is kept beside it.
    let count = 200_000;
    let growing = updates(Overflow::default(), count)?;
    let beside = growing * MIB / f64::from(count) - OBJECT as f64;
    println!(
        "M3: {count} to one that grows: {growing:+.1} MiB, {beside:.0} bytes beside each object"
    );
    ensure!(coalescing <= 16.0, "coalescing does not bound memory");
    tokio::task::yield_now().await;
    Ok(())
}

/// How much memory grows, in MiB, beyond the 1,000 objects that are stored anyway.
fn updates(overflow: Overflow, count: u32) -> Result<f64> {
    let processor: Processor<ObjectKey, Vec<u8>> = Processor::default();
    let config = ListenerConfig::named("blocked").overflow(overflow);
    let joining = processor.add_async(Blocked, config)?;
    let _registration = joining.begin(0, Replay::empty());
    processor.upstream_synced();
    let keys: Vec<_> = (0..1_000)
        .map(|i| ObjectKey::new(Some("default"), &format!("object-{i}")))
        .collect::<Result<_, _>>()?;
    let mut stored: Vec<_> = keys.iter().map(|_| Arc::new(vec![0_u8; OBJECT])).collect();
    let mut sequence = 0;
    for (key, object) in keys.iter().zip(&stored) {
        sequence += 1;
        let (key, object) = (key.clone(), Arc::clone(object));
        let added = Notification::Added(Added::new(key, object));
        processor.distribute(sequence, &[Arc::new(added)]);
    }
    let before = resident()?;
    for turn in 0..count {
        let i = usize::try_from(turn)? % keys.len();
        let new = Arc::new(vec![1_u8; OBJECT]);
        let old = std::mem::replace(&mut stored[i], Arc::clone(&new));
        sequence += 1;
        let updated = Notification::Updated(Updated::new(keys[i].clone(), old, new, Cause::Watch));
        processor.distribute(sequence, &[Arc::new(updated)]);
    }
    let grown = resident()? - before;
    let status = processor.listeners().pop().context("it was added")?;
    println!(
        "    {} coalesced, at most {} waiting",
        status.coalesced, status.high_water
    );
    Ok(grown)
}
