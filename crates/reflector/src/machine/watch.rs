//! The watch: opening it, taking its events, and what follows its end.
//!
//! - RFX-1: events are handed on one by one, in the order of the stream.
//! - RFX-2, FM-30, FM-31: a failure moves no version. What is not the protocol is watched again
//!   from the last good version once, then listed.
//! - FM-21: a close before `short_watch` is a failure. The first reopens at once.
//! - FM-39: events older than where a fresh watch began tell of a rewound history.

use std::time::Duration;

use super::{
    Effect, Input, Machine, Pass, State,
    backoff::{Next, Pace, Trouble, once},
    list::{cause_of_refusal, server_behind},
    replace::undecodable,
    watching::{Taking, Watching},
};
use crate::{
    Change, Emission, Failure, FailureKind, Item, Recovery, RelistCause, Report, ResourceVersion,
    WatchEvent, WatchRequest,
};

/// A watch, from the moment it is asked for.
pub(super) struct Connection {
    pub(super) requested: Duration,
    /// How long the server was asked to keep it open.
    timeout: Duration,
    /// When it is given up, whatever the server does (FM-16, FM-17, FM-20).
    pub(super) deadline: Duration,
}

/// How far a watch got before it failed.
struct Reached {
    /// `None` if the server never accepted it.
    lived: Option<Duration>,
    progress: bool,
}

impl<T> Machine<T> {
    pub(super) fn new_connection(&mut self) -> (Connection, Duration) {
        let (shortest, longest) = self.config.watch_timeout.clone().into_inner();
        let timeout = self.chance.whole_seconds(shortest, longest);
        let patience = timeout.saturating_add(self.config.idle_margin);
        let connection = Connection {
            requested: self.now,
            timeout,
            deadline: self.now.saturating_add(patience),
        };
        planted!(WatchHasNoDeadline => {
            let deadline = Duration::MAX;
            return (Connection { deadline, ..connection }, Duration::ZERO);
        });
        (connection, timeout)
    }

    pub(super) fn open_watch(&mut self, out: &mut Vec<Effect<T>>) {
        let (connection, timeout) = self.new_connection();
        planted!(WatchSkipsAVersion => self.resume = self.next_version());
        self.enter(State::Opening(connection), out);
        out.push(Effect::Watch(WatchRequest {
            version: self.resume.clone(),
            timeout,
            bookmarks: true,
            send_initial_events: false,
        }));
    }

    pub(super) fn opening(
        &mut self,
        connection: Connection,
        input: Input<T>,
        out: &mut Vec<Effect<T>>,
    ) {
        let reached = Reached {
            lived: None,
            progress: false,
        };
        match input {
            Input::WatchOpened(Ok(())) => {
                let version = self.resume.clone();
                let vouched = std::mem::take(&mut self.lessons.vouched);
                self.enter(State::Watching(Watching::new(connection, vouched)), out);
                out.push(Effect::Report(Report::WatchOpened { version }));
            }
            Input::WatchOpened(Err(failure)) => self.watch_failed(&reached, failure, out),
            Input::Panicked => self.watch_failed(&reached, panicked(), out),
            Input::Timer if self.now >= connection.deadline => {
                out.push(Effect::Abandon);
                self.watch_failed(&reached, overdue(), out);
            }
            _ => self.state = State::Opening(connection),
        }
    }

    pub(super) fn watching(
        &mut self,
        watching: Watching,
        input: Input<T>,
        out: &mut Vec<Effect<T>>,
    ) {
        if watching.is_taking() {
            return self.taking(watching, &input, out);
        }
        match input {
            Input::Event(Ok(event)) => self.event(watching, event, out),
            Input::Event(Err(failure)) => {
                planted!(BrokenEventIsReceived => self.resume = self.next_version());
                self.watch_failed(&self.reached(&watching), failure, out);
            }
            Input::StreamEnded => self.closed(&watching, out),
            Input::Panicked => self.watch_failed(&self.reached(&watching), panicked(), out),
            Input::Timer if self.now >= watching.connection.deadline => {
                self.broken(&watching, overdue(), out);
            }
            _ => self.state = State::Watching(watching),
        }
    }

    fn event(&mut self, watching: Watching, event: WatchEvent<T>, out: &mut Vec<Effect<T>>) {
        match event {
            WatchEvent::Added(item) => self.change(watching, Change::Added, item, out),
            WatchEvent::Modified(item) => self.change(watching, Change::Modified, item, out),
            WatchEvent::Deleted(item) if planted!(DeletionIsAChange) => {
                self.change(watching, Change::Modified, item, out);
            }
            WatchEvent::Deleted(item) => self.change(watching, Change::Deleted, item, out),
            WatchEvent::Bookmark { version, .. } => self.bookmark(watching, &version, out),
            WatchEvent::Error(failure) => {
                planted!(ExpiredWatchIsReopened => {
                    out.push(Effect::Abandon);
                    let pace = Pace::Delayed { progress: false };
                    return self.answer(failure, Next::Watch, pace, out);
                });
                self.broken(&watching, failure, out);
            }
        }
    }

    fn change(
        &mut self,
        mut watching: Watching,
        change: Change,
        item: Item<T>,
        out: &mut Vec<Effect<T>>,
    ) {
        let version = &item.identity.version;
        // A DELETED may carry the version before the deletion (FM-36).
        if change != Change::Deleted && self.tells_of_rewind(&watching, version) {
            return self.broken(&watching, server_behind(), out);
        }
        let received = self.received(version);
        self.tell_if_incomparable(version, out);
        watching.events += 1;
        if change != Change::Deleted && watching.is_repeated(version, &self.resume) {
            self.state = State::Watching(watching);
            return;
        }
        watching.confirmed |= received == *version;
        watching.taking = Some(Taking {
            received: received.clone(),
            undecodable: undecodable(&item),
        });
        self.state = State::Watching(watching);
        out.push(Effect::Emit(Emission::Change {
            change,
            item,
            received,
        }));
    }

    /// RL-46: a bookmark moves the version and nothing else.
    fn bookmark(
        &mut self,
        mut watching: Watching,
        version: &ResourceVersion,
        out: &mut Vec<Effect<T>>,
    ) {
        if self.tells_of_rewind(&watching, version) {
            return self.broken(&watching, server_behind(), out);
        }
        watching.events += 1;
        let received = self.received(version);
        if received != *version {
            self.state = State::Watching(watching);
            return;
        }
        self.tell_if_incomparable(version, out);
        watching.confirmed = true;
        watching.taking = Some(Taking {
            received: received.clone(),
            undecodable: None,
        });
        self.state = State::Watching(watching);
        out.push(Effect::Emit(Emission::Bookmark { received }));
    }

    /// A watch from our version begins below it: either old events are replayed, or history was
    /// rewound, and only a list can tell (FM-39).
    fn tells_of_rewind(&self, watching: &Watching, version: &ResourceVersion) -> bool {
        !watching.confirmed && version.is_older_than(&self.resume)
    }

    fn taking(&mut self, mut watching: Watching, input: &Input<T>, out: &mut Vec<Effect<T>>) {
        let taken = match input {
            Input::Accepted => watching.taking.take(),
            Input::Refused => return self.stop(out),
            _ => None,
        };
        let Some(Taking {
            received,
            undecodable,
        }) = taken
        else {
            self.state = State::Watching(watching);
            return;
        };
        if received != self.resume {
            watching.progress = true;
            self.lessons.trouble = None;
            self.resume = received.clone();
        }
        if let Some((identity, error)) = undecodable {
            out.push(Effect::Report(Report::Undecodable { identity, error }));
        }
        out.push(Effect::Report(Report::Progress { received }));
        if self.demanded.is_some() {
            self.note_health(&watching);
        }
        if !self.catch_up_on_demand(out) {
            self.state = State::Watching(watching);
        }
    }

    /// RL-36, RL-43.
    fn closed(&mut self, watching: &Watching, out: &mut Vec<Effect<T>>) {
        let lived = self.now.saturating_sub(watching.connection.requested);
        let events = watching.events;
        out.push(Effect::Report(Report::WatchClosed { lived, events }));
        // One that ends when it was asked to is no failure, however little that is (FM-18).
        let short = lived < self.config.short_watch.min(watching.connection.timeout);
        if short && !planted!(EarlyCloseIsHealthy) {
            let message = format!("the watch was closed after {lived:?} and {events} events");
            let failure = Failure::new(FailureKind::ShortWatch, "ShortWatch", message);
            return self.watch_failed(&self.reached(watching), failure, out);
        }
        self.note_health(watching);
        if let Some(trouble) = &mut self.lessons.trouble {
            // The server kept a watch at our version for as long as it is used to.
            (trouble.internal_since, trouble.broken_since) = (None, None);
        }
        self.open_watch(out);
    }

    /// RFX-8: only a watch that lived makes failures before it forgotten.
    pub(super) fn note_health(&mut self, watching: &Watching) {
        let lived = self.now.saturating_sub(watching.connection.requested);
        if lived >= self.config.backoff.healthy_after {
            self.recovered();
        }
    }

    /// The stream goes on, but not for us.
    fn broken(&mut self, watching: &Watching, failure: Failure, out: &mut Vec<Effect<T>>) {
        out.push(Effect::Abandon);
        self.watch_failed(&self.reached(watching), failure, out);
    }

    fn reached(&self, watching: &Watching) -> Reached {
        Reached {
            lived: Some(self.now.saturating_sub(watching.connection.requested)),
            progress: watching.progress,
        }
    }

    fn watch_failed(&mut self, reached: &Reached, failure: Failure, out: &mut Vec<Effect<T>>) {
        planted!(ForbiddenIsFatal => if failure.kind == FailureKind::Forbidden {
            return self.stop(out);
        });
        let healthy_after = self.config.backoff.healthy_after;
        if reached.lived.is_some_and(|lived| lived >= healthy_after) {
            self.recovered();
        }
        let next = self.remedy(failure.kind);
        let pace = match next {
            Next::Watch if failure.kind == FailureKind::ShortWatch => {
                match once(&mut self.lessons.spent.reopen) {
                    Pace::AtOnce => Pace::AtOnce,
                    Pace::Delayed { .. } => Pace::Delayed {
                        progress: reached.progress,
                    },
                }
            }
            Next::Watch => Pace::Delayed {
                progress: reached.progress,
            },
            // A list after each event would be a list every five seconds.
            Next::Populate(_) | Next::List(..) => Pace::Delayed { progress: false },
        };
        self.answer(failure, next, pace, out);
    }

    fn remedy(&mut self, kind: FailureKind) -> Next {
        let trouble = self.lessons.trouble.get_or_insert_default();
        let lost = patience_is_lost(kind, trouble, self.now, &self.config);
        let broken = Next::Populate(Pass::new(RelistCause::WatchBroken));
        match kind.recovery() {
            Recovery::Rewatch if lost => broken,
            Recovery::Rewatch => Next::Watch,
            Recovery::Relist if kind == FailureKind::Protocol && !trouble.protocol => {
                trouble.protocol = true;
                Next::Watch
            }
            Recovery::Relist if kind == FailureKind::Expired => {
                Next::Populate(Pass::new(cause_of_refusal(kind)))
            }
            Recovery::Relist => broken,
            Recovery::RelistConsistent => {
                self.lessons.unusable = true;
                Next::Populate(Pass::new(cause_of_refusal(kind)))
            }
        }
    }
}

/// Whether watching again has been tried for long enough.
///
/// A server that does not answer, or is asked too much, says nothing about our version, and would
/// not answer a list either (FM-12, FM-22): the clock of the others does not run meanwhile.
fn patience_is_lost(
    kind: FailureKind,
    trouble: &mut Trouble,
    now: Duration,
    config: &crate::Config,
) -> bool {
    let (since, patience) = match kind {
        FailureKind::Throttled | FailureKind::Connect | FailureKind::Unauthorized => return false,
        FailureKind::Internal => (&mut trouble.internal_since, config.internal_patience),
        _ => (&mut trouble.broken_since, config.rewatch_patience),
    };
    now.saturating_sub(*since.get_or_insert(now)) > patience
}

fn overdue() -> Failure {
    let message = "the watch outlived its deadline";
    Failure::new(FailureKind::TimedOut, "WatchTimeout", message)
}

/// FM-82. The payload of the panic is not shown, it could hold an object.
pub(super) fn panicked() -> Failure {
    let message = "the source of lists and watches panicked";
    Failure::new(FailureKind::Panicked, "Panicked", message)
}
