//! The driver: carries out the machine's effects on tokio.
//!
//! One loop waits for the stop, a demand, the deadline, or the next input from the request in
//! flight. The request runs on a task of its own, so that its panic is a failure like any other
//! and dropping it is a cancellation. The only clock is tokio's (`alarm.rs`), so a paused
//! one works.

// FM-82
// - RFX-14, FM-81: every await ends with `stop`, or when the future is dropped; the task is
//   aborted and joined. `tests/driver/main.rs`
// - RFX-17: the task sends the events that are ready together, at most 64, and gathers the next
//   such message while the machine takes one: 128 events at most. A source that is rarely ready
//   has fewer in flight (`informer-kube-source`: 64 KiB of JSON and a line each).

mod alarm;
mod control;

use std::{
    future::{Future, poll_fn},
    pin::pin,
    sync::Arc,
    task::Poll,
};

use derive_where::derive_where;
use futures::{Stream, StreamExt};
use tokio::{sync::mpsc, task::JoinSet};
use tracing::Instrument;

pub use control::Control;

use crate::{
    Config, Effect, Emission, Failure, Input, ListRequest, ListWatch, Machine, Observe, Refused,
    Reuse, Sink, WatchEvent, WatchRequest,
};
use alarm::Alarm;

/// Keeps a [`Sink`] in step with a collection, until it is stopped.
#[must_use = "a reflector does nothing until it is run"]
pub struct Reflector<L: ListWatch, S, O> {
    source: Source<L>,
    sink: S,
    observe: O,
    machine: Machine<L::Object>,
    control: Control,
}

// FM-82
/// Why a reflector ended. Nothing else ends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The stop future was ready.
    Stopped,
    /// The sink takes no more emissions.
    Refused,
}

/// The inputs of one message, with one wake-up for all of them.
type Inputs<T> = Vec<Input<T>>;

/// The maximum number of events in one message.
const MOST_EVENTS: usize = 64;

/// The request in flight, and the task that works on it. Dropping it aborts the task.
struct Flight<T> {
    messages: mpsc::Receiver<Inputs<T>>,
    /// The rest of the last message.
    received: std::vec::IntoIter<Input<T>>,
}

impl<T> Flight<T> {
    /// Replaces the request in flight. Returns where the inputs of the new one are sent.
    fn begin(flight: &mut Option<Self>) -> mpsc::Sender<Inputs<T>> {
        let (send, messages) = mpsc::channel(1);
        let received = Vec::new().into_iter();
        *flight = Some(Self { messages, received });
        send
    }

    /// Returns the next input; `None` if the task ended without a last one. Cancel safe.
    async fn next(&mut self) -> Option<Input<T>> {
        // Between two events of a message, as between two messages, the consumer of the sink runs:
        // events that wait there are merged by key, so no more wait than necessary.
        if self.received.len() > 0 {
            pause().await;
        }
        while self.received.len() == 0 {
            self.received = self.messages.recv().await?.into_iter();
        }
        self.received.next()
    }
}

/// Is ready when polled for the second time, and wakes its task for that immediately.
async fn pause() {
    let mut has_paused = false;
    poll_fn(|context| {
        if has_paused {
            return Poll::Ready(());
        }
        has_paused = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

impl<L, S, O> Reflector<L, S, O>
where
    L: ListWatch,
    S: Sink<L::Object>,
    O: Observe,
{
    /// Creates a reflector. `seed` spreads its delays; two reflectors should not share one.
    pub fn new(
        list_watch: Arc<L>,
        sink: S,
        reuse: Arc<dyn Reuse<L::Object>>,
        observe: O,
        mut config: Config,
        seed: u64,
    ) -> Self {
        config.streaming &= list_watch.streaming_lists();
        // The setting applies to the initial events of a stream too, whose request has no flag.
        let reuse = if config.reuse { reuse } else { Arc::new(()) };
        Self {
            source: Source { list_watch, reuse },
            sink,
            observe,
            machine: Machine::new(config, seed),
            control: Control::new(),
        }
    }

    /// Returns a handle that demands a retry or a list while the reflector runs.
    pub fn control(&self) -> Control {
        self.control.clone()
    }

    /// Lists and watches until `stop` is ready or the sink refuses.
    ///
    /// Must be called within a tokio runtime with time enabled.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future aborts the request in flight. An emission that the sink has not finished
    /// taking is lost, and nothing resumes. A run that ends by `stop` has joined its task.
    pub async fn run(mut self, stop: impl Future<Output = ()> + Send) -> Outcome {
        let mut alarm = Alarm::new();
        let mut stop = pin!(stop);
        let mut tasks = JoinSet::new();
        let mut flight = None;
        let mut effects = Vec::new();
        let mut input = Input::Start;
        let outcome = loop {
            let outcome = match &input {
                Input::Stop => Some(Outcome::Stopped),
                Input::Refused => Some(Outcome::Refused),
                _ => None,
            };
            self.machine.step(alarm.now(), input, &mut effects);
            if let Some(outcome) = outcome {
                break outcome;
            }
            let emission = self.carry_out(&mut effects, &mut flight, &mut tasks);
            input = match emission {
                Some(emission) => tokio::select! {
                    biased;
                    () = &mut stop => Input::Stop,
                    taken = self.sink.accept(emission) => match taken {
                        Ok(()) => Input::Accepted,
                        Err(Refused) => Input::Refused,
                    },
                },
                None => tokio::select! {
                    biased;
                    () = &mut stop => Input::Stop,
                    demand = self.control.next() => Input::Demand(demand),
                    // Before the stream: one that never pauses could never be overdue.
                    () = alarm.ring(self.machine.deadline()) => Input::Timer,
                    input = answer(&mut flight) => input,
                },
            };
        };
        drop(self.carry_out(&mut effects, &mut flight, &mut tasks));
        tasks.shutdown().await;
        outcome
    }

    /// Carries out everything but the emission, which is the last effect of a step.
    fn carry_out(
        &mut self,
        effects: &mut Vec<Effect<L::Object>>,
        flight: &mut Option<Flight<L::Object>>,
        tasks: &mut JoinSet<()>,
    ) -> Option<Emission<L::Object>> {
        // Tasks that have ended; their inputs were received already.
        while tasks.try_join_next().is_some() {}
        for effect in effects.drain(..) {
            match effect {
                Effect::List(request) => {
                    let task = list(self.source.clone(), request, Flight::begin(flight));
                    tasks.spawn(task.in_current_span());
                }
                Effect::Watch(request) => {
                    let task = watch(self.source.clone(), request, Flight::begin(flight));
                    tasks.spawn(task.in_current_span());
                }
                Effect::Abandon => {
                    *flight = None;
                    tasks.abort_all();
                }
                Effect::Emit(emission) => return Some(emission),
                Effect::Report(report) => self.observe.observe(report),
            }
        }
        None
    }
}

/// The ports that a task needs to make a request.
#[derive_where(Clone)]
struct Source<L: ListWatch> {
    list_watch: Arc<L>,
    reuse: Arc<dyn Reuse<L::Object>>,
}

async fn list<L: ListWatch>(
    source: Source<L>,
    request: ListRequest,
    send: mpsc::Sender<Inputs<L::Object>>,
) {
    let page = source.list_watch.list(request, source.reuse).await;
    // Ignored: an abandoned page has no receiver.
    drop(send.send(vec![Input::Page(page)]).await);
}

async fn watch<L: ListWatch>(
    source: Source<L>,
    request: WatchRequest,
    send: mpsc::Sender<Inputs<L::Object>>,
) {
    let (opened, events) = match source.list_watch.watch(request, source.reuse).await {
        Ok(events) => (Ok(()), Some(events)),
        Err(failure) => (Err(failure), None),
    };
    let sent = send.send(vec![Input::WatchOpened(opened)]).await;
    // An abandoned watch has no receiver.
    let (Ok(()), Some(mut events)) = (sent, events) else {
        return;
    };
    // Room first, then the events, so that at most one message waits outside the channel.
    while let Ok(room) = send.reserve().await {
        let mut message = Message {
            room: Some(room),
            inputs: Vec::new(),
        };
        if message.gather(&mut events).await {
            return;
        }
    }
}

/// A message that is sent when dropped, so that a panic of the source loses no event.
struct Message<'c, T> {
    room: Option<mpsc::Permit<'c, Inputs<T>>>,
    inputs: Inputs<T>,
}

impl<T> Message<'_, T> {
    /// Waits for an event and takes the others that are ready. Returns whether the last was among
    /// them.
    async fn gather<S>(&mut self, events: &mut S) -> bool
    where
        S: Stream<Item = Result<WatchEvent<T>, Failure>> + Unpin,
    {
        poll_fn(|context| {
            while self.inputs.len() < MOST_EVENTS {
                let Poll::Ready(event) = events.poll_next_unpin(context) else {
                    break;
                };
                let is_last = !matches!(event, Some(Ok(_)));
                let input = event.map_or(Input::StreamEnded, Input::Event);
                self.inputs.push(input);
                if is_last {
                    return Poll::Ready(true);
                }
            }
            match self.inputs.is_empty() {
                true => Poll::Pending,
                false => Poll::Ready(false),
            }
        })
        .await
    }
}

impl<T> Drop for Message<'_, T> {
    fn drop(&mut self) {
        if let Some(room) = self.room.take().filter(|_| !self.inputs.is_empty()) {
            room.send(std::mem::take(&mut self.inputs));
        }
    }
}

/// Waits for an input from the request in flight, which may be its last.
async fn answer<T>(flight: &mut Option<Flight<T>>) -> Input<T> {
    let Some(in_flight) = flight else {
        return std::future::pending().await;
    };
    let input = in_flight.next().await;
    if !matches!(
        input,
        Some(Input::WatchOpened(Ok(())) | Input::Event(Ok(_)))
    ) {
        // No input follows. Without a last one, the task was not aborted, so it panicked.
        *flight = None;
    }
    input.unwrap_or(Input::Panicked)
}

// SEC-6
/// Shows the source and the machine, and no object.
impl<L: ListWatch, S, O> std::fmt::Debug for Reflector<L, S, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reflector")
            .field("source", &self.source.list_watch.describe())
            .field("machine", &self.machine)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Page;

    struct Nowhere;

    impl ListWatch for Nowhere {
        type Object = ();
        type Events = futures::stream::Empty<Result<WatchEvent<()>, Failure>>;

        async fn list(&self, _: ListRequest, _: Arc<dyn Reuse<()>>) -> Result<Page<()>, Failure> {
            std::future::pending().await
        }

        async fn watch(
            &self,
            _: WatchRequest,
            _: Arc<dyn Reuse<()>>,
        ) -> Result<Self::Events, Failure> {
            std::future::pending().await
        }

        fn describe(&self) -> &str {
            "/nowhere"
        }
    }

    struct Nobody;

    impl Sink<()> for Nobody {
        async fn accept(&mut self, _: Emission<()>) -> Result<(), Refused> {
            Err(Refused)
        }
    }

    /// A run can be spawned, and its handle can be shared.
    #[test]
    fn runs_are_send_and_controls_are_shared() {
        fn send<X: Send>(_: &X) {}
        fn send_sync<X: Send + Sync>(_: &X) {}
        let reuse = Arc::new(());
        let config = Config::default();
        let reflector = Reflector::new(Arc::new(Nowhere), Nobody, reuse, (), config, 0);
        send_sync(&reflector.control());
        send(&reflector.run(std::future::pending()));
    }
}
