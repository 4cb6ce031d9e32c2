//! L2: so many events a second for minutes, and how late the store and the handlers are.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Result, ensure};
use informer_factory::SharedInformer;
use informer_testkit::Resource;
use k8s_openapi::api::core::v1::Pod;
use tokio::time::{Instant, interval, sleep};

use crate::lags::Lags;
use crate::resident::resident;
use crate::served::{LIVE, SOON, listen, pod, serve};

const HANDLERS: usize = 10;
const RATE: u64 = 10_000;

/// What the store has not applied yet, and how late it was with what it has.
#[derive(Default)]
struct Applied {
    written: VecDeque<(u64, Instant)>,
    lags: Lags,
}

/// L2, for so long.
pub(crate) async fn steady(seconds: u64) -> Result<()> {
    let (server, factory) = serve(200_000).await?;
    for i in 0..LIVE {
        server.create(&Resource::pods(), pod(i, "first"))?;
    }
    let (informer, origin) = (factory.informer::<Pod>(), Instant::now());
    let told: Vec<_> = (0..HANDLERS)
        .map(|number| listen(&informer, origin, number))
        .collect::<Result<_>>()?;
    factory.start()?;
    factory.wait_synced(SOON).await?;
    let applied = Arc::<Mutex<Applied>>::default();
    let sampler = tokio::spawn(sample(informer.clone(), Arc::clone(&applied)));
    let (start, mut ticks) = (Instant::now(), interval(Duration::from_millis(5)));
    let (all, mut count, mut last, mut third) = (RATE * seconds, 0, 0, 0.0);
    while count < all {
        ticks.tick().await;
        let due = (start.elapsed().as_secs_f64() * RATE as f64) as u64;
        while count < due.min(all) {
            let sent = origin.elapsed().as_nanos().to_string();
            let made = server.replace(&Resource::pods(), pod(count % LIVE, &sent))?;
            last = made.version();
            lock(&applied).written.push_back((last, Instant::now()));
            count += 1;
            if count == all / 3 {
                third = resident()?;
            }
        }
    }
    let rate = count as f64 / start.elapsed().as_secs_f64();
    informer
        .wait_for_version(&last.to_string().as_str().into(), SOON)
        .await?;
    let (ended, end) = (Instant::now(), resident()?);
    while told
        .iter()
        .any(|told| told.count.load(Ordering::SeqCst) < count)
    {
        ensure!(ended.elapsed() < SOON, "a handler has lost something");
        sleep(Duration::from_millis(10)).await;
    }
    sampler.abort();
    let (store, mut handler) = (lock(&applied).lags.clone(), Lags::default());
    told.iter().for_each(|told| {
        handler.merge(&told.lags.lock().unwrap_or_else(PoisonError::into_inner));
    });
    let reconnects = informer.status().sources[0].reconnects();
    println!(
        "L2: {count} events at {rate:.0}/s, {HANDLERS} handlers, loss 0, {reconnects} reconnects: \
         store lag p50 {:.1} p99 {:.1} (of 100 ms), handler lag p50 {:.1} p99 {:.1} max {:.1} (of \
         250 ms); {third:.1} MiB after a third, {end:.1} at the end",
        store.percentile(50),
        store.percentile(99),
        handler.percentile(50),
        handler.percentile(99),
        handler.percentile(100),
    );
    Ok(())
}

fn lock(applied: &Mutex<Applied>) -> MutexGuard<'_, Applied> {
    applied.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Each millisecond: how long the oldest write that is not applied has been waiting.
async fn sample(informer: SharedInformer<Pod>, applied: Arc<Mutex<Applied>>) {
    let mut ticks = interval(Duration::from_millis(1));
    loop {
        ticks.tick().await;
        let newest = informer.status().sources[0].applied.clone();
        let newest = newest.and_then(|version| version.to_string().parse().ok());
        let newest: u64 = newest.unwrap_or(0);
        let mut applied = lock(&applied);
        while applied
            .written
            .front()
            .is_some_and(|(version, _)| *version <= newest)
        {
            applied.written.pop_front();
        }
        let oldest = applied.written.front();
        let lag = oldest.map_or(Duration::ZERO, |(_, at)| at.elapsed());
        applied.lags.add(lag);
    }
}
