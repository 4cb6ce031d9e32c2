//! The events of one open watch.
//!
//! What arrives now and then is decoded at once, in place. What arrives in a burst is cut into
//! batches of whole lines, which are decoded off the task, on as many threads as there are
//! processors, while the next are read; their events come out in the order of the lines.
//!
//! RFX-17, what is held as JSON: two batches for each processor, and in the framer a burst, a piece
//! of the body and a line. So much is handed out without a pause, too, and then others get their
//! turn.
//!
//! Most watches say nothing for most of the time, and there may be a thousand of them: where there
//! is nothing to read after a bookmark, no memory is kept for reading.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use futures::Stream;
use informer_reflector::{Failure, FailureKind, Reuse, WatchEvent};
use serde::de::DeserializeOwned;
use tokio::time::Sleep;

use crate::{
    decode::{
        object::ObjectDecoder,
        ordered_jobs::{Abandoned, Decoding},
        tape::Scratch,
    },
    http::answer::{Pieces, broken},
    watch::{
        event::EventReader,
        frame::{Framer, LineTooLong},
    },
};

/// So many bytes of complete lines are a burst, which is worth a thread's wake-up.
const BURST_BYTES: usize = 64 * 1024;
/// Decoded in one go: some hundred microseconds of work.
const BATCH_BYTES: usize = 32 * 1024;

type Event<T> = Result<WatchEvent<T>, Failure>;

/// The events of a watch, as they arrive. Ends after the first error.
///
/// # Panics
///
/// When polled, with what a type's `Deserialize` panicked with. Needs a tokio runtime.
///
/// # Cancel safety
///
/// Dropping it closes the connection; a half-read event is lost with it, and no version has moved.
pub struct KubeEvents<T> {
    pieces: Pieces,
    /// Why there are no more pieces, and whether that is a failure.
    end: Option<Option<Failure>>,
    framer: Framer,
    /// Whether the lines in the framer are read in place.
    in_place: bool,
    reader: EventReader<T>,
    decoding: Decoding<Decoded<T>>,
    /// What batches were read in, for the next.
    spare: Vec<Scratch>,
    decoded: std::vec::IntoIter<Event<T>>,
    /// Bytes handed out since others had their turn.
    handed_out: usize,
    /// Whether the last event was a bookmark: all that had happened has been told.
    is_told_all: bool,
    /// When the server should have ended the watch long since (FM-16, FM-20); `None` for a watch
    /// without a timeout.
    deadline: Option<Pin<Box<Sleep>>>,
    is_over: bool,
}

/// The events of a batch, how many bytes they were, and what they were read in.
struct Decoded<T> {
    events: Vec<Event<T>>,
    bytes: usize,
    scratch: Scratch,
}

impl<T: DeserializeOwned + Send + Sync + 'static> KubeEvents<T> {
    /// `threads` is how many batches may be decoded at a time; 1 decodes everything in place.
    pub(crate) fn new(
        pieces: Pieces,
        decoder: Arc<ObjectDecoder<T>>,
        reuse: Option<Arc<dyn Reuse<T>>>,
        deadline: Option<Sleep>,
        threads: usize,
    ) -> Self {
        Self {
            pieces,
            end: None,
            framer: Framer::new(decoder.limits().event_bytes),
            in_place: false,
            reader: EventReader::new(decoder, reuse),
            decoding: Decoding::new(threads),
            spare: Vec::new(),
            decoded: Vec::new().into_iter(),
            handed_out: 0,
            is_told_all: false,
            deadline: deadline.map(Box::pin),
            is_over: false,
        }
    }

    /// What has arrived goes first: a slow reader must not mistake its own delay for silence.
    fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<Option<Event<T>>> {
        loop {
            if let Some(event) = self.decoded.next() {
                return Poll::Ready(Some(event));
            }
            if self.handed_out >= BURST_BYTES {
                return self.give_way(context);
            }
            if self.in_place {
                if let Some(event) = self.read_line() {
                    return Poll::Ready(Some(event));
                }
                self.in_place = false;
            }
            let has_arrived = self.gather(context);
            if let Some(decoded) = ready!(self.decoding.poll_next(context)) {
                self.handed_out += decoded.bytes;
                self.spare.push(decoded.scratch);
                self.decoded = decoded.events.into_iter();
                continue;
            }
            if !self.framer.has_answer() {
                break;
            }
            // More may be on its way through the connection's task, which then makes a burst.
            if has_arrived && self.end.is_none() && self.framer.complete_bytes() < BURST_BYTES {
                return self.give_way(context);
            }
            self.in_place = true;
        }
        if let Some(end) = self.end.take() {
            return Poll::Ready(end.map(Err));
        }
        if std::mem::take(&mut self.is_told_all) {
            self.give_back();
        }
        let Some(deadline) = &mut self.deadline else {
            return Poll::Pending;
        };
        ready!(deadline.as_mut().poll(context));
        let message = "the server did not end the watch in time; the connection may be dead";
        let overdue = Failure::new(FailureKind::TimedOut, "Overdue", message);
        Poll::Ready(Some(Err(overdue)))
    }

    /// Reads what has arrived, up to a burst, and has bursts decoded. Whether anything arrived.
    fn gather(&mut self, context: &mut Context<'_>) -> bool {
        let mut has_arrived = false;
        loop {
            self.decode_bursts();
            let is_full = self.framer.complete_bytes() >= BURST_BYTES;
            let is_too_long = self.framer.complete_bytes() == 0 && self.framer.has_answer();
            if is_full || is_too_long || self.end.is_some() {
                return has_arrived;
            }
            match Pin::new(&mut self.pieces).poll_next(context) {
                Poll::Ready(Some(Ok(piece))) => self.framer.push(&piece),
                Poll::Ready(Some(Err(error))) => self.end = Some(Some(broken(&error))),
                // What is left without a newline may be torn, and counts as never sent (FM-30).
                Poll::Ready(None) => self.end = Some(None),
                Poll::Pending => return has_arrived,
            }
            has_arrived = true;
        }
    }

    /// Once a burst has begun, whole batches of it go the same way.
    fn decode_bursts(&mut self) {
        while self.decoding.has_room() {
            let least = match self.decoding.is_idle() {
                true => BURST_BYTES,
                false => BATCH_BYTES,
            };
            if self.framer.complete_bytes() < least {
                return;
            }
            let mut lines = self.framer.split_off(BATCH_BYTES);
            let scratch = self.spare.pop().unwrap_or_default();
            let mut reader = self.reader.for_lines(lines.rest(), scratch);
            self.decoding.push(move |abandoned| {
                let bytes = lines.rest().len();
                let events = read_all(&mut lines, &mut reader, abandoned);
                let scratch = reader.into_scratch();
                Decoded {
                    events,
                    bytes,
                    scratch,
                }
            });
        }
    }

    /// So many bytes of lines it has room for.
    #[cfg(test)]
    pub(crate) fn room(&self) -> usize {
        self.framer.room()
    }

    /// Keeps no memory for what may be long in coming.
    fn give_back(&mut self) {
        self.framer.give_back();
        self.reader.give_back();
        self.spare = Vec::new();
        self.decoded = Vec::new().into_iter();
    }

    fn read_line(&mut self) -> Option<Event<T>> {
        let before = self.framer.rest().len();
        let event = next_event(&mut self.framer, &mut self.reader);
        self.handed_out += before - self.framer.rest().len();
        event
    }

    /// Lets others have their turn, and comes back.
    fn give_way(&mut self, context: &mut Context<'_>) -> Poll<Option<Event<T>>> {
        self.handed_out = 0;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Reads the next line; `None` if there is no complete one.
fn next_event<T: DeserializeOwned>(
    framer: &mut Framer,
    reader: &mut EventReader<T>,
) -> Option<Event<T>> {
    match framer.next_line() {
        Ok(line) => line.map(|line| reader.read(line)),
        Err(LineTooLong) => {
            let message = "an event is larger than the limit";
            let too_big = Failure::new(FailureKind::TooBig, "EventTooBig", message);
            Some(Err(too_big))
        }
    }
}

/// Reads all lines, up to the first error, or until nobody waits for them.
fn read_all<T: DeserializeOwned>(
    framer: &mut Framer,
    reader: &mut EventReader<T>,
    abandoned: &Abandoned,
) -> Vec<Event<T>> {
    let mut events = Vec::new();
    while !abandoned.is_set()
        && let Some(event) = next_event(framer, reader)
    {
        let is_last = event.is_err();
        events.push(event);
        if is_last {
            break;
        }
    }
    events
}

impl<T> Unpin for KubeEvents<T> {}

impl<T: DeserializeOwned + Send + Sync + 'static> Stream for KubeEvents<T> {
    type Item = Event<T>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let event = ready!(self.poll_event(context));
        self.is_over = !matches!(event, Some(Ok(_)));
        self.is_told_all = matches!(event, Some(Ok(WatchEvent::Bookmark { .. })));
        Poll::Ready(event)
    }
}

/// Shows no event and no byte.
impl<T> fmt::Debug for KubeEvents<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KubeEvents")
            .field("is_over", &self.is_over)
            .finish_non_exhaustive()
    }
}
