//! The protocol as a pure machine: what happened goes in, what has to be done comes out.
//!
//! It keeps no clock, draws chance from a seed, does no IO and never waits; `driver.rs` carries its
//! effects out, `examples/replay.rs` does so by hand. At most one request or watch is in flight,
//! and at most one emission.
//!
//! - RFX-2: the resume version moves in [`Input::Accepted`] and nowhere else. `tests/random.rs`
//! - RFX-3: within an epoch it never moves back. `tests/random.rs`
//! - RFX-4: a watch starts at the resume version. `tests/random.rs`
//! - RFX-5: the version of a list follows `list.rs`; `unusable` clears on success only.
//! - RFX-7: no failure is fatal. The machine ends by `Stop` and `Refused` only.
//! - RFX-13: every failed attempt is reported once, by `backoff.rs`. `tests/random.rs`
//!
//! Watches from version `""` or `"0"` do not occur (a list without a version is refused, FM-08), so
//! the rule for their first events (RL-37, FM-38) is needed in `stream.rs` only.

mod backoff;
mod demand;
mod input;
mod list;
mod replace;
mod stream;
mod version;
mod watch;
mod watching;

use std::{fmt, mem, time::Duration};

pub use input::{Demand, Effect, Input};

use crate::{Config, Phase, RelistCause, Report, ResourceVersion, backoff::Delays, chance::Chance};
use backoff::{Lessons, Waiting};
use list::Listing;
use replace::Replacing;
use stream::Streaming;
use watch::Connection;
use watching::Watching;

/// The list and watch protocol for one collection.
#[doc(alias = "Reflector")]
pub struct Machine<T> {
    config: Config,
    chance: Chance,
    delays: Delays,
    state: State<T>,
    /// The latest time we were told.
    now: Duration,
    /// Everything up to here has been accepted; unset before the first list (RFX-2).
    resume: ResourceVersion,
    lessons: Lessons,
    /// What was demanded while an emission was being taken.
    demanded: Option<Demand>,
    /// The phase last reported.
    told: Phase,
}

/// The phases, each with the data that exists only in it.
enum State<T> {
    Created,
    Listing(Listing<T>),
    Streaming(Streaming<T>),
    /// The sink is taking a list.
    Replacing(Replacing),
    Opening(Connection),
    Watching(Watching),
    Waiting(Waiting),
    Stopped,
}

/// Why a collection is fetched, and how.
#[derive(Clone, Copy, Debug)]
struct Pass {
    cause: RelistCause,
    /// What is held is not trusted: consistent, nothing reused, no stream.
    repair: bool,
}

impl Pass {
    fn new(cause: RelistCause) -> Self {
        Self {
            cause,
            repair: false,
        }
    }

    fn because(self, cause: RelistCause) -> Self {
        Self { cause, ..self }
    }
}

impl<T> Machine<T> {
    /// A machine that has not started. The same seed and inputs give the same effects.
    pub fn new(config: Config, seed: u64) -> Self {
        Self {
            delays: Delays::new(config.backoff.clone()),
            chance: Chance::seeded(seed),
            config,
            state: State::Created,
            now: Duration::ZERO,
            resume: ResourceVersion::unset(),
            lessons: Lessons::default(),
            demanded: None,
            told: Phase::Created,
        }
    }

    /// Takes one input and appends what has to be done.
    ///
    /// `now` counts from an arbitrary origin. Time that goes back is taken as standing still.
    pub fn step(&mut self, now: Duration, input: Input<T>, out: &mut Vec<Effect<T>>) {
        self.now = self.now.max(now);
        let state = mem::replace(&mut self.state, State::Stopped);
        if let (Input::Stop, false) = (&input, matches!(state, State::Stopped)) {
            return self.stop(out);
        }
        if let Input::Demand(demand) = input {
            return self.demand(state, demand, out);
        }
        match state {
            State::Created => self.created(&input, out),
            State::Listing(listing) => self.listing(listing, input, out),
            State::Streaming(streaming) => self.streaming(streaming, input, out),
            State::Replacing(replacing) => self.replacing(replacing, &input, out),
            State::Opening(connection) => self.opening(connection, input, out),
            State::Watching(watching) => self.watching(watching, input, out),
            State::Waiting(waiting) => self.waiting(waiting, &input, out),
            State::Stopped => {}
        }
    }

    /// When [`Input::Timer`] is due, if nothing else happens before.
    pub fn deadline(&self) -> Option<Duration> {
        match &self.state {
            State::Listing(listing) => Some(listing.deadline),
            State::Streaming(streaming) => Some(streaming.deadline(&self.config)),
            State::Opening(connection) => Some(connection.deadline),
            State::Watching(watching) => watching.deadline(),
            State::Waiting(waiting) => Some(waiting.until),
            State::Created | State::Replacing(_) | State::Stopped => None,
        }
    }

    /// Where the machine is.
    pub fn phase(&self) -> Phase {
        match &self.state {
            State::Created => Phase::Created,
            State::Listing(_) => Phase::Listing,
            State::Streaming(_) => Phase::Streaming,
            State::Replacing(replacing) => replacing.phase(),
            State::Opening(_) => Phase::OpeningWatch,
            State::Watching(_) => Phase::Watching,
            State::Waiting(_) => Phase::BackingOff,
            State::Stopped => Phase::Stopped,
        }
    }

    /// The version up to which everything has been accepted; `None` before the first list.
    #[doc(alias = "LastSyncResourceVersion")]
    pub fn resume_version(&self) -> Option<&ResourceVersion> {
        self.resume.is_exact().then_some(&self.resume)
    }

    fn created(&mut self, input: &Input<T>, out: &mut Vec<Effect<T>>) {
        match input {
            Input::Start => self.populate(Pass::new(RelistCause::Initial), out),
            _ => self.state = State::Created,
        }
    }

    fn stop(&mut self, out: &mut Vec<Effect<T>>) {
        out.push(Effect::Abandon);
        self.enter(State::Stopped, out);
    }

    fn enter(&mut self, state: State<T>, out: &mut Vec<Effect<T>>) {
        self.state = state;
        let phase = self.phase();
        if phase != self.told {
            self.told = phase;
            out.push(Effect::Report(Report::Phase(phase)));
        }
    }

    /// Fetches the whole collection, by stream where that is allowed and has not failed lately.
    fn populate(&mut self, pass: Pass, out: &mut Vec<Effect<T>>) {
        // The first collection is the first however many attempts it takes.
        let pass = match (self.resume.is_exact(), pass.cause) {
            (true, _) | (false, RelistCause::StreamingFallback) => pass,
            (false, _) => pass.because(RelistCause::Initial),
        };
        let paused = self.lessons.streaming_paused_until > self.now;
        if self.config.streaming && !paused && !pass.repair {
            self.begin_streaming(pass, out);
        } else {
            self.begin_list(pass, list::Extent::Paged, out);
        }
    }
}

/// Shows where it is, and no object (SEC-6).
impl<T> fmt::Debug for Machine<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Machine")
            .field("phase", &self.phase())
            .field("resume", &self.resume)
            .field("deadline", &self.deadline())
            .finish_non_exhaustive()
    }
}
