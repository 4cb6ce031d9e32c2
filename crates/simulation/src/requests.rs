//! The requests of a run: which of them a fault is for, and what the log says of them.

use std::time::Duration;

use informer_testkit::{Match, RequestRecord, Resource, Verb};

use crate::plan::Requests;

/// What only the short-lived informers select by.
pub(crate) const SIDE: &str = "side";

pub(crate) fn matching(requests: Requests) -> Match {
    let all = match requests {
        Requests::Any => Match::any(),
        Requests::Lists => Match::list(),
        Requests::Pages => Match::list().continuation(true),
        Requests::Watches => Match::watch(),
        Requests::Streams => Match::watch().initial_events(true),
    };
    all.resource(&Resource::config_maps())
}

/// A parameter of a request's query.
pub(crate) fn parameter<'r>(record: &'r RequestRecord, name: &str) -> Option<&'r str> {
    let (_, query) = record.line.query.split_once('?')?;
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs
        .into_iter()
        .find(|(one, _)| *one == name)
        .map(|(_, value)| value)
}

/// The requests of the informer itself, by its sources, each in the order of time.
pub(crate) fn by_source(records: &[RequestRecord]) -> Vec<Vec<&RequestRecord>> {
    let mut sources: Vec<(Option<&str>, Vec<&RequestRecord>)> = Vec::new();
    for record in records
        .iter()
        .filter(|record| !record.line.query.contains(SIDE))
    {
        if !matches!(record.line.verb, Verb::List | Verb::Watch) {
            continue;
        }
        let namespace = record.line.namespace.as_deref();
        match sources.iter_mut().find(|(one, _)| *one == namespace) {
            Some((_, found)) => found.push(record),
            None => sources.push((namespace, vec![record])),
        }
    }
    sources.into_iter().map(|(_, records)| records).collect()
}

/// The most that fall into one window of this length.
pub(crate) fn most_within(times: &[Duration], window: Duration) -> (usize, Duration) {
    let (mut from, mut most) = (0, (0, Duration::ZERO));
    for (index, at) in times.iter().enumerate() {
        while *at - times[from] >= window {
            from += 1;
        }
        if index + 1 - from > most.0 {
            most = (index + 1 - from, times[from]);
        }
    }
    most
}
