//! Operations of the queues (P13): one change is put in, taken out and settled.
//!
//! With the shell, as the informer uses it: a lock, and somebody to wake. The cores are alone.

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::sync::Arc;

use futures::FutureExt;
use informer_factory::ObjectKey;
use informer_factory::deltafifo::{Config, DeltaFifo, InOrderQueue, Queue, channel};
use k8s_openapi::api::core::v1::Pod;

use super::pods::Pods;
use super::{Operation, Part};

const ONE: NonZeroUsize = NonZeroUsize::MIN;
const OPEN: &str = "the queue is open";
const ALONE: &str = "there is room, and something waits";

/// All of them.
pub const PARTS: [Part; 4] = [
    part("queue/delta_fifo", |pods| {
        shell(pods, DeltaFifo::new(Config::default()))
    }),
    part("queue/in_order", |pods| {
        shell(pods, InOrderQueue::new(Config::default()))
    }),
    part("queue/delta_fifo_core", |pods| {
        core(pods, DeltaFifo::new(Config::default()))
    }),
    part("queue/in_order_core", |pods| {
        core(pods, InOrderQueue::new(Config::default()))
    }),
];

const fn part(name: &'static str, prepare: fn(&Pods) -> Operation) -> Part {
    Part {
        name,
        batch: 1,
        counted: 5_000,
        seeds: 1,
        prepare,
    }
}

fn shell<Q>(pods: &Pods, queue: Q) -> Operation
where
    Q: Queue<ObjectKey, Arc<Pod>, u64> + 'static,
{
    let pods = pods.clone();
    let bound = NonZeroUsize::new(1_024).expect("more than none");
    let (producer, consumer) = channel(queue, bound);
    let mut mark = 0;
    Box::new(move |times| {
        for _ in 0..times {
            mark += 1;
            let pod = pods.passing(mark);
            let update = producer.update(pod.key(), Arc::clone(&pod.pod), mark);
            update.now_or_never().expect(ALONE).expect(OPEN);
            let leased = consumer.next(ONE).now_or_never().expect(ALONE);
            let leased = leased.expect(OPEN);
            black_box(leased.items());
            leased.ack();
        }
    })
}

fn core<Q>(pods: &Pods, mut queue: Q) -> Operation
where
    Q: Queue<ObjectKey, Arc<Pod>, u64> + 'static,
{
    let pods = pods.clone();
    let mut mark = 0;
    Box::new(move |times| {
        for _ in 0..times {
            mark += 1;
            let pod = pods.passing(mark);
            let update = queue.update(pod.key(), Arc::clone(&pod.pod), mark);
            update.expect(OPEN);
            let lease = queue.lease(ONE).expect(ALONE);
            black_box(&lease.items);
            queue.ack(lease.id).expect("it is out");
        }
    })
}
