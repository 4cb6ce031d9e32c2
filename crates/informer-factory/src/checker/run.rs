//! Carries out what the plan asks for. A dull loop; it ends with its source.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use informer_kube_source::KubeListWatch;

use informer_reflector::{ListWatch, ResourceVersion};
use informer_store::{ObjectKey, Scope};
use metrics::counter;
use serde::de::IgnoredAny;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::ledger::Ledger;
use super::plan::{Ask, Input, Plan, Verdict};
use crate::consistency::{Check, CheckOutcome, Mismatch, OnMismatch};
use crate::core::{Core, Watcher};
use crate::source_entries::source_entries;
use crate::telemetry;

/// So many objects are written down before other tasks have their turn.
const TURN: usize = 4_096;

/// Checks one source for ever, if the informer was asked to. To be dropped when the source ends.
pub(crate) async fn run<T: Send + Sync + 'static>(
    core: Arc<Core<T>>,
    scope: Scope,
    queue: Watcher<T>,
    seed: u64,
) {
    let Some(checking) = &core.settings.checking else {
        return;
    };
    core.board.begin_checks(&scope);
    let checker = Checker {
        census: (checking.census)(&scope),
        repairs: checking.consistency.on_mismatch == OnMismatch::Repair,
        origin: Instant::now(),
        core: Arc::clone(&core),
        scope,
        queue,
        seed,
    };
    let mut plan = Plan::new(checking.consistency, checking.page_size, seed);
    let mut input = Input::Started;
    loop {
        let (verdict, ask) = plan.step(checker.origin.elapsed(), input);
        if let Some(verdict) = verdict {
            checker.tell(verdict);
        }
        input = checker.carry_out(ask).await;
    }
}

struct Checker<T: Send + Sync + 'static> {
    core: Arc<Core<T>>,
    scope: Scope,
    queue: Watcher<T>,
    census: KubeListWatch<IgnoredAny>,
    repairs: bool,
    origin: Instant,
    seed: u64,
}

impl<T: Send + Sync + 'static> Checker<T> {
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
            Ask::Confirm(suspects) => {
                let quarantined = self.quarantined();
                let store = self.core.reader.snapshot();
                let quarantined = |key: &ObjectKey| quarantined.contains(key);
                Input::Confirmed(suspects.confirm(&store, &self.scope, quarantined))
            }
            Ask::Repair => {
                self.core.sources.repair(&self.scope);
                Input::Repairing
            }
        }
    }

    fn at(&self, time: Duration) -> Instant {
        let far = Duration::from_secs(3600);
        let instant = self.origin.checked_add(time);
        instant.unwrap_or_else(|| Instant::now() + far)
    }

    /// What the store holds when it holds exactly what was received; `None` if following fails.
    async fn take(
        &self,
        other_than: Option<&ResourceVersion>,
    ) -> Option<(ResourceVersion, Ledger)> {
        let (store, version) = loop {
            let applied = self.core.board.applied.notified();
            let mut applied = std::pin::pin!(applied);
            applied.as_mut().enable();
            if !self.core.board.follows(&self.scope) {
                return None;
            }
            match self.core.exact_snapshot(&self.queue) {
                Some(taken) if other_than != Some(&taken.1) => break taken,
                _ => applied.await,
            }
        };
        let mut ledger = Ledger::new(self.seed, self.quarantined());
        for (count, (key, entry)) in source_entries(&store, &self.scope).enumerate() {
            ledger.write(key, entry);
            if count % TURN == TURN - 1 {
                tokio::task::yield_now().await;
            }
        }
        Some((version, ledger))
    }

    fn quarantined(&self) -> HashSet<ObjectKey> {
        self.core.quarantine.keys()
    }

    /// Writes what a check came to onto the board, into metrics, and, if it is bad, into the log.
    fn tell(&self, verdict: Verdict) {
        let (outcome, label) = match verdict {
            Verdict::Consistent(version) => (CheckOutcome::Consistent(version), "consistent"),
            Verdict::Mismatch(mismatch) => (CheckOutcome::Mismatch(mismatch), "mismatch"),
            Verdict::NotChecked(why) => (CheckOutcome::NotChecked(why), "not_checked"),
        };
        let informer = Arc::clone(&self.core.board.label);
        counter!(telemetry::CHECKS, "informer" => informer, "outcome" => label).increment(1);
        if let CheckOutcome::Mismatch(mismatch) = &outcome {
            self.warn(mismatch);
        }
        let check = Check {
            at: Instant::now(),
            outcome,
        };
        self.core.board.note_check(&self.scope, check, self.repairs);
    }

    fn warn(&self, mismatch: &Mismatch) {
        let Mismatch {
            version,
            missing,
            stale,
            extra,
            keys,
            rewound_to,
        } = mismatch;
        tracing::error!(
            informer = %self.core.name, %version, missing, stale, extra, ?keys, ?rewound_to,
            repaired = self.repairs, "the store is not what the server had at this version"
        );
    }
}
