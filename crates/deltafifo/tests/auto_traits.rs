//! `Send`, `Sync` and `Unpin` of every public type and future, and what `Debug` must not show.

use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;

use futures::executor::block_on;
use informer_deltafifo::{
    Closed, Config, Consumer, Deletion, Delta, DeltaFifo, Deltas, Exhausted, Final, InOrderQueue,
    Item, Known, Lease, LeaseId, Leased, NeverSynced, NotLeased, Producer, Progress,
    ProgressObserver, Queue, Rejected, TransformError, channel,
};

type Key = Arc<str>;
type Value = Arc<String>;
type Position = Arc<str>;

fn send<T: Send>() {}
fn sync<T: Sync>() {}
fn unpin<T: Unpin>() {}

macro_rules! assert_all {
    ($($t:ty),* $(,)?) => {$( send::<$t>(); sync::<$t>(); unpin::<$t>(); )*};
}

#[test]
fn types_cross_threads() {
    assert_all!(
        Closed<Value>,
        Consumer<Key, Value, Position>,
        Delta<Value>,
        Deletion,
        Deltas<Value>,
        Final<Value>,
        Lease<Key, Value, Position>,
        LeaseId,
        Leased<Key, Value, Position>,
        NeverSynced,
        NotLeased,
        Producer<Key, Value, Position>,
        Progress<Position>,
        Exhausted<Key, Value>,
        Rejected<Key>,
        TransformError,
        ProgressObserver<Key, Value, Position>,
        Item<Key, Value>,
    );
    // A transform may be any `FnMut`, so what holds one is not `Sync`.
    send::<Config<Value>>();
    send::<DeltaFifo<Key, Value, Position>>();
    send::<InOrderQueue<Key, Value, Position>>();
    send::<Box<dyn Queue<Key, Value, Position>>>();
}

/// Both traits can be used as objects.
#[test]
fn ports_are_object_safe() {
    let known: &dyn Known<Key, Value> = &();
    let mut queue: Box<dyn Queue<Key, Value, Position>> = Box::new(DeltaFifo::default());
    queue.resync(known).expect("open");
}

#[test]
fn futures_can_be_spawned() {
    fn spawnable<F: Future + Send>(_: &F) {}
    let queue = DeltaFifo::<Key, Value, Position>::new(Config::default());
    let (producer, consumer) = channel(queue, NonZeroUsize::MIN);
    let mut observer = consumer.observer();
    let (key, position): (Key, Position) = ("k".into(), "1".into());
    let value = Arc::new(String::new());
    spawnable(&producer.add(key.clone(), value.clone(), position.clone()));
    spawnable(&producer.update(key.clone(), value.clone(), position.clone()));
    spawnable(&producer.delete(key, Final::Observed(value), position.clone(), || ()));
    spawnable(&producer.replace(Vec::new(), position.clone(), || ()));
    spawnable(&producer.resync(|| ()));
    spawnable(&producer.bookmark(position));
    spawnable(&consumer.next(NonZeroUsize::MIN));
    spawnable(&consumer.wait_synced());
    spawnable(&observer.changed());
}

/// SEC-6: an object may be a secret.
#[test]
fn debug_never_shows_an_object() {
    const SECRET: &str = "hunter2";
    let value = || Arc::new(SECRET.to_owned());
    let key: Key = "ns/name".into();
    let mut queue = DeltaFifo::<Key, Value, u64>::default();
    queue.add(key.clone(), value(), 1).expect("open");
    queue.update(key.clone(), value(), 2).expect("open");
    queue
        .delete(key.clone(), Final::Observed(value()), 3, &())
        .expect("open");
    let lease = queue.lease(NonZeroUsize::MIN).expect("a key waits");
    let whole: Item<Key, Value> = Item::Replace {
        items: vec![(key, value())],
    };
    let shown = format!(
        "{lease:?} {queue:?} {whole:?} {:?} {:?} {:?}",
        Final::Unknown(Some(value())),
        Delta::Sync(value()),
        Closed(value())
    );
    assert!(!shown.contains(SECRET), "{shown}");
    assert!(
        shown.contains("ns/name") && shown.contains("Updated"),
        "{shown}"
    );
}

/// The same for what has state behind it: both ends of a channel, a lease, what was refused.
#[test]
fn debug_of_a_channel_never_shows_an_object() {
    const SECRET: &str = "hunter2";
    let value = || Arc::new(SECRET.to_owned());
    let key = |name: &str| -> Key { name.into() };
    let refuse = |value: Value| match value.is_empty() {
        true => Err(TransformError::new("it is empty")),
        false => Ok(value),
    };
    let config = Config::default()
        .max_attempts(NonZeroU32::MIN)
        .transform(refuse);
    let mut shown = format!("{config:?}");
    let queue = InOrderQueue::<Key, Value, u64>::new(config);
    shown += &format!("{queue:?}");
    let (producer, consumer) = channel(queue, NonZeroUsize::MAX);
    block_on(producer.add(key("ns/a"), value(), 1)).expect("open");
    block_on(producer.add(key("ns/b"), Arc::default(), 2)).expect("open");
    let rejected = producer.take_rejected();
    assert_eq!((rejected.len(), producer.is_closed()), (1, false));
    let mut queued = 0;
    producer.for_each_queued(&mut |_, _| queued += 1);
    assert_eq!(queued, 1);
    let observer = producer.observer().clone();
    assert_eq!(observer.is_synced(), producer.progress().synced);
    assert_eq!(observer.progress(), producer.progress());
    assert_eq!(observer.progress().applied, None);
    let leased = block_on(consumer.next(NonZeroUsize::MIN)).expect("a key waits");
    shown += &format!("{producer:?}{consumer:?}{observer:?}{leased:?}{rejected:?}");
    shown += &format!("{:?}", leased.nack(&[0]));
    consumer.close();
    assert!(!shown.contains(SECRET), "{shown}");
    assert!(shown.contains("ns/a") && shown.contains("ns/b"), "{shown}");
}
