//! Adding handlers to an informer.

use informer_processor::{AsyncHandler, Callbacks, EventStream, Handler, Joining, ListenerConfig};
use informer_store::ObjectKey;

use crate::error::{AddHandlerError, RuntimeGone};
use crate::informer::SharedInformer;
use crate::informer::registration::Registration;

impl<T: Send + Sync + 'static> SharedInformer<T> {
    /// Returns a handler without closures, typed for this informer: the closures that are added to
    /// it need no annotations.
    ///
    /// ```
    /// # use informer_factory::{AddHandlerError, SharedInformer};
    /// # use k8s_openapi::api::core::v1::Pod;
    /// # fn example(pods: &SharedInformer<Pod>) -> Result<(), AddHandlerError> {
    /// let phases = pods
    ///     .callbacks()
    ///     .on_add(|added| println!("{}: {:?}", added.key, added.object.status))
    ///     .on_delete(|deleted| println!("{} is gone", deleted.key()));
    /// pods.add_handler(phases)?;
    /// # Ok(()) }
    /// # let _ = example;
    /// ```
    pub fn callbacks(&self) -> Callbacks<ObjectKey, T> {
        Callbacks::new()
    }

    /// Adds a handler with the default configuration: every change, in order, growing memory.
    ///
    /// Before the start or after, it sees everything there is and every change from then on,
    /// without gap or repetition.
    ///
    /// # Errors
    ///
    /// [`AddHandlerError`] when the informer or its runtime has ended, or outside a tokio runtime.
    // C-07, PR-7
    #[doc(alias = "AddEventHandler")]
    pub fn add_handler(
        &self,
        handler: impl Handler<ObjectKey, T>,
    ) -> Result<Registration, AddHandlerError> {
        self.add_handler_with(handler, ListenerConfig::default())
    }

    /// Adds a handler with a name, an overflow policy, or a resync period of its own.
    ///
    /// A handler without a resync period gets the informer's default; `Duration::ZERO` means none.
    /// A handler cannot switch resync on where the informer has no default; its registration gives
    /// the reason.
    ///
    /// # Errors
    ///
    /// As [`add_handler`](Self::add_handler).
    // SI-16
    #[doc(alias = "AddEventHandlerWithOptions")]
    pub fn add_handler_with(
        &self,
        handler: impl Handler<ObjectKey, T>,
        config: ListenerConfig,
    ) -> Result<Registration, AddHandlerError> {
        let config = self.accept(config)?;
        let joining = self.core.applier.processor.add(handler, config)?;
        Ok(self.join(joining))
    }

    /// Adds a handler whose callbacks are futures; the next one begins when the last has ended.
    ///
    /// # Errors
    ///
    /// As [`add_handler`](Self::add_handler).
    pub fn add_async_handler(
        &self,
        handler: impl AsyncHandler<ObjectKey, T>,
        config: ListenerConfig,
    ) -> Result<Registration, AddHandlerError> {
        let config = self.accept(config)?;
        let joining = self.core.applier.processor.add_async(handler, config)?;
        Ok(self.join(joining))
    }

    /// Adds a handler that may block; it gets a thread of its own.
    ///
    /// # Errors
    ///
    /// As [`add_handler`](Self::add_handler).
    pub fn add_blocking_handler(
        &self,
        handler: impl Handler<ObjectKey, T>,
        config: ListenerConfig,
    ) -> Result<Registration, AddHandlerError> {
        let config = self.accept(config)?;
        let joining = self.core.applier.processor.add_blocking(handler, config)?;
        Ok(self.join(joining))
    }

    /// Returns the changes as a stream, beginning with everything there is. Dropping it removes it.
    ///
    /// An item counts as handled when the next one is requested, so drop the stream, or go on
    /// reading, while a shutdown waits.
    ///
    /// # Errors
    ///
    /// As [`add_handler`](Self::add_handler).
    ///
    /// ```
    /// # use informer_factory::{AddHandlerError, ListenerConfig, SharedInformer};
    /// # use k8s_openapi::api::core::v1::Pod;
    /// use futures::StreamExt;
    ///
    /// # async fn example(pods: &SharedInformer<Pod>) -> Result<(), AddHandlerError> {
    /// let (_registration, mut events) = pods.events(ListenerConfig::named("printer"))?;
    /// while let Some(event) = events.next().await {
    ///     println!("{} changed", event.key());
    /// }
    /// # Ok(()) }
    /// # let _ = example;
    /// ```
    #[doc(alias = "watcher")]
    #[doc(alias = "WatchStreamExt")]
    #[doc(alias("applied_objects", "touched_objects"))]
    pub fn events(
        &self,
        config: ListenerConfig,
    ) -> Result<(Registration, EventStream<ObjectKey, T>), AddHandlerError> {
        let config = self.accept(config)?;
        let (joining, stream) = self.core.applier.processor.add_stream(config)?;
        Ok((self.join(joining), stream))
    }

    /// A handler's configuration with the defaults filled in; an error where the handler would
    /// receive nothing.
    fn accept(&self, mut config: ListenerConfig) -> Result<ListenerConfig, RuntimeGone> {
        self.core.status.refuse_if_gone()?;
        config.resync = config.resync.or(self.core.settings.default_resync);
        Ok(config)
    }

    fn join(&self, joining: Joining<ObjectKey, T>) -> Registration {
        Registration::new(self.core.applier.join(joining), &self.core.status)
    }
}
