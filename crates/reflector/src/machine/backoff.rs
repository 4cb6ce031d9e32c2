//! The delay after a failed attempt, and the phase that waits for its end.
//!
//! Every failed attempt passes through [`Context::failed`], once.

// RFX-13

use std::time::Duration;

use super::{
    context::Context,
    demand::requested,
    input::{Demand, Input},
    next::{Attempt, Next, Pace, Waiting},
};
use crate::{Failure, Report};

impl Waiting {
    pub(super) fn step<T>(&self, context: &Context<T>, input: &Input<T>) -> Next<T> {
        match *input {
            Input::Timer if context.now >= self.until => Next::Attempt(self.attempt),
            Input::Demand(Demand::Retry) => Next::Attempt(self.attempt),
            Input::Demand(demand) => Next::Attempt(requested(demand, self.attempt.pass())),
            _ => Next::Stay,
        }
    }
}

impl<T> Context<T> {
    /// Reports a failed attempt, and makes the next one or waits before it.
    pub(super) fn failed(&mut self, failure: Failure, attempt: Attempt, pace: Pace) -> Next<T> {
        let (now, chance) = (self.now, &mut self.chance);
        let next_in = match pace {
            Pace::Immediate => {
                self.delays.count(now);
                Duration::ZERO
            }
            Pace::Delayed { .. } if self.retry.quick.use_short_delay(failure.kind) => {
                self.delays.soon(now, &failure, chance)
            }
            Pace::Delayed { progress } => self.delays.draw(now, &failure, progress, chance),
        };
        self.report(Report::Failed {
            failure,
            attempts: self.delays.attempts,
            next_in,
        });
        if next_in.is_zero() {
            return Next::Attempt(attempt);
        }
        let until = now.saturating_add(next_in);
        Next::Wait(Waiting { until, attempt })
    }
}
