//! A listener whose notifications are taken from a stream.
//!
//! No task stands behind it: the stream takes from the ring itself. An item counts as handled when
//! the next one is asked for, and the listener goes when the stream is dropped.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures::Stream;

use crate::delivery::consumer::Consumer;
use crate::notification::{Key, Notification};

/// The notifications of one listener. Ends when it is removed, or when the processor has stopped
/// and everything was taken. Dropping it removes the listener.
///
/// ```
/// use std::sync::Arc;
/// use futures::StreamExt;
/// use informer_processor::{Added, ListenerConfig, Processor, Replay};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let processor: Processor<&str, u32> = Processor::default();
/// let (joining, mut stream) = processor.add_stream(ListenerConfig::named("stream"))?;
/// let _registration = joining.begin(0, Replay::empty());
/// processor.distribute(1, &[Arc::new(Added::new("a", 1.into()).into())]);
/// processor.close();
/// while let Some(change) = stream.next().await {
///     println!("{change:?}");
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Cancel safety
///
/// `next()` is cancel safe: a notification leaves the ring only with the poll that returns it.
#[must_use = "dropping the stream removes its listener"]
pub struct EventStream<K: Key, T: Send + Sync + 'static> {
    consumer: Consumer<K, T>,
}

impl<K: Key, T: Send + Sync + 'static> EventStream<K, T> {
    pub(crate) fn new(consumer: Consumer<K, T>) -> Self {
        Self { consumer }
    }
}

impl<K: Key, T: Send + Sync + 'static> Stream for EventStream<K, T> {
    type Item = Arc<Notification<K, T>>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        // A loop over a long backlog must not keep a current-thread runtime from everything else.
        let budget = ready!(tokio::task::coop::poll_proceed(cx));
        let more = ready!(self.consumer.poll_next(cx));
        budget.made_progress();
        Poll::Ready(more.then(|| Arc::clone(self.consumer.current())))
    }
}

impl<K: Key, T: Send + Sync + 'static> Drop for EventStream<K, T> {
    fn drop(&mut self) {
        self.consumer.listener().remove();
    }
}

impl<K: Key, T: Send + Sync + 'static> fmt::Debug for EventStream<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventStream")
            .field("name", &self.consumer.listener().name)
            .finish_non_exhaustive()
    }
}
