//! What a run leaves behind, for the judges to look at. Plain values; nothing here judges.

use std::{collections::HashSet, sync::Arc, time::Duration};

use informer_factory::{InformerState, ObjectKey, Quarantined};
use informer_testkit::RequestRecord;

use crate::{
    Cells, FaultKind,
    listener::Told,
    object::{Held, Sighting},
    plan::{ListenerPlan, Plan},
    truth::Truth,
};

#[derive(Debug)]
pub(crate) struct Evidence {
    pub(crate) plan: Plan,
    pub(crate) truth: Truth,
    pub(crate) requests: Vec<RequestRecord>,
    pub(crate) listeners: Vec<Listened>,
    pub(crate) samples: Vec<Sample>,
    /// What could be seen in the middle of commits.
    pub(crate) glimpses: Vec<Glimpse>,
    pub(crate) controlled: Option<Controlled>,
    /// What was done, in words, and when.
    pub(crate) deeds: Vec<(Duration, String)>,
    /// How often each kind happened.
    pub(crate) hits: Vec<(FaultKind, u64)>,
    pub(crate) cells: Cells,
    /// When versions first could go back, by a restore or a lie.
    pub(crate) rewound_at: Option<Duration>,
    /// How far the clock jumped, in all.
    pub(crate) jumped: Duration,
    /// Informers that were started and released again.
    pub(crate) released: Vec<Released>,
    pub(crate) ending: Ending,
}

/// An informer that did not live long.
#[derive(Clone, Debug)]
pub(crate) struct Released {
    /// What its requests select by.
    pub(crate) selector: String,
    /// When its end was asked for, and when it was there.
    pub(crate) from: Duration,
    pub(crate) until: Duration,
}

/// What one handler was told.
#[derive(Debug)]
pub(crate) struct Listened {
    pub(crate) plan: ListenerPlan,
    pub(crate) joined: Duration,
    /// What the store held when it joined.
    pub(crate) present: Vec<Held>,
    /// Whether it joined before the informer's first list.
    pub(crate) is_early: bool,
    pub(crate) told: Vec<Told>,
    /// How many callbacks began while another ran.
    pub(crate) overlaps: u64,
    pub(crate) panics_planned: u64,
    pub(crate) panics_counted: u64,
    pub(crate) left: Option<Left>,
    /// Whether it was synced at the end, and everything it had been given was delivered.
    pub(crate) is_synced: bool,
    pub(crate) depth: usize,
    pub(crate) has_resync: bool,
}

/// How a handler left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    pub(crate) at: Duration,
    /// How much it had been told when the removal returned.
    pub(crate) told: usize,
}

/// The informer at one moment.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) at: Duration,
    pub(crate) state: InformerState,
    pub(crate) is_synced: bool,
    /// Of the first source.
    pub(crate) applied: Option<u64>,
    pub(crate) held: Vec<Held>,
    /// Keys by value of the index, if there is one: as the store says, and sorted.
    pub(crate) index: Option<Vec<(Arc<str>, Vec<String>)>>,
    pub(crate) quarantined: usize,
    pub(crate) lists: Vec<u64>,
    pub(crate) is_failing: bool,
    /// Which listeners say that they are synced, and how much each had been told.
    pub(crate) listeners: Vec<(bool, usize)>,
}

/// A controller, and how it ended.
#[derive(Debug)]
pub(crate) struct Controlled {
    /// When it was asked to end.
    pub(crate) until: Duration,
    pub(crate) told: Vec<Told>,
    /// What its store held at the end.
    pub(crate) held: Vec<Held>,
    /// It ended when it was asked to, and not by a panic.
    pub(crate) is_ended: bool,
}

/// The store as a reader saw it while the next commit was being made.
#[derive(Debug)]
pub(crate) struct Glimpse {
    pub(crate) at: Duration,
    pub(crate) applied: u64,
    /// Which write made each object.
    pub(crate) held: Vec<(ObjectKey, u64)>,
}

/// After the faults.
#[derive(Debug, Default)]
pub(crate) struct Ending {
    /// When all was healed.
    pub(crate) healed: Duration,
    /// When the store first was what the server holds.
    pub(crate) converged: Option<Duration>,
    /// What the server held, as key, uid, version and serial.
    pub(crate) server: Vec<(String, String, u64, u64)>,
    /// The same of all objects, selected or not.
    pub(crate) everything: Vec<(String, String, u64, u64)>,
    pub(crate) quarantined: Vec<Quarantined>,
    /// Whether `wait_for_version` of the last write came back.
    pub(crate) version_error: Option<String>,
    /// Whether no handler had anything to do when it was shut down.
    pub(crate) is_idle: bool,
    /// How long the shutdown took.
    pub(crate) shutdown: Duration,
    pub(crate) is_shutdown_complete: bool,
    /// Requests and callbacks that began after it.
    pub(crate) requests_after: usize,
    pub(crate) told_after: usize,
    pub(crate) open_watches: usize,
    pub(crate) tasks_left: usize,
    pub(crate) is_store_frozen: bool,
    pub(crate) state: Option<InformerState>,
}

impl Evidence {
    /// When the store was looked at last, just before the shutdown.
    pub(crate) fn end(&self) -> Duration {
        let last = self.samples.last();
        last.map_or(Duration::ZERO, |last| last.at)
    }

    /// Whether a kind with this property happened.
    pub(crate) fn has_met(&self, property: impl Fn(FaultKind) -> bool) -> bool {
        self.hits
            .iter()
            .any(|(kind, hits)| *hits > 0 && property(*kind))
    }

    /// Events handlers were told of, by the one who is told most.
    pub(crate) fn events(&self) -> usize {
        self.listeners
            .iter()
            .map(|listener| listener.told.len())
            .max()
            .unwrap_or(0)
    }

    /// Each object in memory that the informer has shown, once, and when it was seen first.
    pub(crate) fn distinct_sightings(&self) -> impl Iterator<Item = (Duration, &Sighting)> {
        let held = self.samples.iter();
        let held = held.flat_map(|sample| sample.held.iter().map(|(_, seen)| (sample.at, seen)));
        let told = self.listeners.iter().flat_map(|listener| &listener.told);
        let told = told.flat_map(|told| told.sightings().map(|seen| (told.at, seen)));
        let mut known = HashSet::new();
        held.chain(told)
            .filter(move |(_, seen)| known.insert(seen.address()))
    }

    /// Whether what the server said was its history, all through.
    pub(crate) fn is_honest(&self) -> bool {
        self.rewound_at.is_none()
            && !self.has_met(|kind| kind.is_lie() || kind == FaultKind::TransformError)
    }

    /// Whether versions may have gone back before this moment.
    pub(crate) fn may_go_back(&self, at: Duration) -> bool {
        self.rewound_at.is_some_and(|rewound| rewound <= at)
    }
}
