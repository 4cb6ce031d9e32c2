//! Runs one reflector against one script, and keeps what it did.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use informer_kube_source::{KubeListWatch, KubeSource, SerdeDecoder};
use informer_reflector::{
    Body, Change, Config, Emission, Epoch, Failure, Item, Observe, Reflector, Refused, Report, Sink,
};
use k8s_openapi::api::core::v1::Pod;
use tokio::time::{Instant, sleep};

use crate::{
    server::{Answer, Ask, Server, Verb},
    wire::Wire,
};

/// What happened in one run.
pub(crate) struct Seen {
    pub(crate) asked: Vec<Ask>,
    /// What a store behind the sink would hold: name to version, `!` where quarantined.
    pub(crate) store: BTreeMap<String, String>,
    /// Everything the sink took, one line each, with the time.
    pub(crate) taken: Vec<(Duration, String)>,
    pub(crate) failures: Vec<Failure>,
}

impl Seen {
    pub(crate) fn count(&self, verb: Verb) -> usize {
        self.asked.iter().filter(|ask| ask.verb == verb).count()
    }

    pub(crate) fn lists(&self) -> usize {
        self.count(Verb::List)
    }

    pub(crate) fn watches(&self) -> usize {
        self.count(Verb::Watch)
    }

    /// The versions watches started from.
    pub(crate) fn watched_from(&self) -> Vec<&str> {
        let watches = self.asked.iter().filter(|ask| ask.verb == Verb::Watch);
        watches.map(|ask| ask.version.as_str()).collect()
    }

    pub(crate) fn stored(&self) -> Vec<String> {
        let entry = |(name, version): (&String, &String)| format!("{name}@{version}");
        self.store.iter().map(entry).collect()
    }

    pub(crate) fn took(&self) -> Vec<&str> {
        self.taken.iter().map(|(_, line)| line.as_str()).collect()
    }

    /// How long the longest pause between two requests of these verbs was.
    pub(crate) fn longest_pause(&self, verbs: &[Verb]) -> Duration {
        let of_verb = self.asked.iter().filter(|ask| verbs.contains(&ask.verb));
        let times: Vec<_> = of_verb.map(|ask| ask.at).collect();
        let pauses = times.windows(2).map(|pair| pair[1] - pair[0]);
        pauses.max().expect("two requests")
    }
}

/// Runs for a virtual hour.
pub(crate) async fn hour(
    wire: Wire,
    row: &str,
    script: impl Fn(&Ask) -> Answer + Send + Sync + Clone + 'static,
) -> Seen {
    run(wire, row, Duration::from_secs(3600), script).await
}

/// Runs for some virtual time, and says in one line what it took.
pub(crate) async fn run(
    wire: Wire,
    row: &str,
    time: Duration,
    script: impl Fn(&Ask) -> Answer + Send + Sync + Clone + 'static,
) -> Seen {
    let server = Server::new(wire);
    let decoder = Arc::new(SerdeDecoder::default());
    let pods = KubeSource::<Pod>::new("/api/v1/pods", "v1", "Pod", decoder).wire(wire.requested());
    let list_watch = Arc::new(KubeListWatch::new(server.client(script), pods));
    let log = Log::default();
    let (sink, observe) = (log.clone(), log.clone());
    let reuse = Arc::new(());
    // As client-go does by default, so that the rows compare the same requests.
    let config = Config::default().streaming(true);
    let reflector = Reflector::new(list_watch, sink, reuse, observe, config, 1);
    reflector.run(sleep(time)).await;
    let log = std::mem::take(&mut *log.0.lock().expect("not poisoned"));
    let seen = Seen {
        asked: server.asked(),
        store: log.store,
        taken: log.taken,
        failures: log.failures,
    };
    println!(
        "golden {row} ({wire:?}): lists={} watches={} streams={} failures={} in {} s",
        seen.lists(),
        seen.watches(),
        seen.count(Verb::Stream),
        seen.failures.len(),
        time.as_secs()
    );
    seen
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Happened>>);

#[derive(Default)]
struct Happened {
    start: Option<Instant>,
    store: BTreeMap<String, String>,
    taken: Vec<(Duration, String)>,
    failures: Vec<Failure>,
}

impl Happened {
    fn since_start(&mut self) -> Duration {
        self.start.get_or_insert_with(Instant::now).elapsed()
    }

    fn put(&mut self, item: &Item<Pod>) {
        let quarantined = matches!(item.body, Body::Undecodable(_));
        let mark = if quarantined { "!" } else { "" };
        let version = format!("{}{mark}", item.identity.version);
        self.store
            .insert(item.identity.key.name().to_owned(), version);
    }

    fn take(&mut self, emission: &Emission<Pod>) -> String {
        match emission {
            Emission::Replace {
                items,
                received,
                epoch,
            } => {
                self.store.clear();
                items.iter().for_each(|item| self.put(item));
                let epoch = match epoch {
                    Epoch::New => " new epoch",
                    Epoch::Same => "",
                };
                format!("replace {} at {received}{epoch}", items.len())
            }
            Emission::Change {
                change,
                item,
                received,
            } => {
                let name = item.identity.key.name();
                match change {
                    Change::Added | Change::Modified => self.put(item),
                    Change::Deleted => drop(self.store.remove(name)),
                }
                format!("{change:?} {name}@{} at {received}", item.identity.version)
            }
            Emission::Bookmark { received } => format!("bookmark at {received}"),
        }
    }
}

impl Sink<Pod> for Log {
    async fn accept(&mut self, emission: Emission<Pod>) -> Result<(), Refused> {
        let mut happened = self.0.lock().expect("not poisoned");
        let at = happened.since_start();
        let line = happened.take(&emission);
        happened.taken.push((at, line));
        Ok(())
    }
}

impl Observe for Log {
    fn observe(&mut self, report: Report) {
        let mut happened = self.0.lock().expect("not poisoned");
        happened.since_start();
        if let Report::Failed { failure, .. } = report {
            happened.failures.push(failure);
        }
    }
}
