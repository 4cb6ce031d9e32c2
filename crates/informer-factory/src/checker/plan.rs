//! When to check, what to ask for, and what an answer means, as a pure machine.
//!
//! The plan requests one thing at a time, so a loop can carry it out. Time counts from an arbitrary
//! origin.

// - RFX-16: from one check to the next it is never longer than a period, the first included.
// - Bounded: a period has one check, of two lists at most: a second one where the server has
//   compacted the first one's version. A check that a period does not suffice for is given up.
// - A version that the server does not know is either a lagging replica's or a rewound server's;
//   one small consistent read tells which (FM-39).

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::time::Duration;

use informer_reflector::{Failure, FailureKind, ListRequest, ListVersion, Page, ResourceVersion};
use serde::de::IgnoredAny;

use super::ledger::{Comparison, Ledger, Suspects};
use crate::checker::consistency::{CheckOutcome, Consistency, Mismatch, NotChecked, OnMismatch};

/// The shortest time limit of a list, however short the period is.
const PATIENCE: Duration = Duration::from_secs(60);

/// The next thing to do.
#[derive(Debug)]
pub(crate) enum Ask {
    /// Wait until then.
    Sleep(Duration),
    /// Write down what the store holds at a moment when nothing waits for it, of a version other
    /// than this one. Nothing, if there was no such moment until then.
    Take {
        other_than: Option<ResourceVersion>,
        until: Duration,
    },
    /// Fetch a page.
    List(ListRequest),
    /// Look again at what differed.
    Confirm(ResourceVersion, Suspects),
    /// Have everything fetched anew.
    Repair,
}

/// The answer to it.
#[derive(Debug)]
pub(crate) enum Input {
    Started,
    Woke,
    Taken(Option<(ResourceVersion, Ledger)>),
    Page(Answer),
    Confirmed(Option<Mismatch>),
    Repairing,
}

/// The answer to a list.
type Answer = Result<Page<IgnoredAny>, Failure>;

/// The outcome of a check, if it ended, and the next thing to do.
type Step = (Option<CheckOutcome>, Ask);

/// Where a check is.
#[derive(Debug)]
enum State {
    /// Between two checks, or about to take down what the store holds.
    Resting,
    Listing(Box<Listing>),
    /// Asking for the server's newest version.
    Probing {
        ours: ResourceVersion,
        why: Failure,
    },
    Confirming(ResourceVersion),
}

#[derive(Debug)]
struct Listing {
    version: ResourceVersion,
    request: ListRequest,
    comparison: Comparison,
    deadline: Duration,
}

/// The plan of the checks of one source.
#[derive(Debug)]
pub(crate) struct Plan {
    consistency: Consistency,
    page_size: u32,
    seed: u64,
    /// How much chance was used.
    draws: u64,
    state: State,
    /// When the next check begins.
    next: Duration,
    /// Whether this check may still try another version.
    may_retry: bool,
    /// The version that the server has compacted.
    expired: Option<ResourceVersion>,
}

impl Plan {
    pub(crate) fn new(consistency: Consistency, page_size: u32, seed: u64) -> Self {
        Self {
            consistency,
            page_size,
            seed,
            draws: 0,
            state: State::Resting,
            next: Duration::ZERO,
            may_retry: false,
            expired: None,
        }
    }

    /// Takes an answer, and says what a check came to, if it ended, and what to do next.
    pub(crate) fn step(&mut self, now: Duration, input: Input) -> Step {
        let state = std::mem::replace(&mut self.state, State::Resting);
        match (input, state) {
            (Input::Started, _) => {
                // Anywhere within the first period: informers that start together spread.
                let first = self.consistency.period.mul_f64(self.chance());
                self.next = now.saturating_add(first);
                (None, self.rest())
            }
            (Input::Woke, _) => self.begin(now),
            (Input::Taken(Some((version, ledger))), _) => self.list(now, version, ledger),
            (Input::Page(page), State::Listing(listing)) => self.page(now, *listing, page),
            (Input::Page(page), State::Probing { ours, why }) => self.probed(ours, why, page),
            (Input::Confirmed(None), State::Confirming(version)) => {
                self.end(CheckOutcome::Consistent(version))
            }
            (Input::Confirmed(Some(mismatch)), State::Confirming(_)) => self.mismatch(mismatch),
            // The outcome of this check, a compacted version, was reported.
            (Input::Taken(None), _) if !self.may_retry => (None, self.rest()),
            (Input::Taken(None), _) => self.not_checked(match self.expired {
                Some(_) => NotChecked::Expired,
                None => NotChecked::Busy,
            }),
            (Input::Repairing | Input::Page(_) | Input::Confirmed(_), _) => (None, self.rest()),
        }
    }

    fn begin(&mut self, now: Duration) -> Step {
        // Never longer than a period; a little shorter by chance, so that none stay in step.
        let period = self.consistency.period;
        self.next = now.saturating_add(period.mul_f64(0.9 + 0.1 * self.chance()));
        self.may_retry = true;
        (None, self.take())
    }

    fn take(&self) -> Ask {
        Ask::Take {
            other_than: self.expired.clone(),
            until: self.next,
        }
    }

    fn list(&mut self, now: Duration, version: ResourceVersion, ledger: Ledger) -> Step {
        self.expired = None;
        let request = first_page(ListVersion::Exact(version.clone()), self.page_size);
        self.state = State::Listing(Box::new(Listing {
            version,
            request: request.clone(),
            comparison: ledger.compare(),
            deadline: now.saturating_add(self.consistency.period.max(PATIENCE)),
        }));
        (None, Ask::List(request))
    }

    fn page(&mut self, now: Duration, mut listing: Listing, page: Answer) -> Step {
        let page = match page {
            Ok(page) => page,
            Err(failure) => return self.failed(listing.version, failure),
        };
        if page.version != listing.version {
            return self.not_checked(NotChecked::Inexact);
        }
        for item in &page.items {
            listing.comparison.take(&item.identity);
        }
        if page.continue_token.is_some() {
            if now > listing.deadline || page.continue_token == listing.request.continue_token {
                let message = "the list did not end in time";
                let failure = Failure::new(FailureKind::TimedOut, "EndlessList", message);
                return self.not_checked(NotChecked::Failed(failure));
            }
            listing.request.continue_token = page.continue_token;
            let request = listing.request.clone();
            self.state = State::Listing(Box::new(listing));
            return (None, Ask::List(request));
        }
        let suspects = listing.comparison.finish();
        if suspects.is_empty() {
            return self.end(CheckOutcome::Consistent(listing.version));
        }
        self.state = State::Confirming(listing.version.clone());
        (None, Ask::Confirm(listing.version, suspects))
    }

    fn failed(&mut self, version: ResourceVersion, failure: Failure) -> Step {
        match failure.kind {
            FailureKind::Expired => {
                self.expired = Some(version);
                let verdict = Some(CheckOutcome::NotChecked(NotChecked::Expired));
                let again = std::mem::take(&mut self.may_retry);
                (verdict, if again { self.take() } else { self.rest() })
            }
            // What etcd says of a version to come arrives as an internal error.
            FailureKind::TooLarge | FailureKind::Internal => {
                let (ours, why) = (version, failure);
                self.state = State::Probing { ours, why };
                (None, Ask::List(first_page(ListVersion::Consistent, 1)))
            }
            _ => self.not_checked(NotChecked::Failed(failure)),
        }
    }

    fn probed(&mut self, ours: ResourceVersion, why: Failure, page: Answer) -> Step {
        match page {
            Ok(page) if page.version.is_older_than(&ours) => self.mismatch(Mismatch {
                rewound_to: Some(page.version),
                ..Mismatch::none(ours)
            }),
            _ => self.not_checked(NotChecked::Failed(why)),
        }
    }

    fn mismatch(&mut self, mismatch: Mismatch) -> Step {
        let ask = match self.consistency.on_mismatch {
            OnMismatch::Repair => Ask::Repair,
            OnMismatch::Report => self.rest(),
        };
        (Some(CheckOutcome::Mismatch(mismatch)), ask)
    }

    fn end(&self, verdict: CheckOutcome) -> Step {
        (Some(verdict), self.rest())
    }

    fn not_checked(&self, why: NotChecked) -> Step {
        self.end(CheckOutcome::NotChecked(why))
    }

    fn rest(&self) -> Ask {
        Ask::Sleep(self.next)
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
    ListRequest {
        version,
        limit: Some(limit),
        continue_token: None,
        resume: None,
        reuse: false,
    }
}
