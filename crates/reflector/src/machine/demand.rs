//! What a user demands: a list instead of the phase that runs, now or after the emission.

use super::{
    context::Context,
    input::Demand,
    next::{Attempt, Next, Pass},
};
use crate::RelistCause;

impl<T> Context<T> {
    /// Gives up the request or watch in flight for the list that was demanded.
    ///
    /// `current` is the pass of the list in flight, if one is.
    pub(super) fn interrupt(&mut self, demand: Demand, current: Option<Pass>) -> Next<T> {
        if demand == Demand::Retry {
            return Next::Stay;
        }
        self.abandon();
        Next::Attempt(requested(demand, current))
    }

    /// Keeps a demand until the sink has taken the emission.
    pub(super) fn postpone(&mut self, demand: Demand) -> Next<T> {
        if demand != Demand::Retry {
            self.postponed = self.postponed.max(Some(demand));
        }
        Next::Stay
    }

    /// Carries out the demand that was postponed, if any.
    pub(super) fn catch_up(&mut self) -> Option<Next<T>> {
        let demand = self.postponed.take()?;
        Some(self.interrupt(demand, None))
    }
}

/// Returns the list that carries out a demand. A repair that is in flight or waited for remains a
/// repair.
pub(super) fn requested(demand: Demand, current: Option<Pass>) -> Attempt {
    Attempt::Populate(Pass {
        cause: RelistCause::Requested,
        repair: demand == Demand::Repair || current.is_some_and(|pass| pass.repair),
    })
}
