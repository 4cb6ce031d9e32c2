//! The streaming list: the initial state as events of a watch, which then continues.
//!
//! The rule for the first events of a watch from version `""` or `"0"` applies only
//! here: a list without a version is refused, so no other watch begins there.

// RL-37, FM-08
// - RL-25, RL-28: events are buffered until the closing bookmark; nothing is emitted before it.
// - RL-27, RFX-4, FM-38: the version is that of the closing bookmark. Initial events are in no
//   order, so their versions are no point to resume from.
// - RFX-12 (FM-25, FM-26): attempts and patience are bounded. After them a list is requested, and
//   no stream for a while.

use std::{collections::BTreeMap, mem, time::Duration};

use super::{
    connection::Connection,
    context::Context,
    failures::{incomplete, no_version, panicked, server_behind},
    input::{Effect, Input},
    next::{Attempt, Collection, Extent, Handover, Next, Pace, Pass},
};
use crate::{
    Failure, FailureKind, Item, ObjectKey, RelistCause, ResourceVersion, WatchEvent, WatchStart,
};

/// The phase in which initial events arrive.
pub(super) struct Streaming<T> {
    pass: Pass,
    connection: Connection,
    /// The requested version; unset for a consistent state.
    requested: ResourceVersion,
    /// In the order of keys, so that the same events give the same list.
    items: BTreeMap<ObjectKey, Item<T>>,
    events: u64,
    /// When the last initial event arrived.
    last_event: Duration,
}

impl<T> Streaming<T> {
    /// Requests the initial events from the resume version, or the newest state after a refusal.
    // RL-24, RL-11
    pub(super) fn begin(context: &mut Context<T>, pass: Pass) -> (Self, Effect<T>) {
        let requested = if context.retry.version_refused {
            ResourceVersion::unset()
        } else {
            context.resume.clone()
        };
        let (connection, effect) =
            Connection::request(context, requested.clone(), WatchStart::InitialEvents);
        let streaming = Self {
            pass,
            connection,
            requested,
            items: BTreeMap::new(),
            events: 0,
            last_event: context.now,
        };
        (streaming, effect)
    }

    pub(super) fn deadline(&self, context: &Context<T>) -> Duration {
        let patience = context.config.streaming_patience;
        let silent = self.last_event.saturating_add(patience);
        silent.min(self.connection.deadline)
    }

    pub(super) fn step(&mut self, context: &mut Context<T>, input: Input<T>) -> Next<T> {
        let failure = match input {
            Input::WatchOpened(Ok(())) => {
                self.last_event = context.now;
                return Next::Stay;
            }
            Input::Event(Ok(event)) => return self.event(context, event),
            Input::WatchOpened(Err(failure)) | Input::Event(Err(failure)) => failure,
            Input::StreamEnded => incomplete(),
            Input::Panicked => panicked(),
            Input::Timer if context.now >= self.deadline(context) => {
                context.abandon();
                // No coincidence: the server keeps the stream open and sends nothing.
                context.retry.failed_streams = context.config.streaming_attempts;
                incomplete()
            }
            Input::Demand(demand) => return context.interrupt(demand, Some(self.pass)),
            _ => return Next::Stay,
        };
        failed(context, self.pass, failure)
    }

    fn event(&mut self, context: &mut Context<T>, event: WatchEvent<T>) -> Next<T> {
        // A server that ignores the request sends bookmarks and changes, too (FM-26).
        if matches!(event, WatchEvent::Added(_)) {
            self.last_event = context.now;
        }
        self.events += 1;
        match event {
            WatchEvent::Added(item) | WatchEvent::Modified(item) => {
                planted!(InitialEventIsResumePoint => {
                    context.resume = item.identity.version.clone();
                });
                self.insert(item);
            }
            WatchEvent::Deleted(item) => {
                self.items.remove(&item.identity.key);
            }
            WatchEvent::Bookmark {
                version,
                initial_events_end: true,
            } => return self.end(context, version),
            WatchEvent::Bookmark { .. } => {}
            WatchEvent::Error(failure) => {
                context.abandon();
                return failed(context, self.pass, failure);
            }
        }
        Next::Stay
    }

    fn insert(&mut self, item: Item<T>) {
        let key = &item.identity.key;
        let held = self.items.get(key).map(|held| &held.identity.version);
        if !held.is_some_and(|held| item.identity.version.is_older_than(held)) {
            self.items.insert(key.clone(), item);
        }
    }

    fn end(&mut self, context: &mut Context<T>, version: ResourceVersion) -> Next<T> {
        if !version.is_exact() || version.is_older_than(&self.requested) {
            context.abandon();
            let failure = match version.is_exact() {
                true => server_behind(),
                false => no_version("the bookmark that ends the initial events has no version"),
            };
            return failed(context, self.pass, failure);
        }
        let collection = Collection {
            cause: self.pass.cause,
            items: mem::take(&mut self.items).into_values().collect(),
            version,
            consistent: self.requested.is_unset(),
        };
        let handover = Handover {
            connection: self.connection,
            events: self.events,
        };
        Next::Replace(collection, Some(handover))
    }
}

/// Failures that a list would meet as well are followed by a delay, others by a list. Attempts are
/// bounded, where client-go repeats some for ever.
// RL-29
fn failed<T>(context: &mut Context<T>, pass: Pass, failure: Failure) -> Next<T> {
    let again = Attempt::Populate(pass);
    let kind = failure.kind;
    if matches!(kind, FailureKind::Throttled | FailureKind::Connect) {
        return context.failed(failure, again, Pace::DELAYED);
    }
    let retry = &mut context.retry;
    let refused = matches!(kind, FailureKind::Expired | FailureKind::TooLarge);
    if refused {
        retry.version_refused = true;
    }
    let understood = kind != FailureKind::Invalid;
    retry.failed_streams = retry.failed_streams.saturating_add(1);
    if !understood || retry.failed_streams >= context.config.streaming_attempts {
        retry.failed_streams = 0;
        if !lists_meet(kind) {
            let pause = context.config.streaming_pause;
            retry.streaming_paused_until = context.now.saturating_add(pause);
        }
        return fall_back(context, pass, failure);
    }
    if refused {
        let attempt = Attempt::Populate(pass.after_refusal(kind));
        let pace = Pace::immediate_once(&mut retry.quick.consistent, Pace::DELAYED);
        return context.failed(failure, attempt, pace);
    }
    if kind == FailureKind::Incomplete {
        return context.failed(failure, again, Pace::DELAYED);
    }
    fall_back(context, pass, failure)
}

/// Requests a list, immediately only where a list may succeed: a server that is down or refuses
/// requests would get twice as many, from all clients at the same time.
// FM-11, FM-12
fn fall_back<T>(context: &mut Context<T>, pass: Pass, failure: Failure) -> Next<T> {
    let pass = pass.because(RelistCause::StreamingFallback);
    let pace = if lists_meet(failure.kind) || failure.retry_after.is_some() {
        Pace::DELAYED
    } else {
        Pace::Immediate
    };
    context.failed(failure, Attempt::List(pass, Extent::Paged), pace)
}

/// Whether a list would meet a failure of this kind as well, so that it shows nothing about
/// streaming.
fn lists_meet(kind: FailureKind) -> bool {
    matches!(
        kind,
        FailureKind::Unavailable
            | FailureKind::Internal
            | FailureKind::Unauthorized
            | FailureKind::Forbidden
            | FailureKind::NotFound
            | FailureKind::TimedOut
    )
}
