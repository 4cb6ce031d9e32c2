//! Every fault, seen by a client of the port: one test each, under a paused clock.
//!
//! What the same faults look like as bytes is in `fault_bytes.rs`.
#![allow(
    clippy::unwrap_used,
    reason = "a helper of tests that cannot go on has failed"
)]

use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use informer_reflector::{
    Body, Failure, FailureKind, ListRequest, ListVersion, ListWatch, Page, WatchEvent, WatchRequest,
};
use informer_testkit::{ApiServer, Events, Fault, Match, Rejection, Resource, Source, Times};
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::json;
use tokio::time::{Instant, timeout};

type Event = WatchEvent<ConfigMap>;

/// A server with the objects `a@2` and `b@3`.
fn server() -> (ApiServer, Source<ConfigMap>) {
    let server = ApiServer::new();
    for name in ["a", "b"] {
        put(&server, name);
    }
    let source = server.source(&Resource::config_maps()).unwrap();
    (server, source)
}

fn put(server: &ApiServer, name: &str) {
    let object = json!({"metadata": {"name": name}, "data": {"k": "v"}});
    server.create(&Resource::config_maps(), object).unwrap();
}

fn list_request() -> ListRequest {
    let mut request = ListRequest::new(ListVersion::Any);
    request.reuse = true;
    request
}

fn watch_request(version: &str) -> WatchRequest {
    WatchRequest::new(version, Duration::from_secs(100))
}

async fn list_with(fault: Fault) -> Result<Page<ConfigMap>, Failure> {
    let (server, source) = server();
    server.fault(Match::list(), fault, Times::Once);
    source.list(list_request(), Arc::new(())).await
}

async fn watch_with(fault: Fault, version: &str) -> Result<Events<ConfigMap>, Failure> {
    let (server, source) = server();
    server.fault(Match::watch(), fault, Times::Once);
    source.watch(watch_request(version), Arc::new(())).await
}

/// All that a watch from version 1 says, which without a fault is two events and two bookmarks.
async fn told_with(fault: Fault) -> Vec<Result<Event, Failure>> {
    watch_with(fault, "1").await.unwrap().collect().await
}

fn short(told: &[Result<Event, Failure>]) -> Vec<String> {
    let one = |told: &Result<Event, Failure>| match told {
        Ok(WatchEvent::Added(item)) => {
            format!("+{}@{}", item.identity.key.name(), item.identity.version)
        }
        Ok(WatchEvent::Modified(item)) => {
            format!("~{}@{}", item.identity.key.name(), item.identity.version)
        }
        Ok(WatchEvent::Deleted(item)) => {
            format!("-{}@{}", item.identity.key.name(), item.identity.version)
        }
        Ok(WatchEvent::Bookmark {
            version,
            initial_events_end: true,
        }) => format!("end@{version}"),
        Ok(WatchEvent::Bookmark { version, .. }) => format!("@{version}"),
        Ok(WatchEvent::Error(failure)) => format!("{:?}", failure.kind),
        Err(failure) => format!("!{:?}", failure.kind),
    };
    told.iter().map(one).collect()
}

#[tokio::test(start_paused = true)]
async fn without_a_fault_everything_comes() {
    let told = told_with(Fault::Delay(Duration::ZERO)).await;
    assert_eq!(short(&told), ["+a@2", "+b@3", "@3", "@3"]);
    let page = list_with(Fault::Delay(Duration::ZERO)).await.unwrap();
    assert_eq!((page.items.len(), page.version), (2, "3".into()));
}

#[tokio::test(start_paused = true)]
async fn status_refuses_with_retry_after() {
    let throttled = Rejection::new(429, "TooManyRequests", "slow down");
    let fault = Fault::Status(throttled.with_retry_after(Duration::from_secs(7)));
    let failure = list_with(fault.clone()).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Throttled);
    assert_eq!(failure.retry_after, Some(Duration::from_secs(7)));
    assert_eq!(
        watch_with(fault, "1").await.unwrap_err().kind,
        FailureKind::Throttled
    );
}

#[tokio::test(start_paused = true)]
async fn error_event_ends_the_watch() {
    let fault = Fault::ErrorEvent {
        after: 1,
        status: Rejection::new(500, "InternalError", "x"),
    };
    assert_eq!(short(&told_with(fault).await), ["+a@2", "Internal"]);
    assert_eq!(short(&told_with(Fault::expired_event()).await), ["Expired"]);
}

#[tokio::test(start_paused = true)]
async fn refuse_is_a_failed_connection() {
    assert_eq!(
        list_with(Fault::Refuse).await.unwrap_err().kind,
        FailureKind::Connect
    );
}

#[tokio::test(start_paused = true)]
async fn delay_delays() {
    let start = Instant::now();
    list_with(Fault::Delay(Duration::from_secs(9)))
        .await
        .unwrap();
    assert_eq!(start.elapsed(), Duration::from_secs(9));
}

#[tokio::test(start_paused = true)]
async fn hang_opens_and_says_nothing_for_ever() {
    let day = Duration::from_secs(86_400);
    timeout(day, list_with(Fault::Hang)).await.unwrap_err();
    let mut events = watch_with(Fault::Hang, "1").await.unwrap();
    timeout(day, events.next()).await.unwrap_err();
}

#[tokio::test(start_paused = true)]
async fn hang_headers_does_not_even_open() {
    let day = Duration::from_secs(86_400);
    timeout(day, watch_with(Fault::HangHeaders, "1"))
        .await
        .unwrap_err();
}

/// FM-10, FM-30: a cut is a failure at every byte, and what came before it is whole.
#[tokio::test(start_paused = true)]
async fn cut_after_bytes_is_a_failure_at_every_byte() {
    for bytes in 0..700 {
        let told = told_with(Fault::CutAfterBytes(bytes)).await;
        let told = short(&told);
        assert_eq!(told.last().unwrap(), "!Cut", "{bytes}");
        assert!(
            ["+a@2", "+b@3", "@3", "@3"].starts_with(
                &told[..told.len() - 1]
                    .iter()
                    .map(String::as_str)
                    .collect::<Vec<_>>()
            )
        );
        let list = list_with(Fault::CutAfterBytes(bytes / 3)).await;
        assert_eq!(list.unwrap_err().kind, FailureKind::Cut, "{bytes}");
    }
}

#[tokio::test(start_paused = true)]
async fn cut_after_events_counts_events() {
    assert_eq!(short(&told_with(Fault::CutAfterEvents(0)).await), ["!Cut"]);
    assert_eq!(
        short(&told_with(Fault::CutAfterEvents(1)).await),
        ["+a@2", "!Cut"]
    );
}

#[tokio::test(start_paused = true)]
async fn close_after_closes_cleanly() {
    let start = Instant::now();
    let told = told_with(Fault::CloseAfter(Duration::from_secs(5))).await;
    assert_eq!(short(&told), ["+a@2", "+b@3"]);
    assert_eq!(start.elapsed(), Duration::from_secs(5));
    assert!(
        told_with(Fault::CloseAfter(Duration::ZERO))
            .await
            .is_empty()
    );
}

#[tokio::test(start_paused = true)]
async fn close_after_events_closes_cleanly() {
    assert_eq!(
        short(&told_with(Fault::CloseAfterEvents(1)).await),
        ["+a@2"]
    );
    assert!(told_with(Fault::CloseAfterEvents(0)).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_is_not_the_protocol_is_a_protocol_failure() {
    let faults = [
        Fault::TruncatedLine,
        Fault::GarbageLine,
        Fault::UnknownType,
        Fault::Html,
        Fault::WrongKind,
    ];
    for fault in faults {
        assert_eq!(
            short(&told_with(fault.clone()).await),
            ["!Protocol"],
            "{fault:?}"
        );
        if fault != Fault::UnknownType {
            let failure = list_with(fault.clone()).await.unwrap_err();
            assert_eq!(failure.kind, FailureKind::Protocol, "{fault:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_object_without_a_name_is_a_protocol_failure() {
    let told = told_with(Fault::Nameless).await;
    assert!(
        matches!(&told[0], Err(failure) if failure.kind == FailureKind::Protocol),
        "{told:?}"
    );
    let failure = list_with(Fault::Nameless).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Protocol);
}

#[tokio::test(start_paused = true)]
async fn undecodable_item_keeps_its_metadata() {
    let page = list_with(Fault::UndecodableItem).await.unwrap();
    assert_eq!(page.items[0].identity.key.name(), "a");
    assert!(matches!(page.items[0].body, Body::Undecodable(_)));
    assert!(matches!(page.items[1].body, Body::Decoded(_)));
    let told = told_with(Fault::UndecodableItem).await;
    assert_eq!(short(&told), ["+a@2", "+b@3", "@3", "@3"]);
    let Ok(WatchEvent::Added(item)) = &told[0] else {
        panic!()
    };
    assert!(matches!(item.body, Body::Undecodable(_)));
}

#[tokio::test(start_paused = true)]
async fn bookmark_never_sends_none() {
    assert_eq!(
        short(&told_with(Fault::BookmarkNever).await),
        ["+a@2", "+b@3"]
    );
}

async fn streamed_with(fault: Fault) -> Vec<String> {
    let (server, source) = server();
    server.fault(Match::watch().initial_events(true), fault, Times::Once);
    let request = watch_request("").with_initial_events();
    let events = source.watch(request, Arc::new(())).await.unwrap();
    short(&events.collect::<Vec<_>>().await)
}

#[tokio::test(start_paused = true)]
async fn no_initial_events_end_never_ends_them() {
    let ended = streamed_with(Fault::Delay(Duration::ZERO)).await;
    assert_eq!(ended, ["+a@2", "+b@3", "end@3", "@3", "@3"]);
    assert_eq!(
        streamed_with(Fault::NoInitialEventsEnd).await,
        ["+a@2", "+b@3", "@3", "@3"]
    );
}

#[tokio::test(start_paused = true)]
async fn ignore_initial_events_watches_from_now() {
    assert_eq!(
        streamed_with(Fault::IgnoreInitialEvents).await,
        ["@3", "@3"]
    );
}

#[tokio::test(start_paused = true)]
async fn empty_resource_version_is_unset() {
    assert!(
        list_with(Fault::EmptyResourceVersion)
            .await
            .unwrap()
            .version
            .is_unset()
    );
}

/// FM-07.
#[tokio::test(start_paused = true)]
async fn duplicate_key_comes_older_first() {
    let page = list_with(Fault::DuplicateKey).await.unwrap();
    let items = page.items.iter();
    let items: Vec<_> = items
        .map(|item| format!("{}@{}", item.identity.key.name(), item.identity.version))
        .collect();
    assert_eq!(items, ["a@1", "a@2", "b@3"]);
}

/// FM-01, FM-36.
#[tokio::test(start_paused = true)]
async fn older_version_is_a_stale_replica() {
    let page = list_with(Fault::OlderVersion(2)).await.unwrap();
    assert_eq!((page.items.len(), page.version), (1, "2".into()));
    assert_eq!(
        short(&told_with(Fault::OlderVersion(1)).await)[..2],
        ["+a@1", "+b@3"]
    );
}

/// FM-37.
#[tokio::test(start_paused = true)]
async fn replay_suffix_says_it_again() {
    let events = watch_with(Fault::ReplaySuffix(1), "3").await.unwrap();
    assert_eq!(
        short(&events.collect::<Vec<_>>().await),
        ["+b@3", "@3", "@3"]
    );
}

/// FM-40.
#[tokio::test(start_paused = true)]
async fn lose_event_loses_one() {
    assert_eq!(
        short(&told_with(Fault::LoseEvent(1)).await),
        ["+b@3", "@3", "@3"]
    );
}

/// FM-24.
#[tokio::test(start_paused = true)]
async fn early_bookmark_lies() {
    let told = told_with(Fault::EarlyBookmark).await;
    assert_eq!(short(&told)[..2], ["@2", "+a@2"]);
}

/// FM-20: the watch outlives its timeout of 100 s.
#[tokio::test(start_paused = true)]
async fn ignore_timeout_goes_on() {
    let mut events = watch_with(Fault::IgnoreTimeout, "3").await.unwrap();
    let start = Instant::now();
    for _ in 0..5 {
        events.next().await.unwrap().unwrap();
    }
    assert_eq!(start.elapsed(), Duration::from_secs(300));
}

/// FM-39: versions are given out again, open watches end, and a watch from the lost future is
/// accepted in silence, as etcd does.
#[tokio::test(start_paused = true)]
async fn a_restore_rewinds_without_410() {
    let (server, source) = server();
    let mut open = source
        .watch(watch_request("3"), Arc::new(()))
        .await
        .unwrap();
    server.restore(2).unwrap();
    assert!(open.next().await.is_none());
    let page = source.list(list_request(), Arc::new(())).await.unwrap();
    assert_eq!((page.items.len(), page.version), (1, "2".into()));
    let mut silent = source
        .watch(watch_request("3"), Arc::new(()))
        .await
        .unwrap();
    put(&server, "c");
    put(&server, "d");
    let told = [silent.next().await.unwrap()];
    assert_eq!(short(&told), ["+d@4"], "c@3 is not news to who has seen 3");
}

/// RL-48: both encodings of 410, and the version ahead.
#[tokio::test(start_paused = true)]
async fn compaction_expires_lists_and_watches() {
    let (server, source) = server();
    let mut reading = source
        .watch(watch_request("1"), Arc::new(()))
        .await
        .unwrap();
    server.compact();
    assert_eq!(
        short(&[reading.next().await.unwrap()]),
        ["+a@2"],
        "an open watch goes on"
    );
    let expired = source
        .watch(watch_request("2"), Arc::new(()))
        .await
        .unwrap();
    assert_eq!(short(&expired.collect::<Vec<_>>().await), ["Expired"]);
    source
        .watch(watch_request("3"), Arc::new(()))
        .await
        .unwrap();
    let ahead = ListVersion::NotOlderThan("9".into());
    let ahead = source.list(ListRequest::new(ahead), Arc::new(())).await;
    assert_eq!(ahead.unwrap_err().kind, FailureKind::TooLarge);
}

/// A watcher that does not read is bounded by the history, and is told so.
#[tokio::test(start_paused = true)]
async fn a_slow_watcher_falls_off_the_history() {
    let server = ApiServer::builder().history_limit(3).build();
    let source: Source<ConfigMap> = server.source(&Resource::config_maps()).unwrap();
    let slow = source
        .watch(watch_request("1"), Arc::new(()))
        .await
        .unwrap();
    for name in ["a", "b", "c", "d"] {
        put(&server, name);
    }
    assert_eq!(short(&slow.collect::<Vec<_>>().await), ["Expired"]);
}

#[tokio::test(start_paused = true)]
async fn watches_are_counted_and_closed() {
    let (server, source) = server();
    let maps = Resource::config_maps();
    let mut watch = source
        .watch(watch_request("3"), Arc::new(()))
        .await
        .unwrap();
    server.wait_for_watches(&maps, 1).await;
    server.close_watches();
    assert!(watch.next().await.is_none());
    drop(watch);
    assert_eq!(server.open_watches(&maps), 0);
}

/// FM-42: leaving the selector is a deletion, with the version of the change.
#[tokio::test(start_paused = true)]
async fn leaving_a_selector_is_a_deletion() {
    let (server, source) = server();
    let maps = Resource::config_maps();
    let source = source.labels("on=yes").unwrap();
    let watch = source
        .watch(watch_request("3"), Arc::new(()))
        .await
        .unwrap();
    for label in [json!("yes"), json!("no"), json!("yes")] {
        let patch = json!({"metadata": {"labels": {"on": label}}});
        server.patch(&maps, "default", "a", patch).unwrap();
    }
    let told: Vec<_> = watch.take(3).collect().await;
    assert_eq!(short(&told), ["+a@4", "-a@5", "+a@6"]);
}

/// A failed handshake is no connection; a stall is only time; a proxy's answer is judged by its
/// code.
#[tokio::test(start_paused = true)]
async fn handshakes_stalls_and_answers_of_proxies() {
    let failure = list_with(Fault::Handshake).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Connect);
    let begun = Instant::now();
    let page = list_with(Fault::Stall(Duration::from_secs(9))).await;
    assert_eq!(page.unwrap().items.len(), 2);
    assert_eq!(begun.elapsed(), Duration::from_secs(9));
    let proxy = Fault::Answer {
        code: 502,
        retry_after: Some("soon".into()),
        media_type: "text/html",
        body: "<html>".into(),
    };
    let failure = list_with(proxy).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Unavailable);
}

/// An error without its kind is one all the same; what is compressed is not the protocol.
#[tokio::test(start_paused = true)]
async fn bare_errors_and_unasked_compression() {
    let status = Rejection::new(410, "Expired", "x");
    let told = told_with(Fault::BareError { after: 1, status }).await;
    assert_eq!(short(&told), ["+a@2", "Expired"]);
    assert_eq!(short(&told_with(Fault::Gzip).await), ["!Protocol"]);
    let failure = list_with(Fault::Gzip).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Protocol);
}

/// A stale list is a state that was; a huge item is only larger.
#[tokio::test(start_paused = true)]
async fn stale_lists_and_huge_items() {
    let page = list_with(Fault::StaleBy(1)).await.unwrap();
    assert_eq!((page.items.len(), page.version), (1, "2".into()));
    let page = list_with(Fault::HugeItem(100_000)).await.unwrap();
    assert_eq!(page.items.len(), 2);
}

/// FM-36: the first deletion has the version before it, and counts as met.
#[tokio::test(start_paused = true)]
async fn a_deletion_of_an_older_version() {
    let (server, source) = server();
    let id = server.fault(Match::watch(), Fault::DeletedOlderVersion, Times::Once);
    server
        .delete(&Resource::config_maps(), "default", "a")
        .unwrap();
    let told = source.watch(watch_request("3"), Arc::new(())).await;
    let told: Vec<_> = told.unwrap().collect().await;
    assert_eq!(short(&told)[0], "-a@3");
    assert_eq!(server.fault_hits(id), 1);
}

/// FM-16: watches that fall silent neither end nor speak; the next one does.
#[tokio::test(start_paused = true)]
async fn silence_is_for_the_watches_that_are_open() {
    let (server, source) = server();
    let mut silent = source
        .watch(watch_request("1"), Arc::new(()))
        .await
        .unwrap();
    server.silence_watches();
    let day = Duration::from_secs(86_400);
    assert!(timeout(day, silent.next()).await.is_err());
    let mut next = source
        .watch(watch_request("1"), Arc::new(()))
        .await
        .unwrap();
    assert!(next.next().await.is_some());
}
