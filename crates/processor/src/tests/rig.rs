//! One listener with a source before it and a consumer behind it, driven step by step.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::history::{Act, Fold, Key, News, Object, Source, reminder};
use crate::backlog::batch::Batch;
use crate::backlog::in_flight::InFlight;
use crate::listener::config::Overflow;
use crate::listener::replay::{ActiveReplay, Replay, ReplayKind};
use crate::listener::resync::negotiate;
use crate::listener::state::{ListenerState, Taken};

pub(super) type State = BTreeMap<Key, Arc<Object>>;

pub(super) const GROW: Overflow = Overflow::Grow {
    warn_at: NonZeroUsize::MAX,
};

/// The check period and the requested period: a resync is due whenever a second has passed.
const PERIOD: Duration = Duration::from_secs(1);

pub(super) struct Rig {
    pub(super) listener: ListenerState<Key, Object>,
    pub(super) source: Source,
    /// The state after each commit, the first one before any.
    pub(super) states: Vec<State>,
    commits: Vec<Option<Arc<News>>>,
    now: Instant,
    in_flight: InFlight<Key, Object>,
    replay: Option<ActiveReplay<Key, Object>>,
    pub(super) fold: Fold,
    pub(super) heard: Vec<News>,
    pub(super) delivered: u64,
}

impl Rig {
    pub(super) fn new(overflow: Overflow) -> Self {
        let now = a_moment();
        let terms = negotiate(Some(PERIOD), Some(PERIOD), true).terms;
        Self {
            listener: ListenerState::new(overflow, terms, now),
            source: Source::default(),
            states: vec![State::new()],
            commits: vec![None],
            now,
            in_flight: InFlight::default(),
            replay: None,
            fold: Fold::default(),
            heard: Vec::new(),
            delivered: 0,
        }
    }

    /// Commits; the news are distributed by `distribute`.
    pub(super) fn commit(&mut self, key: Key, act: Act) {
        let news = self.source.act(key, act).map(Arc::new);
        self.commits.push(news);
        self.states.push(self.source.state.clone());
    }

    /// The number of commits so far: the sequence of a snapshot taken now.
    pub(super) fn sequence(&self) -> u64 {
        self.states.len() as u64 - 1
    }

    /// What commit `sequence` told.
    pub(super) fn news(&self, sequence: u64) -> Option<&Arc<News>> {
        self.commits[usize::try_from(sequence).expect("small")].as_ref()
    }

    pub(super) fn distribute(&mut self, sequence: u64) {
        let batch: Vec<_> = self.news(sequence).cloned().into_iter().collect();
        let in_flight = self.in_flight.len();
        self.listener.push(
            (sequence, Batch::split(&batch).as_slice()),
            sequence,
            in_flight,
            &mut Vec::new(),
        );
    }

    /// Begins with the snapshot of `sequence`.
    pub(super) fn begin(&mut self, sequence: u64) {
        let state = self.states[usize::try_from(sequence).expect("small")].clone();
        let initial = state
            .into_iter()
            .map(|(key, object)| News::from(crate::Added::new(key, object).initial(true)));
        self.listener
            .begin(sequence, Replay::new(initial), sequence, &mut Vec::new());
    }

    /// A resync check one period later.
    pub(super) fn resync(&mut self) {
        self.now += PERIOD;
        let sequence = self.sequence();
        if self.listener.wants_resync(sequence, self.now) {
            let state = self.source.state.clone();
            let replay = Replay::new(
                state
                    .into_iter()
                    .map(|(key, object)| reminder(key, &object)),
            );
            assert!(
                self.listener.push_resync(replay, sequence).is_none(),
                "it was wanted"
            );
        }
    }

    /// A caller waits for everything distributed so far.
    pub(super) fn set_checkpoint(&mut self) -> u64 {
        self.listener.set_checkpoint(self.in_flight.len())
    }

    /// The consumer takes what is next, if it has nothing in hand.
    pub(super) fn take(&mut self, limit: usize) {
        if self.in_flight.first().is_none()
            && self.replay.is_none()
            && let Taken::Replay(replay) = self.listener.take(limit, &mut self.in_flight)
        {
            self.replay = Some(replay);
        }
    }

    /// The consumer handles one notification. False if it has none.
    pub(super) fn handle(&mut self) -> Result<bool, String> {
        if let Some(notification) = self.in_flight.first().cloned() {
            drop(self.in_flight.advance());
            self.hear(&notification)?;
            if notification.is_initial() {
                self.listener.tracker.finish(1);
            }
            return Ok(true);
        }
        let Some(replay) = &mut self.replay else {
            return Ok(false);
        };
        let kind = replay.kind;
        match replay.items.next() {
            None => {
                self.replay = None;
                drop(self.listener.replay_ended());
            }
            Some(news) => {
                if self.listener.admit_replayed(kind, news.key()) {
                    self.hear(&news)?;
                }
            }
        }
        Ok(true)
    }

    fn hear(&mut self, news: &News) -> Result<(), String> {
        self.fold.hear(news)?;
        self.heard.push(news.clone());
        self.delivered += 1;
        Ok(())
    }

    /// Handles everything.
    pub(super) fn settle(&mut self) -> Result<(), String> {
        loop {
            self.take(3);
            if !self.handle()? {
                return Ok(());
            }
        }
    }

    /// Whether the initial replay has been handled to its end.
    pub(super) fn has_initial_replay(&self) -> bool {
        self.listener.initial_unfinished
            || self
                .replay
                .as_ref()
                .is_some_and(|replay| replay.kind == ReplayKind::Initial)
    }

    /// RB-7, at every moment between two steps.
    pub(super) fn check_accounts(&self) -> Result<(), String> {
        let counts = self.listener.counts;
        let waits = (self.listener.depth() + self.in_flight.len()) as u64;
        let left = counts.received + counts.replayed;
        let right = self.delivered + waits + counts.coalesced + counts.abandoned;
        if left != right {
            return Err(format!(
                "RB-7: {left} came in, {right} accounted for: {counts:?}"
            ));
        }
        if (counts.high_water as u64) < waits {
            return Err("RB-7: the high-water mark is below the depth".to_owned());
        }
        Ok(())
    }

    /// RB-6, PR-6: everything was told.
    pub(super) fn check_final(&self) -> Result<(), String> {
        let expected: BTreeMap<_, _> = self
            .source
            .state
            .iter()
            .map(|(key, object)| (*key, **object))
            .collect();
        match self.fold.state == expected {
            true => Ok(()),
            false => Err(format!(
                "PR-6: {:?} instead of {expected:?}",
                self.fold.state
            )),
        }
    }
}

/// Some moment. The cores compare moments and never ask for one.
pub(super) fn a_moment() -> Instant {
    crate::sync::now()
}
