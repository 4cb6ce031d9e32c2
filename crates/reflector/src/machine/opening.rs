//! Requesting a watch, until the server accepts or refuses it.
//!
//! RFX-4: a watch starts at the resume version.

use std::time::Duration;

use super::{
    connection::Connection,
    context::Context,
    failures::{panicked, watch_overdue},
    input::{Effect, Input},
    next::Next,
};

/// The phase between the request of a watch and the server's answer.
pub(super) struct Opening(Connection);

impl Opening {
    pub(super) fn begin<T>(context: &mut Context<T>) -> (Self, Effect<T>) {
        planted!(WatchSkipsAVersion => context.resume = context.next_version());
        let (connection, request) = Connection::request(context, context.resume.clone(), false);
        (Self(connection), Effect::Watch(request))
    }

    pub(super) fn deadline(&self) -> Duration {
        self.0.deadline
    }

    pub(super) fn step<T>(&self, context: &mut Context<T>, input: Input<T>) -> Next<T> {
        let failure = match input {
            Input::WatchOpened(Ok(())) => return Next::Opened(self.0),
            Input::WatchOpened(Err(failure)) => failure,
            Input::Panicked => panicked(),
            Input::Timer if context.now >= self.deadline() => {
                context.abandon();
                watch_overdue()
            }
            Input::Demand(demand) => return context.interrupt(demand, None),
            _ => return Next::Stay,
        };
        context.watch_failed(None, failure)
    }
}
