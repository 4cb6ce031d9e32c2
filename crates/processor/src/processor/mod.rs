//! The processor: a handle to add listeners, and to ask for their status.
//!
//! `fanout` distributes, `stop` stops, `registry` holds the list of listeners.

pub(crate) mod fanout;
pub(crate) mod joining;
pub(crate) mod registration;
pub(crate) mod registry;
pub(crate) mod stop;

use std::any::type_name_of_val;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use derive_where::derive_where;
use tokio::runtime::Handle;

use crate::boundary;
use crate::delivery::Delivery;
use crate::delivery::consumer::Consumer;
use crate::delivery::stream::EventStream;
use crate::error::AddError;
use crate::handler::{AsyncHandler, Handler};
use crate::listener::ConsumerKind;
use crate::listener::config::ListenerConfig;
use crate::listener::status::{ListenerId, ListenerStatus};
use crate::notification::Key;
use crate::processor::joining::Joining;
use crate::processor::registry::Registry;
use crate::sync::{now, thread};

/// What can be chosen when a processor is made.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct ProcessorConfig {
    /// How often the source checks who is due for a resync. `None`, the default: never, and then no
    /// listener can have resyncs.
    // SI-16
    #[doc(alias = "resyncCheckPeriod")]
    pub check_period: Option<Duration>,
}

impl ProcessorConfig {
    /// Checks for resyncs each `period`; zero means never.
    #[must_use]
    pub fn check_period(mut self, period: Duration) -> Self {
        self.check_period = Some(period);
        self
    }
}

/// A listener that is joining, and the stream of its notifications.
pub type JoiningStream<K, T> = (Joining<K, T>, EventStream<K, T>);

/// Hands notifications to any number of listeners, none of which can delay another or the sender.
///
/// A handle; clones are the same processor. When the last one is dropped without
/// [`stop`](Processor::stop), no callback starts any more and tasks end at their next await.
///
/// Sequences grow with each commit. Calls of `distribute`, `distribute_resync` and
/// `upstream_synced` have to be made in the order of the commits, one after the other.
///
/// ```
/// use std::{sync::Arc, time::Duration};
/// use informer_processor::{Added, ListenerConfig, Processor, Replay, handler_fn};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let processor = Processor::<&str, u32>::default();
/// let count = handler_fn(|change| println!("{}", change.key()));
/// let joining = processor.add(count, ListenerConfig::named("count"))?;
/// let registration = joining.begin(0, Replay::empty());
/// processor.distribute(1, &[Arc::new(Added::new("a", Arc::new(1)).into())]);
/// registration.wait_delivered().await?;
/// assert_eq!(registration.status().delivered, 1);
/// assert!(processor.stop(Duration::from_secs(5)).await.is_clean());
/// # Ok(()) }
/// ```
#[doc(alias = "sharedProcessor")]
#[derive_where(Clone)]
pub struct Processor<K: Key, T: Send + Sync + 'static> {
    pub(crate) registry: Arc<Registry<K, T>>,
    runtime: Option<Handle>,
}

impl<K: Key, T: Send + Sync + 'static> Default for Processor<K, T> {
    fn default() -> Self {
        Self::new(ProcessorConfig::default())
    }
}

impl<K: Key, T: Send + Sync + 'static> Processor<K, T> {
    /// A processor without listeners. Made within a tokio runtime, it runs its handlers there.
    pub fn new(config: ProcessorConfig) -> Self {
        Self {
            registry: Registry::new(config.check_period),
            runtime: Handle::try_current().ok(),
        }
    }

    /// Adds a handler, which is called on the runtime and must not block it.
    ///
    /// Made in three steps, so that nothing is missed or repeated: this call registers it, the
    /// caller takes a snapshot, [`Joining::begin`] starts delivery.
    ///
    /// # Errors
    ///
    /// [`AddError::Stopped`]; [`AddError::NoRuntime`] when neither the processor was made nor this
    /// is called within a tokio runtime; [`AddError::RuntimeGone`] when the runtime within which
    /// the processor was made has ended.
    // PR-7
    #[doc(alias = "addListener")]
    #[doc(alias = "AddEventHandler")]
    pub fn add(
        &self,
        handler: impl Handler<K, T>,
        config: ListenerConfig,
    ) -> Result<Joining<K, T>, AddError> {
        self.spawn(handler, config, Delivery::run)
    }

    /// Adds a handler that awaits; the next notification waits until its future is ready.
    ///
    /// # Errors
    ///
    /// As [`add`](Processor::add).
    pub fn add_async(
        &self,
        handler: impl AsyncHandler<K, T>,
        config: ListenerConfig,
    ) -> Result<Joining<K, T>, AddError> {
        self.spawn(handler, config, Delivery::run_async)
    }

    /// Adds a handler that may block: it gets a thread of its own, which ends with its listener.
    /// Needs no runtime; within one, the thread can use its handle.
    ///
    /// # Errors
    ///
    /// [`AddError::Stopped`]; [`AddError::Thread`] when the system has no thread left.
    pub fn add_blocking(
        &self,
        handler: impl Handler<K, T>,
        config: ListenerConfig,
    ) -> Result<Joining<K, T>, AddError> {
        let delivery = self.register(handler, config)?;
        let joining = Joining::new(Arc::clone(delivery.consumer.listener()));
        let runtime = self.runtime().ok();
        let name = delivery.consumer.listener().name.replace('\0', " ");
        // Not joined: the listener announces its own end, and a thread that blocks for ever must
        // not keep a stop from returning.
        let _thread = thread::Builder::new()
            .name(name)
            .spawn(move || {
                let _entered = runtime.as_ref().map(Handle::enter);
                delivery.run_blocking();
            })
            .map_err(AddError::Thread)?;
        Ok(joining)
    }

    /// Adds a listener whose notifications are taken from a stream. Needs no runtime.
    ///
    /// # Errors
    ///
    /// [`AddError::Stopped`].
    pub fn add_stream(&self, config: ListenerConfig) -> Result<JoiningStream<K, T>, AddError> {
        let listener = self
            .registry
            .register(config, "EventStream", ConsumerKind::Stream)?;
        let stream = EventStream::new(Consumer::new(Arc::clone(&listener)));
        Ok((Joining::new(listener), stream))
    }

    fn register<H>(
        &self,
        handler: H,
        config: ListenerConfig,
    ) -> Result<Delivery<H, K, T>, AddError> {
        let (name, kind) = (type_name_of_val(&handler), ConsumerKind::Driven);
        let consumer = Consumer::new(self.registry.register(config, name, kind)?);
        Ok(Delivery { handler, consumer })
    }

    /// Registers a handler and starts its task.
    fn spawn<H, F>(
        &self,
        handler: H,
        config: ListenerConfig,
        run: impl FnOnce(Delivery<H, K, T>) -> F,
    ) -> Result<Joining<K, T>, AddError>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let runtime = self.runtime()?;
        let delivery = self.register(handler, config)?;
        let listener = Arc::clone(delivery.consumer.listener());
        listener.set_abort(runtime.spawn(run(delivery)).abort_handle());
        // A runtime that has ended drops the task it is given.
        match listener.is_leaving() {
            true => Ok(Joining::new(listener)),
            // A stop that came meanwhile ends a listener too.
            false if self.is_stopped() => Err(AddError::Stopped),
            false => {
                listener.remove();
                Err(AddError::RuntimeGone)
            }
        }
    }

    fn runtime(&self) -> Result<Handle, AddError> {
        match &self.runtime {
            Some(runtime) => Ok(runtime.clone()),
            None => Handle::try_current().map_err(|_none| AddError::NoRuntime),
        }
    }

    /// All listeners, in the order in which they were added.
    pub fn listeners(&self) -> Vec<ListenerStatus> {
        let now = now();
        self.registry
            .listeners()
            .iter()
            .map(|listener| listener.status(now))
            .collect()
    }

    /// The listener in whose callback this is called, if it is one of this processor's.
    pub fn calling_listener(&self) -> Option<ListenerId> {
        boundary::caller()
            .filter(|(processor, _)| *processor == self.registry.number)
            .map(|(_, listener)| listener)
    }

    /// Whether [`close`](Processor::close) or [`stop`](Processor::stop) was called.
    pub fn is_stopped(&self) -> bool {
        self.registry.lock().stopped
    }
}

impl<K: Key, T: Send + Sync + 'static> fmt::Debug for Processor<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Processor")
            .field("listeners", &self.registry.listeners().len())
            .field("stopped", &self.is_stopped())
            .finish_non_exhaustive()
    }
}
