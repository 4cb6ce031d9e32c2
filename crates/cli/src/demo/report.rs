//! The report at the end: one JSON object for programs, some lines for people.

use std::collections::BTreeMap;
use std::time::Duration;

use informer_factory::{InformerStatus, ListenerStatus};
use serde::Serialize;

use super::DemoArguments;
use super::informers::Informers;
use super::judge::Verdict;
use super::lag::Lags;
use super::load::Produced;
use super::object::DemoPod;
use crate::memory;
use crate::status::brief;

/// One handler at the end.
#[derive(Clone, Debug, Serialize)]
pub(super) struct HandlerReport {
    #[serde(skip)]
    pub(super) name: String,
    received: u64,
    initial: u64,
    delivered: u64,
    coalesced: u64,
    pending: usize,
    abandoned: u64,
    panics: u64,
    high_water: usize,
    median_lag_ms: f64,
    p99_lag_ms: f64,
    max_lag_ms: f64,
    pub(super) accounted: bool,
    #[serde(skip)]
    pub(super) matches_store: bool,
    #[serde(skip)]
    rests: bool,
}

impl HandlerReport {
    /// Puts together what the processor says and what the handler has counted itself.
    pub(super) fn new(
        status: &ListenerStatus,
        calls: u64,
        matches_store: bool,
        lags: &Lags,
        rests: bool,
    ) -> Self {
        let pending = status.depth as u64;
        let used = status.delivered + status.coalesced + pending + status.abandoned;
        let accounted = status.received + status.replayed == used
            && calls == status.delivered
            && status.panics == 0;
        Self {
            name: status.name.to_string(),
            received: status.received,
            initial: status.replayed,
            delivered: status.delivered,
            coalesced: status.coalesced,
            pending: status.depth,
            abandoned: status.abandoned,
            panics: status.panics,
            high_water: status.high_water,
            median_lag_ms: milliseconds(lags.quantile(0.5)),
            p99_lag_ms: milliseconds(lags.quantile(0.99)),
            max_lag_ms: milliseconds(lags.max()),
            accounted,
            matches_store,
            rests,
        }
    }

    fn line(&self) -> String {
        let coalesced = match self.coalesced {
            0 => String::new(),
            count => format!(", {count} became part of a later one"),
        };
        let rests = if self.rests {
            " (rests on purpose)"
        } else {
            ""
        };
        format!(
            "  {:6} {} received{coalesced}; at most {} waited; lag {} median, {} p99, {} at worst{rests}",
            self.name,
            self.delivered,
            self.high_water,
            written(self.median_lag_ms),
            written(self.p99_lag_ms),
            written(self.max_lag_ms),
        )
    }
}

/// The whole run. `demo --help` says what the fields mean.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Report {
    objects: usize,
    nodes: usize,
    queue: &'static str,
    synced_ms: f64,
    events_produced: u64,
    events_per_second: f64,
    delivered: BTreeMap<String, u64>,
    coalesced: u64,
    store_matches_server: bool,
    handlers_match: BTreeMap<String, bool>,
    accounted: bool,
    max_lag_ms: f64,
    relists: u64,
    reconnects: u64,
    packed: bool,
    object_bytes: usize,
    peak_rss_bytes: Option<u64>,
    handlers: BTreeMap<String, HandlerReport>,
}

impl Report {
    pub(super) fn new<P: DemoPod>(
        arguments: &DemoArguments,
        informers: &Informers<P>,
        verdict: &Verdict,
        produced: &Produced,
        synced: Duration,
    ) -> Self {
        let handlers = &verdict.handlers;
        let by_name = |handler: &HandlerReport| handler.name.clone();
        let sources: Vec<_> = informers.factory.status();
        let sources = sources.iter().flat_map(|informer| &informer.sources);
        let (relists, reconnects) = sources.fold((0, 0), |(relists, reconnects), source| {
            (relists + source.relists(), reconnects + source.reconnects())
        });
        let awake = handlers.iter().filter(|handler| !handler.rests);
        let seconds = produced.time.as_secs_f64();
        let rate = if seconds > 0.0 {
            produced.events as f64 / seconds
        } else {
            0.0
        };
        Self {
            objects: verdict.objects,
            nodes: informers.nodes.reader().len(),
            queue: arguments.queue.name(),
            synced_ms: milliseconds(synced),
            events_produced: produced.events,
            events_per_second: rounded(rate),
            delivered: handlers.iter().map(|h| (by_name(h), h.delivered)).collect(),
            coalesced: handlers.iter().map(|h| h.coalesced).sum(),
            store_matches_server: verdict.store_matches,
            handlers_match: handlers
                .iter()
                .map(|h| (by_name(h), h.matches_store))
                .collect(),
            accounted: handlers.iter().all(|h| h.accounted),
            max_lag_ms: awake.map(|h| h.max_lag_ms).fold(0.0, f64::max),
            relists,
            reconnects,
            packed: arguments.packed,
            object_bytes: object_bytes(&informers.pods.status()),
            peak_rss_bytes: memory::peak_rss_bytes(),
            handlers: handlers.iter().map(|h| (by_name(h), h.clone())).collect(),
        }
    }

    /// The summary in plain words.
    pub(super) fn lines(&self) -> Vec<String> {
        let yes =
            |good: bool, yes: &str, no: &str| if good { yes.to_owned() } else { no.to_owned() };
        let mut lines = vec![
            format!(
                "{} pods and {} nodes were in the cache {} after the start.",
                self.objects,
                self.nodes,
                written(self.synced_ms)
            ),
            format!(
                "{} changes were written, {:.0} a second; {} relists, {} reconnects.",
                self.events_produced, self.events_per_second, self.relists, self.reconnects
            ),
            yes(
                self.store_matches_server,
                "The cache holds what the server holds: every key, version and uid.",
                "THE CACHE DOES NOT HOLD WHAT THE SERVER HOLDS.",
            ),
            "Handlers:".to_owned(),
        ];
        lines.extend(self.handlers.values().map(HandlerReport::line));
        lines.push(yes(
            self.handlers_match.values().all(|matches| *matches),
            "The notifications of each handler add up to what the cache holds.",
            "THE NOTIFICATIONS OF A HANDLER DO NOT ADD UP TO WHAT THE CACHE HOLDS.",
        ));
        lines.push(yes(
            self.accounted,
            "Every notification is accounted for: delivered, or part of a later one.",
            "NOT EVERY NOTIFICATION IS ACCOUNTED FOR.",
        ));
        let form = if self.packed { "packed" } else { "typed" };
        lines.push(format!(
            "A pod takes about {} B in the cache, {form}, with its key and indexes.",
            self.object_bytes
        ));
        if let Some(bytes) = self.peak_rss_bytes {
            let mebibytes = bytes as f64 / f64::from(1 << 20);
            lines.push(format!(
                "Peak memory {mebibytes:.0} MiB, the server included."
            ));
        }
        lines
    }
}

/// What an object takes in the cache, by the informer's estimate.
fn object_bytes(informer: &InformerStatus) -> usize {
    let memory = &informer.memory;
    let cache = [memory.objects, memory.keys, memory.indexes];
    cache.iter().sum::<usize>() / informer.objects.max(1)
}

fn milliseconds(duration: Duration) -> f64 {
    rounded(duration.as_secs_f64() * 1_000.0)
}

/// To three digits behind the point; more would be noise.
fn rounded(number: f64) -> f64 {
    (number * 1_000.0).round() / 1_000.0
}

fn written(milliseconds: f64) -> String {
    brief(Duration::from_secs_f64(milliseconds / 1_000.0))
}
