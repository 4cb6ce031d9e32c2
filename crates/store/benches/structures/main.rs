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
use std::sync::atomic::{AtomicBool, Ordering};
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

/// Single-object commits a second.
#[derive(Clone, Copy, Default)]
struct Rate {
    /// By the clock: what waits for a lock or for a processor is slow.
    wall: f64,
    /// By the time the writer's thread was on a processor: what a busy machine takes away does not
    /// count, nor does waiting; what remains is the trouble in the memory system. 0 if unknown.
    running: f64,
}

impl Rate {
    fn best(self, other: Self) -> Self {
        Self {
            wall: self.wall.max(other.wall),
            running: self.running.max(other.running),
        }
    }
}

/// Seconds this thread has been on a processor, where Linux tells.
fn on_processor() -> Option<f64> {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    schedstat
        .split(' ')
        .next()?
        .parse::<f64>()
        .ok()
        .map(|nanoseconds| nanoseconds / 1e9)
}

/// Writes while so many readers iterate over everything in a loop.
fn writes_beside_readers<C: Candidate>(
    store: &mut C,
    items: &[Item],
    load: &Load,
    readers: usize,
) -> Rate {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..readers {
            let reader = store.reader();
            let stop = &stop;
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    black_box(reader.iterate());
                }
            });
        }
        let (start, started) = (Instant::now(), on_processor());
        let mut writes = 0;
        for i in scattered(items.len()) {
            store.commit(&[changed(&items[i], 1)]);
            writes += 1;
            if start.elapsed() >= load.writing {
                break;
            }
        }
        let wall = f64::from(writes) / start.elapsed().as_secs_f64();
        let running = started.zip(on_processor());
        let running = running.map_or(0.0, |(from, to)| f64::from(writes) / (to - from));
        stop.store(true, Ordering::Relaxed);
        Rate { wall, running }
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
    let bytes = bytes / items.len() as f64;
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
    let iterate = least(load.rounds * 5, || nanoseconds(|| reader.iterate()) / 1e6);
    let list = least(load.rounds * 5, || nanoseconds(|| reader.list()) / 1e6);
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
    let mut rates = [Rate::default(); 3];
    for _ in 0..load.rounds * 5 {
        for (readers, rate) in rates.iter_mut().enumerate() {
            *rate = rate.best(writes_beside_readers(&mut store, &items, load, readers));
        }
    }
    let [alone, one, two] = rates;
    drop((store, reader));
    println!(
        "| {name} | {get:.0} | {by_index:.0} | {iterate:.2} | {list:.2} | {:.2} | {batch:.0} | \
         {replace:.0} | {:.2} / {:.2} | {:.2} / {:.2} | {bytes:.0} |",
        1e6 / alone.wall,
        one.wall / alone.wall,
        one.running / alone.running,
        two.wall / alone.wall,
        two.running / alone.running,
    );
}

const NAMES: [&str; 5] = [
    "imbl OrdMap",
    "imbl HashMap",
    "hash shards",
    "RwLock HashMap",
    "informer-store",
];

fn judge_named(name: &str, load: &Load) {
    match name {
        "imbl OrdMap" => judge(name, load, Swapped::<imbl_maps::Ordered>::new()),
        "imbl HashMap" => judge(name, load, Swapped::<imbl_maps::Hashed>::new()),
        "hash shards" => judge(name, load, Swapped::<shards::Shards>::new()),
        "RwLock HashMap" => judge(name, load, locked::Locked::default()),
        "informer-store" => judge(name, load, this_crate::ThisCrate::new()),
        _ => panic!("{name:?} is none of {NAMES:?}"),
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let after = |flag: &str| {
        let place = arguments.iter().position(|argument| argument == flag)?;
        arguments.get(place + 1)
    };
    let load = if arguments.iter().any(|argument| argument == "--bench") {
        let objects = after("--objects").map_or(100_000, |text| text.parse().expect("a number"));
        let writing = Duration::from_millis(50);
        Load {
            objects,
            nodes: 50,
            reads: objects,
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
    if let Some(name) = after("--only") {
        return judge_named(name, &load);
    }
    println!(
        "| structure | get ns | by-index of {} us | iterate ms | list ms | update us | \
         update in 1,000 ns | replace ms | with 1 reader | with 2 | B/object |",
        load.objects / load.nodes
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    // Each in a process of its own, so that none inherits the memory of another.
    let program = std::env::current_exe().expect("this program has a path");
    for name in NAMES {
        let arguments = arguments[1..]
            .iter()
            .map(String::as_str)
            .chain(["--only", name]);
        let status = std::process::Command::new(&program)
            .args(arguments)
            .status();
        assert!(
            status.expect("this program can be started").success(),
            "{name} failed"
        );
    }
}
