//! Our side: the same informers by the facade, on one of the two queues.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use informer_factory::reflector::Config as ReflectorConfig;
use informer_factory::{
    Added, Consistency, Deleted, Grace, Handler, InformerOptions, ListenerConfig, Notification,
    ObjectKey, OnMismatch, QueueKind, SharedInformer, SharedInformerFactory, Updated,
};
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube_client::Client;
use kube_core::Resource;

use crate::ledger::{Ledger, Listener};
use crate::told::{Identity, Objects, Told};
use crate::watched::{Form, REMINDED, RESYNC, Watched};

/// Short, so that every act has some checks.
const CHECK_PERIOD: Duration = Duration::from_secs(2);

/// One factory and its informers.
pub(crate) struct Ours {
    pub(crate) ledger: Arc<Ledger>,
    factory: SharedInformerFactory,
    informers: Vec<(&'static str, Box<dyn Followed>)>,
}

impl Ours {
    pub(crate) fn start(
        client: Client,
        queue: QueueKind,
        streaming: bool,
        watched: &[Watched],
    ) -> Self {
        let mut config = ReflectorConfig::default();
        config.streaming = streaming;
        // What the server itself has is one more judge: see `check_health` (FM-40).
        let consistency = Consistency::every(CHECK_PERIOD).on_mismatch(OnMismatch::Report);
        let builder = SharedInformerFactory::builder(client);
        let builder = builder.queue(queue).check_consistency(consistency);
        let factory = builder.reflector(config).build().expect("legal");
        let ledger = Arc::new(Ledger::default());
        let informers: Vec<_> = watched
            .iter()
            .map(|watched| (watched.name, make(&factory, watched, &ledger)))
            .collect();
        for (watched, (_, informer)) in watched.iter().zip(&informers) {
            informer.join("first", Duration::ZERO);
            if watched.reminded {
                informer.join(REMINDED, RESYNC);
            }
        }
        factory.start().expect("the informers start");
        Self {
            ledger,
            factory,
            informers,
        }
    }

    /// Adds a handler to every informer.
    pub(crate) fn join(&self, handler: &str) {
        self.informers
            .iter()
            .for_each(|(_, informer)| informer.join(handler, Duration::ZERO));
    }

    pub(crate) fn stores(&self) -> BTreeMap<String, Objects> {
        let stores = self.informers.iter();
        stores
            .map(|(name, informer)| ((*name).to_owned(), informer.stored()))
            .collect()
    }

    /// How many whole collections each informer has fetched.
    pub(crate) fn lists(&self) -> Vec<u64> {
        let count = |status: &informer_factory::InformerStatus| status.sources[0].lists;
        self.factory.status().iter().map(count).collect()
    }

    pub(crate) fn check_health(&self) {
        for status in self.factory.status() {
            let panics: u64 = status.handlers.iter().map(|handler| handler.panics).sum();
            assert_eq!(
                (panics, status.task_panics),
                (0, 0),
                "nothing of ours panics"
            );
            assert_eq!(status.quarantined, 0, "every object can be decoded");
            for source in &status.sources {
                let found = source.consistency.as_ref().expect("it was asked for");
                assert_eq!(found.mismatches, 0, "the server has the same: {source:#?}");
            }
        }
    }

    /// For messages.
    pub(crate) fn status(&self) -> String {
        format!("{:#?}", self.factory.status())
    }

    pub(crate) async fn shut_down(&self) {
        let report = self.factory.shutdown(Grace::default()).await;
        let report = report.expect("this is no callback");
        assert!(report.is_complete(), "{report:#?}");
    }
}

/// An informer of any type.
trait Followed: Send + Sync {
    fn join(&self, handler: &str, resync: Duration);
    fn stored(&self) -> Objects;
}

struct Informer<T: Send + Sync + 'static> {
    informer: SharedInformer<T>,
    name: &'static str,
    ledger: Arc<Ledger>,
}

fn make(
    factory: &SharedInformerFactory,
    watched: &Watched,
    ledger: &Arc<Ledger>,
) -> Box<dyn Followed> {
    let resource = &watched.resource;
    match (watched.form, &*resource.plural) {
        (Form::Typed, "pods") => boxed(
            factory.informer_with::<Pod>(options(watched)),
            watched,
            ledger,
        ),
        (Form::Typed, "configmaps") => boxed(
            factory.informer_with::<ConfigMap>(options(watched)),
            watched,
            ledger,
        ),
        (Form::Typed, other) => panic!("nobody has a type for {other}"),
        (Form::Dynamic, _) => boxed(factory.dynamic(resource, options(watched)), watched, ledger),
        (Form::Metadata, _) => boxed(
            factory.metadata(resource, options(watched)),
            watched,
            ledger,
        ),
    }
}

fn options<T>(watched: &Watched) -> InformerOptions<T> {
    let mut options = InformerOptions::new();
    if let Some(namespace) = &watched.scope.namespace {
        options = options.namespace(namespace);
    }
    if let Some(selector) = watched.scope.selector() {
        options = options.labels(selector);
    }
    if watched.reminded {
        options = options.default_resync(RESYNC);
    }
    options
}

fn boxed<T: Resource + Send + Sync + 'static>(
    informer: Result<SharedInformer<T>, informer_factory::InformerError>,
    watched: &Watched,
    ledger: &Arc<Ledger>,
) -> Box<dyn Followed> {
    Box::new(Informer {
        informer: informer.expect("the options are good"),
        name: watched.name,
        ledger: Arc::clone(ledger),
    })
}

impl<T: Resource + Send + Sync + 'static> Followed for Informer<T> {
    fn join(&self, handler: &str, resync: Duration) {
        let taker = Taker {
            listener: Listener {
                watched: self.name.to_owned(),
                handler: handler.to_owned(),
            },
            ledger: Arc::clone(&self.ledger),
        };
        let config = ListenerConfig::named(handler).resync(resync);
        let added = self.informer.add_handler_with(taker, config);
        added.expect("the informer takes a handler");
    }

    fn stored(&self) -> Objects {
        let snapshot = self.informer.reader().snapshot();
        let entries = snapshot.iter();
        entries
            .map(|(key, entry)| (key.to_string(), Identity::of(&*entry.object)))
            .collect()
    }
}

/// A handler that takes down what it is told.
struct Taker {
    listener: Listener,
    ledger: Arc<Ledger>,
}

impl<T: Resource + Send + Sync + 'static> Handler<ObjectKey, T> for Taker {
    fn on_notification(&mut self, notification: &Notification<ObjectKey, T>) {
        let told = match notification {
            Notification::Added(Added {
                object, initial, ..
            }) => Told::Added {
                new: Identity::of(&**object),
                initial: *initial,
            },
            Notification::Updated(Updated { old, new, .. }) => Told::Updated {
                old: Identity::of(&**old),
                new: Identity::of(&**new),
            },
            Notification::Deleted(Deleted::MovedAway { .. }) => unreachable!("nothing is sharded"),
            Notification::Deleted(Deleted::Known { last, .. }) => Told::Deleted {
                last: Identity::of(&**last),
            },
            Notification::Deleted(Deleted::Unknown { last, .. }) => {
                let last = last.as_ref().expect("the last state was told before");
                Told::Missed {
                    last: Identity::of(&**last),
                }
            }
        };
        self.ledger
            .take_down(&self.listener, notification.key().as_str(), told);
    }
}
