//! Carries out the requests of the plan in a loop, which ends with its source.

use std::sync::Arc;
use std::time::Duration;

use informer_kube_source::KubeListWatch;

use informer_reflector::{ListWatch, ResourceVersion};
use informer_store::Scope;
use metrics::counter;
use serde::de::IgnoredAny;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::Checking;
use super::ledger::Ledger;
use super::plan::{Ask, Input, Plan};
use crate::applying::applier::{Applier, Watcher};
use crate::applying::source_entries;
use crate::checker::consistency::{Check, CheckOutcome, Mismatch, OnMismatch};
use crate::status::telemetry;

/// The number of recorded objects after which other tasks run.
const TURN: usize = 4_096;

/// Checks one source until it is dropped, when the source ends; `repair` has everything fetched
/// anew.
pub(crate) async fn run<T: Send + Sync + 'static>(
    checking: Arc<Checking>,
    applier: Arc<Applier<T>>,
    scope: Scope,
    queue: Watcher<T>,
    seed: u64,
    repair: impl Fn() + Send + Sync,
) {
    applier.status.begin_checks(&scope);
    let checker = Checker {
        census: (checking.census)(&scope),
        repairs: checking.consistency.on_mismatch == OnMismatch::Repair,
        origin: Instant::now(),
        applier,
        scope,
        queue,
        seed,
        repair,
    };
    let mut plan = Plan::new(checking.consistency, checking.page_size, seed);
    let mut input = Input::Started;
    loop {
        let (outcome, ask) = plan.step(checker.origin.elapsed(), input);
        if let Some(outcome) = outcome {
            checker.publish(outcome);
        }
        input = checker.carry_out(ask).await;
    }
}

struct Checker<T: Send + Sync + 'static, R> {
    applier: Arc<Applier<T>>,
    scope: Scope,
    queue: Watcher<T>,
    census: KubeListWatch<IgnoredAny>,
    repairs: bool,
    origin: Instant,
    seed: u64,
    repair: R,
}

impl<T: Send + Sync + 'static, R: Fn() + Send + Sync> Checker<T, R> {
    async fn carry_out(&self, ask: Ask) -> Input {
        match ask {
            Ask::Sleep(until) => {
                sleep_until(self.at(until)).await;
                Input::Woke
            }
            Ask::Take { other_than, until } => {
                let taken = self.take(other_than.as_ref());
                let taken = timeout_at(self.at(until), taken).await;
                Input::Taken(taken.ok().flatten())
            }
            Ask::List(request) => Input::Page(self.census.list(request, Arc::new(())).await),
            Ask::Confirm(version, suspects) => {
                let (store, quarantined) = (
                    self.applier.reader.snapshot(),
                    self.applier.quarantine.keys(),
                );
                Input::Confirmed(suspects.confirm(version, &store, &self.scope, &quarantined))
            }
            Ask::Repair => {
                (self.repair)();
                Input::Repairing
            }
        }
    }

    fn at(&self, time: Duration) -> Instant {
        let far = || Instant::now() + Duration::from_secs(3600);
        self.origin.checked_add(time).unwrap_or_else(far)
    }

    /// What the store holds when it holds exactly what was received; `None` if following fails.
    async fn take(
        &self,
        other_than: Option<&ResourceVersion>,
    ) -> Option<(ResourceVersion, Ledger)> {
        let (store, version) = loop {
            let applied = self.applier.status.applied.notified();
            let mut applied = std::pin::pin!(applied);
            applied.as_mut().enable();
            if !self.applier.status.follows(&self.scope) {
                return None;
            }
            match self.applier.exact_snapshot(&self.queue) {
                Some(taken) if other_than != Some(&taken.1) => break taken,
                _ => applied.await,
            }
        };
        let mut ledger = Ledger::new(self.seed, self.applier.quarantine.keys());
        for (count, (key, entry)) in source_entries(&store, &self.scope).enumerate() {
            ledger.write(key, entry);
            if count % TURN == TURN - 1 {
                tokio::task::yield_now().await;
            }
        }
        Some((version, ledger))
    }

    /// Writes what a check came to onto the status, into metrics, and, if it is bad, into the log.
    fn publish(&self, outcome: CheckOutcome) {
        let label = match &outcome {
            CheckOutcome::Consistent(_) => "consistent",
            CheckOutcome::Mismatch(_) => "mismatch",
            CheckOutcome::NotChecked(_) => "not_checked",
        };
        let informer = Arc::clone(&self.applier.status.label);
        counter!(telemetry::CHECKS, "informer" => informer, "outcome" => label).increment(1);
        if let CheckOutcome::Mismatch(mismatch) = &outcome {
            self.warn(mismatch);
        }
        let check = Check {
            at: Instant::now(),
            outcome,
        };
        self.applier
            .status
            .note_check(&self.scope, check, self.repairs);
    }

    fn warn(&self, mismatch: &Mismatch) {
        let (informer, version) = (&self.applier.status.name, &mismatch.version);
        let (missing, stale, extra) = (mismatch.missing, mismatch.stale, mismatch.extra);
        tracing::error!(
            %informer, %version, missing, stale, extra, keys = ?mismatch.keys,
            rewound_to = ?mismatch.rewound_to, repaired = self.repairs,
            "the store is not what the server had at this version"
        );
    }
}
