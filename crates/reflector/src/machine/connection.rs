//! One watch on the wire: when it was requested, and when it is given up.

use std::time::Duration;

use super::context::Context;
use crate::{ResourceVersion, WatchRequest};

/// A watch, from the request on.
#[derive(Clone, Copy)]
pub(super) struct Connection {
    requested: Duration,
    /// How long the server was asked to keep the watch open.
    pub(super) timeout: Duration,
    /// When the watch is given up, whatever the server does (FM-16, FM-17, FM-20).
    pub(super) deadline: Duration,
}

impl Connection {
    /// Prepares a watch from `version`, with a timeout drawn by chance.
    pub(super) fn request<T>(
        context: &mut Context<T>,
        version: ResourceVersion,
        send_initial_events: bool,
    ) -> (Self, WatchRequest) {
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
            send_initial_events,
        };
        planted!(WatchHasNoDeadline => {
            let (deadline, timeout) = (Duration::MAX, Duration::ZERO);
            return (Self { deadline, ..connection }, WatchRequest { timeout, ..request });
        });
        (connection, request)
    }

    /// The time since the request.
    pub(super) fn lived<T>(&self, context: &Context<T>) -> Duration {
        context.now.saturating_sub(self.requested)
    }
}
