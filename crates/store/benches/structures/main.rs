//! Which structure a store should be made of: reads and writes, alone and side by side.
//!
//! `cargo bench -p informer-store --bench structures` prints one table; the decision taken from it
//! is `docs/adr/0002-store-structure.md`. Without `--bench` (under `cargo test`) the sizes are tiny
//! and only show that everything runs.
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
#![expect(unreachable_pub, reason = "a benchmark has no interface")]

mod candidate;
mod imbl_maps;
mod locked;
mod shards;
mod this_crate;

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use informer_store::ObjectKey;

use crate::candidate::{Candidate, Item, Object, Reader, Swapped};

struct Load {
    objects: usize,
    nodes: usize,
    reads: usize,
    rounds: usize,
    writing: Duration,
}

/// The same keys in an order that defeats caches: multiplication by an odd number is a bijection
/// only modulo a power of two, so indices beyond the end are skipped.
fn scattered(count: usize) -> impl Iterator<Item = usize> {
    let mask = count.next_power_of_two() - 1;
    (0..)
        .map(move |i: usize| i.wrapping_mul(0x9E37_79B1) & mask)
        .filter(move |i| *i < count)
}

fn items(load: &Load, generation: u8) -> Vec<Item> {
    let mut items: Vec<Item> = (0..load.objects)
        .map(|i| {
            let namespace = format!("namespace-{}", i % 40);
            let name = format!("workload-{}-7d9c5b8f6d-{i:06x}", i / 40);
            let key = ObjectKey::new(Some(&namespace), &name).expect("well formed");
            let node = Arc::from(format!("node-{}", i % load.nodes));
            (
                key,
                Arc::new(Object {
                    node,
                    payload: [generation; 256],
                }),
            )
        })
        .collect();
    items.sort_by(|(left, _), (right, _)| left.cmp(right));
    items
}

fn changed((key, object): &Item, tick: u8) -> Item {
    let node = Arc::clone(&object.node);
    (
        key.clone(),
        Arc::new(Object {
            node,
            payload: [tick; 256],
        }),
    )
}

/// The least of several measurements of the same thing: what disturbs one only ever adds.
fn least(rounds: usize, mut measure: impl FnMut() -> f64) -> f64 {
    let mut all: Vec<f64> = (0..rounds).map(|_| measure()).collect();
    all.sort_by(f64::total_cmp);
    all[0]
}

fn nanoseconds<R>(work: impl FnOnce() -> R) -> f64 {
    let start = Instant::now();
    black_box(work());
    start.elapsed().as_nanos() as f64
}

/// Single-object commits a second while so many readers iterate, and the iterations they made.
fn writes_beside_readers<C: Candidate>(
    store: &mut C,
    items: &[Item],
    load: &Load,
    readers: usize,
) -> (f64, usize) {
    let stop = AtomicBool::new(false);
    let walks = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..readers {
            let reader = store.reader();
            scope.spawn(|| {
                let reader = reader;
                while !stop.load(Ordering::Relaxed) {
                    black_box(reader.iterate());
                    walks.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let start = Instant::now();
        let mut writes = 0;
        for i in scattered(items.len()) {
            store.commit(&[changed(&items[i], 1)]);
            writes += 1;
            if start.elapsed() >= load.writing {
                break;
            }
        }
        let rate = f64::from(writes) / start.elapsed().as_secs_f64();
        stop.store(true, Ordering::Relaxed);
        (rate, walks.load(Ordering::Relaxed))
    })
}

fn resident() -> Option<f64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    statm
        .split(' ')
        .nth(1)?
        .parse::<f64>()
        .ok()
        .map(|pages| pages * 4096.0)
}

fn judge<C: Candidate>(name: &str, load: &Load, mut store: C) {
    let items = items(load, 0);
    let before = resident();
    store.replace(&items);
    let bytes = before
        .zip(resident())
        .map_or(f64::NAN, |(from, to)| to - from);
    let reader = store.reader();
    let order: Vec<usize> = scattered(items.len()).take(load.reads).collect();

    let get = least(load.rounds, || {
        nanoseconds(|| {
            order
                .iter()
                .filter(|i| reader.get(items[**i].0.as_str()).is_some())
                .count()
        }) / order.len() as f64
    });
    let by_index = least(load.rounds * 5, || {
        nanoseconds(|| reader.by_index("node-1")) / 1e3
    });
    let iterate = least(load.rounds, || nanoseconds(|| reader.iterate()) / 1e6);
    let list = least(load.rounds, || nanoseconds(|| reader.list()) / 1e6);
    let replace = least(load.rounds, || {
        let list: Vec<_> = items.iter().map(|item| changed(item, 2)).collect();
        nanoseconds(|| store.replace(&list)) / 1e6
    });
    let mut places = scattered(items.len());
    let batch = least(load.rounds * 10, || {
        let batch: Vec<_> = places
            .by_ref()
            .take(1_000)
            .map(|i| changed(&items[i], 3))
            .collect();
        nanoseconds(|| store.commit(&batch)) / batch.len() as f64
    });
    // Runs of each kind take turns, and the best of each counts.
    let mut rates = [vec![], vec![], vec![]];
    let mut walks = 0;
    for _ in 0..load.rounds {
        for (readers, rates) in rates.iter_mut().enumerate() {
            let (rate, walked) = writes_beside_readers(&mut store, &items, load, readers);
            rates.push(rate);
            walks += walked;
        }
    }
    let [alone, one, two] = rates.map(|mut rates| {
        rates.sort_by(f64::total_cmp);
        rates[rates.len() - 1]
    });
    println!(
        "| {name} | {get:.0} | {by_index:.0} | {iterate:.2} | {list:.2} | {:.2} | {batch:.0} | \
         {replace:.0} | {:.0} | {:.2} | {:.2} | {walks} | {:.0} |",
        1e6 / alone,
        alone / 1e3,
        one / alone,
        two / alone,
        bytes / items.len() as f64,
    );
}

fn main() {
    let measured = std::env::args().any(|argument| argument == "--bench");
    let load = if measured {
        let writing = Duration::from_millis(300);
        Load {
            objects: 100_000,
            nodes: 50,
            reads: 100_000,
            rounds: 7,
            writing,
        }
    } else {
        Load {
            objects: 500,
            nodes: 5,
            reads: 100,
            rounds: 1,
            writing: Duration::from_micros(10),
        }
    };
    let only = std::env::args()
        .skip_while(|argument| argument != "--only")
        .nth(1);
    let wanted = |name: &str| only.as_deref().is_none_or(|only| name.contains(only));
    println!(
        "| structure | get ns | by-index of {} us | iterate ms | list ms | update us | \
         update in 1,000 ns | replace ms | writes k/s | with 1 reader | with 2 | walks | B/object |",
        load.objects / load.nodes
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    if wanted("imbl OrdMap") {
        judge("imbl OrdMap", &load, Swapped::<imbl_maps::Ordered>::new());
    }
    if wanted("imbl HashMap") {
        judge("imbl HashMap", &load, Swapped::<imbl_maps::Hashed>::new());
    }
    if wanted("hash shards") {
        judge("hash shards", &load, Swapped::<shards::Shards>::new());
    }
    if wanted("RwLock<HashMap>") {
        judge("RwLock<HashMap>", &load, locked::Locked::default());
    }
    if wanted("informer-store") {
        judge("informer-store", &load, this_crate::ThisCrate::new());
    }
}
