//! RB-4, RB-5, RB-6: the coalescing ring against the uncoalesced trace, random and exhaustive.

use std::collections::BTreeMap;
use std::sync::Arc;

#[cfg(test)]
use proptest::{collection::vec, prelude::*};

#[cfg(test)]
use super::history::act;
use super::history::{Act, Fold, Key, News, Source};
use crate::backlog::coalesce::CoalescingRing;
use crate::notification::{Added, Notification};

/// What is done to the ring.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    News(Key, Act),
    Take,
}

#[cfg(test)]
pub(super) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = |keys: Key| {
        prop_oneof![
            3 => (0..keys, act()).prop_map(|(key, act)| Step::News(key, act)),
            1 => Just(Step::Take),
        ]
    };
    prop_oneof![3 => vec(step(4), 0..60), 1 => vec(step(120), 0..400)]
}

/// The ring, what its consumer knows, and the naive model of what waits.
struct Bench {
    ring: CoalescingRing<Key, u64>,
    source: Source,
    heard: Fold,
    /// What waits for each key, not merged, in the order in which the keys first waited.
    line: Vec<Key>,
    waiting: BTreeMap<Key, Vec<News>>,
    pushed: u64,
    coalesced: u64,
    taken: u64,
    initial_open: i64,
}

impl Bench {
    fn new() -> Self {
        Self {
            ring: CoalescingRing::default(),
            source: Source::default(),
            heard: Fold::default(),
            line: Vec::new(),
            waiting: BTreeMap::new(),
            pushed: 0,
            coalesced: 0,
            taken: 0,
            initial_open: 0,
        }
    }

    fn push(&mut self, key: Key, act: Act) -> Result<(), String> {
        // The first few additions are the initial list.
        self.source.initial = self.pushed < 10;
        let Some(news) = self.source.act(key, act) else {
            return Ok(());
        };
        self.initial_open += i64::from(news.is_initial());
        let merged = self
            .ring
            .push(&Arc::new(news.clone()), self.pushed, &mut Vec::new());
        self.pushed += 1;
        self.coalesced += merged.coalesced;
        self.initial_open -= i64::try_from(merged.settled).expect("a handful");
        if !self.line.contains(&key) {
            self.line.push(key);
        }
        self.waiting.entry(key).or_default().push(news);
        // What came and went unnoticed does not wait.
        if self.is_unheard_of(key) {
            self.waiting.remove(&key);
            self.line.retain(|waiting| *waiting != key);
        }
        self.check_accounts()
    }

    /// Whether the consumer never heard of the object and never will: it came and went.
    fn is_unheard_of(&self, key: Key) -> bool {
        !self.heard.state.contains_key(&key)
            && self.waiting.get(&key).is_some_and(|news| {
                matches!(news.first(), Some(Notification::Added(Added { .. })))
                    && matches!(news.last(), Some(Notification::Deleted(_)))
                    && !self.source.state.contains_key(&key)
            })
    }

    fn take(&mut self) -> Result<bool, String> {
        let Some((_, news)) = self.ring.pop() else {
            return match self.line.first() {
                Some(key) => Err(format!("RB-6: {key} waits and the ring is empty")),
                None => Ok(false),
            };
        };
        self.taken += 1;
        self.initial_open -= i64::from(news.is_initial());
        let key = *news.key();
        if self.line.first() != Some(&key) {
            return Err(format!("RB-6: {key} came before {:?}", self.line.first()));
        }
        let gone = matches!(&*news, Notification::Deleted(_));
        self.heard.hear(&news)?;
        // A deletion may be followed by the addition of what is there now; else all was told.
        if gone && self.source.state.contains_key(&key) {
            let waiting = self.waiting.get_mut(&key).expect("it was in line");
            let at = waiting
                .iter()
                .rposition(|news| matches!(news, Notification::Added(Added { .. })));
            waiting.drain(..at.expect("it is there again"));
        } else {
            self.waiting.remove(&key);
            self.line.remove(0);
        }
        self.check_accounts().map(|()| true)
    }

    fn check_accounts(&self) -> Result<(), String> {
        // RB-4, from the state alone: nothing, one, or a deletion and an addition.
        let mut expected = 0;
        for key in &self.line {
            let here = self.source.state.contains_key(key);
            let told = self.heard.state.contains_key(key);
            let recreated = told
                && here
                && self.waiting[key]
                    .iter()
                    .any(|news| matches!(news, Notification::Deleted(_)));
            expected += if recreated { 2 } else { 1 };
        }
        if self.ring.entries != expected {
            return Err(format!(
                "RB-4: {} entries, not {expected}",
                self.ring.entries
            ));
        }
        for key in (0..4).chain(self.line.iter().copied()) {
            if self.ring.has_pending(&key) != self.line.contains(&key) {
                return Err(format!("RB-4: whether {key} waits"));
            }
        }
        if self.pushed != self.taken + self.coalesced + self.ring.entries as u64 {
            return Err("RB-7: a notification is unaccounted for".to_owned());
        }
        if self.initial_open < 0 {
            return Err("SY-01: more initial notifications ended than began".to_owned());
        }
        Ok(())
    }

    fn finish(mut self) -> Result<(), String> {
        while self.take()? {}
        let expected: BTreeMap<_, _> = self
            .source
            .state
            .iter()
            .map(|(key, object)| (*key, **object))
            .collect();
        if self.heard.state != expected {
            return Err(format!(
                "RB-6: {:?} instead of {expected:?}",
                self.heard.state
            ));
        }
        if self.initial_open != 0 {
            return Err("an initial notification was never settled".to_owned());
        }
        if self.ring.capacity() > 16 {
            return Err("RB-2: slots of a burst are kept".to_owned());
        }
        Ok(())
    }
}

pub(super) fn check(steps: &[Step]) -> Result<(), String> {
    let mut bench = Bench::new();
    for step in steps {
        match step {
            Step::News(key, act) => bench.push(*key, *act)?,
            Step::Take => drop(bench.take()?),
        }
    }
    bench.finish()
}

#[cfg(test)]
proptest! {
    #[test]
    fn coalescing_is_a_legal_compression(steps in steps()) {
        check(&steps).map_err(TestCaseError::fail)?;
    }
}

/// All histories of six steps over two keys.
#[test]
fn coalescing_is_legal_in_every_short_history() {
    let mut letters = vec![Step::Take];
    for key in 0..2 {
        letters.extend([Act::Set, Act::Delete, Act::Remind].map(|act| Step::News(key, act)));
    }
    let mut history = Vec::new();
    check_all(&letters, &mut history, 6);
}

#[cfg(test)]
fn check_all(letters: &[Step], history: &mut Vec<Step>, left: usize) {
    if left == 0 {
        check(history).unwrap_or_else(|why| panic!("{why} in {history:?}"));
        return;
    }
    for letter in letters {
        history.push(*letter);
        check_all(letters, history, left - 1);
        history.pop();
    }
}

/// RB-5: the keys of vanished additions are remembered if they waited before the resync, also when
/// the entries were packed meanwhile.
#[test]
fn a_resync_skips_what_vanished_before_and_after_packing() {
    for vanished in 0..120 {
        let (mut ring, mut source) = (CoalescingRing::default(), Source::default());
        let mut push = |ring: &mut CoalescingRing<Key, u64>, key, act| {
            let news = source.act(key, act).expect("it is there, or is added");
            ring.push(&Arc::new(news), 0, &mut Vec::new());
        };
        (0..100).for_each(|key| push(&mut ring, key, Act::Set));
        assert!((0..3).all(|_| ring.pop().is_some()));
        ring.resync_begins();
        (100..120).for_each(|key| push(&mut ring, key, Act::Set));
        // All but every tenth, from `vanished` on: packed in between.
        let gone = |key: &Key| *key >= 3 && !key.is_multiple_of(10);
        let order = (0..120).map(|at| (at + vanished) % 120).filter(gone);
        order.for_each(|key| push(&mut ring, key, Act::Delete));
        for key in 3..120 {
            let expected = !gone(&key) || key < 100;
            assert_eq!(ring.overtakes_resync(&key), expected, "{key}");
        }
        drop(ring.resync_ends());
        assert!(!ring.overtakes_resync(&11));
    }
}
