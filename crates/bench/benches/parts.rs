//! The operations of the leaves: `cargo bench -p informer-bench --bench parts`, or of one of them
//! with its name behind (`-- store`).

use divan::Bencher;
use divan::counter::ItemsCount;
use informer_bench::parts::{self, pods::Pods};

/// As many as fit the caches of nobody.
const OBJECTS: usize = 20_000;

fn main() {
    divan::main();
}

#[divan::bench(args = parts::names("store"))]
fn store(bencher: Bencher<'_, '_>, name: &str) {
    run(bencher, name);
}

#[divan::bench(args = parts::names("queue"))]
fn deltafifo(bencher: Bencher<'_, '_>, name: &str) {
    run(bencher, name);
}

#[divan::bench(args = parts::names("processor"))]
fn processor(bencher: Bencher<'_, '_>, name: &str) {
    run(bencher, name);
}

#[divan::bench(args = parts::names("reflector"))]
fn reflector(bencher: Bencher<'_, '_>, name: &str) {
    run(bencher, name);
}

fn run(bencher: Bencher<'_, '_>, name: &str) {
    let part = parts::find(name).expect("it is one of the names");
    let mut operation = (part.prepare)(&Pods::decode(OBJECTS));
    bencher
        .counter(ItemsCount::new(part.batch))
        .bench_local(|| operation(part.batch));
}
