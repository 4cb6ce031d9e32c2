//! The events of one open watch.
//!
//! Single events are decoded immediately, in place. A burst is cut into batches of whole frames,
//! which are decoded off the task, one on each processor, while the next frames are read. Events
//! come out in the order of their frames.
//!
//! The bound on JSON that is held: two batches for each processor, and in the framer a
//! burst, a piece of the body and a line. After a burst of bytes the stream yields to other tasks.
//!
//! Most watches are idle most of the time, and there may be a thousand of them. An idle watch
//! releases its memory for reading after a bookmark.

// RFX-17

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use futures::Stream;
use informer_reflector::{Failure, FailureKind, Reuse, WatchEvent};
use tokio::time::Sleep;

use crate::{
    KubeSource, ReceivedWire,
    decode::{
        decoder::Buffers,
        ordered_jobs::{Abandoned, OrderedJobs, Room, threads_for_list},
    },
    http::answer::{Pieces, broken},
    watch::{
        event::EventReader,
        frame::{FrameError, Framer},
        held::Held,
    },
};

/// Complete lines of this size are a burst, which outweighs waking a thread.
const BURST_BYTES: usize = 64 * 1024;
/// The size of a batch: some hundred microseconds of work.
const BATCH_BYTES: usize = 32 * 1024;

pub(super) type Event<T> = Result<WatchEvent<T>, Failure>;

/// The events of a watch, as they arrive. The stream ends after the first error.
///
/// # Panics
///
/// When polled, with what a type's `Deserialize` panicked with. Needs a tokio runtime.
///
/// # Cancel safety
///
/// Dropping it closes the connection. An incomplete event is lost; no version has moved past it.
pub struct KubeEvents<T> {
    pieces: Pieces,
    /// Called with the first event, or the failure that came instead.
    received: Option<Received>,
    /// Set when there are no more pieces: the failure that ended them, or `None` for a clean end.
    end: Option<Option<Failure>>,
    framer: Framer,
    /// Whether the lines in the framer are read in place.
    in_place: bool,
    reader: EventReader<T>,
    jobs: OrderedJobs<Decoded<T>>,
    /// Memory of finished batches, for the next ones.
    spare: Vec<Buffers>,
    decoded: std::vec::IntoIter<Event<T>>,
    /// Whether these may have to be held back.
    decoded_held: bool,
    /// The initial events that are held back while the decoder learns from them.
    held: Held<T>,
    threads: usize,
    /// Bytes handed out since the stream last yielded.
    handed_out: usize,
    /// Whether the last event was a bookmark: no earlier event is outstanding.
    after_bookmark: bool,
    /// The time by which the server must have ended the watch; `None` for a watch without a
    /// timeout.
    // FM-16, FM-20
    deadline: Option<Pin<Box<Sleep>>>,
    is_over: bool,
}

/// Notes whether the format of an answer can be read.
pub(crate) type Received = Box<dyn FnOnce(Option<&Failure>) + Send>;

/// The answer to a request for a watch.
pub(crate) struct Answer {
    pub(crate) format: ReceivedWire,
    pub(crate) pieces: Pieces,
    /// Called with the failure that came instead of the first event, or with none.
    pub(crate) received: Option<Received>,
}

/// The events of a batch, their size as JSON, and the memory they were read in.
struct Decoded<T> {
    events: Vec<Event<T>>,
    /// Whether they may have to be held back.
    is_held: bool,
    bytes: usize,
    buffers: Buffers,
}

impl<T: Send + Sync + 'static> KubeEvents<T> {
    /// `is_initial` says whether the watch begins with the objects there are. `threads` is the
    /// number of batches decoded at a time; with 1 all are decoded in place.
    pub(crate) fn new(
        answer: Answer,
        source: Arc<KubeSource<T>>,
        reuse: Option<Arc<dyn Reuse<T>>>,
        deadline: Option<Sleep>,
        is_initial: bool,
        threads: usize,
    ) -> Self {
        let is_held = is_initial && source.decoder.is_learning();
        let threads = threads_for_list(threads, is_held);
        Self {
            held: Held::new(is_held),
            threads,
            pieces: answer.pieces,
            received: answer.received,
            end: None,
            framer: Framer::new(answer.format, source.limits.event_bytes),
            in_place: false,
            reader: EventReader::new(source, answer.format, reuse),
            jobs: OrderedJobs::new(threads),
            spare: Vec::new(),
            decoded: Vec::new().into_iter(),
            decoded_held: false,
            handed_out: 0,
            after_bookmark: false,
            deadline: deadline.map(Box::pin),
            is_over: false,
        }
    }

    // Received data comes before the deadline: a slow reader must not take its own delay for an
    // idle server.
    fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<Option<Event<T>>> {
        loop {
            if let Some(events) = ready!(self.held.poll_finished(context)) {
                self.decoded = events.into_iter();
            }
            if let Some(event) = self.decoded.next() {
                match self.pass(event, self.decoded_held) {
                    Some(event) => return Poll::Ready(Some(event)),
                    None => continue,
                }
            }
            if self.handed_out >= BURST_BYTES {
                return self.give_way(context);
            }
            if self.in_place {
                let is_held = self.held.is_needed(&self.reader.source);
                if let Some(event) = self.read_line() {
                    match self.pass(event, is_held) {
                        Some(event) => return Poll::Ready(Some(event)),
                        None => continue,
                    }
                }
                self.in_place = false;
            }
            let has_arrived = self.gather(context);
            if let Some(decoded) = ready!(self.jobs.poll_next(context)) {
                self.handed_out += decoded.bytes;
                self.spare.push(decoded.buffers);
                self.decoded_held = decoded.is_held;
                self.decoded = decoded.events.into_iter();
                continue;
            }
            if !self.framer.has_answer() {
                break;
            }
            // The connection's task may have more, which then makes a burst.
            let may_follow = self.end.is_none() && !self.framer.is_too_long();
            if has_arrived && may_follow && self.framer.complete_bytes() < BURST_BYTES {
                return self.give_way(context);
            }
            self.in_place = true;
        }
        if self.end.is_some()
            && (self.held).finish(&mut self.decoded, &self.reader.source, self.threads)
        {
            return self.poll_event(context);
        }
        if let Some(end) = self.end.take() {
            return Poll::Ready(end.map(Err));
        }
        if std::mem::take(&mut self.after_bookmark) {
            self.release();
        }
        let Some(deadline) = &mut self.deadline else {
            return Poll::Pending;
        };
        ready!(deadline.as_mut().poll(context));
        let message = "the server did not end the watch in time; the connection may be dead";
        let overdue = Failure::new(FailureKind::TimedOut, "Overdue", message);
        Poll::Ready(Some(Err(overdue)))
    }

    /// Reads what has arrived, up to a burst, and starts jobs for bursts. Returns whether anything
    /// arrived.
    fn gather(&mut self, context: &mut Context<'_>) -> bool {
        let mut has_arrived = false;
        loop {
            self.decode_bursts();
            let is_full = self.framer.complete_bytes() >= BURST_BYTES;
            // SEC-16: whatever complete frames come before the long one.
            if is_full || self.framer.is_too_long() || self.end.is_some() {
                return has_arrived;
            }
            match Pin::new(&mut self.pieces).poll_next(context) {
                Poll::Ready(Some(Ok(piece))) => self.framer.push(&piece),
                Poll::Ready(Some(Err(error))) => self.end = Some(Some(broken(&error))),
                // FM-30: a rest without a newline may be a torn line, and is discarded.
                Poll::Ready(None) => self.end = Some(None),
                Poll::Pending => return has_arrived,
            }
            has_arrived = true;
        }
    }

    // The first batch needs a burst; while its jobs run, each full batch joins them. A decoder that
    // learns from events does so off the task, however few there are.
    fn decode_bursts(&mut self) {
        while self.jobs.has_room() {
            let is_learning = self.threads > 1 && self.held.is_needed(&self.reader.source);
            let least = match self.jobs.is_idle() {
                _ if is_learning => 1,
                true => BURST_BYTES,
                false => BATCH_BYTES,
            };
            if self.framer.complete_bytes() < least {
                return;
            }
            let mut frames = self.framer.split_off(BATCH_BYTES);
            let buffers = self.spare.pop().unwrap_or_default();
            let is_held = self.held.is_needed(&self.reader.source);
            let mut reader = self.reader.for_frames(frames.rest(), buffers);
            let room = Room::of_objects(&*self.reader.source.decoder);
            self.jobs.push(room, move |abandoned| {
                let bytes = frames.rest().len();
                let events = read_all(&mut frames, &mut reader, abandoned);
                Decoded {
                    events,
                    is_held,
                    bytes,
                    buffers: reader.buffers,
                }
            });
        }
    }

    /// The capacity of the framer, in bytes.
    #[cfg(test)]
    pub(crate) fn room(&self) -> usize {
        self.framer.room()
    }

    /// Releases the memory for reading.
    fn release(&mut self) {
        self.framer.give_back();
        self.reader.buffers = Buffers::default();
        self.spare = Vec::new();
        self.decoded = Vec::new().into_iter();
    }

    /// The event, unless it is held back.
    fn pass(&mut self, event: Event<T>, is_held: bool) -> Option<Event<T>> {
        let source = &self.reader.source;
        self.held
            .pass(event, is_held, &mut self.decoded, source, self.threads)
    }

    fn read_line(&mut self) -> Option<Event<T>> {
        let before = self.framer.rest().len();
        let event = next_event(&mut self.framer, &mut self.reader);
        self.handed_out += before - self.framer.rest().len();
        event
    }

    /// Yields to other tasks once.
    fn give_way(&mut self, context: &mut Context<'_>) -> Poll<Option<Event<T>>> {
        self.handed_out = 0;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Reads the next line; `None` if there is no complete one.
fn next_event<T: 'static>(framer: &mut Framer, reader: &mut EventReader<T>) -> Option<Event<T>> {
    match framer.next_frame() {
        Ok(frame) => frame.map(|frame| reader.read(frame)),
        Err(error) => Some(Err(no_frame(error))),
    }
}

fn no_frame(error: FrameError) -> Failure {
    match error {
        FrameError::TooLong => {
            let message = "an event is larger than the limit";
            Failure::new(FailureKind::TooBig, "EventTooBig", message)
        }
        FrameError::NotALength => {
            let message =
                "the answer is not a watch in protobuf, although its content type says so";
            Failure::new(FailureKind::Protocol, "NotProtobuf", message)
        }
    }
}

/// Reads all lines, up to the first error, or until the job is abandoned.
fn read_all<T: 'static>(
    framer: &mut Framer,
    reader: &mut EventReader<T>,
    abandoned: &Abandoned,
) -> Vec<Event<T>> {
    let mut events = Vec::new();
    while !abandoned.is_set()
        && !matches!(events.last(), Some(Err(_)))
        && let Some(event) = next_event(framer, reader)
    {
        events.push(event);
    }
    events
}

impl<T> Unpin for KubeEvents<T> {}

impl<T: Send + Sync + 'static> Stream for KubeEvents<T> {
    type Item = Event<T>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let event = ready!(self.poll_event(context));
        if let Some(event) = &event
            && let Some(received) = self.received.take()
        {
            received(event.as_ref().err());
        }
        self.is_over = !matches!(event, Some(Ok(_)));
        self.after_bookmark = matches!(event, Some(Ok(WatchEvent::Bookmark { .. })));
        Poll::Ready(event)
    }
}

// No event and no byte is shown: they may hold secrets.
impl<T> fmt::Debug for KubeEvents<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KubeEvents")
            .field("is_over", &self.is_over)
            .finish_non_exhaustive()
    }
}
