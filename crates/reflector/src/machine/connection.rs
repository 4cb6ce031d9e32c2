//! One watch: its request, and the phase until the server accepts or refuses it.

// RFX-4: a watch starts at the resume version.

use std::time::Duration;

use super::{
    context::Context,
    failures::{panicked, watch_overdue},
    input::{Effect, Input},
    next::Next,
};
use crate::{ResourceVersion, WatchRequest, WatchStart};

/// A watch, from the request on.
#[derive(Clone, Copy)]
pub(super) struct Connection {
    requested: Duration,
    /// How long the server was asked to keep the watch open.
    pub(super) timeout: Duration,
    /// When the watch is given up, whatever the server does.
    // FM-16, FM-17, FM-20
    pub(super) deadline: Duration,
}

impl Connection {
    /// Prepares a watch from `version`, with a timeout drawn by chance.
    pub(super) fn request<T>(
        context: &mut Context<T>,
        version: ResourceVersion,
        start: WatchStart,
    ) -> (Self, Effect<T>) {
        let range = &context.config.watch_timeout;
        let timeout = context.chance.whole_seconds(*range.start(), *range.end());
        let patience = timeout.saturating_add(context.config.idle_margin);
        let connection = Self {
            requested: context.now,
            timeout,
            deadline: context.now.saturating_add(patience),
        };
        let request = WatchRequest {
            version,
            timeout,
            bookmarks: true,
            start,
        };
        planted!(WatchHasNoDeadline => {
            let (deadline, timeout) = (Duration::MAX, Duration::ZERO);
            let request = WatchRequest { timeout, ..request };
            return (Self { deadline, ..connection }, Effect::Watch(request));
        });
        (connection, Effect::Watch(request))
    }

    /// Requests a watch from the resume version.
    pub(super) fn open<T>(context: &mut Context<T>) -> (Self, Effect<T>) {
        planted!(WatchSkipsAVersion => context.resume = context.next_version());
        Self::request(context, context.resume.clone(), WatchStart::Version)
    }

    /// Takes an input between the request and the server's answer.
    pub(super) fn step<T>(&self, context: &mut Context<T>, input: Input<T>) -> Next<T> {
        let failure = match input {
            Input::WatchOpened(Ok(())) => return Next::Opened(*self),
            Input::WatchOpened(Err(failure)) => failure,
            Input::Panicked => panicked(),
            Input::Timer if context.now >= self.deadline => {
                context.abandon();
                watch_overdue()
            }
            Input::Demand(demand) => return context.interrupt(demand, None),
            _ => return Next::Stay,
        };
        context.watch_failed(false, failure)
    }

    /// The time since the request.
    pub(super) fn lived<T>(&self, context: &Context<T>) -> Duration {
        context.now.saturating_sub(self.requested)
    }
}
