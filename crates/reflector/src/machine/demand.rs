//! What a user asks for, in each phase.

use super::{Demand, Effect, Machine, Pass, State, backoff::Next};
use crate::RelistCause;

impl<T> Machine<T> {
    pub(super) fn demand(&mut self, state: State<T>, demand: Demand, out: &mut Vec<Effect<T>>) {
        // A repair that is under way or waited for is not undone by a lesser demand.
        let repair = demand == Demand::Repair || state.pass().is_some_and(|pass| pass.repair);
        match state {
            State::Created | State::Stopped => self.state = state,
            State::Replacing(_) => self.demand_later(state, demand),
            State::Watching(ref watching) if watching.is_taking() => {
                self.demand_later(state, demand);
            }
            State::Waiting(waiting) if demand == Demand::Retry => self.go(waiting.next, out),
            State::Waiting(_) => self.carry_out(repair, out),
            State::Listing(_) | State::Streaming(_) | State::Opening(_) | State::Watching(_)
                if demand == Demand::Retry =>
            {
                self.state = state;
            }
            State::Listing(_) | State::Streaming(_) | State::Opening(_) => {
                self.interrupt(repair, out);
            }
            State::Watching(watching) => {
                self.note_health(&watching);
                self.interrupt(repair, out);
            }
        }
    }

    /// Carries out what was demanded while an emission was being taken; false if nothing was.
    pub(super) fn catch_up_on_demand(&mut self, out: &mut Vec<Effect<T>>) -> bool {
        let Some(demand) = self.demanded.take() else {
            return false;
        };
        self.interrupt(demand == Demand::Repair, out);
        true
    }

    fn demand_later(&mut self, state: State<T>, demand: Demand) {
        self.state = state;
        if demand != Demand::Retry {
            self.demanded = self.demanded.max(Some(demand));
        }
    }

    fn interrupt(&mut self, repair: bool, out: &mut Vec<Effect<T>>) {
        out.push(Effect::Abandon);
        self.carry_out(repair, out);
    }

    fn carry_out(&mut self, repair: bool, out: &mut Vec<Effect<T>>) {
        let cause = RelistCause::Requested;
        self.populate(Pass { cause, repair }, out);
    }
}

impl<T> State<T> {
    /// The list that is under way, or the next one to come.
    fn pass(&self) -> Option<&Pass> {
        match self {
            Self::Listing(listing) => Some(&listing.pass),
            Self::Streaming(streaming) => Some(&streaming.pass),
            Self::Waiting(waiting) => match &waiting.next {
                Next::Populate(pass) | Next::List(pass, _) => Some(pass),
                Next::Watch => None,
            },
            Self::Created
            | Self::Replacing(_)
            | Self::Opening(_)
            | Self::Watching(_)
            | Self::Stopped => None,
        }
    }
}
