//! Long random histories of both queues against their models.

use proptest::prelude::*;

use super::model::{Key, Position, Value};
use super::world::{Op, check};
use crate::{DeltaFifo, InOrderQueue};

/// Letters in the proportions in which they meet each other most.
pub(super) fn ops() -> impl Strategy<Value = Vec<Op>> {
    let key = 0..4_u8;
    let op = prop_oneof![
        4 => key.clone().prop_map(Op::Add),
        4 => key.clone().prop_map(Op::Update),
        4 => (key.clone(), any::<bool>()).prop_map(|(key, observed)| Op::Delete(key, observed)),
        4 => prop::collection::vec(key.clone(), 0..6).prop_map(Op::Replace),
        1 => (prop::collection::vec(key, 0..6), 0..6_usize)
            .prop_map(|(keys, at)| Op::Panic(keys, at)),
        2 => Just(Op::Resync),
        2 => Just(Op::Bookmark),
        8 => (1..5_usize, any::<bool>()).prop_map(|(max, early)| Op::Lease(max, early)),
        5 => Just(Op::Ack),
        4 => any::<u32>().prop_map(Op::Nack),
    ];
    let closed = prop::option::weighted(0.2, 0..80_usize);
    (prop::collection::vec(op, 1..80), closed).prop_map(|(mut ops, closed)| {
        if let Some(at) = closed {
            ops.insert(at.min(ops.len()), Op::Close);
        }
        ops
    })
}

proptest! {
    /// FQ-1..FQ-12, FM-48..50.
    #[test]
    fn delta_fifo_is_its_model(ops in ops(), attempts in 1..4_u32) {
        let verdict = check::<DeltaFifo<Key, Value, Position>>(&ops, attempts);
        prop_assert_eq!(verdict, Ok(()));
    }

    /// FQ-2, FQ-3, FQ-8..FQ-12, RF-01, RF-05, RF-10, RF-12.
    #[test]
    fn in_order_queue_is_its_model(ops in ops(), attempts in 1..4_u32) {
        let verdict = check::<InOrderQueue<Key, Value, Position>>(&ops, attempts);
        prop_assert_eq!(verdict, Ok(()));
    }
}
