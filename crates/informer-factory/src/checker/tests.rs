//! The ledger against a naive comparison, and the plan against every kind of answer.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;

use informer_reflector::{
    Body, Failure, FailureKind, Identity, Item, ListRequest, ListVersion, Page, ResourceVersion,
};
use informer_store::{Batch, Entry, ObjectKey, Scope, Snapshot};
use proptest::prelude::*;
use serde::de::IgnoredAny;
use tokio::runtime::Builder;
use tokio::time::{Instant, sleep};

use super::ledger::Ledger;
use super::plan::{Answer as PlanAnswer, Plan, Target};
use crate::applying::source_entries;
use crate::checker::consistency::{CheckOutcome, Consistency, Mismatch, NotChecked, OnMismatch};
use crate::planted::{self, Planted};

/// Name to uid and version, few of each so that they collide often.
type World = BTreeMap<u8, (u8, u8)>;

fn worlds() -> impl Strategy<Value = World> {
    proptest::collection::btree_map(0..6_u8, (0..2_u8, 0..3_u8), 0..6)
}

fn key(name: u8) -> ObjectKey {
    ObjectKey::new(Some("default"), &format!("o{name}")).expect("a good name")
}

fn store(world: &World) -> Snapshot<u8> {
    let (mut writer, reader) = informer_store::store();
    let mut batch = Batch::new();
    for (&name, (uid, version)) in world {
        let entry = Entry::new(name, uid.to_string(), version.to_string());
        batch.upsert(key(name), entry);
    }
    // Another source's, which concerns nobody here.
    let other = ObjectKey::new(Some("other"), "o1").expect("a good name");
    batch.upsert(other, Entry::new(0, "0", "0"));
    writer.commit(batch);
    reader.snapshot()
}

fn identity(name: u8, (uid, version): (u8, u8)) -> Identity {
    let key = ObjectKey::new(Some("default"), &format!("o{name}")).expect("well formed");
    Identity::new(key, uid.to_string(), u64::from(version))
}

fn scope() -> Scope {
    Scope::Namespace("default".into())
}

fn ledger(held: &World, quarantined: &BTreeSet<u8>) -> Ledger {
    let quarantined: HashSet<_> = quarantined.iter().copied().map(key).collect();
    let mut ledger = Ledger::new(11, quarantined);
    for (key, entry) in source_entries(&store(held), &scope()) {
        ledger.write(key, entry);
    }
    ledger.complete();
    ledger
}

/// What the ledger says of a store, a list, and the store when the list was complete.
fn compared(
    held: &World,
    listed: &World,
    now: &World,
    quarantined: &BTreeSet<u8>,
) -> Option<Mismatch> {
    let mut ledger = ledger(held, quarantined);
    for (&name, &state) in listed {
        ledger.compare(&identity(name, state));
    }
    let version = ResourceVersion::from(1);
    ledger.confirm(&version, &store(now), &scope(), &HashSet::new())
}

/// The same without hashes: a difference is a key that the store holds as it did, both times
/// otherwise than the list.
fn naive(
    held: &World,
    listed: &World,
    now: &World,
    quarantined: &BTreeSet<u8>,
) -> (usize, usize, usize) {
    let names: BTreeSet<u8> = held.keys().chain(listed.keys()).copied().collect();
    let mut counts = (0, 0, 0);
    for name in names {
        let (held, listed) = (held.get(&name), listed.get(&name));
        if quarantined.contains(&name) || held == listed || now.get(&name) != held {
            continue;
        }
        match (held, listed) {
            (None, _) => counts.0 += 1,
            (Some(_), Some(_)) => counts.1 += 1,
            (Some(_), None) => counts.2 += 1,
        }
    }
    counts
}

fn agrees(held: &World, listed: &World, now: &World, quarantined: &BTreeSet<u8>) -> bool {
    let difference = compared(held, listed, now, quarantined);
    let counts = difference.as_ref().map_or((0, 0, 0), |difference| {
        (difference.missing, difference.stale, difference.extra)
    });
    let named = difference.map_or(0, |difference| difference.keys.len());
    counts == naive(held, listed, now, quarantined)
        && named == (counts.0 + counts.1 + counts.2).min(5)
}

proptest! {
    /// FM-40: exactly what differs and is no passing matter is found.
    #[test]
    fn the_ledger_finds_what_a_naive_comparison_finds(
        held in worlds(),
        listed in worlds(),
        now in worlds(),
        is_still in any::<bool>(),
        quarantined in proptest::collection::btree_set(0..6_u8, 0..3),
    ) {
        let now = if is_still { held.clone() } else { now };
        prop_assert!(agrees(&held, &listed, &now, &quarantined));
    }
}

/// The comparison above can fail: one example for each thing that could be forgotten.
#[test]
fn planted_bugs_of_the_ledger_are_found() {
    let world = |states: &[(u8, (u8, u8))]| states.iter().copied().collect::<World>();
    let (none, one) = (BTreeSet::new(), BTreeSet::from([1]));
    let old = world(&[(1, (0, 1))]);
    let new = world(&[(1, (0, 2))]);
    let reborn = world(&[(1, (1, 1))]);
    let gone = world(&[]);
    for (bug, held, listed, now, quarantined) in [
        (Planted::QuarantineCompared, &old, &new, &old, &one),
        (Planted::PassingMatterCounts, &old, &new, &new, &none),
        (Planted::ExtraOverlooked, &old, &gone, &old, &none),
        (Planted::UidOverlooked, &old, &reborn, &old, &none),
    ] {
        let holds = || agrees(held, listed, now, quarantined);
        assert!(holds(), "{bug:?}");
        assert!(!planted::with(bug, holds), "{bug:?} was not found");
    }
}

/// How the server answers a request of the plan.
#[derive(Clone, Copy, Debug)]
enum Answer {
    /// With the list, in pages of one item.
    Truth,
    /// With the state at another version.
    Inexact,
    Fails(FailureKind),
    /// With a token that never ends.
    Endless,
}

fn answers() -> impl Strategy<Value = Answer> {
    prop_oneof![
        6 => Just(Answer::Truth),
        1 => Just(Answer::Inexact),
        1 => Just(Answer::Endless),
        1 => Just(Answer::Fails(FailureKind::Forbidden)),
        2 => Just(Answer::Fails(FailureKind::Expired)),
        1 => Just(Answer::Fails(FailureKind::TooLarge)),
        1 => Just(Answer::Fails(FailureKind::Internal)),
    ]
}

/// One check: how the server answers, whether the store can be taken, what differs, delays.
#[derive(Clone, Debug, Default)]
struct Round {
    answers: Vec<Answer>,
    is_busy: bool,
    held: World,
    listed: World,
    /// By how much the server's version is behind ours.
    behind: u64,
    /// How long each page takes, in seconds.
    slow: u64,
}

fn rounds() -> impl Strategy<Value = Vec<Round>> {
    let round = (
        proptest::collection::vec(answers(), 1..8),
        proptest::bool::weighted(0.1),
        worlds(),
        worlds(),
        prop_oneof![3 => Just(0), 1 => 1..3_u64],
        0..40_u64,
    );
    let round = round.prop_map(|(answers, is_busy, held, listed, behind, slow)| Round {
        answers,
        is_busy,
        held,
        listed,
        behind,
        slow,
    });
    proptest::collection::vec(round, 1..12)
}

fn page(version: u64, item: Option<(u8, (u8, u8))>, token: Option<String>) -> Page<IgnoredAny> {
    let item = item.map(|(name, state)| {
        let body = Body::Decoded(Arc::new(IgnoredAny));
        Item::new(identity(name, state), body)
    });
    Page::new(item.into_iter().collect(), version).continued(token.map(Into::into))
}

/// Plays the server and the store of a plan, and records what it does.
struct Game {
    /// Exact lists begun in this check.
    lists: usize,
    version: u64,
    round: Round,
    answered: usize,
    /// The outcomes of this check, and whether a repair was to follow.
    verdicts: Vec<(CheckOutcome, bool)>,
    repaired: bool,
}

impl Target for Game {
    async fn take(
        &mut self,
        other_than: Option<&ResourceVersion>,
    ) -> Option<(ResourceVersion, Ledger)> {
        if other_than == Some(&self.version.into()) {
            self.version += 1;
        }
        if self.round.is_busy {
            std::future::pending::<()>().await;
        }
        let ledger = ledger(&self.round.held, &BTreeSet::new());
        Some((self.version.into(), ledger))
    }

    async fn list(&mut self, request: ListRequest) -> PlanAnswer {
        sleep(Duration::from_secs(self.round.slow)).await;
        if request.version == ListVersion::Consistent {
            assert_eq!(request.limit, Some(1), "a probe is small");
            return Ok(page(self.version - self.round.behind, None, None));
        }
        let ours = ListVersion::Exact(self.version.into());
        assert_eq!(request.version, ours, "the version of the ledger");
        let token = request.continue_token.as_deref();
        let offset = token.map(|token| token.parse::<usize>().expect("one of ours"));
        if offset.is_none() {
            self.lists += 1;
            assert!(self.lists <= 2, "two lists in a check at most");
        }
        let answer = self.round.answers[self.answered % self.round.answers.len()];
        self.answered += 1;
        let offset = offset.unwrap_or(0);
        let item = self.round.listed.iter().nth(offset);
        let item = item.map(|(&name, &state)| (name, state));
        let more = offset + 1 < self.round.listed.len();
        match answer {
            Answer::Truth => {
                let token = more.then(|| (offset + 1).to_string());
                Ok(page(self.version, item, token))
            }
            Answer::Inexact => Ok(page(self.version + 7, item, None)),
            Answer::Endless => {
                // No page takes no time, or the list would be endless indeed.
                sleep(Duration::from_secs(1)).await;
                Ok(page(self.version, item, Some((offset + 1).to_string())))
            }
            Answer::Fails(kind) => Err(Failure::new(kind, "Scripted", "")),
        }
    }

    fn confirm(&mut self, version: &ResourceVersion, compared: Ledger) -> Option<Mismatch> {
        let store = store(&self.round.held);
        compared.confirm(version, &store, &scope(), &HashSet::new())
    }

    fn publish(&mut self, outcome: CheckOutcome, repairs: bool) {
        self.judge(&outcome);
        self.verdicts.push((outcome, repairs));
    }

    fn repair(&mut self) {
        self.repaired = true;
    }
}

impl Game {
    fn new(round: Round) -> Self {
        Self {
            lists: 0,
            version: 10,
            round,
            answered: 0,
            verdicts: Vec::new(),
            repaired: false,
        }
    }

    /// What a verdict must be true of.
    fn judge(&self, verdict: &CheckOutcome) {
        let round = &self.round;
        let differs = naive(&round.held, &round.listed, &round.held, &BTreeSet::new());
        match verdict {
            CheckOutcome::Consistent(_) => assert_eq!(differs, (0, 0, 0)),
            CheckOutcome::Mismatch(mismatch) if mismatch.rewound_to.is_some() => {
                assert!(round.behind > 0);
            }
            CheckOutcome::Mismatch(mismatch) => {
                let counts = (mismatch.missing, mismatch.stale, mismatch.extra);
                assert_eq!(counts, differs);
                assert_ne!(counts, (0, 0, 0));
            }
            CheckOutcome::NotChecked(NotChecked::Busy) => assert!(round.is_busy),
            CheckOutcome::NotChecked(_) => {
                let is_lie = |answer: &Answer| !matches!(answer, Answer::Truth);
                let is_lied_to = round.answers.iter().any(is_lie);
                assert!(is_lied_to || round.is_busy || round.slow > 0);
            }
        }
    }
}

fn play(rounds: Vec<Round>, on_mismatch: OnMismatch, seed: u64) {
    let mut runtime = Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build();
    runtime.expect("a runtime").block_on(async {
        let period = Duration::from_secs(300);
        let consistency = Consistency::every(period).on_mismatch(on_mismatch);
        let mut plan = Plan::new(Game::new(rounds[0].clone()), consistency, 1, seed);
        // When the last check began; the start counts as one.
        let mut began = Instant::now();
        for round in rounds {
            // A check that lasts longer than a period is followed by the next immediately.
            assert!(plan.next <= began + period, "RFX-16");
            plan.rest().await;
            let version = plan.target.version + 1;
            plan.target = Game {
                version,
                answered: plan.target.answered,
                ..Game::new(round)
            };
            began = Instant::now();
            plan.check().await;
            let game = &plan.target;
            let last = match &*game.verdicts {
                [(CheckOutcome::NotChecked(NotChecked::Expired), false), last] | [last] => last,
                others => panic!("one verdict for each check: {others:?}"),
            };
            let found = matches!(last.0, CheckOutcome::Mismatch(_));
            let repairs = found && on_mismatch == OnMismatch::Repair;
            assert_eq!((last.1, game.repaired), (repairs, repairs));
            assert!(plan.next <= began + period, "RFX-16");
            assert!(
                plan.next >= began + period.mul_f64(0.9),
                "no more often than asked for"
            );
        }
    });
}

proptest! {
    /// RFX-16, R1: verdicts are true, checks are bounded, and one follows another in time.
    #[test]
    fn every_answer_leads_to_a_true_verdict_and_to_the_next_check(
        rounds in rounds(),
        repair in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let on_mismatch = if repair { OnMismatch::Repair } else { OnMismatch::Report };
        play(rounds, on_mismatch, seed);
    }
}

/// Informers that start together do not check together.
#[test]
fn checks_are_spread_over_the_period() {
    let period = Duration::from_secs(300);
    let first = |seed| {
        let before = Instant::now();
        let game = Game::new(Round::default());
        let plan = Plan::new(game, Consistency::every(period), 500, seed);
        plan.next - before
    };
    let mut tenths = [0; 10];
    for seed in 0..1_000 {
        let at = first(seed);
        assert!(at < period);
        tenths[(at.as_secs() / 30) as usize] += 1;
    }
    assert!(tenths.iter().all(|&count| count > 50), "{tenths:?}");
}
