//! One informer, its audience, and the collections of the server it must agree with.

use std::collections::BTreeMap;
use std::time::Duration;

use informer_factory::{PackedObject, QueueKind, SharedInformer, SourceStatus};
use tokio::time::Instant;

use crate::audience::Audience;
use crate::collection::{Collection, Identity, Truth};
use crate::packed::{Beside, Packable};

/// How long the first list may take.
pub(crate) const SYNC_LIMIT: Duration = Duration::from_secs(60);
/// How long it may take from the last write, or from the end of a fault, until all agree. The
/// back-off after an outage of the server adds up to 31 s.
const LIMIT: Duration = Duration::from_secs(90);
/// The server writes config maps of its own now and then, which may come between LIST and look.
const ROUNDS: usize = 3;

/// An informer that is judged.
pub(crate) struct Followed<T: Packable> {
    pub(crate) informer: SharedInformer<T>,
    pub(crate) audience: Audience<T>,
    /// One, or one for each namespace.
    pub(crate) collections: Vec<Collection>,
    /// A packed informer of the same.
    pub(crate) beside: Option<Beside<T>>,
}

impl<T: Packable> Followed<T> {
    /// An informer over one collection, with handlers; not started.
    pub(crate) fn new(informer: SharedInformer<T>, queue: QueueKind, of: Collection) -> Self {
        Self {
            audience: Audience::attend(&informer, queue, true),
            informer,
            collections: vec![of],
            beside: None,
        }
    }

    /// With a packed informer of the same.
    pub(crate) fn beside(self, packed: SharedInformer<PackedObject<T>>) -> Self {
        let beside = Some(Beside(packed));
        Self { beside, ..self }
    }

    /// Starts it and waits for the first list. Answers with how long that took.
    pub(crate) async fn sync(&self) -> Duration {
        let start = Instant::now();
        self.informer.start().expect("the informer starts");
        if let Some(Beside(packed)) = &self.beside {
            packed.start().expect("the packed informer starts");
        }
        if let Err(error) = self.informer.wait_synced(SYNC_LIMIT).await {
            panic!("{error:?}\n{}", self.status());
        }
        start.elapsed()
    }

    /// Waits until the store and every handler equal the server's LIST at its newest version.
    /// Answers with that list.
    pub(crate) async fn converge(&self, when: &str) -> Truth {
        let start = Instant::now();
        let deadline = start + LIMIT;
        let mut difference = String::new();
        for _ in 0..ROUNDS {
            let truth = self.catch_up(when).await;
            match self.agree(&truth, deadline).await {
                Ok(()) => {
                    self.wait_for_check(deadline).await;
                    self.check_rules();
                    let (name, objects) = (self.informer.name(), truth.objects.len());
                    println!(
                        "{name} {when}: equal to LIST ({objects} objects) after {:.2?}; {}",
                        start.elapsed(),
                        self.deliveries()
                    );
                    return truth;
                }
                Err(found) => difference = found,
            }
            if Instant::now() > deadline {
                break;
            }
        }
        self.check_rules();
        let name = self.informer.name();
        panic!(
            "{when}: {name} does not equal LIST: {difference}\n{}",
            self.status()
        );
    }

    /// Waits until the newest version of each collection has been applied; the LISTs at those.
    async fn catch_up(&self, when: &str) -> Truth {
        let mut all = Truth::default();
        for collection in &self.collections {
            let touched = collection.touch().await;
            let (truth, version) = collection.list_at(&touched).await;
            assert_eq!(
                version, touched,
                "LIST at an exact version is at that version"
            );
            all.objects.extend(truth.objects);
            let wanted = version.as_str().into();
            if let Some(beside) = &self.beside {
                let reached = beside.reach(collection.namespace(), &wanted, LIMIT).await;
                reached.unwrap_or_else(|error| panic!("{when}, packed: {error}"));
            }
            let reached = match collection.namespace() {
                None => self.informer.wait_for_version(&wanted, LIMIT).await,
                Some(namespace) => {
                    let informer = &self.informer;
                    informer
                        .wait_for_version_in(namespace, &wanted, LIMIT)
                        .await
                }
            };
            if let Err(error) = reached {
                panic!(
                    "{when}: {}: {error}\n{}",
                    self.informer.name(),
                    self.status()
                );
            }
        }
        all
    }

    async fn agree(&self, truth: &Truth, deadline: Instant) -> Result<(), String> {
        let store = || {
            truth
                .compare(&self.stored())
                .map_err(|text| format!("store: {text}"))
        };
        store()?;
        if let Some(beside) = &self.beside {
            let compared = beside.compare(truth, &self.informer);
            compared.map_err(|text| format!("packed: {text}"))?;
        }
        for witness in self.audience.witnesses() {
            let mut told = witness.subscribe();
            while let Err(text) = witness.compare(truth) {
                // Once the store has moved on, handlers will not come to this state any more.
                store()?;
                let more = tokio::time::timeout_at(deadline, told.changed()).await;
                if more.is_err() {
                    return Err(format!("handler {}: {text}", witness.name()));
                }
            }
        }
        Ok(())
    }

    /// The store by the identity kept beside each object, which must be the object's own.
    pub(crate) fn stored(&self) -> BTreeMap<String, Identity> {
        let snapshot = self.informer.reader().snapshot();
        let entries = snapshot.iter().map(|(key, entry)| {
            let identity = Identity::from_parts(&entry.uid.to_string(), &entry.version.to_string());
            assert_eq!(
                identity,
                Identity::of(&*entry.object),
                "{key} is kept as another"
            );
            (key.to_string(), identity)
        });
        entries.collect()
    }

    /// Waits until each source, if it checks itself, has compared itself with the server (FM-40).
    async fn wait_for_check(&self, deadline: Instant) {
        let is_unchecked = |source: &SourceStatus| {
            let consistency = source.consistency.as_ref();
            consistency.is_some_and(|found| found.consistent + found.mismatches == 0)
        };
        while self.informer.status().sources.iter().any(is_unchecked) {
            assert!(Instant::now() < deadline, "no check: {}", self.status());
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    fn check_rules(&self) {
        for witness in self.audience.witnesses() {
            let breaches = witness.breaches();
            let name = witness.name();
            assert!(
                breaches.is_empty(),
                "{name} was told what it must not be: {breaches:#?}"
            );
        }
        if let Some(beside) = &self.beside {
            beside.check_rules();
        }
        let status = self.informer.status();
        for source in &status.sources {
            let found = source.consistency.as_ref();
            let mismatches = found.map_or(0, |found| found.mismatches);
            assert_eq!(
                mismatches, 0,
                "the store is what the server had: {source:#?}"
            );
        }
        let panics: u64 = status.handlers.iter().map(|handler| handler.panics).sum();
        assert_eq!(panics, 0, "no handler of ours panics");
        assert_eq!(status.task_panics, 0, "no task panics");
        assert_eq!(status.quarantined, 0, "every object can be decoded");
    }

    pub(crate) fn begin_chapter(&self) {
        self.audience
            .witnesses()
            .iter()
            .for_each(|witness| witness.begin_chapter());
    }

    pub(crate) fn expect_relists(&self) {
        self.audience
            .witnesses()
            .iter()
            .for_each(|witness| witness.expect_relists());
    }

    /// How many whole collections were fetched.
    pub(crate) fn lists(&self) -> u64 {
        self.informer
            .status()
            .sources
            .iter()
            .map(|source| source.lists)
            .sum()
    }

    /// For messages.
    pub(crate) fn status(&self) -> String {
        format!("{:#?}", self.informer.status())
    }

    /// What the handlers were given so far, in one line.
    fn deliveries(&self) -> String {
        let status = self.informer.status();
        let of_handler = |handler: &informer_factory::processor::ListenerStatus| {
            format!(
                "{} {} (coalesced {}, deepest {})",
                handler.name, handler.delivered, handler.coalesced, handler.high_water
            )
        };
        let handlers: Vec<_> = status.handlers.iter().map(of_handler).collect();
        handlers.join(", ")
    }
}
