//! The fixture server as a client of Kubernetes sees it.

use std::net::Ipv4Addr;
use std::pin::pin;
use std::sync::Arc;

use futures::{StreamExt, TryStreamExt};
use informer_bench::collection::Collection;
use informer_bench::control::Control;
use informer_bench::pod::{self, FIRST_VERSION, STAMP};
use informer_bench::server::{Shared, serve};
use informer_bench::tally::{Goal, Tally};
use informer_factory::{
    Added, Handler, InformerOptions, ObjectKey, PartialObjectMetadata, ReceivedWire,
    SharedInformerFactory, Updated, WireFormat,
};
use k8s_openapi::api::core::v1::Pod;
use kube_client::api::{ListParams, WatchEvent, WatchParams};
use kube_client::{Api, Client, Config, ResourceExt};
use kube_core::{ApiResource, DynamicObject, GroupVersionKind, ObjectMeta};
use tokio::net::TcpListener;

const PODS: usize = 30;

/// All pods of a server of our own, and its side door.
async fn server() -> (Api<Pod>, Control) {
    let json = Collection::json(1, PODS).expect("pods are well formed");
    let (config, control) = serving(Shared::new(json, None)).await;
    let client = Client::try_from(config).expect("plain HTTP needs nothing");
    (Api::all(client), control)
}

/// The way to a server of these objects, and its side door.
async fn serving(shared: Shared) -> (Config, Control) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
    let listener = listener.expect("a port is free");
    let address = listener.local_addr().expect("it is bound").to_string();
    tokio::spawn(serve(listener, Arc::new(shared)));
    let url = format!("http://{address}").parse().expect("an address");
    (Config::new(url), Control::new(&address))
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

/// Follows the metadata of widgets in one format: lists it, and then watches five changes.
async fn followed(config: &Config, control: &Control, wire: WireFormat) -> Vec<ObjectMeta> {
    let client = informer_factory::client(config.clone()).expect("plain HTTP needs nothing");
    let factory = SharedInformerFactory::new(client);
    let kind = GroupVersionKind::gvk("example.org", "v1", "Widget");
    let widgets = ApiResource::from_gvk_with_plural(&kind, "widgets");
    let options = InformerOptions::new().wire(wire);
    let informer = factory.metadata(&widgets, options).expect("good options");
    let goal = Goal::new(1);
    goal.expect(PODS as u64);
    informer
        .add_handler(Counter(goal.tally()))
        .expect("it runs");
    factory.start().expect("there is a runtime");
    goal.wait().await.expect("all are listed");
    goal.expect(5);
    ask(control, |control| control.change(5).expect("it is served")).await;
    goal.wait().await.expect("all changes are seen");
    let sources = informer.status().sources;
    let wanted = match wire {
        WireFormat::Protobuf => ReceivedWire::Protobuf,
        _ => ReceivedWire::Json,
    };
    assert!(sources.iter().all(|source| source.wire == Some(wanted)));
    let stored = informer.lister().all();
    stored
        .iter()
        .map(|widget| widget.metadata.clone())
        .collect()
}

/// Counts additions and updates alike.
struct Counter(Tally);

impl Handler<ObjectKey, PartialObjectMetadata> for Counter {
    fn on_add(&mut self, _: &Added<ObjectKey, PartialObjectMetadata>) {
        self.0.add(|| None);
    }

    fn on_update(&mut self, _: &Updated<ObjectKey, PartialObjectMetadata>) {
        self.0.add(|| None);
    }
}

#[tokio::test]
async fn metadata_is_the_same_in_json_and_in_protobuf() {
    let json = Collection::metadata_json(1, PODS).expect("metadata is well formed");
    let protobuf = Collection::metadata_protobuf(1, PODS).expect("metadata can be encoded");
    let (config, control) = serving(Shared::new(json, Some(protobuf))).await;
    let in_protobuf = followed(&config, &control, WireFormat::Protobuf).await;
    let in_json = followed(&config, &control, WireFormat::Json).await;
    assert_eq!(in_json.len(), PODS);
    // The second run has seen five more changes.
    let versions = |all: &[ObjectMeta]| -> Vec<u64> {
        let version = |one: &ObjectMeta| one.resource_version.as_ref()?.parse().ok();
        all.iter().filter_map(version).collect()
    };
    assert_eq!(versions(&in_protobuf).into_iter().max(), Some(head() + 5));
    assert_eq!(versions(&in_json).into_iter().max(), Some(head() + 10));
    let same = in_json.iter().filter(|one| in_protobuf.contains(one));
    assert_eq!(same.count(), PODS - 5, "all that have not changed since");
}

#[tokio::test]
async fn whole_widgets_are_not_served() {
    let json = Collection::metadata_json(1, PODS).expect("metadata is well formed");
    let (config, _) = serving(Shared::new(json, None)).await;
    let client = Client::try_from(config).expect("plain HTTP needs nothing");
    let kind = GroupVersionKind::gvk("example.org", "v1", "Widget");
    let widgets = ApiResource::from_gvk_with_plural(&kind, "widgets");
    let api = Api::<DynamicObject>::all_with(client, &widgets);
    let params = ListParams::default();
    let listed = api.list_metadata(&params).await.expect("metadata");
    assert_eq!(listed.items.len(), PODS);
    assert!(api.list(&params).await.is_err());
}
