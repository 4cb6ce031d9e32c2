//! The levels on which both sides are compared.

use std::fmt;

use crate::scenario::{Malformed, Scenario};
use crate::trace::Trace;
use crate::{informer, queue, store};

/// How much of the informer a scenario goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Level {
    /// One queue alone: `DeltaFIFO` or `RealFIFO`.
    Queue,
    /// The thread-safe store with its indexes.
    Store,
    /// Handlers: a shared informer whose server does nothing wrong.
    Processor,
    /// The whole informer, with a server that may do anything.
    Informer,
}

/// One run of ours. Where we have two ways (two queues), each must agree with client-go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Which of our ways; empty where there is one.
    pub way: &'static str,
    /// What it did.
    pub trace: Trace,
}

impl Level {
    /// All of them.
    pub const ALL: [Level; 4] = [Self::Queue, Self::Store, Self::Processor, Self::Informer];

    /// The name of its folders, and what the judge calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Store => "store",
            Self::Processor => "processor",
            Self::Informer => "informer",
        }
    }

    /// Runs our side.
    ///
    /// # Errors
    ///
    /// [`Malformed`] when a step makes no sense on this level.
    pub fn run(self, scenario: &Scenario) -> Result<Vec<Run>, Malformed> {
        match self {
            Self::Queue => queue::run(scenario),
            Self::Store => store::run(scenario),
            Self::Processor | Self::Informer => informer::run(scenario),
        }
    }

    /// A scenario by chance; the same for the same seed.
    pub fn random(self, seed: u64) -> Scenario {
        match self {
            Self::Queue => queue::random(seed),
            Self::Store => store::random(seed),
            Self::Processor => informer::random_handlers(seed),
            Self::Informer => informer::random_faults(seed),
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
