//! Operations of the processor (P8, P13), all on one thread: one event is made, handed to every
//! listener, and taken by each.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::{FutureExt, StreamExt};
use informer_factory::ObjectKey;
use informer_factory::processor::{
    Cause, ListenerConfig, Notification, Processor, Replay, Updated, handler_fn,
};
use k8s_openapi::api::core::v1::Pod;
use tokio::runtime::Builder;

use super::pods::Pods;
use super::{Operation, Part};

/// What listeners are told.
pub type News = Notification<ObjectKey, Pod>;

/// How many events handlers have waiting at most.
const BATCH: u64 = 64;

/// All of them.
pub const PARTS: [Part; 4] = [
    Part {
        name: "processor/stream",
        batch: 1,
        counted: 5_000,
        seeds: 1,
        prepare: stream,
    },
    fan_out("processor/handlers_1", 4_096, |pods| handlers(pods, 1)),
    fan_out("processor/handlers_10", 1_024, |pods| handlers(pods, 10)),
    fan_out("processor/handlers_100", 128, |pods| handlers(pods, 100)),
];

const fn fan_out(name: &'static str, counted: u64, prepare: fn(&Pods) -> Operation) -> Part {
    Part {
        name,
        batch: BATCH,
        counted,
        seeds: 1,
        prepare,
    }
}

/// That a pod changed; the same pod is old and new, since nobody looks. Its key has come with it
/// from the queue.
pub fn news(pods: &Pods, turn: u64) -> Arc<News> {
    let pod = pods.passing(turn);
    Arc::new(Notification::Updated(Updated::new(
        pod.stored_key.clone(),
        Arc::clone(&pod.pod),
        Arc::clone(&pod.pod),
        Cause::Watch,
    )))
}

/// Push and take, without a task.
fn stream(pods: &Pods) -> Operation {
    let pods = pods.clone();
    let processor: Processor<ObjectKey, Pod> = Processor::default();
    let listener = processor.add_stream(ListenerConfig::default());
    let (joining, mut stream) = listener.expect("it is not stopped");
    let registration = joining.begin(0, Replay::empty());
    processor.upstream_synced();
    let mut sequence = 0;
    Box::new(move |times| {
        let _kept = &registration;
        for _ in 0..times {
            sequence += 1;
            processor.distribute(sequence, &[news(&pods, sequence)]);
            black_box(stream.next().now_or_never().expect("something waits"));
        }
    })
}

fn handlers(pods: &Pods, count: u64) -> Operation {
    let pods = pods.clone();
    let runtime = Builder::new_current_thread().build();
    let runtime = runtime.expect("it needs nothing");
    let processor: Processor<ObjectKey, Pod> = {
        let _within = runtime.enter();
        Processor::default()
    };
    let calls = Arc::new(AtomicU64::new(0));
    for _ in 0..count {
        let calls = Arc::clone(&calls);
        let handler = handler_fn(move |news: &News| {
            black_box(news);
            calls.fetch_add(1, Ordering::Relaxed);
        });
        let joining = processor.add(handler, ListenerConfig::default());
        joining
            .expect("there is a runtime")
            .begin(0, Replay::empty());
    }
    processor.upstream_synced();
    let mut sequence = 0;
    Box::new(move |times| {
        let mut left = times;
        while left > 0 {
            let events = left.min(BATCH);
            left -= events;
            for _ in 0..events {
                sequence += 1;
                processor.distribute(sequence, &[news(&pods, sequence)]);
            }
            runtime.block_on(async {
                while calls.load(Ordering::Relaxed) < sequence * count {
                    tokio::task::yield_now().await;
                }
            });
        }
    })
}
