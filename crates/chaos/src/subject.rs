//! One informer, its handlers, a packed informer of the same objects, and the collections of the
//! server they must agree with.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use futures::StreamExt;
use informer_factory::{
    InformerOptions, InformerStatus, ListenerConfig, Namespaces, NoView, Overflow, PackedObject,
    Projection, ReceivedWire, ResourceVersion, SharedInformer, SharedInformerFactory, SourceStatus,
    WaitForVersionError, WireFormat,
};
use kube_core::DynamicObject;
use kube_core::discovery::ApiResource;
use tokio::time::Instant;

use crate::collection::{Collection, Identity, Objects, compare};
use crate::wires::Wires;
use crate::witness::{Coalescing, Growing, Witness};

/// How long handlers may lag behind the store while nothing is written.
const LAG: Duration = Duration::from_secs(5);

/// An informer that is judged.
pub(crate) struct Subject {
    pub(crate) name: &'static str,
    pub(crate) informer: SharedInformer<DynamicObject>,
    packed: SharedInformer<PackedObject<DynamicObject>>,
    wires: Wires,
    pub(crate) witnesses: [Arc<Witness>; 2],
    pub(crate) collections: Vec<Collection>,
}

impl Subject {
    pub(crate) fn new(
        name: &'static str,
        factory: &SharedInformerFactory,
        resource: &ApiResource,
        namespaces: Namespaces,
        collections: Vec<Collection>,
        wires: Wires,
    ) -> Result<Self> {
        println!("{name}: {wires}");
        let options = InformerOptions::new()
            .namespaces(namespaces.clone())
            .wire(wires.typed);
        let informer = factory.dynamic(resource, options)?;
        // Whole, so that it can be compared.
        let options = InformerOptions::new()
            .namespaces(namespaces)
            .wire(wires.packed)
            .projection(Projection::new());
        let packed = factory.packed_dynamic::<NoView>(resource, options)?;
        let witnesses = [Witness::new("growing"), Witness::new("coalescing")];
        let growing = Growing(Arc::clone(&witnesses[0]));
        informer.add_handler_with(growing, ListenerConfig::named("growing"))?;
        let config = ListenerConfig::named("coalescing").overflow(Overflow::Coalesce);
        informer.add_async_handler(Coalescing(Arc::clone(&witnesses[1])), config)?;
        Ok(Self {
            name,
            informer,
            packed,
            wires,
            witnesses,
            collections,
        })
    }

    /// Waits until what the server was at `versions`, one for each collection, has been applied.
    pub(crate) async fn reach(&self, versions: &[String], limit: Duration) -> Result<()> {
        for (collection, version) in self.collections.iter().zip(versions) {
            let namespace = collection.namespace.as_deref();
            let typed = reach(&self.informer, namespace, version, limit);
            let packed = reach(&self.packed, namespace, version, limit);
            let (typed, packed) = tokio::join!(typed, packed);
            typed.with_context(|| status(self.name, &self.informer))?;
            packed.with_context(|| status("packed", &self.packed))?;
        }
        Ok(())
    }

    /// Touches every collection; the versions.
    pub(crate) async fn touch(&self) -> Result<Vec<String>> {
        let mut versions = Vec::new();
        for collection in &self.collections {
            versions.push(collection.touch().await?);
        }
        Ok(versions)
    }

    /// Compares the store and every handler with the server as it was at `version`, since when
    /// nothing was written.
    pub(crate) async fn agree(&self, version: &str, limit: Duration) -> Result<()> {
        let (mut truth, mut newest) = (Objects::new(), Vec::new());
        for collection in &self.collections {
            let objects = collection.list_at(version).await?;
            // The marker was touched last of all.
            let versions = objects.values().map(|identity| identity.version);
            newest.push(versions.max().unwrap_or(0).to_string());
            truth.extend(objects);
        }
        self.reach(&newest, limit).await?;
        compare(&truth, &self.stored()).context("the store")?;
        self.compare_packed().context("the packed objects")?;
        for witness in &self.witnesses {
            let mut told = witness.subscribe();
            while let Err(error) = compare(&truth, &witness.objects()) {
                if tokio::time::timeout(LAG, told.changed()).await.is_err() {
                    return Err(error).with_context(|| format!("handler {}", witness.name));
                }
            }
        }
        Ok(())
    }

    fn stored(&self) -> Objects {
        let snapshot = self.informer.reader().snapshot();
        let entries = snapshot.iter();
        entries
            .map(|(key, entry)| (key.to_string(), Identity::of(&*entry.object)))
            .collect()
    }

    /// Fails unless the packed objects are those of the other informer.
    fn compare_packed(&self) -> Result<()> {
        let typed = self.informer.reader().snapshot();
        let packed = self.packed.reader().snapshot();
        let (all, found) = (typed.len(), packed.len());
        ensure!(all == found, "{found} instead of {all}");
        for ((key, typed), (found, packed)) in typed.iter().zip(packed.iter()) {
            ensure!(key == found, "{found} instead of {key}");
            let (uid, version) = (packed.object.uid(), packed.object.version());
            let is_same = (uid, version) == (&typed.uid, &typed.version);
            ensure!(
                is_same && packed.object.unpack()? == *typed.object,
                "{key} is {uid}@{version}, or another content, instead of {}@{}",
                typed.uid,
                typed.version
            );
        }
        Ok(())
    }

    /// Fails if a handler was told what it must not be, or anything panicked.
    pub(crate) fn check_rules(&self) -> Result<()> {
        for witness in &self.witnesses {
            let breaches = witness.breaches();
            if !breaches.is_empty() {
                bail!("{}, handler {}: {breaches:#?}", self.name, witness.name);
            }
        }
        let status = self.informer.status();
        let packed = self.packed.status();
        let in_handlers: u64 = status.handlers.iter().map(|handler| handler.panics).sum();
        let in_tasks = status.task_panics + packed.task_panics;
        let quarantined = (status.quarantined + packed.quarantined) as u64;
        if in_handlers + in_tasks + quarantined > 0 {
            bail!(
                "{}: a panic, or a key in quarantine: {status:#?} {packed:#?}",
                self.name
            );
        }
        check_wire(&status.sources, self.wires.typed).context(self.name)?;
        check_wire(&packed.sources, self.wires.packed).context(self.name)
    }

    /// Prints every change of its sources from now on.
    pub(crate) fn narrate(&self, start: Instant) {
        let (name, mut changes) = (self.name, Box::pin(self.informer.status_stream()));
        tokio::spawn(async move {
            let mut last = Vec::new();
            while let Some(status) = changes.next().await {
                let lines: Vec<_> = status.sources.iter().map(source_line).collect();
                for line in lines.iter().filter(|line| !last.contains(*line)) {
                    println!(
                        "      {:>8.2} s {name}: {line}",
                        start.elapsed().as_secs_f64()
                    );
                }
                last = lines;
            }
        });
    }
}

/// Fails if something else than the chosen format was received.
fn check_wire(sources: &[SourceStatus], chosen: WireFormat) -> Result<()> {
    let expected = match chosen {
        WireFormat::Protobuf => ReceivedWire::Protobuf,
        _ => ReceivedWire::Json,
    };
    for SourceStatus { source, wire, .. } in sources {
        let is_expected = wire.is_none_or(|wire| wire == expected);
        ensure!(
            is_expected,
            "{source} received {wire:?} instead of {expected:?}"
        );
    }
    Ok(())
}

/// Waits until an informer has applied a version of one of its collections.
async fn reach<T: Send + Sync + 'static>(
    informer: &SharedInformer<T>,
    namespace: Option<&str>,
    version: &str,
    limit: Duration,
) -> Result<()> {
    let wanted: ResourceVersion = version.into();
    let reached = match namespace {
        None => informer.wait_for_version(&wanted, limit).await,
        Some(name) => informer.wait_for_version_in(name, &wanted, limit).await,
    };
    match reached {
        // Of a rewind the comparison will tell.
        Ok(()) | Err(WaitForVersionError::NewEpoch { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Where an informer is, in a few words.
fn status<T: Send + Sync + 'static>(name: &str, informer: &SharedInformer<T>) -> String {
    let InformerStatus { state, sources, .. } = informer.status();
    let mut text = format!("{name} is {state:?}");
    for source in &sources {
        text.push_str("; ");
        text.push_str(&source_line(source));
        let (since, received) = (source.since.elapsed(), &source.received);
        let applied = source.applied.as_ref().map(ToString::to_string);
        text.push_str(&format!(
            " since {since:.1?}, at {received}, applied {applied:?}"
        ));
    }
    text
}

fn source_line(source: &SourceStatus) -> String {
    let SourceStatus {
        phase, attempts, ..
    } = source;
    let failure = source.failure.as_ref().map(ToString::to_string);
    format!(
        "{} {phase:?}, list {}, watch {}, epoch {}, {attempts} attempts, {failure:?}",
        source.source, source.lists, source.watches, source.epoch
    )
}

/// What was asked of the server, and what informers found when they checked themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) lists: u64,
    pub(crate) watches: u64,
    pub(crate) checks: u64,
    pub(crate) mismatches: u64,
}

impl Asked {
    /// So far, by all of these.
    pub(crate) fn by<'a>(subjects: impl IntoIterator<Item = &'a Subject>) -> Self {
        let sources = subjects
            .into_iter()
            .flat_map(|subject| subject.informer.status().sources);
        sources.fold(Self::default(), |sum, source| {
            let found = source.consistency.unwrap_or_default();
            Self {
                lists: sum.lists + source.lists,
                watches: sum.watches + source.watches,
                checks: sum.checks + found.consistent + found.mismatches,
                mismatches: sum.mismatches + found.mismatches,
            }
        })
    }

    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            lists: self.lists - before.lists,
            watches: self.watches - before.watches,
            checks: self.checks - before.checks,
            mismatches: self.mismatches - before.mismatches,
        }
    }
}
