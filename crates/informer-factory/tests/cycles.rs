//! D2: an informer that is started and stopped over and over leaves no task, no file and no memory.
//!
//! Over loopback, with real sockets. `CYCLES=10000` does as many as the goal says.
#![cfg(target_os = "linux")]

mod cluster;

use std::time::Duration;

use cluster::{Recorder, SOON, pod, pods};
use informer_factory::{Grace, SharedInformerFactory, index};
use informer_testkit::ApiServer;
use k8s_openapi::api::core::v1::Pod;
use kube_client::Config;
use tokio::runtime::Handle;

const PODS: usize = 20;

/// Of memory, for each cycle (D2).
const SLOPE: f64 = 1024.0;

fn files() -> usize {
    std::fs::read_dir("/proc/self/fd")
        .expect("Linux has it")
        .count()
}

/// Bytes in memory.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1));
    1024.0
        * kib
            .and_then(|kib| kib.parse::<f64>().ok())
            .expect("a number")
}

/// How much `values` grow with each step, by least squares.
fn slope(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let middle = (count - 1.0) / 2.0;
    let mean = values.iter().sum::<f64>() / count;
    let steps = values.iter().enumerate();
    let (mut above, mut below) = (0.0, 0.0);
    for (step, value) in steps {
        let step = step as f64 - middle;
        above += step * (value - mean);
        below += step * step;
    }
    above / below
}

async fn cycle(url: &str) {
    let client = informer_factory::client(Config::new(url.parse().expect("a URL")));
    let factory = SharedInformerFactory::new(client.expect("plain HTTP"));
    let informer = factory.informer::<Pod>();
    let by_node = informer.add_index("node", index::node).expect("a new name");
    let recorder = Recorder::default();
    informer.add_handler(recorder.clone()).expect("running");
    factory.start().expect("a runtime");
    factory.wait_synced(SOON).await.expect("synced");
    assert_eq!(by_node.get("n1").len(), PODS);
    let report = factory.shutdown(Grace::default()).await;
    assert!(report.expect("not in a callback").is_complete());
}

/// Lets the tasks of both sides end; fails if they do not.
async fn settle(tasks: usize, opened: usize) {
    let left = || (Handle::current().metrics().num_alive_tasks(), files());
    let settled = async {
        while left() != (tasks, opened) {
            tokio::task::yield_now().await;
        }
    };
    if tokio::time::timeout(Duration::from_secs(10), settled)
        .await
        .is_err()
    {
        panic!(
            "D2: {:?} tasks and files instead of {:?}",
            left(),
            (tasks, opened)
        );
    }
}

#[tokio::test]
async fn starting_and_stopping_over_and_over_leaves_nothing() {
    let cycles = std::env::var("CYCLES").map_or(300, |cycles| {
        cycles
            .parse::<usize>()
            .expect("CYCLES is a number of cycles")
    });
    let server = ApiServer::new();
    for number in 0..PODS {
        let created = server.create(&pods(), pod(&format!("p{number}"), "n1"));
        drop(created.expect("created"));
    }
    let serving = server.serve().await.expect("loopback is there");
    tokio::task::yield_now().await;
    let (tasks, opened) = (Handle::current().metrics().num_alive_tasks(), files());
    let mut memory = Vec::with_capacity(cycles);
    for _ in 0..cycles {
        cycle(&serving.url).await;
        settle(tasks, opened).await;
        server.clear_requests();
        memory.push(resident());
    }
    // The first third warms up allocator and caches.
    let slope = slope(&memory[cycles / 3..]);
    println!(
        "{cycles} cycles, {slope:.1} bytes of memory each, {:.0} at last",
        resident()
    );
    assert!(slope <= SLOPE, "D2: {slope} bytes a cycle");
}
