//! Runs the checks of one source in a loop, which ends with its source.

use std::sync::Arc;

use informer_kube_source::KubeListWatch;
use informer_reflector::{ListRequest, ListWatch, ResourceVersion};
use informer_store::Scope;
use metrics::counter;
use serde::de::IgnoredAny;

use super::Checking;
use super::ledger::Ledger;
use super::plan::{Answer, Plan, Target};
use crate::applying::applier::{Applier, ProgressObserver};
use crate::applying::source_entries;
use crate::checker::consistency::{Check, CheckOutcome, Mismatch};
use crate::status::telemetry;
use crate::sync::now;

/// The number of recorded objects after which other tasks run.
const TURN: usize = 4_096;

/// Checks one source until it is dropped, when the source ends; `repair` has everything fetched
/// anew.
pub(crate) async fn run<T: Send + Sync + 'static>(
    checking: Arc<Checking>,
    applier: Arc<Applier<T>>,
    scope: Scope,
    queue: ProgressObserver<T>,
    seed: u64,
    repair: impl Fn() + Send + Sync,
) {
    applier.status.begin_checks(&scope);
    let checked = Checked {
        census: (checking.census)(&scope),
        applier,
        scope,
        queue,
        seed,
        repair,
    };
    let mut plan = Plan::new(checked, checking.consistency, checking.page_size, seed);
    loop {
        plan.rest().await;
        plan.check().await;
    }
}

/// One source of an informer, and the server's list of it.
struct Checked<T: Send + Sync + 'static, R> {
    applier: Arc<Applier<T>>,
    scope: Scope,
    queue: ProgressObserver<T>,
    census: KubeListWatch<IgnoredAny>,
    seed: u64,
    repair: R,
}

impl<T: Send + Sync + 'static, R: Fn() + Send + Sync> Target for Checked<T, R> {
    async fn take(
        &mut self,
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
        ledger.complete();
        Some((version, ledger))
    }

    async fn list(&mut self, request: ListRequest) -> Answer {
        self.census.list(request, Arc::new(())).await
    }

    fn confirm(&mut self, version: &ResourceVersion, compared: Ledger) -> Option<Mismatch> {
        let store = self.applier.reader.snapshot();
        let quarantined = self.applier.quarantine.keys();
        compared.confirm(version, &store, &self.scope, &quarantined)
    }

    fn publish(&mut self, outcome: CheckOutcome, repairs: bool) {
        let status = &self.applier.status;
        let label = match &outcome {
            CheckOutcome::Consistent(_) => "consistent",
            CheckOutcome::Mismatch(_) => "mismatch",
            CheckOutcome::NotChecked(_) => "not_checked",
        };
        let informer = Arc::clone(&status.label);
        counter!(telemetry::CHECKS, "informer" => informer, "outcome" => label).increment(1);
        if let CheckOutcome::Mismatch(mismatch) = &outcome {
            let (informer, version) = (&status.name, &mismatch.version);
            let (missing, stale, extra) = (mismatch.missing, mismatch.stale, mismatch.extra);
            tracing::error!(
                %informer, %version, missing, stale, extra, keys = ?mismatch.keys,
                rewound_to = ?mismatch.rewound_to, repaired = repairs,
                "the store is not what the server had at this version"
            );
        }
        let at = now();
        status.note_check(&self.scope, Check { at, outcome }, repairs);
    }

    fn repair(&mut self) {
        (self.repair)();
    }
}
