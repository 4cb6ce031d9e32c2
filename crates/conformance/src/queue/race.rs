//! The async shell around our queue, where others take part: one who waits, and two who bring.

use std::collections::BTreeMap;
use std::future::Future;
use std::num::NonZeroUsize;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::thread;

use informer_deltafifo::{Consumer, DeltaFifo, InOrderQueue, Item, Producer, channel};

use super::object::Object;
use super::world::{World, queue};
use crate::scenario::{Malformed, Step};

/// Small enough that the two who bring have to wait for the one who takes.
const BOUND: NonZeroUsize = NonZeroUsize::new(50).expect("not zero");

/// Takes a few keys at once, so that it meets both.
const BATCH: NonZeroUsize = NonZeroUsize::new(7).expect("not zero");

/// The ends of a new queue of the kind.
fn ends(is_delta: bool) -> Ends {
    if is_delta {
        channel(DeltaFifo::default(), BOUND)
    } else {
        channel(InOrderQueue::default(), BOUND)
    }
}

type Ends = (
    Producer<String, Object, String>,
    Consumer<String, Object, String>,
);

impl World<'_> {
    /// Closes the queue while one waits for something to take.
    pub(super) fn close_while_waiting(&mut self) {
        if self.queue.is_closed() || !self.queue.is_empty() {
            self.queue.close();
            return;
        }
        let mut ended = queue(self.is_delta, false);
        ended.close();
        // Nothing was ever brought to what takes its place.
        self.shown.clear();
        self.queue = ended;
        let (producer, consumer) = ends(self.is_delta);
        let mut next = pin!(consumer.next(NonZeroUsize::MIN));
        let mut context = Context::from_waker(Waker::noop());
        let waits = next.as_mut().poll(&mut context).is_pending();
        producer.close();
        let ended = matches!(next.poll(&mut context), Poll::Ready(None));
        let woken = waits && ended;
        self.trace
            .push(if woken { "woken closed" } else { "not woken" });
    }

    /// Lets two bring so many objects each to a queue of their own while a third takes them.
    pub(super) fn race(&mut self, step: &Step) -> Result<(), Malformed> {
        let count = step.args.first().and_then(|text| text.parse::<u32>().ok());
        let count = count.ok_or_else(|| self.scenario.malformed("how many?", step))?;
        let (producer, consumer) = ends(self.is_delta);
        let bring = |name: &'static str| {
            let producer = producer.clone();
            move || {
                block_on(async {
                    for number in 0..count {
                        let word = format!("{name}-{number}@1");
                        let (key, object) = Object::parse(&word).expect("well formed");
                        let brought = producer.add(key, object, number.to_string()).await;
                        brought.expect("nobody closes it");
                    }
                });
            }
        };
        let producers = [
            thread::spawn(bring("first")),
            thread::spawn(bring("second")),
        ];
        drop(producer);
        let mut taken: BTreeMap<String, u32> = BTreeMap::new();
        let mut in_order = true;
        while let Some(lease) = block_on(consumer.next(BATCH)) {
            for work in lease.items() {
                let Item::Key { key, .. } = work else {
                    continue;
                };
                let (name, number) = key.split_once('-').expect("made above");
                let next = taken.entry(name.to_owned()).or_default();
                in_order &= number == next.to_string();
                *next += 1;
            }
            lease.ack();
        }
        for producer in producers {
            producer.join().expect("it brought all it had");
        }
        let of = |name| taken.get(name).copied().unwrap_or_default();
        let (first, second) = (of("first"), of("second"));
        self.trace
            .push(format!("first {first} second {second} in-order {in_order}"));
        Ok(())
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("it needs nothing").block_on(future)
}
