//! What a user asks for, in each phase.

use super::{Demand, Effect, Machine, Pass, State};
use crate::RelistCause;

impl<T> Machine<T> {
    pub(super) fn demand(&mut self, state: State<T>, demand: Demand, out: &mut Vec<Effect<T>>) {
        match state {
            State::Created | State::Stopped => self.state = state,
            State::Replacing(_) => self.demand_later(state, demand),
            State::Watching(ref watching) if watching.is_taking() => {
                self.demand_later(state, demand);
            }
            State::Waiting(waiting) if demand == Demand::Retry => self.go(waiting.next, out),
            State::Waiting(_) => self.carry_out(demand, out),
            State::Listing(_) | State::Streaming(_) | State::Opening(_) | State::Watching(_)
                if demand == Demand::Retry =>
            {
                self.state = state;
            }
            State::Listing(_) | State::Streaming(_) | State::Opening(_) => {
                self.interrupt(demand, out);
            }
            State::Watching(watching) => {
                self.note_health(&watching);
                self.interrupt(demand, out);
            }
        }
    }

    /// Carries out what was demanded while an emission was being taken; false if nothing was.
    pub(super) fn catch_up_on_demand(&mut self, out: &mut Vec<Effect<T>>) -> bool {
        let Some(demand) = self.demanded.take() else {
            return false;
        };
        self.interrupt(demand, out);
        true
    }

    fn demand_later(&mut self, state: State<T>, demand: Demand) {
        self.state = state;
        if demand != Demand::Retry {
            self.demanded = self.demanded.max(Some(demand));
        }
    }

    fn interrupt(&mut self, demand: Demand, out: &mut Vec<Effect<T>>) {
        out.push(Effect::Abandon);
        self.carry_out(demand, out);
    }

    fn carry_out(&mut self, demand: Demand, out: &mut Vec<Effect<T>>) {
        let repair = demand == Demand::Repair;
        let cause = RelistCause::Requested;
        self.populate(Pass { cause, repair }, out);
    }
}
