//! What the consumer holds may be told by any map, and behind any pointer (DF-04, DF-07, DF-13).

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroUsize;
use std::sync::Arc;

use indexmap::IndexMap;
use informer_deltafifo::{Config, DeltaFifo, Final, InOrderQueue, Item, Known, Queue};

const HELD: [(&str, u32); 2] = [("a", 1), ("b", 2)];

/// All that may be asked.
fn answers(known: &dyn Known<&'static str, u32>) {
    assert_eq!((known.get(&"a"), known.get(&"c")), (Some(1), None));
    assert!(known.contains(&"b") && !known.contains(&"c"));
    assert!(
        !known.holds(&"a", &1),
        "only who can tell equal objects may say so"
    );
    let mut visited = Vec::new();
    known.for_each(&mut |key, value| visited.push((*key, *value)));
    visited.sort_unstable();
    assert_eq!(visited, HELD);
    let mut keys = Vec::new();
    known.for_each_key(&mut |key| keys.push(*key));
    keys.sort_unstable();
    assert_eq!(keys, ["a", "b"]);
}

#[test]
fn maps_and_pointers_answer_alike() {
    let tree: BTreeMap<_, _> = HELD.into();
    answers(&tree);
    answers(&HashMap::from(HELD));
    answers(&IndexMap::from(HELD));
    answers(&&tree);
    answers(&Box::new(tree.clone()));
    answers(&Arc::new(tree));
}

#[test]
fn nothing_is_known_of_nothing() {
    let nothing: &dyn Known<&str, u32> = &();
    assert!(nothing.get(&"a").is_none() && !nothing.contains(&"a"));
    nothing.for_each_key(&mut |key| panic!("{key} is held by nobody"));
}

/// A queue that is chosen while the program runs is one behind a pointer.
#[test]
fn a_queue_behind_a_pointer_is_that_queue() {
    let config = Config::default;
    let queues: [Box<dyn Queue<&'static str, u32, u64>>; 2] = [
        Box::new(DeltaFifo::new(config())),
        Box::new(InOrderQueue::new(config())),
    ];
    for mut queue in queues {
        let known = BTreeMap::from(HELD);
        assert!(!queue.is_synced());
        queue.add("c", 3, 1).expect("open");
        queue.update("c", 4, 2).expect("open");
        queue
            .delete("a", Final::Unknown(None), 3, &known)
            .expect("open");
        let mut queued = Vec::new();
        queue.for_each_queued(&mut |key, value| queued.push((*key, *value)));
        assert_eq!(queued, [("c", 3), ("c", 4)]);
        let mut deltas = Vec::new();
        while let Some(lease) = queue.lease(NonZeroUsize::MAX) {
            for item in lease.items.iter() {
                if let Item::Key { key, deltas: all } = item {
                    deltas.extend(all.iter().map(|delta| (*key, delta.kind())));
                }
            }
            queue.ack(lease.id).expect("it is the one that is out");
        }
        assert_eq!(deltas, [("c", "Added"), ("c", "Updated"), ("a", "Deleted")]);
        assert!(queue.take_rejected().is_empty());
        queue.close();
        assert!(queue.is_closed() && queue.add("d", 5, 4).is_err());
    }
}
