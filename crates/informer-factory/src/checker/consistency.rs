//! Asking for the consistency checker, and what it found.

// FM-40, RFX-16, R10

use std::time::{Duration, Instant};

use informer_reflector::{Failure, ResourceVersion};
use informer_store::ObjectKey;

/// How often the store is compared with the server, and what a difference leads to.
///
/// A check lists the metadata of the collection at exactly the version of the store, page by page,
/// and compares uid and version of every object. It finds what no watch can show: an event that the
/// server lost for good, a bookmark ahead of events that never came, a history that
/// was rewound unnoticed. Each source of an informer is checked by itself.
///
/// It costs the server one list of the collection in each period, in pages of the reflector's
/// `usual_page_size`, and never two checks at a time. Five minutes suit a production cluster.
///
/// It cannot find a state that the server reports wrongly in watches and lists alike, or an
/// object of the same uid and version with another content.
///
/// ```
/// use std::time::Duration;
/// use informer_factory::{Consistency, InformerOptions, OnMismatch};
/// use k8s_openapi::api::core::v1::Secret;
///
/// let check = Consistency::every(Duration::from_secs(300)).on_mismatch(OnMismatch::Report);
/// let options = InformerOptions::<Secret>::new().check_consistency(check);
/// # let _ = options;
/// ```
// FM-40, FM-24, FM-39
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Consistency {
    pub(crate) period: Duration,
    pub(crate) on_mismatch: OnMismatch,
}

/// The reaction to a confirmed difference, which is always reported in status, log and metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnMismatch {
    /// The whole collection is fetched anew, from the most recent state and reusing nothing; once
    /// in each period at most.
    #[default]
    Repair,
    /// Nothing more.
    Report,
}

/// More often would be a load of its own.
const SHORTEST: Duration = Duration::from_secs(1);
/// Longer is as good as never, and can still be added to any moment.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

impl Consistency {
    /// One check in each period, spread by chance, so that informers do not check in step. The
    /// first comes within one period of the start. Periods below 1 s are taken as 1 s.
    pub fn every(period: Duration) -> Self {
        Self {
            period: period.clamp(SHORTEST, LONGEST),
            on_mismatch: OnMismatch::default(),
        }
    }

    setters! {
        /// Chooses what a difference leads to. Default: [`OnMismatch::Repair`].
        #[must_use]
        on_mismatch(on_mismatch: OnMismatch) => on_mismatch = on_mismatch;
    }

    /// The longest time between two checks.
    pub fn period(&self) -> Duration {
        self.period
    }
}

/// The findings of all checks of one source since it was started.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ConsistencyStatus {
    /// Checks that found the store to be what the server had at its version.
    pub consistent: u64,
    /// Checks that did not.
    pub mismatches: u64,
    /// How often the collection was fetched anew because of one.
    pub repairs: u64,
    /// Checks that came to no answer. They say nothing about the store.
    pub not_checked: u64,
    /// The last check, whatever came of it.
    pub last: Option<Check>,
    /// The last difference.
    pub last_mismatch: Option<Mismatch>,
}

impl ConsistencyStatus {
    pub(crate) fn note(&mut self, check: Check, repairs: bool) {
        match &check.outcome {
            CheckOutcome::Consistent(_) => self.consistent += 1,
            CheckOutcome::NotChecked(_) => self.not_checked += 1,
            CheckOutcome::Mismatch(mismatch) => {
                self.mismatches += 1;
                self.repairs += u64::from(repairs);
                self.last_mismatch = Some(mismatch.clone());
            }
        }
        self.last = Some(check);
    }
}

/// One check.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Check {
    /// When it ended.
    pub at: Instant,
    /// Its outcome.
    pub outcome: CheckOutcome,
}

/// The outcome of a check.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum CheckOutcome {
    /// The store was what the server had at this version.
    Consistent(ResourceVersion),
    /// It was not.
    Mismatch(Mismatch),
    /// There is no answer.
    NotChecked(NotChecked),
}

/// Why a check came to no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotChecked {
    /// The source is not synced, fails at present, or changes were waiting for a whole period.
    Busy,
    /// The server has compacted the store's version (410); a newer one is tried.
    Expired,
    /// The server answered with another version than the requested one.
    Inexact,
    /// The request failed: 403 where listing is no longer allowed, for example.
    Failed(Failure),
}

/// A difference between the store and what the server had at the store's version. Objects that
/// changed while the server was asked do not count. Shows keys and no payload.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mismatch {
    /// The version at which both were compared.
    pub version: ResourceVersion,
    /// Objects that the server had and the store has not.
    pub missing: usize,
    /// Objects of which the store has another uid or version.
    pub stale: usize,
    /// Objects that the store has and the server had not.
    pub extra: usize,
    /// A few of their keys. `missing` and `stale` together are counted up to 1,000.
    pub keys: Vec<ObjectKey>,
    /// The server's newest version, where that is older than ours: its history was rewound.
    pub rewound_to: Option<ResourceVersion>,
}

/// The largest number of keys that a [`Mismatch`] names.
const MOST_KEYS: usize = 5;

impl Mismatch {
    /// No difference at this version yet.
    pub(crate) fn none(version: ResourceVersion) -> Self {
        Self {
            version,
            missing: 0,
            stale: 0,
            extra: 0,
            keys: Vec::new(),
            rewound_to: None,
        }
    }

    pub(crate) fn name(&mut self, key: &ObjectKey) {
        if self.keys.len() < MOST_KEYS {
            self.keys.push(key.clone());
        }
    }
}
