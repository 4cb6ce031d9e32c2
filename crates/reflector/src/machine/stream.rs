//! The streaming list: the initial state as events of a watch, which then goes on.
//!
//! - RL-25, RL-28: events go to a buffer of their own until the closing bookmark; nothing is handed
//!   on before it.
//! - RL-27, RFX-4, FM-38: the version is the closing bookmark's. Those of initial events are not in
//!   order and never are a point to resume from.
//! - RFX-12 (FM-25, FM-26): attempts and patience are bounded, then a list is made instead, and
//!   streaming is left alone for a while.

use std::{collections::BTreeMap, time::Duration};

use super::{
    Effect, Input, Machine, Pass, State,
    backoff::{Next, Pace, once},
    list::{Extent, cause_of_refusal, server_behind},
    replace::{Collection, Handover},
    watch::{Connection, panicked},
};
use crate::{
    Config, Failure, FailureKind, Item, ObjectKey, RelistCause, ResourceVersion, WatchEvent,
    WatchRequest,
};

/// Receiving initial events.
pub(super) struct Streaming<T> {
    pub(super) pass: Pass,
    connection: Connection,
    /// The version asked for; unset for a consistent state.
    asked: ResourceVersion,
    /// In the order of keys, so that the same events give the same list.
    items: BTreeMap<ObjectKey, Item<T>>,
    events: u64,
    /// When something last came.
    last_news: Duration,
}

impl<T> Streaming<T> {
    pub(super) fn deadline(&self, config: &Config) -> Duration {
        let patience = self.last_news.saturating_add(config.streaming_patience);
        patience.min(self.connection.deadline)
    }

    fn take(&mut self, item: Item<T>) {
        let key = &item.identity.key;
        let held = self.items.get(key).map(|held| &held.identity.version);
        if !held.is_some_and(|held| item.identity.version.is_older_than(held)) {
            self.items.insert(key.clone(), item);
        }
    }

    fn drop_item(&mut self, item: &Item<T>) {
        self.items.remove(&item.identity.key);
    }
}

impl<T> Machine<T> {
    /// RL-24, with the version of RL-11.
    pub(super) fn begin_streaming(&mut self, pass: Pass, out: &mut Vec<Effect<T>>) {
        let asked = if self.lessons.unusable {
            ResourceVersion::unset()
        } else {
            self.resume.clone()
        };
        let (connection, timeout) = self.new_connection();
        let streaming = Streaming {
            pass,
            connection,
            asked: asked.clone(),
            items: BTreeMap::new(),
            events: 0,
            last_news: self.now,
        };
        self.enter(State::Streaming(streaming), out);
        out.push(Effect::Watch(WatchRequest {
            version: asked,
            timeout,
            bookmarks: true,
            send_initial_events: true,
        }));
    }

    pub(super) fn streaming(
        &mut self,
        mut streaming: Streaming<T>,
        input: Input<T>,
        out: &mut Vec<Effect<T>>,
    ) {
        match input {
            Input::WatchOpened(Ok(())) => {
                streaming.last_news = self.now;
                self.state = State::Streaming(streaming);
            }
            Input::Event(Ok(event)) => self.initial_event(streaming, event, out),
            Input::WatchOpened(Err(failure)) | Input::Event(Err(failure)) => {
                self.streaming_failed(streaming.pass, failure, out);
            }
            Input::StreamEnded => self.streaming_failed(streaming.pass, incomplete(), out),
            Input::Panicked => self.streaming_failed(streaming.pass, panicked(), out),
            Input::Timer if self.now >= streaming.deadline(&self.config) => {
                out.push(Effect::Abandon);
                // Not bad luck: the server keeps the stream open and says nothing.
                self.lessons.failed_streams = self.config.streaming_attempts;
                self.streaming_failed(streaming.pass, incomplete(), out);
            }
            _ => self.state = State::Streaming(streaming),
        }
    }

    fn initial_event(
        &mut self,
        mut streaming: Streaming<T>,
        event: WatchEvent<T>,
        out: &mut Vec<Effect<T>>,
    ) {
        // Bookmarks and changes come from a server that ignored the question, too (FM-26).
        if matches!(event, WatchEvent::Added(_)) {
            streaming.last_news = self.now;
        }
        streaming.events += 1;
        match event {
            WatchEvent::Added(item) | WatchEvent::Modified(item) => {
                planted!(InitialEventIsResumePoint => self.resume = item.identity.version.clone());
                streaming.take(item);
                self.state = State::Streaming(streaming);
            }
            WatchEvent::Deleted(item) => {
                streaming.drop_item(&item);
                self.state = State::Streaming(streaming);
            }
            WatchEvent::Bookmark {
                version,
                initial_events_end: true,
            } => self.initial_events_end(streaming, version, out),
            WatchEvent::Bookmark { .. } => self.state = State::Streaming(streaming),
            WatchEvent::Error(failure) => {
                out.push(Effect::Abandon);
                self.streaming_failed(streaming.pass, failure, out);
            }
        }
    }

    fn initial_events_end(
        &mut self,
        streaming: Streaming<T>,
        version: ResourceVersion,
        out: &mut Vec<Effect<T>>,
    ) {
        let failure = if !version.is_exact() {
            let message = "the bookmark that ends the initial events has no version";
            let kind = FailureKind::Protocol;
            Some(Failure::new(kind, "NoResourceVersion", message))
        } else if version.is_older_than(&streaming.asked) {
            Some(server_behind())
        } else {
            None
        };
        if let Some(failure) = failure {
            out.push(Effect::Abandon);
            return self.streaming_failed(streaming.pass, failure, out);
        }
        let collection = Collection {
            cause: streaming.pass.cause,
            items: streaming.items.into_values().collect(),
            version,
            consistent: streaming.asked.is_unset(),
        };
        let handover = Handover {
            connection: streaming.connection,
            events: streaming.events,
        };
        self.replace(collection, Some(handover), out);
    }

    /// RL-29, bounded: what a list would meet as well is waited for, the rest ends in a list.
    fn streaming_failed(&mut self, pass: Pass, failure: Failure, out: &mut Vec<Effect<T>>) {
        let delayed = Pace::Delayed { progress: false };
        let kind = failure.kind;
        if matches!(kind, FailureKind::Throttled | FailureKind::Connect) {
            return self.answer(failure, Next::Populate(pass), delayed, out);
        }
        let refused = matches!(kind, FailureKind::Expired | FailureKind::TooLarge);
        if refused {
            self.lessons.unusable = true;
        }
        let understood = kind != FailureKind::Invalid;
        self.lessons.failed_streams = self.lessons.failed_streams.saturating_add(1);
        if !understood || self.lessons.failed_streams >= self.config.streaming_attempts {
            self.lessons.failed_streams = 0;
            if !is_met_by_lists(kind) {
                let pause = self.now.saturating_add(self.config.streaming_pause);
                self.lessons.streaming_paused_until = pause;
            }
            return self.fall_back(pass, failure, out);
        }
        if refused {
            let next = Next::Populate(pass.because(cause_of_refusal(kind)));
            let pace = once(&mut self.lessons.spent.consistent);
            return self.answer(failure, next, pace, out);
        }
        if kind == FailureKind::Incomplete {
            return self.answer(failure, Next::Populate(pass), delayed, out);
        }
        self.fall_back(pass, failure, out);
    }

    /// At once only where a list may do better: a server that is down or refuses us would get twice
    /// the requests, from everybody at the same time (FM-11, FM-12).
    fn fall_back(&mut self, pass: Pass, failure: Failure, out: &mut Vec<Effect<T>>) {
        let pass = pass.because(RelistCause::StreamingFallback);
        let next = Next::List(pass, Extent::Paged);
        let pace = if is_met_by_lists(failure.kind) || failure.retry_after.is_some() {
            Pace::Delayed { progress: false }
        } else {
            Pace::AtOnce
        };
        self.answer(failure, next, pace, out);
    }
}

/// Failures that say nothing about streaming: a list would meet them as well.
fn is_met_by_lists(kind: FailureKind) -> bool {
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

fn incomplete() -> Failure {
    let message = "the initial events did not end with a bookmark";
    Failure::new(FailureKind::Incomplete, "InitialEventsIncomplete", message)
}
