//! The protocol as a pure state machine: inputs go in, effects come out.
//!
//! The machine has no clock, draws chance from a seed, does no IO and never waits; the driver
//! carries out its effects, `examples/replay.rs` does so by hand. At most one request or watch is
//! in flight, and at most one emission.
//!
//! Each phase is a file with its data and a `step`, which changes the shared [`Context`] and
//! returns the transition as data ([`Next`]). This file holds the phase and carries out
//! transitions.

// - RFX-2: the resume version moves in [`Input::Accepted`] and nowhere else. `tests/random.rs`
// - RFX-3: within an epoch it never moves back. `tests/random.rs`
// - RFX-4: a watch starts at the resume version. `tests/random.rs`
// - RFX-5: the version of a list follows `list.rs`; `version_refused` clears on success only.
// - RFX-7: no failure is fatal. The machine ends by `Stop` and `Refused` only.
// - RFX-13: every failed attempt is reported once, by `backoff.rs`. `tests/random.rs`

mod backoff;
mod connection;
mod context;
mod demand;
mod failures;
mod input;
mod list;
mod next;
mod remedy;
mod replace;
mod retry;
mod stream;
mod watching;

use std::{fmt, mem, time::Duration};

pub use input::{Demand, Effect, Input};

use crate::{Config, Phase, RelistCause, Report, ResourceVersion};
use connection::Connection;
use context::Context;
use list::Listing;
use next::{Attempt, Extent, Next, Pass, Waiting};
use replace::Replacing;
use stream::Streaming;
use watching::Watching;

/// The list and watch protocol for one collection.
#[doc(alias = "Reflector")]
pub struct Machine<T> {
    context: Context<T>,
    state: State<T>,
}

/// The phases, each with the data that exists only in it.
enum State<T> {
    Created,
    Listing(Listing<T>),
    Streaming(Streaming<T>),
    /// The sink is taking a collection.
    Replacing(Replacing),
    /// A watch has been requested.
    Opening(Connection),
    Watching(Watching),
    Waiting(Waiting),
    Stopped,
}

impl<T> Machine<T> {
    /// Creates a machine that has not started. The same seed and inputs give the same effects.
    pub fn new(config: Config, seed: u64) -> Self {
        Self {
            context: Context::new(config, seed),
            state: State::Created,
        }
    }

    /// Takes one input and appends the effects to carry out.
    ///
    /// `now` counts from an arbitrary origin. A time before that of an earlier call counts as that
    /// time.
    pub fn step(&mut self, now: Duration, input: Input<T>, out: &mut Vec<Effect<T>>) {
        let context = &mut self.context;
        context.now = context.now.max(now);
        mem::swap(&mut context.effects, out);
        let next = match (&mut self.state, input) {
            (State::Stopped, _) => Next::Stay,
            (_, Input::Stop) => Next::Stop,
            (State::Created, Input::Start) => {
                Next::Attempt(Attempt::Populate(Pass::new(RelistCause::Initial)))
            }
            (State::Created, _) => Next::Stay,
            (State::Listing(listing), input) => listing.step(context, input),
            (State::Streaming(streaming), input) => streaming.step(context, input),
            (State::Replacing(replacing), input) => replacing.step(context, &input),
            (State::Opening(opening), input) => opening.step(context, input),
            (State::Watching(watching), input) => watching.step(context, input),
            (State::Waiting(waiting), input) => waiting.step(context, &input),
        };
        self.carry_out(next);
        mem::swap(&mut self.context.effects, out);
    }

    /// Returns when [`Input::Timer`] is due, if no other input comes before.
    pub fn deadline(&self) -> Option<Duration> {
        match &self.state {
            State::Listing(listing) => Some(listing.deadline),
            State::Streaming(streaming) => Some(streaming.deadline(&self.context)),
            State::Opening(opening) => Some(opening.deadline),
            State::Watching(watching) => watching.deadline(),
            State::Waiting(waiting) => Some(waiting.until),
            State::Created | State::Replacing(_) | State::Stopped => None,
        }
    }

    /// Returns the present phase.
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

    /// Returns the version up to which the sink has accepted everything; `None` before the first
    /// list.
    #[doc(alias = "LastSyncResourceVersion")]
    pub fn resume_version(&self) -> Option<&ResourceVersion> {
        let resume = &self.context.resume;
        resume.is_exact().then_some(resume)
    }

    fn carry_out(&mut self, next: Next<T>) {
        let before = self.phase();
        let context = &mut self.context;
        let (state, effect) = match next {
            Next::Stay => return,
            Next::Attempt(Attempt::Populate(pass)) => populate(context, pass),
            Next::Attempt(Attempt::List(pass, extent)) => list(context, pass, extent),
            Next::Attempt(Attempt::Watch) => {
                let (opening, request) = Connection::open(context);
                (State::Opening(opening), Some(request))
            }
            Next::Wait(waiting) => (State::Waiting(waiting), None),
            Next::Replace(collection, handover) => {
                let (replacing, emission) = Replacing::begin(context, collection, handover);
                (State::Replacing(replacing), Some(emission))
            }
            Next::Opened(connection) => {
                let (watching, report) = Watching::begin(context, connection);
                (State::Watching(watching), Some(report))
            }
            Next::Continue(handover) => {
                let watching = Watching::after_initial_events(handover);
                (State::Watching(watching), None)
            }
            Next::Stop => {
                context.abandon();
                (State::Stopped, None)
            }
        };
        self.state = state;
        let phase = self.phase();
        if phase != before {
            self.context.report(Report::Phase(phase));
        }
        self.context.effects.extend(effect);
    }
}

/// Fetches the whole collection, by stream where that is allowed and not paused.
fn populate<T>(context: &mut Context<T>, pass: Pass) -> (State<T>, Option<Effect<T>>) {
    // The first collection keeps its cause however many attempts it takes.
    let pass = match (context.resume.is_exact(), pass.cause) {
        (true, _) | (false, RelistCause::StreamingFallback) => pass,
        (false, _) => pass.because(RelistCause::Initial),
    };
    let paused = context.retry.streaming_paused_until > context.now;
    if !context.config.streaming || paused || pass.repair {
        return list(context, pass, Extent::Paged);
    }
    let (streaming, request) = Streaming::begin(context, pass);
    (State::Streaming(streaming), Some(request))
}

fn list<T>(context: &mut Context<T>, pass: Pass, extent: Extent) -> (State<T>, Option<Effect<T>>) {
    let (listing, request) = Listing::begin(context, pass, extent);
    (State::Listing(listing), Some(request))
}

/// Shows the phase and the resume version, and no object.
// SEC-6
impl<T> fmt::Debug for Machine<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Machine")
            .field("phase", &self.phase())
            .field("resume", &self.context.resume)
            .field("deadline", &self.deadline())
            .finish_non_exhaustive()
    }
}
