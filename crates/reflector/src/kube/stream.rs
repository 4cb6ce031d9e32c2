//! The events of one open watch.

use std::{
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use futures::Stream;
use serde::de::DeserializeOwned;
use tokio::time::Sleep;

use super::{
    answer::{Pieces, broken},
    event::EventReader,
    frame::{Framer, LineTooLong},
    object::ObjectDecoder,
};
use crate::{Failure, FailureKind, Reuse, WatchEvent};

/// The events of a watch, as they arrive. Ends after the first error.
///
/// # Cancel safety
///
/// Dropping it closes the connection; a half-read event is lost with it, and no version has moved.
pub struct KubeEvents<T> {
    pieces: Pieces,
    framer: Framer,
    reader: EventReader<T>,
    /// When the server should have ended the watch long since (FM-16, FM-20); `None` for a watch
    /// without a timeout.
    deadline: Option<Pin<Box<Sleep>>>,
    is_over: bool,
}

impl<T: DeserializeOwned> KubeEvents<T> {
    pub(super) fn new(
        pieces: Pieces,
        decoder: Arc<ObjectDecoder<T>>,
        reuse: Option<Arc<dyn Reuse<T>>>,
        deadline: Option<Sleep>,
    ) -> Self {
        Self {
            pieces,
            framer: Framer::new(decoder.limits().event_bytes),
            reader: EventReader::new(decoder, reuse),
            deadline: deadline.map(Box::pin),
            is_over: false,
        }
    }

    fn read_line(&mut self) -> Option<Result<WatchEvent<T>, Failure>> {
        match self.framer.next_line() {
            Ok(Some(line)) => Some(self.reader.read(line)),
            Ok(None) => None,
            Err(LineTooLong) => {
                let message = "an event is larger than the limit";
                Some(Err(Failure::new(
                    FailureKind::TooBig,
                    "EventTooBig",
                    message,
                )))
            }
        }
    }

    /// What has arrived goes first: a slow reader must not mistake its own delay for silence.
    fn poll_event(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<WatchEvent<T>, Failure>>> {
        loop {
            if let Some(event) = self.read_line() {
                return Poll::Ready(Some(event));
            }
            match Pin::new(&mut self.pieces).poll_next(context) {
                Poll::Ready(Some(Ok(piece))) => self.framer.push(&piece),
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(broken(&error)))),
                // What is left without a newline may be torn, and counts as never sent (FM-30).
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => break,
            }
        }
        let Some(deadline) = &mut self.deadline else {
            return Poll::Pending;
        };
        ready!(deadline.as_mut().poll(context));
        let message = "the server did not end the watch in time; the connection may be dead";
        Poll::Ready(Some(Err(Failure::new(
            FailureKind::TimedOut,
            "Overdue",
            message,
        ))))
    }
}

impl<T> Unpin for KubeEvents<T> {}

impl<T: DeserializeOwned> Stream for KubeEvents<T> {
    type Item = Result<WatchEvent<T>, Failure>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let event = ready!(self.poll_event(context));
        self.is_over = !matches!(event, Some(Ok(_)));
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
