//! What has to be true of every step, kept apart from what happens.
//!
//! Knows the history of the machine's requests and failures, computes from the spec what it may do
//! next, and panics with the id of the rule that was broken.

use std::{collections::BTreeSet, time::Duration};

use super::model::{Key, Server, Snapshot, number};
use crate::{
    Change, Demand, Effect, Epoch, Failure, FailureKind, Input, ListRequest, ListVersion, Machine,
    Phase, Report, ResourceVersion, WatchEvent, WatchRequest,
};

/// Whether an input is a failed attempt, which the machine has to report (RFX-13).
#[derive(Debug)]
pub(super) enum Expected {
    Fine,
    Failure(FailureKind),
    /// Old events on a fresh watch: a relist is right, and so is ignoring them.
    Either,
}

#[derive(Default)]
pub(super) struct Judge {
    /// What the sink holds, and of which branch of history.
    pub(super) held: Snapshot,
    pub(super) branch: usize,
    pub(super) received: Option<u64>,
    /// Branch and version of the list or stream being served.
    pub(super) served: (usize, u64),
    /// A version was refused, and nothing has succeeded since (RL-12).
    pub(super) refused: bool,
    repair: bool,
    too_big: bool,
    lists: Vec<Duration>,
    watches: Vec<Duration>,
    demands: usize,
    /// What failed since a watch last lived (RFX-8).
    spell: Spell,
    watch: Option<Open>,
}

/// Failures since a watch last lived.
#[derive(Default)]
struct Spell {
    since: Option<Duration>,
    /// The exponent of the next delay.
    grown: i32,
    /// History was lost, and listed for soon.
    history: bool,
    /// Credentials were refused, and read again soon.
    credentials: bool,
}

impl Spell {
    /// Twice the shortest delay that may follow, Retry-After and progress aside.
    fn longest(&mut self, kind: FailureKind, now: Duration) -> f64 {
        const BASE: f64 = 0.8;
        let clear = match kind {
            FailureKind::Expired | FailureKind::TooLarge => Some(&mut self.history),
            FailureKind::Unauthorized => Some(&mut self.credentials),
            _ => None,
        };
        if clear.is_some_and(|spent| !std::mem::replace(spent, true)) {
            return BASE;
        }
        let is_young = self
            .since
            .is_none_or(|since| now - since <= Duration::from_secs(6));
        let exponent = if is_young {
            self.grown.min(1)
        } else {
            self.grown
        };
        self.grown = exponent + 1;
        let cap = match kind {
            FailureKind::Forbidden | FailureKind::NotFound => 60.0,
            _ => 32.0,
        };
        (BASE * 2_f64.powi(exponent)).min(cap)
    }
}

/// The watch that is open.
struct Open {
    since: Duration,
    progress: bool,
    initial: bool,
}

impl Judge {
    pub(super) fn requests(&self) -> usize {
        self.lists.len() + self.watches.len()
    }

    pub(super) fn demanded(&mut self, demand: Demand, now: Duration) {
        self.demands += 1;
        if demand != Demand::Retry {
            self.note_health(now);
            self.watch = None;
            self.repair |= demand == Demand::Repair;
        }
    }

    /// RL-12, RL-19, PG-04.
    pub(super) fn list_refused(&mut self, request: &ListRequest, kind: FailureKind) {
        let restart = request.continue_token.is_some() && request.limit.is_some();
        self.refused |= request.version != ListVersion::Consistent
            && match kind {
                FailureKind::TooLarge => true,
                FailureKind::Expired => !restart,
                _ => false,
            };
        self.too_big |= kind == FailureKind::TooBig;
    }

    pub(super) fn watch_refused(&mut self, request: &WatchRequest, kind: FailureKind) {
        self.refused |= match kind {
            FailureKind::TooLarge => true,
            FailureKind::Expired => request.sends_initial_events(),
            _ => false,
        };
    }

    pub(super) fn opened(&mut self, request: &WatchRequest, since: Duration) {
        self.watch = Some(Open {
            since,
            progress: false,
            initial: request.sends_initial_events(),
        });
    }

    pub(super) fn expected_of(&self, event: &WatchEvent<()>, phase: Phase) -> Expected {
        let old = |version: &ResourceVersion| Some(number(version)) < self.received;
        match event {
            _ if phase == Phase::Streaming => Expected::Fine,
            WatchEvent::Added(item) | WatchEvent::Modified(item) if old(&item.identity.version) => {
                Expected::Either
            }
            WatchEvent::Bookmark { version, .. } if old(version) => Expected::Either,
            _ => Expected::Fine,
        }
    }

    pub(super) fn expected_of_end(
        &mut self,
        input: &Input<()>,
        streaming: bool,
        now: Duration,
    ) -> Expected {
        let open = self
            .watch
            .as_ref()
            .expect("a stream ends only if it was open");
        let lived = now - open.since;
        let kind = match input {
            Input::Event(Err(failure)) | Input::Event(Ok(WatchEvent::Error(failure))) => {
                failure.kind
            }
            Input::Panicked => FailureKind::Panicked,
            _ if streaming => FailureKind::Incomplete,
            _ if lived < Duration::from_secs(30) => FailureKind::ShortWatch,
            _ => {
                self.note_health(now);
                return Expected::Fine;
            }
        };
        self.refused |= match kind {
            FailureKind::TooLarge => true,
            FailureKind::Expired => streaming,
            _ => false,
        };
        Expected::Failure(kind)
    }

    /// RFX-8: only a watch that lived starts the delays over.
    fn note_health(&mut self, now: Duration) {
        let lived = |open: &Open| !open.initial && now - open.since >= Duration::from_secs(120);
        if self.watch.as_ref().is_some_and(lived) {
            self.spell = Spell::default();
        }
    }

    pub(super) fn step(
        &mut self,
        effects: &[Effect<()>],
        expected: &Expected,
        now: Duration,
        machine: &Machine<()>,
    ) {
        let failures: Vec<_> = effects.iter().filter_map(failed).collect();
        match (expected, &failures[..]) {
            (Expected::Fine, []) => {}
            (Expected::Failure(kind), [(failure, _)]) => assert_eq!(failure.kind, *kind),
            (Expected::Either, [] | [_]) => {}
            (expected, reported) => panic!("RFX-13: {expected:?} but {} reported", reported.len()),
        }
        if let [(failure, next_in)] = failures[..] {
            self.failed(failure, next_in, now, machine);
        }
        for effect in effects {
            match effect {
                Effect::List(request) => self.list(request, now),
                Effect::Watch(request) => self.watch(request, now),
                Effect::Abandon | Effect::Emit(_) | Effect::Report(_) => {}
            }
        }
    }

    /// RFX-9, as ADR 11 changes it.
    fn failed(
        &mut self,
        failure: &Failure,
        next_in: Duration,
        now: Duration,
        machine: &Machine<()>,
    ) {
        assert!(!failure.reason.is_empty(), "RFX-13: a cause");
        self.note_health(now);
        let progress = self.watch.take().is_some_and(|open| open.progress);
        if failure.reason == "ServerBehind" {
            self.refused = true;
        }
        self.spell.since.get_or_insert(now);
        if next_in.is_zero() {
            return;
        }
        assert_eq!(
            machine.deadline(),
            Some(now + next_in),
            "the delay that was told"
        );
        let longest = self.spell.longest(failure.kind, now);
        let asked = failure
            .retry_after
            .unwrap_or_default()
            .as_secs_f64()
            .min(60.0);
        let shortest = if progress {
            (longest / 2.0).min(5.0)
        } else {
            longest / 2.0
        };
        let delay = next_in.as_secs_f64();
        assert!(
            delay >= shortest.max(asked) - 1e-6,
            "RFX-9: {delay} of {longest}, {failure:?}"
        );
        assert!(
            delay <= longest.max(asked),
            "RFX-9: {delay} of {longest}, {failure:?}"
        );
    }

    fn list(&mut self, request: &ListRequest, now: Duration) {
        let resume = request.resume.as_ref().map(number);
        assert_eq!(resume, self.received, "reuse is judged by what we have");
        if request.continue_token.is_some() {
            return;
        }
        self.lists.push(now);
        let expected = if self.refused || self.repair {
            ListVersion::Consistent
        } else {
            match self.received {
                Some(received) => ListVersion::NotOlderThan(super::model::version(received)),
                None if self.too_big => ListVersion::Consistent,
                None => ListVersion::Any,
            }
        };
        assert_eq!(request.version, expected, "RFX-5: the version of a list");
        assert_eq!(request.reuse, !self.repair, "a repair reuses nothing");
    }

    fn watch(&mut self, request: &WatchRequest, now: Duration) {
        self.watches.push(now);
        self.watch = None;
        let expected = self
            .received
            .filter(|_| !(self.refused && request.sends_initial_events()));
        let asked = request.version.is_exact().then(|| number(&request.version));
        assert_eq!(
            asked, expected,
            "RFX-4: a watch starts where the last emission ended"
        );
        let seconds = request.timeout.as_secs();
        assert!(
            (240..=300).contains(&seconds) && request.timeout.subsec_nanos() == 0,
            "RL-02"
        );
    }

    pub(super) fn replaced(&mut self, held: Snapshot, branch: usize, at: u64, epoch: Epoch) {
        assert_eq!(
            epoch == Epoch::New,
            Some(at) < self.received,
            "RFX-15: an epoch begins"
        );
        self.held = held;
        self.branch = branch;
        self.received = Some(at);
        self.refused = false;
        self.repair = false;
        if let Some(open) = &mut self.watch {
            open.progress = true;
            open.initial = false;
        }
    }

    pub(super) fn changed(&mut self, change: Change, item: (Key, u64), received: u64) {
        let (key, version) = item;
        let held = self.held.get(&key).copied();
        match change {
            // What is older than the version received is a replay.
            Change::Added | Change::Modified if version == received => {
                self.held.insert(key, version);
            }
            Change::Added | Change::Modified => {}
            Change::Deleted => {
                if held.is_some_and(|held| held <= version) {
                    self.held.remove(&key);
                }
            }
        }
        self.advanced(received);
    }

    pub(super) fn advanced(&mut self, received: u64) {
        assert!(
            Some(received) >= self.received,
            "RFX-3: the resume version never goes back"
        );
        if let (Some(open), true) = (&mut self.watch, Some(received) > self.received) {
            open.progress = true;
        }
        self.received = Some(received);
    }

    /// RFX-2: for each key the sink holds the state at the version received, or a later one.
    pub(super) fn check_nothing_is_missing(&self, server: &Server) {
        let received = self.received.expect("something was received");
        let snapshot = server.snapshot(self.branch, received);
        let keys: BTreeSet<Key> = self.held.keys().chain(snapshot.keys()).copied().collect();
        for key in keys {
            let states = server.states_from(self.branch, received, key);
            let held = self.held.get(&key).copied();
            assert!(
                states.contains(&held),
                "RFX-2: {key} is {held:?} at {received}: {states:?}"
            );
        }
    }

    /// RFX-8 over the whole run, whatever the faults were.
    pub(super) fn finish(&self) {
        // Per healthy spell of 120 s: eight delays of the ramp; at once a reopening, a consistent
        // list, an unpaged list and the fallbacks from streams. Demands are the user's.
        let allowance = 3 * self.demands;
        assert!(
            most_in_an_hour(&self.lists) <= 260 + allowance,
            "RFX-8: lists"
        );
        assert!(
            most_in_an_hour(&self.watches) <= 760 + allowance,
            "RFX-8: watches"
        );
        let hot = |requests: &[Duration]| {
            let mut burst = requests.chunk_by(|a, b| a == b);
            burst.any(|burst| burst.len() > 6 + allowance)
        };
        assert!(
            !hot(&self.lists) && !hot(&self.watches),
            "RFX-8: a hot loop"
        );
    }
}

fn failed(effect: &Effect<()>) -> Option<(&Failure, Duration)> {
    match effect {
        Effect::Report(Report::Failed {
            failure, next_in, ..
        }) => Some((failure, *next_in)),
        _ => None,
    }
}

fn most_in_an_hour(times: &[Duration]) -> usize {
    let hour = Duration::from_secs(3600);
    let window = |(first, &start)| times[first..].partition_point(|&time| time < start + hour);
    times.iter().enumerate().map(window).max().unwrap_or(0)
}
