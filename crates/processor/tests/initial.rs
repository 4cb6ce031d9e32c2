//! FM-72, PR-7, PR-8: the first collection of a source, handed over as one replay.

mod recorder;

use std::sync::Arc;
use std::time::Duration;

use futures::{FutureExt, StreamExt};
use informer_processor::{
    EventStream, ListenerConfig, Overflow, Processor, ProcessorConfig, Registration, Replay,
};
use recorder::{Heard, News, added, deleted, initial, plain, reminder, updated};

type Numbers = Processor<&'static str, u32>;
type Numbered = EventStream<&'static str, u32>;

fn collection() -> Replay<&'static str, u32> {
    Replay::new([initial("a", 1), initial("b", 2), initial("c", 3)])
}

fn additions() -> Vec<Heard> {
    let objects = [("a", 1), ("b", 2), ("c", 3)];
    objects
        .map(|(key, object)| Heard::Add(key, object, true))
        .to_vec()
}

fn stream(processor: &Numbers, overflow: Overflow) -> (Registration, Numbered) {
    let config = ListenerConfig::default().overflow(overflow);
    let (joining, stream) = processor.add_stream(config).expect("running");
    (joining.begin(0, Replay::empty()), stream)
}

fn commit(processor: &Numbers, sequence: u64, news: News) {
    processor.distribute(sequence, &[Arc::new(news)]);
}

fn received(stream: &mut Numbered) -> Vec<Heard> {
    let next = || stream.next().now_or_never().flatten();
    std::iter::from_fn(next).map(|news| plain(&news)).collect()
}

fn overflows() -> [Overflow; 2] {
    [Overflow::default(), Overflow::Coalesce]
}

#[test]
fn collection_is_one_entry_and_later_changes_follow_it() {
    for overflow in overflows() {
        let processor = Numbers::default();
        let (_registration, mut stream) = stream(&processor, overflow);
        processor.distribute_initial(1, collection);
        commit(&processor, 2, updated("b", 2, 20));
        commit(&processor, 3, deleted("c", 3));
        let status = &processor.listeners()[0];
        assert_eq!((status.received, status.depth), (2, 2), "{overflow:?}");
        assert_eq!(status.replay_left, 3, "{overflow:?}");
        let mut expected = additions();
        expected.push(plain(&updated("b", 2, 20)));
        expected.push(plain(&deleted("c", 3)));
        assert_eq!(received(&mut stream), expected, "{overflow:?}");
        let status = &processor.listeners()[0];
        assert_eq!(
            (status.replayed, status.replay_left),
            (3, 0),
            "{overflow:?}"
        );
    }
}

#[test]
fn listener_is_synced_when_the_last_object_of_the_collection_is_handled() {
    for overflow in overflows() {
        let processor = Numbers::default();
        let (registration, mut stream) = stream(&processor, overflow);
        processor.distribute_initial(1, collection);
        processor.upstream_synced();
        for _ in 0..3 {
            assert!(!registration.is_synced(), "{overflow:?}");
            stream.next().now_or_never().flatten().expect("an object");
        }
        assert!(!registration.is_synced(), "the last one is being handled");
        assert!(stream.next().now_or_never().is_none());
        assert!(registration.is_synced(), "{overflow:?}");
    }
}

/// The snapshot of a listener that joins shows the collection or it does not; once either way.
#[test]
fn joining_listener_receives_the_collection_once() {
    for sequence in [0, 1] {
        let processor = Numbers::default();
        let joins = processor.add_stream(ListenerConfig::default());
        let (joining, mut stream) = joins.expect("running");
        processor.distribute_initial(1, collection);
        let snapshot = if sequence == 1 {
            collection()
        } else {
            Replay::empty()
        };
        let registration = joining.begin(sequence, snapshot);
        processor.upstream_synced();
        commit(&processor, 2, updated("a", 1, 10));
        let mut expected = additions();
        expected.push(plain(&updated("a", 1, 10)));
        assert_eq!(received(&mut stream), expected, "snapshot of {sequence}");
        assert!(registration.is_synced(), "snapshot of {sequence}");
    }
}

/// A resync that is due during the replay is not left out.
#[test]
fn listener_with_a_resync_period_receives_the_collection_one_by_one() {
    let second = Duration::from_secs(1);
    let processor = Numbers::new(ProcessorConfig::default().check_period(second));
    let config = ListenerConfig::default().resync(second);
    let (joining, mut stream) = processor.add_stream(config).expect("running");
    let _registration = joining.begin(0, Replay::empty());
    processor.distribute_initial(1, collection);
    assert_eq!(processor.listeners()[0].received, 3);
    let due = processor.next_resync().expect("it has a period");
    processor.distribute_resync(1, due, || Replay::new([reminder("a", 1)]));
    let mut expected = additions();
    expected.push(plain(&reminder("a", 1)));
    assert_eq!(received(&mut stream), expected);
}

/// A replay goes before what a coalescing buffer holds, which would be the wrong order here.
#[test]
fn collection_comes_after_what_is_pending() {
    for overflow in overflows() {
        let processor = Numbers::default();
        let (_registration, mut stream) = stream(&processor, overflow);
        commit(&processor, 1, added("a", 0));
        assert_eq!(received(&mut stream), [plain(&added("a", 0))]);
        commit(&processor, 2, deleted("a", 0));
        processor.distribute_initial(3, collection);
        let mut expected = vec![plain(&deleted("a", 0))];
        expected.extend(additions());
        assert_eq!(received(&mut stream), expected, "{overflow:?}");
    }
}

#[test]
fn many_listeners_share_the_notifications_of_the_collection() {
    let processor = Numbers::default();
    let streams = (0..5).map(|_| stream(&processor, Overflow::default()));
    let mut streams: Vec<_> = streams.collect();
    processor.distribute_initial(1, collection);
    processor.upstream_synced();
    let mut first = Vec::new();
    for (registration, stream) in &mut streams {
        let mut all = Vec::new();
        while let Some(Some(news)) = stream.next().now_or_never() {
            all.push(news);
        }
        assert_eq!(
            all.iter().map(|news| plain(news)).collect::<Vec<_>>(),
            additions()
        );
        assert!(registration.is_synced());
        if first.is_empty() {
            first = all;
        } else {
            assert!(
                first
                    .iter()
                    .zip(&all)
                    .all(|(one, other)| Arc::ptr_eq(one, other))
            );
        }
    }
}

#[test]
fn collection_is_nothing_to_a_processor_that_was_stopped() {
    let processor = Numbers::default();
    let (_registration, mut stream) = stream(&processor, Overflow::default());
    processor.close();
    processor.distribute_initial(1, collection);
    assert_eq!(received(&mut stream), []);
}
