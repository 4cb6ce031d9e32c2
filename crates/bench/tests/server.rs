//! The fixture server as a client of Kubernetes sees it.

use std::net::Ipv4Addr;
use std::pin::pin;
use std::sync::Arc;

use futures::{StreamExt, TryStreamExt};
use informer_bench::collection::Collection;
use informer_bench::control::Control;
use informer_bench::pod::{self, FIRST_VERSION, STAMP};
use informer_bench::server::{Shared, serve};
use k8s_openapi::api::core::v1::Pod;
use kube_client::api::{ListParams, WatchEvent, WatchParams};
use kube_client::{Api, Client, Config, ResourceExt};
use tokio::net::TcpListener;

const PODS: usize = 30;

/// All pods of a server of our own, and its side door.
async fn server() -> (Api<Pod>, Control) {
    let json = Collection::json(1, PODS).expect("pods are well formed");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
    let listener = listener.expect("a port is free");
    let address = listener.local_addr().expect("it is bound").to_string();
    tokio::spawn(serve(listener, Arc::new(Shared::new(json, None))));
    let url = format!("http://{address}").parse().expect("an address");
    let client = Client::try_from(Config::new(url)).expect("plain HTTP needs nothing");
    (Api::all(client), Control::new(&address))
}

fn head() -> u64 {
    FIRST_VERSION + PODS as u64 - 1
}

/// The side door blocks, as drivers want it.
async fn ask(control: &Control, ask: impl FnOnce(&Control) + Send + 'static) {
    let control = control.clone();
    let asked = tokio::task::spawn_blocking(move || ask(&control)).await;
    asked.expect("the server answers");
}

#[tokio::test]
async fn a_list_is_whole_or_in_pages_with_the_same_pods() {
    let (pods, _) = server().await;
    let whole = pods.list(&ListParams::default()).await.expect("a list");
    assert_eq!(whole.items.len(), PODS);
    assert_eq!(whole.metadata.resource_version, Some(head().to_string()));
    let mut params = ListParams::default().limit(7);
    let mut paged = Vec::new();
    loop {
        let page = pods.list(&params).await.expect("a page");
        paged.extend(page.items);
        params.continue_token = page.metadata.continue_;
        if params.continue_token.is_none() {
            break;
        }
    }
    assert_eq!(paged, whole.items);
    let names: Vec<_> = paged.iter().map(ResourceExt::name_any).collect();
    assert_eq!(names, (0..PODS).map(pod::name).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_page_of_a_list_that_has_changed_is_refused() {
    let (pods, control) = server().await;
    let mut params = ListParams::default().limit(7);
    let page = pods.list(&params).await.expect("a page");
    ask(&control, |control| control.change(1).expect("it is served")).await;
    params.continue_token = page.metadata.continue_;
    let error = pods
        .list(&params)
        .await
        .expect_err("the pages have changed");
    assert!(error.to_string().contains("Expired"), "{error}");
}

#[tokio::test]
async fn a_watch_has_every_change_and_lists_agree_with_it() {
    let (pods, control) = server().await;
    let params = WatchParams::default();
    let events = pods.watch(&params, &head().to_string()).await;
    let events = events.expect("a watch").take(PODS + 5);
    ask(&control, |control| {
        control.change(PODS as u64 + 5).expect("it is served");
    })
    .await;
    let events: Vec<_> = events.try_collect().await.expect("no event is broken");
    let mut newest = std::collections::BTreeMap::new();
    for (at, event) in events.into_iter().enumerate() {
        let WatchEvent::Modified(pod) = event else {
            panic!("{event:?} at {at}");
        };
        let version = head() + 1 + at as u64;
        assert_eq!(pod.resource_version(), Some(version.to_string()));
        assert_ne!(pod.annotations()[STAMP], version.to_string(), "a time");
        newest.insert(pod.name_any(), pod);
    }
    let list = pods.list(&ListParams::default()).await.expect("a list");
    assert!(list.items.iter().all(|pod| newest[&pod.name_any()] == *pod));
}

#[tokio::test]
async fn a_streaming_list_ends_with_its_bookmark_and_goes_on_as_a_watch() {
    let (pods, control) = server().await;
    let params = WatchParams::default().initial_events();
    let mut events = pin!(pods.watch(&params, "0").await.expect("a watch"));
    for _ in 0..PODS {
        let event = events.next().await.expect("an event").expect("is whole");
        assert!(matches!(event, WatchEvent::Added(_)), "{event:?}");
    }
    let event = events.next().await.expect("an event").expect("is whole");
    let WatchEvent::Bookmark(bookmark) = event else {
        panic!("{event:?} instead of the bookmark");
    };
    assert_eq!(bookmark.metadata.resource_version, head().to_string());
    let annotations = bookmark.metadata.annotations;
    assert_eq!(annotations["k8s.io/initial-events-end"], "true");
    ask(&control, |control| {
        control.change_at(1, 1_000).expect("it is served");
    })
    .await;
    let event = events.next().await.expect("an event").expect("is whole");
    assert!(matches!(event, WatchEvent::Modified(_)), "{event:?}");
}

#[tokio::test]
async fn after_an_expiry_watches_end_and_the_list_has_what_they_missed() {
    let (pods, control) = server().await;
    let params = WatchParams::default();
    let version = head().to_string();
    let mut events = pin!(pods.watch(&params, &version).await.expect("a watch"));
    ask(&control, |control| control.expire(3).expect("it is served")).await;
    let event = events.next().await.expect("an event").expect("is whole");
    let WatchEvent::Error(status) = event else {
        panic!("{event:?} instead of 410");
    };
    assert_eq!(status.code, 410);
    let list = pods.list(&ListParams::default()).await.expect("a list");
    let is_new = |pod: &&Pod| pod.resource_version() > Some(version.clone());
    assert_eq!(list.items.iter().filter(is_new).count(), 3);
}
