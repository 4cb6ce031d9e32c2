//! The state that all phases share: everything of the machine but the phase and its data.

use std::time::Duration;

use super::{
    input::{Demand, Effect},
    retry::{QuickRetries, RetryState},
};
use crate::{Config, Report, ResourceVersion, backoff::Delays, chance::Chance};

/// The data that every phase reads and changes.
pub(super) struct Context<T> {
    pub(super) config: Config,
    pub(super) chance: Chance,
    pub(super) delays: Delays,
    /// The latest time passed to `step`.
    pub(super) now: Duration,
    /// The sink has accepted everything up to this version. Unset before the first list (RFX-2).
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
        self.retry.quick = QuickRetries::default();
        self.retry.watch_failures = None;
    }
}
