//! The handlers of the demo: one that is fast, one that is slow, one that is a stream.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use informer_factory::{
    Added, AsyncHandler, Handler, ListenerConfig, ListenerStatus, Notification, ObjectKey,
    Overflow, Registration, SharedInformer, StoreReader,
};

use super::cluster::Cluster;
use super::object::DemoObject;
use super::report::HandlerReport;
use super::tally::Tally;
use crate::failure::Failure;

/// How long the slow handler rests after each change.
const REST: Duration = Duration::from_millis(1);

/// One handler with what it remembers.
pub(super) struct Watched<T: Send + Sync + 'static> {
    registration: Registration,
    tally: Arc<Tally<T>>,
    /// Whether it is late on purpose.
    pub(super) rests: bool,
}

struct Fast<T>(Arc<Tally<T>>);

impl<T: DemoObject> Handler<ObjectKey, T> for Fast<T> {
    fn on_notification(&mut self, notification: &Notification<ObjectKey, T>) {
        self.0.take(notification);
    }
}

struct Slow<T>(Arc<Tally<T>>);

impl<T: DemoObject> AsyncHandler<ObjectKey, T> for Slow<T> {
    async fn on_notification(&mut self, notification: Arc<Notification<ObjectKey, T>>) {
        self.0.take(&notification);
        if !matches!(
            &*notification,
            Notification::Added(Added { initial: true, .. })
        ) {
            tokio::time::sleep(REST).await;
        }
    }
}

impl<T: DemoObject> Watched<T> {
    /// A handler that keeps up.
    pub(super) fn fast(
        name: &str,
        informer: &SharedInformer<T>,
        cluster: &Arc<Cluster>,
    ) -> Result<Self, Failure> {
        let tally = Arc::new(Tally::new(Arc::clone(cluster)));
        let handler = Fast(Arc::clone(&tally));
        let added = informer.add_handler_with(handler, ListenerConfig::named(name));
        let registration = added.map_err(|e| Failure::failed(e.to_string()))?;
        Ok(Self {
            registration,
            tally,
            rests: false,
        })
    }

    /// A handler that does not, and lets changes of one object wait as one.
    pub(super) fn slow(
        name: &str,
        informer: &SharedInformer<T>,
        cluster: &Arc<Cluster>,
    ) -> Result<Self, Failure> {
        let tally = Arc::new(Tally::new(Arc::clone(cluster)));
        let handler = Slow(Arc::clone(&tally));
        let config = ListenerConfig::named(name).overflow(Overflow::Coalesce);
        let added = informer.add_async_handler(handler, config);
        let registration = added.map_err(|e| Failure::failed(e.to_string()))?;
        Ok(Self {
            registration,
            tally,
            rests: true,
        })
    }

    /// A task that loops over a stream.
    pub(super) fn stream(
        name: &str,
        informer: &SharedInformer<T>,
        cluster: &Arc<Cluster>,
    ) -> Result<Self, Failure> {
        let tally = Arc::new(Tally::new(Arc::clone(cluster)));
        let added = informer.events(ListenerConfig::named(name));
        let (registration, mut events) = added.map_err(|e| Failure::failed(e.to_string()))?;
        let told = Arc::clone(&tally);
        // Ends with the informer, since the stream does.
        tokio::spawn(async move {
            while let Some(event) = events.next().await {
                told.take(&event);
            }
        });
        Ok(Self {
            registration,
            tally,
            rests: false,
        })
    }

    pub(super) fn name(&self) -> &str {
        self.registration.name()
    }

    pub(super) fn status(&self) -> ListenerStatus {
        self.registration.status()
    }

    /// Whether everything handed over has been handled.
    pub(super) fn is_drained(&self) -> bool {
        let status = self.status();
        status.synced && status.depth == 0
    }

    /// How late it was at worst.
    pub(super) fn max_lag(&self) -> Duration {
        self.tally.lags().max()
    }

    /// Everything about it, with its belief compared with the store.
    pub(super) fn report(&self, store: &StoreReader<T>) -> HandlerReport {
        let calls = self.tally.calls();
        let matches_store = self.tally.matches(store);
        HandlerReport::new(
            &self.status(),
            calls,
            matches_store,
            &self.tally.lags(),
            self.rests,
        )
    }
}
