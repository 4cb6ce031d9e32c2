//! A handler that never returns, a million updates, and the memory they cost.
//!
//! `cargo run --release -p informer-processor --example blocked_handler [coalesce|grow] [UPDATES]`
//!
//! 1,000 keys of 2 KiB each (goal M3): with `coalesce`, the default, the process must not
//! grow by more than 16 MiB; exit status 1 if it does. `grow` keeps everything, as client-go does,
//! and only prints the figure. Linux only: the figure is read from `/proc/self/statm`.

use std::error::Error;
use std::process::ExitCode;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use informer_processor::{
    Added, Cause, ListenerConfig, Notification, Overflow, Processor, Replay, Updated, handler_fn,
};

const KEYS: usize = 1_000;
const OBJECT_BYTES: usize = 2 * 1024;
const BATCH: usize = 100;
const LIMIT_BYTES: u64 = 16 * 1024 * 1024;

type Object = Vec<u8>;
type News = Notification<usize, Object>;

/// Resident memory of this process. A page is 4 KiB on the machines this is meant for.
fn resident_bytes() -> Result<u64, Box<dyn Error>> {
    let statm = std::fs::read_to_string("/proc/self/statm")?;
    let pages = statm
        .split_whitespace()
        .nth(1)
        .ok_or("no second field in statm")?;
    Ok(pages.parse::<u64>()? * 4096)
}

fn object(number: usize) -> Arc<Object> {
    Arc::new(vec![number.to_le_bytes()[0]; OBJECT_BYTES])
}

fn run(overflow: Overflow, updates: usize) -> Result<u64, Box<dyn Error>> {
    let processor: Processor<usize, Object> = Processor::default();
    let (started, has_started) = mpsc::channel();
    let (release, gate) = mpsc::channel::<()>();
    let handler = handler_fn(move |_: &News| {
        // Errors mean that the example is over.
        started.send(()).unwrap_or_default();
        gate.recv().unwrap_or_default();
    });
    let config = ListenerConfig::named("blocked").overflow(overflow);
    let mut state: Vec<_> = (0..KEYS).map(object).collect();
    let initial = state.clone().into_iter().enumerate();
    let replay =
        initial.map(|(key, object)| Notification::Added(Added::new(key, object).initial(true)));
    let handle = processor
        .add_blocking(handler, config)?
        .begin(0, Replay::new(replay));
    has_started.recv()?;

    let before = resident_bytes()?;
    let mut batch = Vec::with_capacity(BATCH);
    let mut highest = before;
    for update in 1..=updates {
        let key = update % KEYS;
        let new = object(update);
        let old = std::mem::replace(&mut state[key], Arc::clone(&new));
        batch.push(Arc::new(Notification::Updated(Updated::new(
            key,
            old,
            new,
            Cause::Watch,
        ))));
        if batch.len() == BATCH || update == updates {
            processor.distribute(update as u64, &batch);
            batch.clear();
        }
        if update % 10_000 == 0 {
            highest = highest.max(resident_bytes()?);
        }
    }
    let growth = highest - before;
    let status = handle.status();
    println!(
        "{updates} updates over {KEYS} keys of {OBJECT_BYTES} B: {} wait, {} merged, rss +{:.1} MiB",
        status.depth,
        status.coalesced,
        growth as f64 / (1024.0 * 1024.0),
    );
    handle.remove_now();
    drop(release);
    // The callback returns now; a removal that has ended has freed what waited.
    futures::executor::block_on(handle.remove())?;
    let _report = futures::executor::block_on(processor.stop(Duration::ZERO));
    Ok(growth)
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let overflow = match arguments.next().as_deref() {
        None | Some("coalesce") => Overflow::Coalesce,
        Some("grow") => Overflow::default(),
        Some(other) => return Err(format!("`{other}` is neither coalesce nor grow").into()),
    };
    let updates = arguments
        .next()
        .map_or(Ok(1_000_000), |text| text.parse())?;
    let growth = run(overflow, updates)?;
    match overflow {
        Overflow::Coalesce if growth > LIMIT_BYTES => {
            eprintln!("more than {LIMIT_BYTES} B");
            Ok(ExitCode::FAILURE)
        }
        Overflow::Coalesce | Overflow::Grow { .. } => Ok(ExitCode::SUCCESS),
    }
}
