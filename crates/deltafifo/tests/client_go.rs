//! The scenarios of client-go's `delta_fifo_test.go` and `the_real_fifo_test.go`, in our words
//! and code. Where ours is meant to differ, the test says so.
//!
//! Left out, because a type has taken the place of what they test: `…_KeyOf` and
//! `…_PopBrokenItemsInBatch` (a key is given, not computed), `TestDeltaFIFO_ReplaceDeltaType`
//! (relists always say `Replaced`), and RealFIFO's non-atomic half. `…_PopShouldUnblockWhenClosed`
//! is in `tests/channel.rs`.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use informer_deltafifo::{
    Config, Deletion, Delta, DeltaFifo, Final, InOrderQueue, Item, Known, Lease, Queue,
    TransformError, channel,
};

type Fifo = DeltaFifo<&'static str, u32, u64>;
type Real = InOrderQueue<&'static str, u32, u64>;
type Held = BTreeMap<&'static str, u32>;

/// A queue that counts marks, and says in words what it hands out.
struct Run<Q> {
    queue: Q,
    position: u64,
}

fn fifo() -> Run<Fifo> {
    Run {
        queue: Fifo::default(),
        position: 0,
    }
}

fn real() -> Run<Real> {
    Run {
        queue: Real::default(),
        position: 0,
    }
}

fn n(n: usize) -> NonZeroUsize {
    NonZeroUsize::new(n).expect("not zero")
}

impl<Q: Queue<&'static str, u32, u64>> Run<Q> {
    fn position(&mut self) -> u64 {
        self.position += 1;
        self.position
    }

    fn add(&mut self, key: &'static str, value: u32) {
        let position = self.position();
        self.queue.add(key, value, position).expect("open");
    }

    fn update(&mut self, key: &'static str, value: u32) {
        let position = self.position();
        self.queue.update(key, value, position).expect("open");
    }

    fn delete_of(
        &mut self,
        key: &'static str,
        value: u32,
        held: &dyn Known<&'static str, u32>,
    ) -> Deletion {
        let position = self.position();
        self.queue
            .delete(key, Final::Observed(value), position, held)
            .expect("open")
    }

    fn delete(&mut self, key: &'static str, value: u32) -> Deletion {
        self.delete_of(key, value, &())
    }

    fn replace_of(&mut self, items: &[(&'static str, u32)], held: &dyn Known<&'static str, u32>) {
        let position = self.position();
        self.queue
            .replace(items.to_vec(), position, held)
            .expect("open");
    }

    fn replace(&mut self, items: &[(&'static str, u32)]) {
        self.replace_of(items, &());
    }

    fn lease(&mut self, max: usize) -> Lease<&'static str, u32, u64> {
        self.queue.lease(n(max)).expect("something waits")
    }

    /// Leases and acknowledges once: what was handed out, and whether it was initial.
    fn pop(&mut self, max: usize) -> (Vec<String>, bool) {
        let lease = self.lease(max);
        self.queue.ack(lease.id).expect("leased");
        (lease.items.iter().map(words).collect(), lease.initial)
    }

    /// Everything that waits, one work a line.
    fn drain(&mut self) -> Vec<String> {
        let mut all = Vec::new();
        while !self.queue.is_empty() {
            all.extend(self.pop(100).0);
        }
        all
    }
}

fn words(item: &Item<&'static str, u32>) -> String {
    let delta = |delta: &Delta<u32>| match delta {
        Delta::Deleted(Final::Observed(last)) => format!("Deleted({last})"),
        Delta::Deleted(Final::Unknown(Some(last))) => format!("Tombstone({last})"),
        Delta::Deleted(Final::Unknown(None)) => "Tombstone".into(),
        other => format!("{}({})", other.kind(), other.object().expect("not deleted")),
    };
    match item {
        Item::Key { key, deltas } => {
            format!(
                "{key}: {}",
                deltas.iter().map(delta).collect::<Vec<_>>().join(" ")
            )
        }
        Item::Replace { items } => format!("Replace{items:?}"),
        Item::Resync => "Resync".into(),
    }
}

fn held(items: &[(&'static str, u32)]) -> Held {
    items.iter().copied().collect()
}

mod delta_fifo {
    use super::*;

    /// `TestDeltaFIFO_basic`: two producers, a thousand items; each producer's order is kept.
    #[test]
    fn two_producers_keep_their_order() {
        use futures::executor::block_on;
        let (producer, consumer) = channel(DeltaFifo::<u32, u32, ()>::default(), n(50));
        let send = |odd: u32| {
            let producer = producer.clone();
            move || {
                for i in 0..500 {
                    block_on(producer.add(2 * i + odd, i, ())).expect("open");
                }
            }
        };
        let threads = [std::thread::spawn(send(0)), std::thread::spawn(send(1))];
        drop(producer);
        let (mut last, mut count) = ([None, None], 0);
        while let Some(lease) = block_on(consumer.next(n(7))) {
            for item in lease.items() {
                let Item::Key { key, deltas } = item else {
                    panic!("only keys")
                };
                let value = deltas.newest().object().copied();
                let last = &mut last[(key % 2) as usize];
                assert!(*last < value, "{last:?} before {value:?}");
                *last = value;
                count += 1;
            }
            lease.ack();
        }
        assert_eq!(count, 1_000);
        threads
            .into_iter()
            .for_each(|thread| thread.join().expect("sent all"));
    }

    /// `TestDeltaFIFO_replaceWithDeleteDeltaIn` (DF-08, FM-49).
    #[test]
    fn a_relist_over_a_waiting_deletion_keeps_both() {
        let mut run = fifo();
        run.delete_of("foo", 10, &held(&[("foo", 1)]));
        run.replace(&[("foo", 11)]);
        assert_eq!(run.drain(), ["foo: Deleted(10) Replaced(11)"]);
    }

    /// `TestDeltaFIFOW_ReplaceMakesDeletionsForObjectsOnlyInQueue`: six cases, with and without
    /// known objects (FM-48).
    #[test]
    fn what_is_only_in_the_queue_is_deleted_once() {
        type Case = (&'static str, fn(&mut Run<Fifo>, &Held), &'static str);
        let cases: [Case; 6] = [
            (
                "added",
                |r, k| {
                    r.add("foo", 1);
                    r.replace_of(&[], k);
                },
                "foo: Added(1) Tombstone(1)",
            ),
            (
                "replaced",
                |r, k| {
                    r.replace_of(&[("foo", 1)], k);
                    r.replace_of(&[], k);
                },
                "foo: Replaced(1) Tombstone(1)",
            ),
            (
                "deleted already",
                |r, k| {
                    r.add("foo", 1);
                    r.delete_of("foo", 2, k);
                    r.replace_of(&[], k);
                },
                "foo: Added(1) Deleted(2)",
            ),
            (
                "replaced twice",
                |r, k| {
                    r.replace_of(&[("foo", 1)], k);
                    r.replace_of(&[("foo", 2)], k);
                    r.replace_of(&[], k);
                },
                "foo: Replaced(1) Replaced(2) Tombstone(2)",
            ),
            (
                "two empty relists",
                |r, k| {
                    r.add("foo", 1);
                    r.replace_of(&[], k);
                    r.replace_of(&[], k);
                },
                "foo: Added(1) Tombstone(1)",
            ),
            (
                "deleted and added again",
                |r, k| {
                    r.add("foo", 1);
                    r.delete_of("foo", 2, k);
                    r.add("foo", 3);
                    r.replace_of(&[], k);
                },
                "foo: Added(1) Deleted(2) Added(3) Tombstone(3)",
            ),
        ];
        for (name, say, want) in cases {
            for known in [held(&[]), held(&[("foo", 0)])] {
                let mut run = fifo();
                say(&mut run, &known);
                assert_eq!(run.drain(), [want], "{name}, known: {known:?}");
            }
        }
    }

    /// `TestDeltaFIFO_addUpdate`: a key waits once, its newest state visible, and is gone after.
    #[test]
    fn changes_of_a_key_are_handed_out_together() {
        let mut run = fifo();
        run.add("foo", 10);
        run.update("foo", 12);
        run.delete("foo", 15);
        let lease = run.lease(1);
        let Item::Key { key: "foo", deltas } = &lease.items[0] else {
            panic!("foo waits")
        };
        assert_eq!(deltas.oldest(), &Delta::Added(10));
        assert_eq!(deltas.newest(), &Delta::Deleted(Final::Observed(15)));
        assert_eq!(deltas.len(), 3);
        run.queue.ack(lease.id).expect("leased");
        assert!(run.queue.is_empty() && run.queue.lease(n(1)).is_none());
    }

    /// `TestDeltaFIFO_transformer` (DF-14, FQ-12): each object received once, no tombstone, no
    /// resync. An object that fails is left out and reported, instead of refusing the whole call
    /// (FM-57).
    #[test]
    fn every_object_is_transformed_once() {
        let config = Config::default().transform(|value: u32| match value {
            13 => Err(TransformError::new("unlucky")),
            value => Ok(value + 1_000),
        });
        let mut run = Run {
            queue: Fifo::new(config),
            position: 0,
        };
        run.add("a", 1);
        run.update("a", 2);
        run.delete("a", 3);
        run.add("b", 4);
        let known = held(&[("c", 5), ("d", 6)]);
        run.queue.resync(&known).expect("open");
        run.replace_of(&[("e", 7), ("d", 13)], &known);
        assert_eq!(
            run.drain(),
            [
                "a: Added(1001) Updated(1002) Deleted(1003)",
                "b: Added(1004) Tombstone(1004)",
                "c: Sync(5) Tombstone(5)",
                "d: Sync(6)",
                "e: Replaced(1007)",
            ]
        );
        let rejected = run.queue.take_rejected();
        assert_eq!(rejected.iter().map(|r| r.key).collect::<Vec<_>>(), ["d"]);
        run.delete_of("d", 13, &known);
        assert_eq!(
            run.drain(),
            ["d: Tombstone(6)"],
            "the deletion is not lost with its object"
        );
    }

    /// `TestDeltaFIFO_enqueueingNoLister` and `…WithLister` (DF-04).
    #[test]
    fn a_deletion_of_what_nobody_knows_is_ignored() {
        let mut run = fifo();
        run.add("foo", 10);
        run.update("bar", 15);
        run.add("qux", 17);
        assert_eq!(run.delete("qux", 18), Deletion::Queued);
        assert_eq!(run.delete("baz", 20), Deletion::Ignored);
        assert_eq!(
            run.drain(),
            [
                "foo: Added(10)",
                "bar: Updated(15)",
                "qux: Added(17) Deleted(18)"
            ]
        );
        assert_eq!(
            run.queue.applied(),
            Some(&5),
            "what was ignored was received"
        );
        assert_eq!(
            run.delete_of("baz", 20, &held(&[("baz", 1)])),
            Deletion::Queued
        );
        assert_eq!(run.drain(), ["baz: Deleted(20)"]);
    }

    /// `TestDeltaFIFO_addReplace`.
    #[test]
    fn an_add_and_a_relist_are_handed_out_together() {
        let mut run = fifo();
        run.add("foo", 10);
        run.replace(&[("foo", 15)]);
        assert_eq!(run.drain(), ["foo: Added(10) Replaced(15)"]);
    }

    /// `TestDeltaFIFO_ResyncNonExisting`, `…_Resync` and `…_UpdateResyncRace` (DF-13, FM-50).
    #[test]
    fn a_resync_leaves_alone_what_waits() {
        let mut run = fifo();
        run.queue.resync(&held(&[("foo", 5)])).expect("open");
        assert_eq!(run.drain(), ["foo: Sync(5)"]);
        run.queue.resync(&()).expect("open");
        assert!(run.queue.is_empty());
        run.delete_of("foo", 10, &held(&[("foo", 5)]));
        run.queue.resync(&held(&[("foo", 5)])).expect("open");
        assert_eq!(run.drain(), ["foo: Deleted(10)"]);
        run.update("foo", 12);
        run.queue.resync(&held(&[("foo", 5)])).expect("open");
        assert_eq!(run.drain(), ["foo: Updated(12)"]);
    }

    /// `TestDeltaFIFO_DeleteExistingNonPropagated`.
    #[test]
    fn a_deletion_of_what_is_only_queued_is_kept() {
        let mut run = fifo();
        run.add("foo", 10);
        run.delete("foo", 11);
        assert_eq!(run.drain(), ["foo: Added(10) Deleted(11)"]);
    }

    /// `TestDeltaFIFO_ReplaceMakesDeletions` and `…Replaced`, five stages (DF-07). A relist is
    /// one group, so its keys come together.
    #[test]
    fn a_relist_deletes_what_it_leaves_out() {
        let known = held(&[("foo", 5), ("bar", 6), ("baz", 7)]);
        let mut run = fifo();
        run.delete_of("baz", 10, &known);
        run.replace_of(&[("foo", 5)], &known);
        assert_eq!(
            run.drain(),
            ["baz: Deleted(10)", "foo: Replaced(5)", "bar: Tombstone(6)"]
        );

        let mut run = fifo();
        run.add("baz", 10);
        run.replace_of(&[("foo", 5)], &known);
        assert_eq!(
            run.drain(),
            [
                "baz: Added(10) Tombstone(10)",
                "foo: Replaced(5)",
                "bar: Tombstone(6)"
            ]
        );

        let mut run = fifo();
        run.add("baz", 10);
        run.delete_of("baz", 11, &known);
        run.replace_of(&[("foo", 5)], &known);
        assert_eq!(
            run.drain(),
            [
                "baz: Added(10) Deleted(11)",
                "foo: Replaced(5)",
                "bar: Tombstone(6)"
            ]
        );

        let mut run = fifo();
        run.add("baz", 10);
        run.replace(&[("foo", 5)]);
        assert_eq!(
            run.drain(),
            ["baz: Added(10) Tombstone(10)", "foo: Replaced(5)"]
        );
    }

    /// `TestDeltaFIFO_HasSyncedCorrectOnDeletion` (DF-11); ours moves with the acknowledgement
    /// (FQ-9, DF-12), and one lease holds the whole population.
    #[test]
    fn synced_waits_for_the_deletions_of_the_first_relist() {
        let mut run = fifo();
        run.replace_of(&[("foo", 1)], &held(&[("foo", 1), ("bar", 2), ("baz", 3)]));
        let lease = run.lease(1);
        assert!(lease.initial && !run.queue.is_synced());
        let got: Vec<_> = lease.items.iter().map(words).collect();
        assert_eq!(
            got,
            ["foo: Replaced(1)", "bar: Tombstone(2)", "baz: Tombstone(3)"]
        );
        let quarantined = run.queue.nack(lease.id, &[2]).expect("leased");
        assert!(
            quarantined.is_empty() && !run.queue.is_synced(),
            "baz is not processed"
        );
        assert_eq!(run.pop(1), (vec!["baz: Tombstone(3)".into()], true));
        assert!(run.queue.is_synced());
        run.add("foo", 4);
        assert!(!run.pop(1).1);
    }

    /// `TestDeltaFIFO_detectLineJumpers` (DF-01).
    #[test]
    fn a_key_keeps_its_place() {
        let mut run = fifo();
        for (key, value) in [
            ("foo", 10),
            ("bar", 1),
            ("foo", 11),
            ("foo", 13),
            ("zab", 30),
        ] {
            run.add(key, value);
        }
        assert_eq!(run.pop(1).0, ["foo: Added(10) Added(11) Added(13)"]);
        run.add("foo", 14);
        assert_eq!(run.pop(1).0, ["bar: Added(1)"]);
        assert_eq!(run.pop(1).0, ["zab: Added(30)"]);
        assert_eq!(run.pop(1).0, ["foo: Added(14)"]);
    }

    /// `TestDeltaFIFO_HasSynced`, seven cases (DF-10). A list with a key twice needs one lease
    /// (FQ-8), and a list is leased whole.
    #[test]
    fn synced_cases() {
        type Case = (&'static str, fn(&mut Run<Fifo>), bool);
        let cases: [Case; 7] = [
            ("nothing said", |_| {}, false),
            ("a single change came first", |r| r.add("a", 1), true),
            ("an empty list", |r| r.replace(&[]), true),
            (
                "a list, not leased",
                |r| r.replace(&[("a", 1), ("b", 2)]),
                false,
            ),
            (
                "a list, leased",
                |r| {
                    r.replace(&[("a", 1), ("b", 2)]);
                    r.lease(9);
                },
                false,
            ),
            (
                "a list, processed",
                |r| {
                    r.replace(&[("a", 1), ("b", 2)]);
                    r.pop(1);
                },
                true,
            ),
            (
                "a key twice in a list",
                |r| {
                    r.replace(&[("a", 1), ("a", 2)]);
                    r.pop(1);
                },
                true,
            ),
        ];
        for (name, say, want) in cases {
            let mut run = fifo();
            say(&mut run);
            assert_eq!(run.queue.is_synced(), want, "{name}");
        }
    }
}

/// Leases, failed items, groups and applied positions, which no scenario of client-go's queue has.
mod leases {
    use super::*;

    #[test]
    fn what_is_leased_counts_as_queued() {
        let mut run = fifo();
        run.add("foo", 1);
        let lease = run.lease(1);
        assert_eq!(run.delete("foo", 2), Deletion::Queued);
        assert!(run.queue.lease(n(1)).is_none(), "one lease at a time");
        run.queue.ack(lease.id).expect("leased");
        assert_eq!(run.drain(), ["foo: Deleted(2)"]);

        let mut run = fifo();
        run.add("foo", 1);
        let lease = run.lease(1);
        run.replace_of(&[], &held(&[("foo", 0)]));
        run.queue.resync(&held(&[("foo", 0)])).expect("open");
        run.queue.ack(lease.id).expect("leased");
        assert_eq!(
            run.drain(),
            ["foo: Tombstone(1)"],
            "the newest object known"
        );
    }

    #[test]
    fn what_failed_goes_before_what_came_meanwhile() {
        let mut run = fifo();
        run.add("foo", 1);
        run.add("bar", 1);
        run.delete("foo", 2);
        let lease = run.lease(2);
        run.delete("foo", 3);
        run.add("baz", 1);
        run.queue.nack(lease.id, &[0]).expect("leased");
        assert_eq!(run.queue.applied(), None, "foo's first change waits again");
        assert_eq!(run.drain(), ["foo: Added(1) Deleted(2)", "baz: Added(1)"]);
        assert_eq!(run.queue.applied(), Some(&5));
    }

    #[test]
    fn a_batch_takes_all_keys_that_waited_when_the_relist_came_and_no_others() {
        let mut run = fifo();
        run.add("x", 1);
        run.delete("x", 2);
        run.add("y", 1);
        run.replace(&[("y", 3), ("z", 3)]);
        run.add("w", 4);
        let relist = [
            "x: Added(1) Deleted(2)",
            "y: Added(1) Replaced(3)",
            "z: Replaced(3)",
        ];
        assert_eq!(run.pop(1).0, relist);
        assert_eq!(run.pop(9).0, ["w: Added(4)"]);
    }

    #[test]
    fn relists_that_share_a_key_are_one_group() {
        let mut run = fifo();
        run.replace(&[("a", 1)]);
        run.delete("a", 2);
        run.replace(&[("b", 3)]);
        run.add("a", 4);
        run.replace(&[("a", 5), ("b", 5), ("c", 5)]);
        assert_eq!(
            run.pop(1).0,
            [
                "a: Replaced(1) Deleted(2) Added(4) Replaced(5)",
                "b: Replaced(3) Replaced(5)",
                "c: Replaced(5)"
            ]
        );
    }

    #[test]
    fn applied_is_what_was_received_before_the_first_open_change() {
        let mut run = fifo();
        run.queue.bookmark(7).expect("open");
        assert_eq!(run.queue.applied(), Some(&7));
        run.position = 7;
        run.add("a", 1);
        run.add("b", 1);
        run.queue.bookmark(20).expect("open");
        assert_eq!(
            (run.queue.applied(), run.queue.received()),
            (Some(&7), Some(&20))
        );
        let lease = run.lease(1);
        assert_eq!((lease.position, lease.applied_after), (Some(8), Some(8)));
        run.queue.ack(lease.id).expect("leased");
        let lease = run.lease(1);
        assert_eq!((lease.position, lease.applied_after), (Some(9), Some(20)));
        run.queue.ack(lease.id).expect("leased");
        assert_eq!(run.queue.applied(), Some(&20));
    }

    /// FQ-13: unsettled calls; a flood of ignored calls needs nothing.
    #[test]
    fn the_length_counts_calls() {
        let mut run = fifo();
        run.replace(&[("a", 1), ("b", 1), ("c", 1)]);
        run.update("a", 2);
        assert_eq!(run.queue.len(), 2);
        for _ in 0..100 {
            run.delete("nobody", 1);
        }
        let lease = run.lease(1);
        assert_eq!(run.queue.len(), 2, "leased is not done");
        run.queue.ack(lease.id).expect("leased");
        assert_eq!((run.queue.len(), run.queue.applied()), (0, Some(&102)));
    }

    #[test]
    fn a_lease_is_settled_once() {
        let mut run = fifo();
        run.add("a", 1);
        let lease = run.lease(1);
        assert!(
            run.queue.nack(lease.id, &[1]).is_err(),
            "there is no second item"
        );
        run.queue.ack(lease.id).expect("still leased");
        assert!(run.queue.ack(lease.id).is_err());
        assert!(run.queue.nack(lease.id, &[]).is_err());
    }
}

mod real_fifo {
    use super::*;

    /// `TestRealFIFO_replaceWithDeleteDeltaIn`, `…_ReplaceAtomic`, `…_ReplaceAtomicPop`: a relist
    /// is one work behind all that came before; a bookmark is none.
    #[test]
    fn a_relist_is_one_work() {
        let mut run = real();
        run.delete("foo", 10);
        run.add("bar", 1);
        run.replace(&[("foo", 11), ("baz", 1)]);
        run.queue.bookmark(50).expect("open");
        run.position = 50;
        run.replace(&[("foo", 12)]);
        assert_eq!(
            run.drain(),
            [
                "foo: Deleted(10)",
                "bar: Added(1)",
                "Replace[(\"foo\", 11), (\"baz\", 1)]",
                "Replace[(\"foo\", 12)]"
            ]
        );
        assert_eq!(run.queue.applied(), Some(&51));
    }

    /// `TestRealFIFO_addUpdate`, `…_addReplace`, `…_detectLineJumpers` (RF-01).
    #[test]
    fn every_change_is_delivered_in_the_order_of_arrival() {
        let mut run = real();
        run.add("foo", 10);
        run.add("bar", 1);
        run.update("foo", 12);
        run.delete("foo", 15);
        run.replace(&[("foo", 16)]);
        assert_eq!(
            run.drain(),
            [
                "foo: Added(10)",
                "bar: Added(1)",
                "foo: Updated(12)",
                "foo: Deleted(15)",
                "Replace[(\"foo\", 16)]"
            ]
        );
    }

    /// `TestRealFIFO_enqueueingNoLister` and `…WithLister`: unknown deletions are queued.
    #[test]
    fn a_deletion_of_what_nobody_knows_is_queued() {
        let mut run = real();
        assert_eq!(run.delete("baz", 20), Deletion::Queued);
        assert_eq!(run.drain(), ["baz: Deleted(20)"]);
    }

    /// `TestRealFIFO_transformer` (RF-14), and a relist with an object that fails (FM-57): the
    /// newest object known stands in for it, so that it is not taken for gone.
    #[test]
    fn every_object_is_transformed_once() {
        let config = Config::default().transform(|value: u32| match value {
            13 => Err(TransformError::new("unlucky")),
            value => Ok(value + 1_000),
        });
        let mut run = Run {
            queue: Real::new(config),
            position: 0,
        };
        run.add("a", 1);
        run.delete("a", 2);
        run.queue
            .delete("b", Final::Unknown(Some(3)), 3, &())
            .expect("open");
        run.add("c", 4);
        run.replace_of(
            &[("c", 13), ("d", 13), ("e", 13), ("f", 5)],
            &held(&[("d", 6)]),
        );
        assert_eq!(
            run.drain(),
            [
                "a: Added(1001)",
                "a: Deleted(1002)",
                "b: Tombstone(3)",
                "c: Added(1004)",
                "Replace[(\"c\", 1004), (\"d\", 6), (\"f\", 1005)]"
            ]
        );
        assert_eq!(run.queue.take_rejected().len(), 3);
    }

    /// `TestRealFIFO_ResyncAtomic`, two cases (RF-12).
    #[test]
    fn a_resync_is_one_work_after_what_came_before() {
        let mut run = real();
        run.queue.resync(&held(&[("foo", 5)])).expect("open");
        assert_eq!(run.drain(), ["Resync"]);
        run.add("foo", 6);
        run.queue.resync(&()).expect("open");
        assert_eq!(run.drain(), ["foo: Added(6)", "Resync"]);
    }

    fn adds(run: &mut Run<Real>, keys: &[&'static str]) {
        keys.iter().for_each(|key| run.add(key, 1));
    }

    /// `TestRealFIFO_PopMultipleDeltaInBatch`, eight cases (RF-05).
    #[test]
    fn batches() {
        type Case = (&'static str, usize, fn(&mut Run<Real>), &'static [usize]);
        let cases: [Case; 8] = [
            ("no limit reached", 9, |r| adds(r, &["a", "b", "c"]), &[3]),
            ("size one", 1, |r| adds(r, &["a", "b", "c"]), &[1, 1, 1]),
            ("size two", 2, |r| adds(r, &["a", "b", "c"]), &[2, 1]),
            ("size three", 3, |r| adds(r, &["a", "b", "c"]), &[3]),
            (
                "a key twice in a row",
                9,
                |r| adds(r, &["a", "a", "b"]),
                &[1, 2],
            ),
            (
                "a key twice at the end",
                9,
                |r| adds(r, &["a", "b", "a"]),
                &[2, 1],
            ),
            (
                "the same two keys twice",
                9,
                |r| adds(r, &["a", "b", "a", "b"]),
                &[2, 2],
            ),
            (
                "the initial list",
                9,
                |r| {
                    r.replace(&[("a", 1), ("b", 1)]);
                    r.add("c", 1);
                    r.add("d", 1);
                },
                &[1, 2],
            ),
        ];
        for (name, size, say, want) in cases {
            let mut run = real();
            say(&mut run);
            let mut got = Vec::new();
            while !run.queue.is_empty() {
                let initial = !run.queue.is_synced();
                let (items, was_initial) = run.pop(size);
                assert_eq!(initial, was_initial, "{name}");
                got.push(items.len());
            }
            assert_eq!(got, want, "{name}");
        }
    }

    /// `TestRealFIFO_HasSynced` and `…CorrectOnDeletion`. An atomic list is processed in one
    /// piece, an empty one too (RF-10), and a key listed twice is one item (FQ-8).
    #[test]
    fn synced_cases() {
        type Case = (&'static str, fn(&mut Run<Real>), bool);
        let cases: [Case; 8] = [
            ("nothing said", |_| {}, false),
            ("a bookmark", |r| r.queue.bookmark(1).expect("open"), false),
            ("a single change came first", |r| r.add("a", 1), true),
            ("an empty list, not processed", |r| r.replace(&[]), false),
            (
                "an empty list, processed",
                |r| {
                    r.replace(&[]);
                    r.pop(1);
                },
                true,
            ),
            (
                "a list, not leased",
                |r| r.replace(&[("a", 1), ("b", 2)]),
                false,
            ),
            (
                "a list, leased",
                |r| {
                    r.replace(&[("a", 1), ("b", 2)]);
                    r.lease(9);
                },
                false,
            ),
            (
                "a list, processed",
                |r| {
                    r.replace(&[("a", 1), ("a", 2)]);
                    r.pop(1);
                },
                true,
            ),
        ];
        for (name, say, want) in cases {
            let mut run = real();
            say(&mut run);
            assert_eq!(run.queue.is_synced(), want, "{name}");
        }
    }

    /// FQ-8: the last object, at the place of the first.
    #[test]
    fn a_key_listed_twice_is_one_item() {
        let mut run = real();
        run.replace(&[("a", 1), ("b", 1), ("a", 2)]);
        assert_eq!(run.drain(), ["Replace[(\"a\", 2), (\"b\", 1)]"]);
    }
}
