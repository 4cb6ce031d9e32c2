//! The state that all phases share: everything of the machine but the phase and its data.

// - RFX-3 (FM-36): the resume version does not move back within an epoch: [`Context::received`].

use std::{cmp::Ordering, time::Duration};

use super::{
    input::{Demand, Effect},
    retry::RetryState,
};
use crate::{Config, Report, ResourceVersion, backoff::Delays, chance::Chance};

/// The data that every phase reads and changes.
pub(super) struct Context<T> {
    pub(super) config: Config,
    pub(super) chance: Chance,
    pub(super) delays: Delays,
    /// The latest time passed to `step`.
    pub(super) now: Duration,
    /// The sink has accepted everything up to this version. Unset before the first list.
    // RFX-2
    pub(super) resume: ResourceVersion,
    pub(super) retry: RetryState,
    /// The strongest demand received while the sink was taking an emission.
    pub(super) postponed: Option<Demand>,
    /// The effects of the step that runs, empty between steps.
    pub(super) effects: Vec<Effect<T>>,
}

impl<T> Context<T> {
    pub(super) fn new(config: Config, seed: u64) -> Self {
        Self {
            delays: Delays::new(config.backoff.clone()),
            chance: Chance::seeded(seed),
            config,
            now: Duration::ZERO,
            resume: ResourceVersion::unset(),
            retry: RetryState::default(),
            postponed: None,
            effects: Vec::new(),
        }
    }

    pub(super) fn abandon(&mut self) {
        self.effects.push(Effect::Abandon);
    }

    pub(super) fn report(&mut self, report: Report) {
        self.effects.push(Effect::Report(report));
    }

    /// Ends the series of failures: later ones are unrelated to those before.
    pub(super) fn recovered(&mut self) {
        self.delays.start_over();
        self.retry.quick = Default::default();
        self.retry.watch_failures = Default::default();
    }

    /// Returns the resume version after the sink has accepted something at `version`.
    ///
    /// The resume version never moves back within an epoch. Versions that cannot be
    /// compared have no order, so the server's version is taken. A version that names no
    /// point in history changes nothing.
    // RFX-3, FM-36, FM-41
    pub(super) fn received(&self, version: &ResourceVersion) -> ResourceVersion {
        planted!(ResumeGoesBack => return version.clone());
        if version.is_exact() && !version.is_older_than(&self.resume) {
            version.clone()
        } else {
            self.resume.clone()
        }
    }

    /// The version that planted bugs count as received.
    #[cfg(any(test, sim))]
    pub(super) fn next_version(&self) -> ResourceVersion {
        let next = self.resume.as_number().expect("of ours") + 1;
        next.into()
    }

    /// Reports once that versions cannot be compared.
    // FM-41
    pub(super) fn report_incomparable(&mut self, version: &ResourceVersion) {
        let comparable = version.compare(version) == Some(Ordering::Equal);
        if version.is_exact() && !comparable && !self.retry.incomparable_reported {
            self.retry.incomparable_reported = true;
            let version = version.clone();
            self.report(Report::Incomparable { version });
        }
    }
}
