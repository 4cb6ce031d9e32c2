//! The life of dictionaries, and what packing must not change; each check finds its planted bug.

mod wires;

use std::cell::Cell;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use informer_kube_protobuf::{Schema, to_vec};
use informer_kube_source::{Buffers, Decode, Encoded, Projection, ReceivedWire, TypeNames, Wire};
use informer_packed::Packed;
use informer_processor::{ListenerConfig, Notification, Processor, ProcessorConfig, handler_fn};
use informer_reflector::{Body, Item, ResourceVersion};
use informer_store::{Entry, Scope};
use k8s_openapi::api::core::v1::ConfigMap;
use serde::Deserialize;

use super::decoder::PackedDecoder;
use super::dictionaries::{Dictionaries, Outcome, TrainAgain};
use super::dictionary_settings::DictionarySettings;
use super::object::PackedObject;
use crate::applying::applier::{Applier, Lease};
use crate::applying::exchange::Exchange;
use crate::applying::quarantine::Quarantine;
use crate::applying::received_item::ReceivedItem;
use crate::applying::verdict::Refused;
use crate::planted::{self, Planted};
use crate::running::renewal::Renew;
use crate::status::shared::{Identity as Name, SharedStatus};
use crate::{Identity, ObjectKey};

#[derive(Deserialize)]
struct View {
    data: Data,
}

#[derive(Deserialize)]
struct Data {
    serial: Box<str>,
}

type Object = PackedObject<ConfigMap, View>;

const WIRES: [ReceivedWire; 2] = [ReceivedWire::Json, ReceivedWire::Protobuf];
const CONFIG_MAP: TypeNames<'_> = TypeNames::new("v1", "ConfigMap");

/// One of many objects made from a template, each with something of its own.
fn json(template: &str, serial: usize) -> String {
    let own = serial.wrapping_mul(0x9E37_79B9) % 1_000_003;
    let hashing = BuildHasherDefault::<DefaultHasher>::default();
    let line = |n: usize| {
        format!(
            r#""{template}-{n}":"{:016x}""#,
            hashing.hash_one((template, n))
        )
    };
    let common = (0..40).map(line);
    let common = common.collect::<Vec<_>>().join(",");
    format!(
        r#"{{"metadata":{{"name":"cm-{serial}","namespace":"n","uid":"u-{serial}","resourceVersion":"{serial}"}},"data":{{"own":"{own}","serial":"{serial}",{common}}}}}"#
    )
}

fn identity(serial: usize) -> Identity {
    let key = ObjectKey::new(Some("n"), &format!("cm-{serial}")).expect("valid");
    let uid = format!("u-{serial}");
    Identity::new(key, uid.as_str(), serial.to_string().as_str())
}

/// Small numbers, so that all of it happens with a few hundred objects.
fn settings() -> DictionarySettings {
    DictionarySettings {
        first_samples: 40,
        samples: 30,
        window: 20,
        ..DictionarySettings::default()
    }
}

/// A clock that the test moves.
struct Clock(Cell<Instant>);

impl Clock {
    fn new() -> Self {
        Self(Cell::new(crate::sync::now()))
    }

    fn pass(&self, time: Duration) {
        self.0.set(self.0.get() + time);
    }
}

/// Packs objects of a template; returns them and what is to be trained.
fn pack(
    dictionaries: &Dictionaries,
    clock: &Clock,
    template: &str,
    serials: std::ops::Range<usize>,
) -> (Vec<Packed>, Option<TrainAgain>) {
    let (mut all, mut train) = (Vec::new(), None);
    for serial in serials {
        let text = json(template, serial);
        let key = identity(serial).key;
        let packed = match dictionaries.pack(&key, text.as_bytes(), || clock.0.get()) {
            Outcome::Waits(packed) | Outcome::Packed(packed) => packed,
            Outcome::Train(packed, samples) => {
                train = Some(samples);
                packed
            }
        };
        assert_eq!(packed.unpack().expect("whole"), text.as_bytes());
        all.push(packed);
    }
    (all, train)
}

fn length(packed: &[Packed]) -> usize {
    packed.iter().map(Packed::packed_len).sum()
}

#[test]
fn first_dictionary_is_trained_from_the_first_objects() {
    let (dictionaries, clock) = (Dictionaries::new(settings()), Clock::new());
    assert!(dictionaries.is_learning());
    let (waiting, _) = pack(&dictionaries, &clock, "a", 0..39);
    assert!(waiting.iter().all(Packed::is_stored));
    assert!(dictionaries.is_learning() && dictionaries.memory() > length(&waiting) / 2);
    let (packed, _) = pack(&dictionaries, &clock, "a", 39..60);
    assert!(packed.iter().all(|packed| packed.dictionary().is_some()));
    assert!(!dictionaries.is_learning());
}

#[test]
fn page_that_ends_early_trains_from_what_there_is_unless_that_is_too_little() {
    for (count, expected) in [(0, false), (29, false), (30, true)] {
        let (dictionaries, clock) = (Dictionaries::new(settings()), Clock::new());
        pack(&dictionaries, &clock, "a", 0..count);
        dictionaries.settle(|| clock.0.get());
        assert!(!dictionaries.is_learning());
        let packed = dictionaries.newest(json("a", 99).as_bytes());
        assert_eq!(packed.dictionary().is_some(), expected, "{count}");
    }
}

/// A small collection that grows gets its dictionary then, in the background.
#[test]
fn collection_that_has_grown_gets_a_dictionary() {
    let (dictionaries, clock) = (Dictionaries::new(settings()), Clock::new());
    dictionaries.settle(|| clock.0.get());
    let (packed, train) = pack(&dictionaries, &clock, "a", 0..59);
    assert!(packed.iter().all(|packed| packed.dictionary().is_none()) && train.is_some());
    dictionaries.train_again(&train.expect("it has grown"), || clock.0.get());
    let (later, _) = pack(&dictionaries, &clock, "a", 60..70);
    assert!(later.iter().all(|packed| packed.dictionary().is_some()));
    let outdated = dictionaries.outdated().expect("those without a dictionary");
    assert!(packed.iter().all(|packed| outdated.has(packed)));
    assert!(!later.iter().any(|packed| outdated.has(packed)));
    dictionaries.retire(&outdated, true);
    assert!(dictionaries.outdated().is_none());
}

/// Versions of a few objects are no large collection, and no samples of one.
#[test]
fn objects_that_change_often_do_not_make_a_collection_large() {
    let (dictionaries, clock) = (Dictionaries::new(settings()), Clock::new());
    dictionaries.settle(|| clock.0.get());
    for _ in 0..100 {
        let (packed, train) = pack(&dictionaries, &clock, "a", 0..29);
        assert!(packed.iter().all(|packed| packed.dictionary().is_none()) && train.is_none());
    }
    assert!(dictionaries.memory() < 1_000, "no samples are kept");
    // One more is enough; then as many samples of different objects, however often they change.
    assert!(pack(&dictionaries, &clock, "a", 29..30).1.is_none());
    for _ in 0..8 {
        assert!(pack(&dictionaries, &clock, "a", 0..6).1.is_none());
    }
    assert!(pack(&dictionaries, &clock, "a", 6..36).1.is_some());
}

/// Few objects that change for ever are no samples, and are not kept as such.
#[test]
fn samples_of_too_few_objects_are_given_up() {
    let (dictionaries, clock) = (Dictionaries::new(settings()), Clock::new());
    dictionaries.settle(|| clock.0.get());
    pack(&dictionaries, &clock, "a", 0..30);
    assert!(dictionaries.memory() > 1_000, "samples are kept");
    for _ in 0..60 {
        assert!(pack(&dictionaries, &clock, "a", 0..4).1.is_none());
    }
    assert!(dictionaries.memory() < 1_000, "no samples are kept");
}

/// A list that broke off and is read again has each of its objects twice.
#[test]
fn objects_of_a_list_that_broke_off_are_samples_once() {
    let (dictionaries, clock) = (Dictionaries::new(settings()), Clock::new());
    for _ in 0..4 {
        pack(&dictionaries, &clock, "a", 0..30);
        assert!(dictionaries.is_learning());
    }
    pack(&dictionaries, &clock, "a", 30..40);
    assert!(!dictionaries.is_learning());
}

/// Objects of another template pack badly until a dictionary of them is there: not before the
/// pause is over, not for a ratio that is usual, and never more dictionaries than there may be.
fn drifts() -> bool {
    let (dictionaries, clock) = (Dictionaries::new(settings()), Clock::new());
    let held = pack(&dictionaries, &clock, "first", 0..80).0;
    let mut later = Vec::new();
    let mut next = 80;
    let mut follow = |template: &str| {
        let (packed, train) = pack(&dictionaries, &clock, template, next..next + 60);
        next += 60;
        later.extend(packed.iter().cloned());
        (length(&packed), train)
    };
    assert!(follow("first").1.is_none());
    assert!(follow("second").1.is_none(), "the pause is not over");
    for (number, template) in ["third", "fourth"].into_iter().enumerate() {
        clock.pass(Duration::from_secs(601));
        let (before, train) = follow(template);
        let Some(train) = train else {
            return false;
        };
        dictionaries.train_again(&train, || clock.0.get());
        let (after, train) = follow(template);
        if after * 2 > before || train.is_some() {
            return false;
        }
        assert!(dictionaries.outdated().is_none(), "{number}");
    }
    clock.pass(Duration::from_secs(601));
    assert!(follow("fifth").1.is_none(), "there are three");
    let oldest = dictionaries.outdated().expect("the first one has to go");
    assert!(oldest.has(&held[79]));
    // It is still in use if packing again failed, and is tried again when it is in the way.
    dictionaries.retire(&oldest, false);
    assert!(dictionaries.outdated().is_none());
    assert!(follow("fifth").1.is_none(), "there are still three");
    let oldest = dictionaries.outdated().expect("the first one has to go");
    dictionaries.retire(&oldest, true);
    assert!(dictionaries.outdated().is_none());
    follow("fifth").1.is_some()
}

#[test]
fn drift_trains_another_dictionary() {
    assert!(drifts());
    assert!(!planted::with(Planted::StaleDictionary, drifts));
}

/// Threads that pack the first objects at the same time wait for the one that trains.
#[test]
fn threads_wait_for_the_first_dictionary_when_much_waits() {
    let settings = DictionarySettings {
        waiting_bytes: 60_000,
        ..settings()
    };
    let dictionaries = Dictionaries::new(settings);
    let waiting: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                let dictionaries = &dictionaries;
                scope.spawn(move || {
                    let (packed, _) = pack(
                        dictionaries,
                        &Clock::new(),
                        "a",
                        thread * 200..thread * 200 + 200,
                    );
                    let waiting = packed.iter().filter(|packed| packed.is_stored());
                    waiting.map(Packed::len).sum::<usize>()
                })
            })
            .collect();
        let ends = threads
            .into_iter()
            .map(|thread| thread.join().expect("no panic"));
        ends.sum()
    });
    assert!(waiting <= settings.waiting_bytes, "{waiting}");
    assert!(!dictionaries.is_learning());
}

fn decoder() -> Arc<PackedDecoder> {
    Arc::new(PackedDecoder::new(Projection::new(), settings()))
}

/// The message of an object, which JSON describes.
fn message(json: &str) -> Vec<u8> {
    let object = serde_json::from_str(json).expect("JSON");
    let schema = Schema::of("v1", "ConfigMap").expect("a built-in kind");
    to_vec(schema, &object).expect("a config map")
}

/// Decodes one object, and finishes nothing.
fn decode_one(
    decoder: &PackedDecoder,
    wire: ReceivedWire,
    (template, serial): (&str, usize),
    buffers: &mut Buffers,
) -> Object {
    let (text, identity) = (json(template, serial), identity(serial));
    let bytes = message(&text);
    let object = match wire {
        ReceivedWire::Protobuf => Encoded::protobuf(&bytes, CONFIG_MAP, &identity),
        _ => Encoded::new(Wire::Json(&text), &identity),
    };
    decoder.decode(object, buffers).expect("a config map")
}

/// Decodes objects as the source does: on one thread, and finished together. They come in each of
/// the formats in turn.
fn decode(
    decoder: &PackedDecoder,
    wires: &[ReceivedWire],
    template: &str,
    serials: std::ops::Range<usize>,
) -> Vec<Arc<Object>> {
    let mut buffers = Buffers::default();
    let mut decode = |serial| {
        let wire = wires[serial % wires.len()];
        let object = decode_one(decoder, wire, (template, serial), &mut buffers);
        (identity(serial), Body::Decoded(Arc::new(object)))
    };
    let mut items: Vec<_> = serials.map(&mut decode).collect();
    let bodies = items.iter_mut().map(|(identity, body)| (&*identity, body));
    decoder.finish(&mut { bodies });
    let object = |(_, body)| match body {
        Body::Decoded(object) => object,
        _ => unreachable!("it was decoded"),
    };
    items.into_iter().map(object).collect()
}

/// Whether view, bytes and identity are those of one object, and all objects have a dictionary.
fn is_sound(wire: ReceivedWire) -> bool {
    let objects = decode(&decoder(), &[wire], "a", 0..60);
    let is_one = |(serial, object): (usize, &Arc<Object>)| {
        let serial = serial.to_string();
        let unpacked = object.unpack().expect("a config map");
        let data = unpacked.data.expect("some");
        object.view().data.serial.as_ref() == serial
            && data["serial"] == serial
            && *object.version() == serial.as_str()
            && object.content().dictionary().is_some()
    };
    objects.iter().enumerate().all(is_one)
}

#[test]
fn decoded_objects_are_of_one_piece() {
    for wire in WIRES {
        assert!(is_sound(wire));
        for bug in [
            Planted::OldBytesPacked,
            Planted::OldViewKept,
            Planted::RawTailStays,
            Planted::StaleDictionary,
        ] {
            let is_missed = planted::with(bug, || is_sound(wire));
            assert!(!is_missed, "{bug:?} was not found, {wire:?}");
        }
    }
}

fn applier() -> Applier<Object> {
    let most = NonZeroUsize::new(100).expect("not zero");
    let status = Arc::new(SharedStatus::new(Name::named("config maps".into())));
    let processor = Processor::new(ProcessorConfig::default());
    Applier::new(status, most, Quarantine::new(most), processor)
}

fn replace(applier: &Applier<Object>, objects: &[Arc<Object>]) {
    let received = |object: &Arc<Object>| {
        let mut identity = object.identity().clone();
        if object
            .raw()
            .expect("whole")
            .1
            .windows(3)
            .any(|part| part == b"b-1")
        {
            identity.version = "101".into();
        }
        let body = Body::Decoded(Arc::clone(object));
        ReceivedItem::new(Item::new(identity, body), 0)
    };
    let items = objects.iter().map(received).collect();
    let list = informer_deltafifo::Item::Replace { items };
    let lease = Lease {
        scope: &Scope::All,
        items: vec![&list],
        initial: false,
        version: Some(&ResourceVersion::from("100")),
    };
    applier.apply(&lease, Refused::new());
}

/// Packs the objects of a store again while one of them is deleted and another one is changed.
/// Whether only what has not changed was exchanged, and nobody was told.
async fn repacks(bug: Option<Planted>) -> bool {
    let decoder = decoder();
    let old = decode(&decoder, &[ReceivedWire::Json], "a", 0..50);
    let applier = applier();
    replace(&applier, &old);
    let (send, mut told) = tokio::sync::mpsc::unbounded_channel();
    let handler = handler_fn(move |event: &Notification<ObjectKey, Object>| {
        send.send(event.key().clone()).expect("the test receives");
    });
    applier.processor.start();
    let joining = applier.processor.add(handler, ListenerConfig::default());
    drop(applier.join(joining.expect("running")));
    // Another decoder stands for the newer dictionary.
    let newer = decode(&self::decoder(), &[ReceivedWire::Json], "a", 0..50);
    let exchange = |number: usize| Exchange {
        key: old[number].key().clone(),
        old: Arc::clone(&old[number]),
        new: Arc::clone(&newer[number]),
    };
    let exchanges: Vec<_> = (0..50).map(exchange).collect();
    let changed = decode(&decoder, &[ReceivedWire::Json], "b", 1..2);
    let mut present = changed.clone();
    present.extend(old[2..].iter().cloned());
    replace(&applier, &present);
    let before = applier.reader.snapshot();
    planted::with(bug, || applier.exchange(exchanges));
    let after = applier.reader.snapshot();
    drop(applier.processor.stop(Duration::from_secs(60)).await);
    let mut count = 0;
    while told.recv().await.is_some() {
        count += 1;
    }
    let is_newer = |entry: &Entry<Object>| newer.iter().any(|new| Arc::ptr_eq(new, &entry.object));
    let exchanged = after.iter().filter(|(_, entry)| is_newer(entry)).count();
    let identities = |snapshot: &informer_store::Snapshot<Object>| {
        let entries = snapshot.iter();
        let parts =
            entries.map(|(key, entry)| (key.clone(), entry.uid.clone(), entry.version.clone()));
        parts.collect::<Vec<_>>()
    };
    // 50 additions, one deletion, one change.
    exchanged == 48
        && count == 52
        && identities(&before) == identities(&after)
        && before.version(&Scope::All) == after.version(&Scope::All)
}

#[tokio::test(start_paused = true)]
async fn packing_again_changes_neither_versions_nor_what_is_told() {
    assert!(repacks(None).await);
    assert!(!repacks(Some(Planted::RepackNotifies)).await);
    assert!(!repacks(Some(Planted::RepackRevives)).await);
}

/// All objects of an outdated dictionary get the newest one, and only they.
#[test]
fn renewal_is_of_the_objects_of_the_oldest_dictionary() {
    for wire in WIRES {
        renewal_of(wire);
    }
}

fn renewal_of(wire: ReceivedWire) {
    let settings = DictionarySettings {
        generations: 1,
        pause: Duration::ZERO,
        ..settings()
    };
    let decoder = Arc::new(PackedDecoder::new(Projection::new(), settings));
    let first = decode(&decoder, &[wire], "first", 0..60);
    let due = || Renew::<Object>::renewal(Arc::clone(&decoder));
    assert!(due().is_none());
    decode(&decoder, &[wire], "first", 60..80);
    let second = decode(&decoder, &[wire], "second", 80..120);
    let renewal = due().expect("one dictionary is one too many");
    for object in first.iter().chain(&second) {
        let again = (renewal.renew)(object).expect("it has that dictionary");
        assert_eq!(again.identity(), object.identity());
        assert_eq!(again.view().data.serial, object.view().data.serial);
        let (raw, before) = (again.raw().expect("whole"), object.raw().expect("whole"));
        assert!(raw == before && raw.0 == wire);
    }
    (renewal.done)(true);
    assert!(due().is_none());
}

/// Objects that were packed before their informer had a dictionary get it, too.
#[test]
fn renewal_is_of_the_objects_without_a_dictionary() {
    for [wire, other] in [WIRES, [WIRES[1], WIRES[0]]] {
        let decoder = decoder();
        let due = || Renew::<Object>::renewal(Arc::clone(&decoder));
        // A small namespace is complete before a large one.
        let few = decode(&decoder, &[wire, other], "a", 0..10);
        let early = decode(&decoder, &[wire], "a", 10..70);
        assert!(
            early
                .iter()
                .any(|object| object.content().dictionary().is_none())
        );
        let renewal = due().expect("the first dictionary came late");
        for object in few.iter().chain(&early) {
            let has_none = object.content().dictionary().is_none() && object.wire() == wire;
            let again = (renewal.renew)(object);
            assert_eq!(again.is_some(), has_none);
            let Some(again) = again else { continue };
            assert!(again.content().dictionary().is_some());
            assert_eq!(again.identity(), object.identity());
            assert!(again.raw().expect("whole") == object.raw().expect("whole"));
        }
        (renewal.done)(true);
        assert!(due().is_none());
    }
}
