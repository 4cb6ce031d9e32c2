//! The handlers of one informer: one that grows, one that coalesces behind a gate, a stream, and
//! those who come late.

use std::sync::Arc;

use futures::StreamExt;
use informer_factory::{
    AsyncHandler, Handler, ListenerConfig, Notification, ObjectKey, Overflow, QueueKind,
    SharedInformer,
};
use kube_core::Resource;
use tokio::sync::watch;

use crate::witness::{Rules, Witness};

/// All handlers of one informer.
pub(crate) struct Audience<T: Resource + Send + Sync + 'static> {
    informer: SharedInformer<T>,
    rules: Rules,
    open: watch::Sender<bool>,
    witnesses: Vec<Arc<Witness<T>>>,
}

struct Growing<T>(Arc<Witness<T>>);

impl<T: Resource + Send + Sync + 'static> Handler<ObjectKey, T> for Growing<T> {
    fn on_notification(&mut self, notification: &Notification<ObjectKey, T>) {
        self.0.see(notification);
    }
}

/// Stands still while its gate is closed.
struct Gated<T> {
    witness: Arc<Witness<T>>,
    open: watch::Receiver<bool>,
}

impl<T: Resource + Send + Sync + 'static> AsyncHandler<ObjectKey, T> for Gated<T> {
    async fn on_notification(&mut self, notification: Arc<Notification<ObjectKey, T>>) {
        if self.open.wait_for(|open| *open).await.is_ok() {
            self.witness.see(&notification);
        }
    }
}

impl<T: Resource + Send + Sync + 'static> Audience<T> {
    /// Adds the three handlers that are there from the start.
    pub(crate) fn attend(informer: &SharedInformer<T>, queue: QueueKind, one_source: bool) -> Self {
        let rules = Rules {
            ordered: one_source && queue == QueueKind::InOrder,
            initial_first: one_source,
            one_life_per_uid: true,
        };
        let mut audience = Self {
            informer: informer.clone(),
            rules,
            open: watch::channel(true).0,
            witnesses: Vec::new(),
        };
        audience.join("grow");
        audience.join_gated("coalesce");
        audience.join_as_stream("stream");
        audience
    }

    /// As [`attend`](Self::attend), for a selection that objects may leave and come back to.
    pub(crate) fn attend_selection(informer: &SharedInformer<T>) -> Self {
        let mut audience = Self {
            informer: informer.clone(),
            rules: Rules {
                ordered: false,
                initial_first: true,
                one_life_per_uid: false,
            },
            open: watch::channel(true).0,
            witnesses: Vec::new(),
        };
        audience.join("grow");
        audience.join_gated("coalesce");
        audience.join_as_stream("stream");
        audience
    }

    /// Adds one more handler that grows.
    pub(crate) fn join(&mut self, name: &str) {
        let witness = self.witness(name, self.rules);
        let handler = Growing(Arc::clone(&witness));
        self.informer
            .add_handler_with(handler, ListenerConfig::named(name))
            .expect("the informer takes a handler");
    }

    fn join_gated(&mut self, name: &str) {
        let unordered = Rules {
            ordered: false,
            ..self.rules
        };
        let handler = Gated {
            witness: self.witness(name, unordered),
            open: self.open.subscribe(),
        };
        let config = ListenerConfig::named(name).overflow(Overflow::Coalesce);
        self.informer
            .add_async_handler(handler, config)
            .expect("the informer takes a handler");
    }

    fn join_as_stream(&mut self, name: &str) {
        let witness = self.witness(name, self.rules);
        let (_, mut stream) = self
            .informer
            .events(ListenerConfig::named(name))
            .expect("the informer takes a stream");
        // Ends with the stream, which ends with the informer.
        tokio::spawn(async move {
            while let Some(notification) = stream.next().await {
                witness.see(&notification);
            }
        });
    }

    /// Lets the coalescing handler stand still at its next notification.
    pub(crate) fn close_gate(&self) {
        self.open.send_replace(false);
    }

    /// Lets it go on.
    pub(crate) fn open_gate(&self) {
        self.open.send_replace(true);
    }

    pub(crate) fn witnesses(&self) -> &[Arc<Witness<T>>] {
        &self.witnesses
    }

    /// The witness of this name.
    pub(crate) fn witness_named(&self, name: &str) -> &Witness<T> {
        let found = self.witnesses.iter().find(|witness| witness.name() == name);
        found.expect("the handler was added")
    }

    fn witness(&mut self, name: &str, rules: Rules) -> Arc<Witness<T>> {
        let witness = Witness::new(name.to_owned(), rules, self.informer.reader());
        self.witnesses.push(Arc::clone(&witness));
        witness
    }
}
