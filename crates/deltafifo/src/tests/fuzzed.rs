//! Histories out of a fuzzer's numbers, in the proportions of `random`.

use super::model::{Key, Position, Value};
use super::world::{Op, check};
use crate::{DeltaFifo, InOrderQueue};

/// Gives a number below the one it is given, or `None` when the input is used up.
pub type Draw<'a> = dyn FnMut(u32) -> Option<u32> + 'a;

/// Later letters meet nothing that earlier ones did not.
const LONGEST: usize = 80;

/// Runs one history through one of the two queues and its model.
///
/// # Panics
///
/// At the first difference.
pub fn fifo_ops(draw: &mut Draw<'_>) {
    let in_order = draw(2) == Some(1);
    let attempts = 1 + draw(3).unwrap_or_default();
    let mut ops = Vec::new();
    while let Some(op) = op(draw).filter(|_| ops.len() < LONGEST) {
        ops.push(op);
    }
    let verdict = match in_order {
        true => check::<InOrderQueue<Key, Value, Position>>(&ops, attempts),
        false => check::<DeltaFifo<Key, Value, Position>>(&ops, attempts),
    };
    if let Err(wrong) = verdict {
        panic!("{wrong}");
    }
}

fn op(draw: &mut Draw<'_>) -> Option<Op> {
    Some(match draw(40)? {
        0..4 => Op::Add(key(draw)?),
        4..8 => Op::Update(key(draw)?),
        8..12 => Op::Delete(key(draw)?, draw(2)? == 1),
        12..16 => {
            let count = draw(6)?;
            Op::Replace((0..count).map_while(|_| key(draw)).collect())
        }
        16..18 => Op::Resync,
        18..20 => Op::Bookmark,
        20..28 => Op::Lease(1 + draw(4)? as usize, draw(2)? == 1),
        28..33 => Op::Ack,
        33..37 => Op::Nack(draw(1 << 8)?),
        37 => Op::Close,
        _ => {
            let count = draw(6)?;
            let keys = (0..count).map_while(|_| key(draw)).collect();
            Op::Panic(keys, draw(6)? as usize)
        }
    })
}

fn key(draw: &mut Draw<'_>) -> Option<Key> {
    draw(4).map(|key| key as Key)
}
