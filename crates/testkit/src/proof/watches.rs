//! Random histories, watched from every version, with the writes of the history falling into every
//! position between list, watch and reading.

use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use informer_reflector::{Item, ListRequest, ListVersion, ListWatch, WatchEvent, WatchRequest};
use proptest::prelude::*;
use serde_json::Value;
use tokio::runtime::Runtime;

use super::{
    history::{Record, Write, write, writes},
    properties::{Told, Trace, check, selected},
};
use crate::{ApiServer, EventKind, Fault, Match, Resource, Source, Times};

pub(super) const START: u64 = 40;

pub(super) fn paused() -> Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_time().start_paused(true).build().unwrap()
}

fn server() -> ApiServer {
    ApiServer::builder()
        .starting_version(START)
        .bookmark_interval(Duration::from_secs(7))
        .build()
}

fn source(server: &ApiServer, label: Option<u8>) -> Source<Value> {
    let source = server.source(&Resource::pods()).unwrap();
    match label {
        Some(label) => source.labels(&format!("l={label}")).unwrap(),
        None => source,
    }
}

fn request(version: u64, seconds: u64) -> WatchRequest {
    WatchRequest::new(version, Duration::from_secs(seconds))
}

fn told(kind: EventKind, item: &Item<Value>) -> Told {
    Told::Event {
        kind,
        name: item.identity.key.name().to_owned(),
        uid: item.identity.uid.to_string(),
        version: item.identity.version.as_number().unwrap(),
    }
}

fn line(event: WatchEvent<Value>) -> Told {
    match event {
        WatchEvent::Added(item) => told(EventKind::Added, &item),
        WatchEvent::Modified(item) => told(EventKind::Modified, &item),
        WatchEvent::Deleted(item) => told(EventKind::Deleted, &item),
        WatchEvent::Bookmark { version, .. } => Told::Bookmark(version.as_number().unwrap()),
        WatchEvent::Error(failure) => panic!("{failure}"),
    }
}

/// Watches from `from`; the writes after the first `early` happen while the watch is open, with a
/// pause after each, in which bookmarks may come.
pub(super) async fn watched(
    history: &[Write],
    early: usize,
    from: u64,
    label: Option<u8>,
    fault: Option<Fault>,
) -> (Trace, Record) {
    let server = server();
    let mut record = Record::new(START);
    let (before, meanwhile) = history.split_at(early);
    before
        .iter()
        .for_each(|one| write(&server, &mut record, one));
    let from = from.clamp(START, server.version());
    let source = source(&server, label);
    if let Some(fault) = fault {
        server.fault(Match::watch(), fault, Times::Always);
    }
    let events = source.watch(request(from, 90), Arc::new(())).await.unwrap();
    let reading = tokio::spawn(events.map(|event| line(event.unwrap())).collect::<Vec<_>>());
    for one in meanwhile {
        write(&server, &mut record, one);
        tokio::time::sleep(Duration::from_secs(3)).await;
    }
    let until = record.last();
    let told = reading.await.unwrap();
    (
        Trace {
            from,
            label,
            told,
            until,
        },
        record,
    )
}

proptest! {
    /// FM-89: the nine properties, from every version, with and without a selector, and with the
    /// watch opened at every position of the history.
    #[test]
    fn the_nine_properties_hold(
        history in writes(24),
        early in 0..25_usize,
        from in START..START + 30,
        label in prop::option::of(0..3_u8),
    ) {
        let early = early.min(history.len());
        let (trace, record) = paused().block_on(watched(&history, early, from, label, None));
        prop_assert_eq!(check(&trace, &record), Ok(()), "{:?}", trace);
        prop_assert!(matches!(trace.told.last(), Some(Told::Bookmark(_))), "the last word");
    }

    /// FM-15, k/k#49956: writes at every position between the list and the watch; what the list
    /// and the watch from its version say together is the server's state.
    #[test]
    fn nothing_is_lost_between_list_and_watch(
        history in writes(7),
        label in prop::option::of(0..3_u8),
    ) {
        for listed in 0..=history.len() {
            for opened in listed..=history.len() {
                let result = paused().block_on(list_then_watch(&history, listed, opened, label));
                prop_assert_eq!(result, Ok(()), "listed at {}, opened at {}", listed, opened);
            }
        }
    }
}

async fn list_then_watch(
    history: &[Write],
    listed: usize,
    opened: usize,
    label: Option<u8>,
) -> Result<(), String> {
    let server = server();
    let mut record = Record::new(START);
    let mut go = |writes: &[Write]| {
        writes
            .iter()
            .for_each(|one| write(&server, &mut record, one));
        record.clone()
    };
    let source = source(&server, label);
    go(&history[..listed]);
    let list = ListRequest::new(ListVersion::Any);
    let page = source.list(list, Arc::new(())).await.unwrap();
    let from: u64 = page.version.as_number().unwrap();
    let record_then = go(&history[listed..opened]);
    let known = selected(record_then.at(from), label);
    if page
        .items
        .iter()
        .map(|item| item.identity.key.name())
        .ne(known.keys())
    {
        return Err(format!("the list is not the state at {from}"));
    }
    let events = source.watch(request(from, 60), Arc::new(())).await.unwrap();
    let record = go(&history[opened..]);
    let told: Vec<Told> = events.map(|event| line(event.unwrap())).collect().await;
    let until = record.last();
    check(
        &Trace {
            from,
            label,
            told,
            until,
        },
        &record,
    )
}
