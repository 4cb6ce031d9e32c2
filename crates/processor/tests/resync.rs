//! PR-10, SP-05, SI-16, FM-71: resyncs go to those who asked and are due, one at a time. The time
//! is an argument, so no clock runs.

mod recorder;

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use informer_processor::{
    Cause, EventStream, ListenerConfig, Notification, Overflow, Processor, ProcessorConfig,
    Registration, Replay, ResyncReason,
};
use recorder::{Heard, News, added, deleted, initial, plain, reminder, updated};
use tokio::time::Instant;

type Numbers = Processor<&'static str, u32>;

const SECOND: Duration = Duration::from_secs(1);

struct Bench {
    processor: Numbers,
    start: std::time::Instant,
}

impl Bench {
    fn new() -> Self {
        let config = ProcessorConfig::default().check_period(SECOND);
        Self {
            processor: Processor::new(config),
            start: Instant::now().into_std(),
        }
    }

    fn add(
        &self,
        name: &'static str,
        period: u32,
        overflow: Overflow,
    ) -> (Registration, EventStream<&'static str, u32>) {
        let config = ListenerConfig::named(name)
            .overflow(overflow)
            .resync(Duration::from_secs(u64::from(period)));
        let (joining, stream) = self.processor.add_stream(config).expect("running");
        (joining.begin(0, Replay::empty()), stream)
    }

    /// A check `seconds` after the start, and a bit, since listeners were added after it.
    fn check(&self, sequence: u64, seconds: u32, state: &[(&'static str, u32)]) -> bool {
        let now = self.start + seconds * SECOND + SECOND / 2;
        let due = self.processor.resync_due(now);
        let state = state.to_vec();
        self.processor.distribute_resync(sequence, now, || {
            Replay::new(
                state
                    .clone()
                    .into_iter()
                    .map(|(key, object)| reminder(key, object)),
            )
        });
        due
    }
}

/// What is there now.
fn read(stream: &mut EventStream<&'static str, u32>) -> Vec<Heard> {
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    std::iter::from_fn(|| match stream.poll_next_unpin(&mut cx) {
        std::task::Poll::Ready(item) => item,
        std::task::Poll::Pending => None,
    })
    .map(|news: Arc<News>| plain(&news))
    .collect()
}

fn told(key: &'static str, object: u32) -> Heard {
    Heard::Update(key, object, object, Cause::Resync)
}

/// client-go's `TestListenerResyncPeriods`: never, 2 s and 3 s on a check each second; nobody hears
/// another one's.
#[test]
fn each_listener_is_told_in_its_own_period() {
    let bench = Bench::new();
    let (_one, mut never) = bench.add("never", 0, Overflow::default());
    let (_two, mut second) = bench.add("2 s", 2, Overflow::default());
    let (_three, mut third) = bench.add("3 s", 3, Overflow::default());
    let heard: Vec<_> = (1..=6)
        .map(|at| {
            let due = bench.check(0, at, &[("a", 1)]);
            let heard = [&mut never, &mut second, &mut third].map(|s| read(s).len());
            assert_eq!(due, heard != [0; 3]);
            assert!(bench.processor.next_resync() > Some(bench.start + at * SECOND));
            heard
        })
        .collect();
    assert_eq!(
        heard,
        [
            [0, 0, 0],
            [0, 1, 0],
            [0, 0, 1],
            [0, 1, 0],
            [0, 0, 0],
            [0, 1, 1]
        ]
    );
}

/// One entry, replayed lazily; not issued again before it has been replayed.
#[test]
fn a_resync_is_one_entry_and_not_issued_twice() {
    let bench = Bench::new();
    let (handle, mut stream) = bench.add("slow", 1, Overflow::default());
    assert_eq!(read(&mut stream), []);
    let state = [("a", 1), ("b", 2)];
    assert!(bench.check(0, 1, &state));
    assert_eq!(
        handle.status().depth,
        0,
        "a replay is not an entry per object"
    );
    assert!(handle.status().oldest_age.is_some());
    assert!(bench.check(0, 2, &state), "due again");
    assert_eq!(handle.status().resyncs_skipped, 1);
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(stream.poll_next_unpin(&mut cx).is_ready());
    assert!(bench.check(0, 3, &state), "half-way through the first");
    assert_eq!(handle.status().resyncs_skipped, 2);
    assert_eq!(read(&mut stream), [told("b", 2)]);
    assert!(bench.check(0, 4, &state));
    assert_eq!(read(&mut stream).len(), 2);
}

/// Its place in line: after what came before, before what comes after.
#[test]
fn a_growing_listener_is_reminded_in_line() {
    let bench = Bench::new();
    let (_handle, mut stream) = bench.add("grows", 1, Overflow::default());
    assert_eq!(read(&mut stream), []);
    bench.processor.distribute(1, &[Arc::new(added("a", 1))]);
    assert!(bench.check(1, 1, &[("a", 1)]));
    bench
        .processor
        .distribute(2, &[Arc::new(updated("a", 1, 2))]);
    let expected = [
        Heard::Add("a", 1, false),
        told("a", 1),
        Heard::Update("a", 1, 2, Cause::Watch),
    ];
    assert_eq!(read(&mut stream), expected);
}

/// RB-5: what has news pending is not reminded of; nor is what came and went meanwhile.
#[test]
fn a_coalescing_listener_is_reminded_of_what_has_no_news() {
    let bench = Bench::new();
    let (handle, mut stream) = bench.add("coalesces", 1, Overflow::Coalesce);
    bench
        .processor
        .distribute(1, &[Arc::new(added("a", 1)), Arc::new(added("b", 1))]);
    assert_eq!(read(&mut stream).len(), 2);
    bench
        .processor
        .distribute(2, &[Arc::new(added("c", 1)), Arc::new(updated("a", 1, 2))]);
    assert!(bench.check(2, 1, &[("a", 2), ("b", 1), ("c", 1)]));
    bench.processor.distribute(
        3,
        &[Arc::new(updated("a", 2, 3)), Arc::new(deleted("c", 1))],
    );
    assert_eq!(
        read(&mut stream),
        [told("b", 1), Heard::Update("a", 1, 3, Cause::Watch)]
    );
    let status = handle.status();
    assert_eq!(
        status.received + status.replayed,
        status.delivered + status.coalesced,
        "RB-7: {status:?}"
    );
}

/// A listener that joined with a newer snapshot, or has not handled its initial objects, is not
/// reminded of an older state.
#[test]
fn a_late_listener_is_not_reminded_of_an_older_state() {
    let bench = Bench::new();
    let config = || ListenerConfig::named("late").resync(SECOND);
    let (joining, mut stream) = bench.processor.add_stream(config()).expect("running");
    assert!(
        !bench.check(7, 1, &[("a", 1)]),
        "nobody is there who could be due"
    );
    let handle = joining.begin(7, Replay::new([initial("a", 2)]));
    assert!(bench.check(6, 2, &[("a", 1)]));
    assert!(
        bench.check(7, 3, &[("a", 2)]),
        "its initial replay is not over"
    );
    assert_eq!(handle.status().resyncs_skipped, 2);
    assert_eq!(read(&mut stream), [Heard::Add("a", 2, true)]);
    assert!(bench.check(7, 4, &[("a", 2)]));
    assert_eq!(read(&mut stream), [told("a", 2)]);
}

/// client-go's `TestResyncCheckPeriod`: who joins before the start lowers the check period, who
/// joins later is raised to it; the handle tells which, and why (FM-71).
#[test]
fn the_check_period_follows_who_joins_before_the_start() {
    let config = ProcessorConfig::default().check_period(12 * 3600 * SECOND);
    let processor = Numbers::new(config);
    let add = |period: Duration| {
        let config = ListenerConfig::default().resync(period);
        let (joining, stream) = processor.add_stream(config).expect("running");
        (joining.begin(0, Replay::empty()).resync(), stream)
    };
    let mut streams = Vec::new();
    let mut row = |period: u32, effective: u32, check: u32, reason: ResyncReason| {
        let (terms, stream) = add(period * SECOND);
        streams.push(stream);
        assert_eq!(terms.requested, Some(period * SECOND));
        assert_eq!(terms.effective, Some(effective * SECOND));
        assert_eq!(terms.reason, reason);
        assert_eq!(processor.check_period(), Some(check * SECOND));
    };
    row(60, 60, 60, ResyncReason::LoweredCheckPeriod);
    row(60, 60, 60, ResyncReason::AsRequested);
    row(180, 180, 60, ResyncReason::AsRequested);
    row(55, 55, 55, ResyncReason::LoweredCheckPeriod);
    processor.start();
    row(5, 55, 55, ResyncReason::RaisedToCheckPeriod);
    row(60, 60, 55, ResyncReason::AsRequested);
}

/// SI-16: a processor made without a check period never reminds anybody, and says so.
#[test]
fn without_checks_nobody_is_reminded() {
    let processor = Numbers::default();
    let config = ListenerConfig::default().resync(SECOND);
    let (joining, _stream) = processor.add_stream(config).expect("running");
    let terms = joining.begin(0, Replay::empty()).resync();
    assert_eq!(
        (terms.effective, terms.reason),
        (None, ResyncReason::ChecksDisabled)
    );
    assert_eq!(processor.next_resync(), None);
    assert!(!processor.resync_due((Instant::now() + 1_000 * SECOND).into_std()));
}

/// The replay is made for those who are due only, once for each, and outside of every lock.
#[test]
fn replay_is_made_for_due_listeners_only() {
    let bench = Bench::new();
    let (_one, _first) = bench.add("due", 1, Overflow::default());
    let (_two, _second) = bench.add("not due", 5, Overflow::default());
    let made = std::cell::Cell::new(0);
    bench
        .processor
        .distribute_resync(0, bench.start + 2 * SECOND, || {
            made.set(made.get() + 1);
            // Asking from here would wait for ever if a lock were held.
            assert_eq!(bench.processor.listeners().len(), 2);
            Replay::new([] as [Notification<&'static str, u32>; 0])
        });
    assert_eq!(made.get(), 1);
}
