//! What a test can say to open watches, and what it can set up, beside faults of requests.
#![allow(
    clippy::unwrap_used,
    reason = "a helper of tests that cannot go on has failed"
)]

use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use informer_reflector::{FailureKind, ListWatch, WatchEvent, WatchRequest};
use informer_testkit::{
    ApiServer, EventKind, Events, Fault, Interjection, ListOptions, Match, Rejection, Resource,
    Times,
};
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::json;

fn put(server: &ApiServer, name: &str) {
    let object = json!({"metadata": {"name": name}});
    server.create(&Resource::config_maps(), object).unwrap();
}

async fn watch(server: &ApiServer, initial: bool) -> Events<ConfigMap> {
    let source = server.source(&Resource::config_maps()).unwrap();
    let time = Duration::from_secs(10);
    let request = match initial {
        true => WatchRequest::new("", time).with_initial_events(),
        false => WatchRequest::new("1", time),
    };
    source.watch(request, Arc::new(())).await.unwrap()
}

async fn next(events: &mut Events<ConfigMap>) -> String {
    match events.next().await {
        None => "closed".to_owned(),
        Some(Err(failure)) => format!("{:?}", failure.kind),
        Some(Ok(WatchEvent::Added(item) | WatchEvent::Modified(item))) => {
            format!("{}@{}", item.identity.key.name(), item.identity.version)
        }
        Some(Ok(WatchEvent::Deleted(item))) => {
            format!("-{}@{}", item.identity.key.name(), item.identity.version)
        }
        Some(Ok(WatchEvent::Bookmark {
            version,
            initial_events_end,
        })) => format!("{}@{version}", if initial_events_end { "end" } else { "" }),
        Some(Ok(WatchEvent::Error(failure))) => format!("error {:?}", failure.kind),
    }
}

/// A watch that reads late passes what was said where it was said, and ends with an error.
#[tokio::test(start_paused = true)]
async fn what_is_said_comes_between_the_changes() {
    let (server, configs) = (ApiServer::new(), Resource::config_maps());
    let mut events = watch(&server, false).await;
    put(&server, "a");
    let ghost = json!({"metadata": {"name": "ghost", "resourceVersion": "9"}});
    let event = Interjection::Event {
        kind: EventKind::Deleted,
        object: ghost,
    };
    server.interject(&configs, event).unwrap();
    put(&server, "b");
    server.interject(&configs, Interjection::Bookmark).unwrap();
    let error = Interjection::Error(Rejection::expired(1, 3));
    server.interject(&configs, error).unwrap();
    put(&server, "c");
    let mut told = Vec::new();
    for _ in 0..6 {
        told.push(next(&mut events).await);
    }
    let expected = ["a@2", "-ghost@9", "b@3", "@3", "error Expired", "closed"];
    assert_eq!(told, expected);
    let mut later = watch(&server, false).await;
    assert_eq!(next(&mut later).await, "a@2");
    assert_eq!(next(&mut later).await, "b@3");
}

#[tokio::test(start_paused = true)]
async fn a_cut_breaks_and_a_close_closes() {
    let server = ApiServer::new();
    let (mut broken, mut other) = (watch(&server, false).await, watch(&server, false).await);
    server.cut_watches();
    assert_eq!(next(&mut broken).await, format!("{:?}", FailureKind::Cut));
    assert_eq!(next(&mut other).await, format!("{:?}", FailureKind::Cut));
    let mut closed = watch(&server, false).await;
    server.close_watches();
    assert_eq!(next(&mut closed).await, "closed");
}

/// A watch is idle while somebody waits for its news, and not when it has some to tell.
#[tokio::test(start_paused = true)]
async fn idle_watches_have_nothing_to_tell() {
    let (server, configs) = (ApiServer::new(), Resource::config_maps());
    let mut events = watch(&server, false).await;
    assert_eq!(server.idle_watches(&configs), 0);
    let reader = tokio::spawn(async move { next(&mut events).await });
    tokio::task::yield_now().await;
    assert_eq!(server.idle_watches(&configs), 1);
    put(&server, "a");
    assert_eq!(reader.await.unwrap(), "a@2");
    assert_eq!(server.idle_watches(&configs), 0);
}

/// RL-25: what changes while initial events are sent comes before their end.
#[tokio::test(start_paused = true)]
async fn the_end_of_the_initial_events_can_be_late() {
    let server = ApiServer::new();
    put(&server, "a");
    server.fault(Match::watch(), Fault::LateInitialEventsEnd(1), Times::Once);
    let mut events = watch(&server, true).await;
    assert_eq!(next(&mut events).await, "a@2");
    put(&server, "b");
    put(&server, "c");
    for expected in ["b@3", "end@3", "c@4"] {
        assert_eq!(next(&mut events).await, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn uids_can_be_read_and_pages_be_small() {
    let server = ApiServer::builder().readable_uids().page_limit(1).build();
    let configs = Resource::config_maps();
    put(&server, "a");
    server.delete(&configs, "default", "a").unwrap();
    put(&server, "a");
    put(&server, "b");
    let a = server.get(&configs, "default", "a").unwrap();
    assert_eq!(a.uid(), "default/a-2");
    let with_limit = |limit| {
        let mut options = ListOptions::default();
        options.limit = limit;
        options
    };
    let count = |limit| {
        let listed = server.list(&configs, &with_limit(limit)).unwrap();
        listed.items.len()
    };
    assert_eq!([count(Some(500)), count(None)], [1, 2]);
}

/// FM-11: refused is not broken.
#[tokio::test(start_paused = true)]
async fn nobody_listens() {
    let server = ApiServer::new();
    server.fault(Match::any(), Fault::Unreachable, Times::Once);
    let client = kube_client::Client::new(server.service(), "default");
    let error = client.apiserver_version().await.unwrap_err();
    let mut cause: Option<&dyn std::error::Error> = Some(&error);
    let mut kinds = Vec::new();
    while let Some(error) = cause {
        kinds.extend(
            error
                .downcast_ref::<std::io::Error>()
                .map(std::io::Error::kind),
        );
        cause = error.source();
    }
    assert_eq!(kinds, [std::io::ErrorKind::ConnectionRefused]);
}
