//! Packing of a coalescing buffer keeps its checkpoints behind the same entries.

use std::sync::Arc;

use crate::backlog::coalesce::CoalescingRing;
use crate::tests::history::{Act, Key, Source};

/// Packing renumbers the entries. Each checkpoint stays behind the same ones.
pub(crate) fn check() {
    let (mut ring, mut source) = (CoalescingRing::default(), Source::default());
    let mut push = |ring: &mut CoalescingRing<Key, u64>, key, act| {
        let news = source.act(key, act).expect("it is there, or is added");
        ring.push(&Arc::new(news), 0, &mut Vec::new());
    };
    let mut behind = Vec::new();
    for key in 0..100 {
        push(&mut ring, key, Act::Set);
        let end = ring.end();
        behind.push(ring.checkpoints.set(end, 0));
    }
    // All but every tenth: packed in between.
    let gone = |key: &Key| !key.is_multiple_of(10);
    (0..100)
        .filter(gone)
        .for_each(|key| push(&mut ring, key, Act::Delete));
    for key in (0..100).filter(|key| !gone(key)) {
        ring.checkpoints.pass(ring.first, 0);
        // Those behind the keys before `key` were passed, none behind `key`.
        assert_eq!(ring.checkpoints.passed, u64::from(key), "{key}");
        assert_eq!(ring.pop().map(|(_, news)| *news.key()), Some(key));
    }
    ring.checkpoints.pass(ring.first, 0);
    assert_eq!(Some(&ring.checkpoints.passed), behind.last());
}

#[test]
fn packing_moves_checkpoints_with_their_entries() {
    check();
}
