//! Everything together: the server, the relay, the writers, two programs of client-go's and two
//! factories of ours that follow the same collections.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use informer_factory::QueueKind;
use tokio::time::Instant;

use crate::annals::Annals;
use crate::cluster::Cluster;
use crate::comparison::Side;
use crate::ledger::Ledger;
use crate::ours::Ours;
use crate::relay::Relay;
use crate::resources::Kind;
use crate::theirs::Theirs;
use crate::told::{Objects, difference};
use crate::watched::{Form, SIDE, Scope, Watched};
use crate::writer::Writer;

/// How long it may take from the last write, or from the end of a fault, until all agree. The
/// back-off of either side may be at 30 s.
const LIMIT: Duration = Duration::from_secs(90);
/// The server writes config maps of its own now and then, which may come between LIST and look.
const ROUNDS: usize = 3;

/// The newest version of each resource, by plural.
pub(crate) type Versions = BTreeMap<String, u64>;

pub(crate) struct Stage {
    pub(crate) cluster: Cluster,
    pub(crate) relay: Relay,
    pub(crate) annals: BTreeMap<String, Arc<Annals>>,
    /// For each resource, the first one has the marker.
    pub(crate) writers: Vec<Writer>,
    markers: Vec<(String, usize)>,
    pub(crate) watched: Vec<Watched>,
    pub(crate) theirs: Vec<(&'static str, Theirs)>,
    pub(crate) ours: Vec<(&'static str, Ours)>,
    touches: u64,
}

impl Stage {
    /// Two namespaces, three resources, their writers and markers; nobody follows them yet.
    pub(crate) async fn set() -> Self {
        let cluster = Cluster::from_environment().await;
        let (first, second) = (
            cluster.fresh_namespace().await,
            cluster.fresh_namespace().await,
        );
        let client = cluster.client();
        let gadget = Kind::gadget(&client, &first).await;
        let mut stage = Self {
            relay: Relay::to(cluster.address()).await,
            annals: BTreeMap::new(),
            writers: Vec::new(),
            markers: Vec::new(),
            watched: watched(&first, &gadget),
            theirs: Vec::new(),
            ours: Vec::new(),
            touches: 0,
            cluster,
        };
        for kind in [Kind::config_map(), Kind::pod(), gadget] {
            // Its definition may not be served yet.
            let plural = kind.resource.plural.clone();
            let annals = Annals::begin(client.clone(), kind.resource.clone()).await;
            for namespace in [&first, &second] {
                let (client, annals) = (client.clone(), Arc::clone(&annals));
                stage
                    .writers
                    .push(Writer::new(client, &kind, annals, namespace));
            }
            let marker = stage.writers.len() - 2;
            stage.writers[marker].create_marker(&[SIDE]).await;
            stage.markers.push((plural.clone(), marker));
            stage.annals.insert(plural, annals);
        }
        stage
    }

    /// Both sides begin, each once by streaming lists and once by plain ones.
    pub(crate) async fn follow(&mut self) {
        let (server, watched) = (self.relay.address(), &self.watched);
        for (name, streaming) in [
            ("client-go, streaming", true),
            ("client-go, listing", false),
        ] {
            let theirs = Theirs::start(&self.cluster, &server, streaming, watched).await;
            self.theirs.push((name, theirs));
        }
        let queues = [
            ("ours, in order, streaming", QueueKind::InOrder, true),
            ("ours, by key, listing", QueueKind::DeltaFifo, false),
        ];
        for (name, queue, streaming) in queues {
            let client = self.cluster.client_through(&server);
            self.ours
                .push((name, Ours::start(client, queue, streaming, watched)));
        }
    }

    /// Adds a handler to every informer of both sides.
    pub(crate) async fn join(&mut self, handler: &str) {
        self.ours.iter().for_each(|(_, ours)| ours.join(handler));
        for (_, theirs) in &mut self.theirs {
            theirs.join(handler).await;
        }
    }

    /// Everybody who writes a ledger.
    pub(crate) fn ledgers(&self) -> Vec<(&'static str, Side, Arc<Ledger>)> {
        let theirs = self.theirs.iter().map(|(name, theirs)| {
            let ledger = Arc::clone(&theirs.ledger);
            (*name, Side::ClientGo, ledger)
        });
        let ours = self.ours.iter().map(|(name, ours)| {
            let ledger = Arc::clone(&ours.ledger);
            (*name, Side::Ours, ledger)
        });
        theirs.chain(ours).collect()
    }

    /// Touches every marker; answers with the newest versions once the annals have them.
    pub(crate) async fn touch(&mut self) -> Versions {
        let mut versions = Versions::new();
        for (plural, marker) in &self.markers {
            self.touches += 1;
            let version = self.writers[*marker].touch(&self.touches.to_string()).await;
            versions.insert(plural.clone(), version);
        }
        for (plural, version) in &versions {
            let complete = self.annals[plural].complete_to(*version);
            let complete = tokio::time::timeout(LIMIT, complete).await;
            complete.unwrap_or_else(|_| panic!("the annals of {plural} stand still"));
        }
        versions
    }

    /// Waits until every handler and every store of both sides equal the server's LIST at its
    /// newest version; answers with that.
    pub(crate) async fn converge(&mut self, when: &str) -> Versions {
        let start = Instant::now();
        let mut difference = String::new();
        for _ in 0..ROUNDS {
            let versions = self.touch().await;
            match self.agree(&versions, start + LIMIT).await {
                Ok(objects) => {
                    let time = start.elapsed();
                    println!("{when}: all equal LIST ({objects} objects) after {time:.2?}");
                    return versions;
                }
                Err(found) => difference = found,
            }
            if start.elapsed() > LIMIT {
                break;
            }
        }
        for (name, ours) in &self.ours {
            println!("{name}: {}", ours.status());
        }
        panic!("{when}: somebody does not equal LIST: {difference}");
    }

    async fn agree(&mut self, versions: &Versions, deadline: Instant) -> Result<usize, String> {
        let mut truths = BTreeMap::<String, Objects>::new();
        for watched in &self.watched {
            let plural = &watched.resource.plural;
            let list = self.annals[plural].list_at(&watched.scope, versions[plural]);
            truths.insert(watched.name.to_owned(), list.await);
        }
        for (name, _, ledger) in self.ledgers() {
            for (watched, truth) in &truths {
                let agreed = ledger.agree(watched, truth, deadline).await;
                agreed.map_err(|text| format!("{name}: handler {text}"))?;
            }
        }
        let count = truths.len();
        let mut stores: Vec<_> = Vec::new();
        for (name, theirs) in &mut self.theirs {
            stores.push((*name, theirs.stores(count).await));
        }
        stores.extend(self.ours.iter().map(|(name, ours)| (*name, ours.stores())));
        for (name, stores) in &stores {
            for (watched, truth) in &truths {
                if let Some(text) = difference(truth, &stores[watched]) {
                    return Err(format!("{name}: store of {watched}: {text}"));
                }
            }
        }
        Ok(truths.values().map(Objects::len).sum())
    }
}

fn watched(namespace: &str, gadget: &Kind) -> Vec<Watched> {
    let (pods, maps) = (Kind::pod().resource, Kind::config_map().resource);
    let one = Scope {
        namespace: Some(namespace.to_owned()),
        selected: false,
    };
    let selected = Scope {
        namespace: None,
        selected: true,
    };
    let all = Scope::default();
    let (typed, dynamic) = (Form::Typed, Form::Dynamic);
    let rows = [
        ("pods", typed, &pods, &all, false),
        ("pods-of-one", typed, &pods, &one, true),
        ("maps-of-one", typed, &maps, &one, false),
        ("maps-selected", typed, &maps, &selected, false),
        ("maps-metadata", Form::Metadata, &maps, &all, false),
        ("gadgets", dynamic, &gadget.resource, &all, true),
        (
            "gadgets-selected",
            dynamic,
            &gadget.resource,
            &selected,
            false,
        ),
    ];
    let rows = rows
        .into_iter()
        .map(|(name, form, resource, scope, reminded)| Watched {
            name,
            form,
            resource: resource.clone(),
            scope: scope.clone(),
            reminded,
        });
    rows.collect()
}
