//! When to check, what to fetch, and what the answers mean.
//!
//! - The time from one check to the next is at most one period, and so is the time to the first.
//! - Bounded: a period has one check, of two lists at most: a second one where the server has
//!   compacted the first one's version. A check that a period does not suffice for is given up.
//! - A version that the server does not know is either a lagging replica's or a rewound server's;
//!   one small consistent read shows which.

// RFX-16, FM-39

use std::future::Future;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::time::Duration;

use informer_reflector::{Failure, FailureKind, ListRequest, ListVersion, Page, ResourceVersion};
use serde::de::IgnoredAny;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::ledger::Ledger;
use crate::checker::consistency::{CheckOutcome, Consistency, Mismatch, NotChecked, OnMismatch};

/// The shortest time limit of a list, however short the period is.
const PATIENCE: Duration = Duration::from_secs(60);

/// The store and the server that are compared. Tests script both.
pub(crate) trait Target: Send {
    /// Writes down what the store holds at a moment when nothing waits for it, of a version other
    /// than `other_than`. Waits for such a moment; `None` if the source fails.
    fn take(
        &mut self,
        other_than: Option<&ResourceVersion>,
    ) -> impl Future<Output = Option<(ResourceVersion, Ledger)>> + Send;

    /// Fetches one page of the server's list.
    fn list(&mut self, request: ListRequest) -> impl Future<Output = Answer> + Send;

    /// Looks again at what differed when the list was complete.
    fn confirm(&mut self, version: &ResourceVersion, compared: Ledger) -> Option<Mismatch>;

    /// Reports the outcome of a check, and whether a repair follows.
    fn publish(&mut self, outcome: CheckOutcome, repairs: bool);

    /// Has everything fetched anew.
    fn repair(&mut self);
}

/// The answer to a list.
pub(crate) type Answer = Result<Page<IgnoredAny>, Failure>;

/// The checks of one source.
pub(crate) struct Plan<C> {
    pub(super) target: C,
    consistency: Consistency,
    page_size: u32,
    seed: u64,
    /// How much chance was used.
    draws: u64,
    /// When the next check begins.
    pub(super) next: Instant,
    /// The version that the server has compacted.
    expired: Option<ResourceVersion>,
}

impl<C: Target> Plan<C> {
    pub(crate) fn new(target: C, consistency: Consistency, page_size: u32, seed: u64) -> Self {
        let mut plan = Self {
            target,
            consistency,
            page_size,
            seed,
            draws: 0,
            next: Instant::now(),
            expired: None,
        };
        // Anywhere within the first period: informers that start together spread.
        let first = consistency.period.mul_f64(plan.chance());
        plan.next += first;
        plan
    }

    /// Waits until the next check begins.
    pub(crate) async fn rest(&self) {
        sleep_until(self.next).await;
    }

    /// Checks once.
    pub(crate) async fn check(&mut self) {
        // Never longer than a period; a little shorter by chance, so that none stay in step.
        let pause = self.consistency.period.mul_f64(0.9 + 0.1 * self.chance());
        self.next = Instant::now() + pause;
        for is_retry in [false, true] {
            let taking = self.target.take(self.expired.as_ref());
            let taken = timeout_at(self.next, taking).await;
            let Some((version, ledger)) = taken.ok().flatten() else {
                let why = match self.expired {
                    Some(_) => NotChecked::Expired,
                    None => NotChecked::Busy,
                };
                // The first list has reported the outcome of this check, a compacted version.
                if !is_retry {
                    self.target.publish(CheckOutcome::NotChecked(why), false);
                }
                return;
            };
            let compared = self.compare(&version, ledger).await;
            self.expired = (compared == Err(NotChecked::Expired)).then(|| version.clone());
            let repairs = matches!(compared, Ok(Some(_)))
                && self.consistency.on_mismatch == OnMismatch::Repair;
            let outcome = match compared {
                Ok(None) => CheckOutcome::Consistent(version),
                Ok(Some(mismatch)) => CheckOutcome::Mismatch(mismatch),
                Err(why) => CheckOutcome::NotChecked(why),
            };
            self.target.publish(outcome, repairs);
            if repairs {
                self.target.repair();
            }
            if self.expired.is_none() {
                return;
            }
        }
    }

    /// Compares the store with the server's list of the same version.
    async fn compare(
        &mut self,
        version: &ResourceVersion,
        mut ledger: Ledger,
    ) -> Result<Option<Mismatch>, NotChecked> {
        let deadline = Instant::now() + self.consistency.period.max(PATIENCE);
        let mut request = first_page(ListVersion::Exact(version.clone()), self.page_size);
        loop {
            let page = match self.target.list(request.clone()).await {
                Ok(page) => page,
                Err(failure) => return self.probe(version, failure).await.map(Some),
            };
            if page.version != *version {
                return Err(NotChecked::Inexact);
            }
            for item in &page.items {
                ledger.compare(&item.identity);
            }
            if page.continue_token.is_none() {
                return Ok(self.target.confirm(version, ledger));
            }
            if Instant::now() > deadline || page.continue_token == request.continue_token {
                let message = "the list did not end in time";
                let failure = Failure::new(FailureKind::TimedOut, "EndlessList", message);
                return Err(NotChecked::Failed(failure));
            }
            request.continue_token = page.continue_token;
        }
    }

    /// Finds out whether a list failed because the server's history was rewound: its newest version
    /// is then older than `ours`.
    async fn probe(
        &mut self,
        ours: &ResourceVersion,
        failure: Failure,
    ) -> Result<Mismatch, NotChecked> {
        match failure.kind {
            FailureKind::Expired => return Err(NotChecked::Expired),
            // etcd reports a future version as an internal error.
            FailureKind::TooLarge | FailureKind::Internal => {}
            _ => return Err(NotChecked::Failed(failure)),
        }
        match self
            .target
            .list(first_page(ListVersion::Consistent, 1))
            .await
        {
            Ok(page) if page.version.is_older_than(ours) => Ok(Mismatch {
                rewound_to: Some(page.version),
                ..Mismatch::none(ours.clone())
            }),
            _ => Err(NotChecked::Failed(failure)),
        }
    }

    /// A number in `[0, 1)`.
    fn chance(&mut self) -> f64 {
        self.draws += 1;
        let hashing = BuildHasherDefault::<DefaultHasher>::default();
        let hash = hashing.hash_one((self.seed, self.draws));
        (hash >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The request for the first page of a list, with at most `limit` items, none of which is cached.
fn first_page(version: ListVersion, limit: u32) -> ListRequest {
    ListRequest::new(version).limit(limit)
}
