//! FM-61: decoded objects do not keep the bytes of the answer alive.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{
    Arc, Condvar, Mutex,
    atomic::{AtomicUsize, Ordering},
};
use std::task::Poll;

use bytes::Bytes;
use futures::stream;
use informer_reflector::{Body, Identity, Reuse, WatchEvent};
use kube_client::Client;
use kube_core::DynamicObject;

use super::{judge, requests::*, scripted};
use crate::{Limits, ReceivedWire, list::arriving::ArrivingList};

/// A piece of an answer that counts itself down when it is dropped.
struct Piece {
    text: Vec<u8>,
    alive: Arc<AtomicUsize>,
}

impl Piece {
    /// A piece that is counted in `alive` until it is dropped.
    fn counted(text: &[u8], alive: &Arc<AtomicUsize>) -> Bytes {
        alive.fetch_add(1, Ordering::Relaxed);
        Bytes::from_owner(Self {
            text: text.to_vec(),
            alive: Arc::clone(alive),
        })
    }
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.text
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, Ordering::Relaxed);
    }
}

fn item(number: usize) -> String {
    let (name, filler) = (format!("n{number}"), "x".repeat(1000));
    format!(
        r#"{{"metadata":{{"name":"{name}","namespace":"ns","uid":"u{number}",
        "resourceVersion":"{number}","labels":{{"app":"{filler}"}}}},"spec":{{"a":"{filler}"}}}}"#
    )
    .replace('\n', "")
}

/// Answers with this text in pieces, and counts those that are still held.
fn answering(text: String, alive: &Arc<AtomicUsize>) -> Client {
    let alive = Arc::clone(alive);
    always(move || {
        let pieces: Vec<_> = text.as_bytes().chunks(10_000).map(<[u8]>::to_vec).collect();
        let alive = Arc::clone(&alive);
        scripted::pieces(stream::iter(
            pieces
                .into_iter()
                .map(move |text| Ok(Piece::counted(&text, &alive))),
        ))
    })
}

/// One survivor of a list of five hundred, with all that is kept of it.
#[tokio::test]
async fn a_survivor_of_a_list_holds_nothing_of_it() {
    let items: Vec<_> = (1..=500).map(item).collect();
    let text = format!(
        r#"{{"kind":"PodList","apiVersion":"v1","metadata":{{"resourceVersion":"900"}},
        "items":[{}]}}"#,
        items.join(",")
    );
    let alive = Arc::new(AtomicUsize::new(0));
    let mut page = list(&pods(answering(text, &alive))).await.expect("a page");
    assert_eq!(page.items.len(), 500);
    let survivor = page.items.swap_remove(250);
    drop(page);
    assert_eq!(alive.load(Ordering::Relaxed), 0);
    assert_eq!(key(&survivor), "ns/n251@251");
    let Body::Decoded(object) = &survivor.body else {
        panic!("{survivor:?}")
    };
    assert_eq!(Arc::strong_count(object), 1, "nobody else has it");
}

/// SEC-17: items are parts of the body, but what lies between them is not held for long.
#[tokio::test]
async fn blanks_between_items_are_not_held() {
    const PIECE: usize = 10_000;
    let items: Vec<_> = (1..=50).map(item).collect();
    let text = format!(
        r#"{{"kind":"PodList","apiVersion":"v1","metadata":{{}},"items":[{}]}}"#,
        items.join(&format!(",{}", " ".repeat(20 * PIECE)))
    );
    let source = Arc::new(judge::pods::<DynamicObject>());
    let mut list = ArrivingList::new(&source, ReceivedWire::Json, &list_request(), None, 1);
    let alive = Arc::new(AtomicUsize::new(0));
    for text in text.as_bytes().chunks(PIECE) {
        let piece = Piece::counted(text, &alive);
        list.push(&piece).await.expect("it is well formed");
        drop(piece);
        // As long as a batch.
        assert!(alive.load(Ordering::Relaxed) <= 64 * 1024 / PIECE + 1);
    }
    let page = list.complete().await.expect("a page");
    assert_eq!(page.items.len(), 50);
    assert_eq!(alive.load(Ordering::Relaxed), 0);
}

/// A cache that is asked for an object of a batch, and does not answer before the test allows it.
#[derive(Default)]
struct Gate(Mutex<bool>, Condvar);

impl Gate {
    fn open(&self) {
        *self.0.lock().expect("whole") = true;
        self.1.notify_all();
    }
}

impl Reuse<DynamicObject> for Gate {
    fn reuse(&self, _: &Identity) -> Option<Arc<DynamicObject>> {
        let is_open = self.0.lock().expect("whole");
        drop(self.1.wait_while(is_open, |is_open| !*is_open));
        None
    }
}

/// SEC-17: as many batches as may be under way would hold 160 pieces.
#[tokio::test]
async fn batches_of_long_items_do_not_add_up() {
    const PIECE: usize = 10_000;
    let long = "x".repeat(10 * PIECE);
    let item = |number| item(number).replace(r#""spec":"#, &format!(r#""x":"{long}","spec":"#));
    let items: Vec<_> = (1..=30).map(item).collect();
    let text = format!(
        r#"{{"kind":"PodList","apiVersion":"v1","metadata":{{}},"items":[{}]}}"#,
        items.join(",")
    );
    let limits = Limits::default().object_bytes(2 * PIECE);
    let source = Arc::new(judge::pods::<DynamicObject>().limits(limits));
    let gate = Arc::new(Gate::default());
    let reuse: Arc<dyn Reuse<_>> = Arc::clone(&gate) as _;
    let mut list = ArrivingList::new(&source, ReceivedWire::Json, &list_request(), Some(reuse), 8);
    let mut full = None;
    for (number, text) in text.as_bytes().chunks(PIECE).enumerate() {
        let piece = Bytes::copy_from_slice(text);
        let mut push = pin!(list.push(&piece));
        let first = poll_fn(|context| Poll::Ready(push.as_mut().poll(context)));
        if first.await.is_pending() {
            full.get_or_insert(number);
            gate.open();
            push.await.expect("it is well formed");
        }
    }
    // An item is limited to 32 pieces, and eight batches of the usual size have 53. Two items of
    // eleven pieces may wait for the batches under way.
    assert!(full.is_some_and(|pieces| pieces <= 53 + 2 * 11), "{full:?}");
    assert_eq!(list.complete().await.expect("a page").items.len(), 30);
}

/// One survivor of five hundred events.
#[tokio::test]
async fn a_survivor_of_a_watch_holds_nothing_of_it() {
    let event = |number| format!("{{\"type\":\"ADDED\",\"object\":{}}}\n", item(number));
    let text: String = (1..=500).map(event).collect();
    let alive = Arc::new(AtomicUsize::new(0));
    let pods = pods(answering(text, &alive));
    let mut events = watch(&pods, Arc::new(())).await;
    assert_eq!(events.len(), 500);
    let survivor = events.swap_remove(250);
    drop(events);
    assert_eq!(alive.load(Ordering::Relaxed), 0);
    assert!(matches!(survivor, Ok(WatchEvent::Added(_))));
}
