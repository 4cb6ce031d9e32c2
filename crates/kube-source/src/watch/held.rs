//! Initial events that are held back while a decoder learns from them.
//!
//! A streaming list has no page that [`Decode::finish`](crate::Decode::finish) could be called
//! with. Therefore its first events are kept until the decoder has learned what it needs, or all of
//! them are there, and are finished together before the first is handed out.

use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use informer_reflector::{Item, WatchEvent};
use tokio::time::Instant;

use crate::{
    KubeSource,
    decode::{
        object::FEW,
        ordered_jobs::{OrderedJobs, Room},
    },
    watch::stream::Event,
};

/// How long events that arrive are held back at most. It is shorter than the reflector's
/// `streaming_patience` (60 s by default), after which a streaming list without events is given up.
const LONGEST: Duration = Duration::from_secs(10);

/// The events that are held back, or being finished.
pub(super) struct Held<T> {
    is_holding: bool,
    /// When the first event was held back.
    since: Option<Instant>,
    events: Vec<Event<T>>,
    /// The job that finishes them.
    finishing: Option<Box<OrderedJobs<Vec<Event<T>>>>>,
}

impl<T: Send + Sync + 'static> Held<T> {
    pub(super) fn new(is_holding: bool) -> Self {
        Self {
            is_holding,
            since: None,
            events: Vec::new(),
            finishing: None,
        }
    }

    /// Returns whether an event that is decoded from now on may have to be held back.
    pub(super) fn is_needed(&self, source: &KubeSource<T>) -> bool {
        self.is_holding && source.decoder.is_learning()
    }

    /// Returns an event that is to be handed out now. Keeps it back otherwise, and finishes all
    /// that are kept when no more are needed, together with `rest`, which follows it.
    ///
    /// `was_needed` is what [`is_needed`](Self::is_needed) was before the event was decoded.
    /// `threads` is 1 to finish in place.
    pub(super) fn pass(
        &mut self,
        mut event: Event<T>,
        was_needed: bool,
        rest: &mut std::vec::IntoIter<Event<T>>,
        source: &Arc<KubeSource<T>>,
        threads: usize,
    ) -> Option<Event<T>> {
        if !self.is_holding {
            // Decoded before the others were finished.
            if was_needed {
                source.finish(item_of(&mut event).into_iter());
            }
            return Some(event);
        }
        let since = *self.since.get_or_insert_with(Instant::now);
        let is_last = ends_initial_events(&event) || since.elapsed() > LONGEST;
        self.events.push(event);
        if is_last || !was_needed {
            self.finish(rest, source, threads);
        }
        None
    }

    /// Finishes what is held back, and holds no more. Returns whether there was anything.
    pub(super) fn finish(
        &mut self,
        rest: &mut std::vec::IntoIter<Event<T>>,
        source: &Arc<KubeSource<T>>,
        threads: usize,
    ) -> bool {
        self.is_holding = false;
        let mut events = std::mem::take(&mut self.events);
        if events.is_empty() {
            return false;
        }
        events.extend(rest);
        let source = Arc::clone(source);
        let threads = if events.len() > FEW { threads } else { 1 };
        let mut jobs = Box::new(OrderedJobs::new(threads));
        jobs.push(Room::NONE, move |_| {
            source.finish(events.iter_mut().filter_map(item_of));
            events
        });
        self.finishing = Some(jobs);
        true
    }

    /// The events that have been finished, which come before all others.
    pub(super) fn poll_finished(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Vec<Event<T>>>> {
        let Some(jobs) = &mut self.finishing else {
            return Poll::Ready(None);
        };
        let events = ready!(jobs.poll_next(context));
        self.finishing = None;
        Poll::Ready(events)
    }
}

/// Whether no initial event follows.
fn ends_initial_events<T>(event: &Event<T>) -> bool {
    match event {
        Ok(WatchEvent::Added(_) | WatchEvent::Modified(_) | WatchEvent::Deleted(_)) => false,
        Ok(WatchEvent::Bookmark {
            initial_events_end, ..
        }) => *initial_events_end,
        Ok(WatchEvent::Error(_)) | Err(_) => true,
    }
}

fn item_of<T>(event: &mut Event<T>) -> Option<&mut Item<T>> {
    match event {
        Ok(WatchEvent::Added(item) | WatchEvent::Modified(item) | WatchEvent::Deleted(item)) => {
            Some(item)
        }
        Ok(WatchEvent::Bookmark { .. } | WatchEvent::Error(_)) | Err(_) => None,
    }
}
