//! An open watch: its events, and its end.

// - RFX-1: events are emitted one by one, in the order of the stream.
// - RFX-2: a failure moves no version.
// - FM-21: a close before `short_watch` is a failure.
// - FM-39: events older than the start of a fresh watch show a rewound history.

use std::{mem, time::Duration};

use super::{
    connection::Connection,
    context::Context,
    failures::{panicked, server_behind, short_watch, watch_overdue},
    input::{Demand, Effect, Input},
    next::{Attempt, Handover, Next},
};
use crate::{Change, Emission, Failure, Item, Report, ResourceVersion, WatchEvent};

/// The phase in which a watch is open.
pub(super) struct Watching {
    connection: Connection,
    events: u64,
    /// The resume version has moved.
    progress: bool,
    /// The server has shown that its history reaches back to the start of the watch, or a
    /// consistent list did so just before. Older events are a replay from then on, not a rewind.
    confirmed: bool,
    /// The watch began at the version of a consistent list. Until something newer arrives, older
    /// events are about objects that the list contained or had lost already.
    listed: bool,
    taking: Option<Taking>,
}

/// The event that the sink is taking.
struct Taking {
    received: ResourceVersion,
    undecodable: Option<Report>,
}

impl Watching {
    /// Begins a watch that the server has accepted.
    pub(super) fn begin<T>(context: &mut Context<T>, connection: Connection) -> (Self, Effect<T>) {
        let version = context.resume.clone();
        let watching = Self::new(connection, mem::take(&mut context.retry.confirmed));
        (watching, Effect::Report(Report::WatchOpened { version }))
    }

    /// `listed` is true if a consistent list came just before.
    fn new(connection: Connection, listed: bool) -> Self {
        Self {
            connection,
            events: 0,
            progress: false,
            confirmed: listed,
            listed,
            taking: None,
        }
    }

    pub(super) fn after_initial_events(handover: Handover) -> Self {
        Self {
            events: handover.events,
            progress: true,
            ..Self::new(handover.connection, true)
        }
    }

    /// `None` while the sink takes an event: a slow sink is not the watch's fault.
    pub(super) fn deadline(&self) -> Option<Duration> {
        let deadline = self.connection.deadline;
        self.taking.is_none().then_some(deadline)
    }

    pub(super) fn step<T>(&mut self, context: &mut Context<T>, input: Input<T>) -> Next<T> {
        let taking = self.taking.is_some();
        match input {
            Input::Accepted => self.accepted(context),
            Input::Refused if taking => Next::Stop,
            Input::Demand(demand) if taking => context.postpone(demand),
            _ if taking => Next::Stay,
            Input::Event(Ok(event)) => self.event(context, event),
            Input::Event(Err(failure)) => {
                planted!(BrokenEventIsReceived => context.resume = context.next_version());
                self.failed(context, failure)
            }
            Input::StreamEnded => self.closed(context),
            Input::Panicked => self.failed(context, panicked()),
            Input::Timer if context.now >= self.connection.deadline => {
                self.abandon(context, watch_overdue())
            }
            Input::Demand(demand) => {
                if demand != Demand::Retry {
                    context.note_health(self.connection.lived(context));
                }
                context.interrupt(demand, None)
            }
            _ => Next::Stay,
        }
    }

    fn event<T>(&mut self, context: &mut Context<T>, event: WatchEvent<T>) -> Next<T> {
        match event {
            WatchEvent::Added(item) => self.change(context, Change::Added, item),
            WatchEvent::Modified(item) => self.change(context, Change::Modified, item),
            WatchEvent::Deleted(item) if planted!(DeletionIsAChange) => {
                self.change(context, Change::Modified, item)
            }
            WatchEvent::Deleted(item) => self.change(context, Change::Deleted, item),
            WatchEvent::Bookmark { version, .. } => self.bookmark(context, &version),
            WatchEvent::Error(failure) => {
                planted!(ExpiredWatchIsReopened => {
                    context.abandon();
                    let pace = super::next::Pace::DELAYED;
                    return context.failed(failure, Attempt::Watch, pace);
                });
                self.abandon(context, failure)
            }
        }
    }

    fn change<T>(&mut self, context: &mut Context<T>, change: Change, item: Item<T>) -> Next<T> {
        let version = &item.identity.version;
        // A DELETED may carry the version before the deletion (FM-36).
        let may_be_old = change == Change::Deleted;
        if !may_be_old && self.shows_rewind(context, version) {
            return self.abandon(context, server_behind());
        }
        let received = context.received(version);
        context.report_incomparable(version);
        self.events += 1;
        if !may_be_old && self.is_repeated(context, version) {
            return Next::Stay;
        }
        self.confirmed |= received == *version;
        let undecodable = Report::undecodable(&item);
        let emission = Emission::Change {
            change,
            item,
            received,
        };
        self.emit(context, undecodable, emission)
    }

    /// A bookmark moves the version and nothing else.
    // RL-46
    fn bookmark<T>(&mut self, context: &mut Context<T>, version: &ResourceVersion) -> Next<T> {
        if self.shows_rewind(context, version) {
            return self.abandon(context, server_behind());
        }
        self.events += 1;
        let received = context.received(version);
        if received != *version {
            return Next::Stay;
        }
        context.report_incomparable(version);
        self.confirmed = true;
        self.emit(context, None, Emission::Bookmark { received })
    }

    fn emit<T>(
        &mut self,
        context: &mut Context<T>,
        undecodable: Option<Report>,
        emission: Emission<T>,
    ) -> Next<T> {
        let received = emission.received().clone();
        self.taking = Some(Taking {
            received,
            undecodable,
        });
        context.effects.push(Effect::Emit(emission));
        Next::Stay
    }

    /// Whether a watch from the resume version begins below it. Either the server replays old
    /// events or its history was rewound, and only a list distinguishes them.
    // FM-39
    fn shows_rewind<T>(&self, context: &Context<T>, version: &ResourceVersion) -> bool {
        !self.confirmed && version.is_older_than(&context.resume)
    }

    /// Whether a list already contained everything that an addition or a change of this version
    /// reports. A bookmark that is ahead of its events has moved the version, and those
    /// events still count.
    // FM-37, FM-24
    fn is_repeated<T>(&self, context: &Context<T>, version: &ResourceVersion) -> bool {
        self.listed && !self.progress && version.is_older_than(&context.resume)
    }

    fn accepted<T>(&mut self, context: &mut Context<T>) -> Next<T> {
        let Some(taken) = self.taking.take() else {
            return Next::Stay;
        };
        let received = taken.received;
        if received != context.resume {
            self.progress = true;
            context.retry.watch_failures = Default::default();
            context.resume = received.clone();
        }
        let undecodable = taken.undecodable.map(Effect::Report);
        context.effects.extend(undecodable);
        context.report(Report::Progress { received });
        if context.postponed.is_some() {
            context.note_health(self.connection.lived(context));
        }
        context.catch_up().unwrap_or(Next::Stay)
    }

    /// The server closed the watch: a normal end, unless it came early.
    // RL-36, RL-43
    fn closed<T>(&self, context: &mut Context<T>) -> Next<T> {
        let (lived, events) = (self.connection.lived(context), self.events);
        context.report(Report::WatchClosed { lived, events });
        // A watch that ends at the requested time has not failed, however short that is (FM-18).
        let short = lived < context.config.short_watch.min(self.connection.timeout);
        if short && !planted!(EarlyCloseIsHealthy) {
            return self.failed(context, short_watch(lived, events));
        }
        context.note_health(lived);
        // The server kept a watch at the resume version open for its usual time.
        let failures = &mut context.retry.watch_failures;
        (failures.internal_since, failures.broken_since) = (None, None);
        Next::Attempt(Attempt::Watch)
    }

    /// Gives up a stream that the server has not ended.
    fn abandon<T>(&self, context: &mut Context<T>, failure: Failure) -> Next<T> {
        context.abandon();
        self.failed(context, failure)
    }

    fn failed<T>(&self, context: &mut Context<T>, failure: Failure) -> Next<T> {
        context.note_health(self.connection.lived(context));
        context.watch_failed(self.progress, failure)
    }
}
