//! RB-3: a consumer that found nothing is woken by whatever gives it something, once, and not by
//! what does not. Polled by hand.

mod recorder;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use futures::StreamExt;
use informer_processor::{
    EventStream, Joining, ListenerConfig, Overflow, Processor, ProcessorConfig, Replay,
};
use recorder::{News, added, initial, reminder};
use tokio::time::Instant;

type Numbers = Processor<&'static str, u32>;

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A stream, and how often its reader was woken.
struct Reader {
    stream: EventStream<&'static str, u32>,
    wakes: Arc<Count>,
}

impl Reader {
    /// A second of resync, so that a check can find it due.
    fn new(processor: &Numbers, overflow: Overflow) -> (Joining<&'static str, u32>, Self) {
        let config = ListenerConfig::named("read")
            .overflow(overflow)
            .resync(Duration::from_secs(1));
        let (joining, stream) = processor.add_stream(config).expect("running");
        (
            joining,
            Self {
                stream,
                wakes: Arc::default(),
            },
        )
    }

    fn poll(&mut self) -> Poll<Option<Arc<News>>> {
        let waker = Waker::from(Arc::clone(&self.wakes));
        self.stream
            .poll_next_unpin(&mut Context::from_waker(&waker))
    }

    fn wakes(&self) -> usize {
        self.wakes.0.load(Ordering::SeqCst)
    }

    /// Reads until nothing is left; the number of items.
    fn read_all(&mut self) -> usize {
        let mut count = 0;
        while let Poll::Ready(Some(_)) = self.poll() {
            count += 1;
        }
        count
    }
}

fn processor() -> Numbers {
    Processor::new(ProcessorConfig::default().check_period(Duration::from_secs(1)))
}

#[test]
fn everything_that_gives_something_wakes_once() {
    for overflow in [Overflow::default(), Overflow::Coalesce] {
        let processor = processor();
        let (joining, mut reader) = Reader::new(&processor, overflow);
        assert!(reader.poll().is_pending());
        processor.distribute(1, &[Arc::new(added("a", 1))]);
        assert_eq!(reader.wakes(), 0, "what is held gives nothing");
        let handle = joining.begin(1, Replay::new([initial("a", 1)]));
        assert_eq!(reader.wakes(), 1, "beginning");
        assert_eq!(reader.read_all(), 1);

        processor.distribute(1, &[Arc::new(added("a", 1))]);
        assert_eq!(reader.wakes(), 1, "what the snapshot showed gives nothing");
        processor.upstream_synced();
        assert_eq!(reader.wakes(), 1, "being synced gives nothing");
        assert!(handle.is_synced());

        let batch: Vec<_> = ["b", "c", "d"].map(|key| Arc::new(added(key, 1))).into();
        processor.distribute(2, &batch);
        assert_eq!(reader.wakes(), 2, "a batch");
        processor.distribute(3, &[Arc::new(added("e", 1))]);
        assert_eq!(reader.wakes(), 2, "nobody sleeps");
        assert_eq!(reader.read_all(), 4);

        let due = (Instant::now() + Duration::from_secs(2)).into_std();
        processor.distribute_resync(3, due, || Replay::new([reminder("a", 1)]));
        assert_eq!(reader.wakes(), 3, "a resync");
        assert_eq!(reader.read_all(), 1);

        handle.remove_now();
        assert_eq!(reader.wakes(), 4, "a removal");
        assert_eq!(reader.poll().map(|item| item.is_none()), Poll::Ready(true));
    }
}

#[test]
fn a_stop_wakes() {
    let processor = processor();
    let (joining, mut reader) = Reader::new(&processor, Overflow::default());
    let _handle = joining.begin(0, Replay::empty());
    assert!(reader.poll().is_pending());
    let mut stop = Box::pin(processor.stop(Duration::ZERO));
    drop(stop.as_mut().poll(&mut Context::from_waker(Waker::noop())));
    assert_eq!(reader.wakes(), 1);
    assert_eq!(reader.poll().map(|item| item.is_none()), Poll::Ready(true));
}

/// A reader that moves to another task is woken where it was polled last.
#[test]
fn the_last_poll_is_the_one_that_is_woken() {
    let processor = processor();
    let (joining, mut reader) = Reader::new(&processor, Overflow::default());
    let _handle = joining.begin(0, Replay::empty());
    assert!(reader.poll().is_pending());
    let first = std::mem::take(&mut reader.wakes);
    assert!(reader.poll().is_pending());
    processor.distribute(1, &[Arc::new(added("a", 1))]);
    assert_eq!((first.0.load(Ordering::SeqCst), reader.wakes()), (0, 1));
}

/// A sender on another thread, as fast as it can: the reader parks whenever it finds nothing, so a
/// lost wake-up would leave it parked for ever.
#[test]
fn a_reader_that_parks_gets_everything() {
    const COUNT: usize = 20_000;
    let processor = processor();
    let (joining, reader) = Reader::new(&processor, Overflow::default());
    let _handle = joining.begin(0, Replay::empty());
    let sender = std::thread::spawn({
        let processor = processor.clone();
        move || {
            for sequence in 1..=COUNT as u64 {
                processor.distribute(sequence, &[Arc::new(added("a", 1))]);
                if sequence % 7 == 0 {
                    std::thread::yield_now();
                }
            }
        }
    });
    let got = futures::executor::block_on(reader.stream.take(COUNT).count());
    assert_eq!(got, COUNT);
    sender.join().expect("the sender ends");
}
