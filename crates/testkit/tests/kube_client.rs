//! The server as users of kube-rs see it: through `kube_client::Client`, with and without sockets.
#![allow(
    clippy::unwrap_used,
    reason = "a helper of tests that cannot go on has failed"
)]

use std::{pin::pin, time::Duration};

use futures::{StreamExt, TryStreamExt};
use informer_testkit::{ApiServer, Fault, Match, Resource, Times};
use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod};
use kube_client::{
    Api, Client, Config, Error,
    api::{
        ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams,
        Preconditions, WatchEvent, WatchParams,
    },
};
use kube_core::{GroupVersionKind, PartialObjectMeta};
use serde_json::json;

fn pod(name: &str) -> Pod {
    serde_json::from_value(json!({
        "metadata": {"name": name, "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": "i"}], "nodeName": "n1"},
    }))
    .unwrap()
}

fn code(error: Error) -> u16 {
    match error {
        Error::Api(status) => status.code,
        other => panic!("not a status: {other}"),
    }
}

/// To delete an object only if it is still the one that is meant.
fn only_with_uid(uid: &str) -> DeleteParams {
    let preconditions = Preconditions {
        uid: Some(uid.to_owned()),
        resource_version: None,
    };
    DeleteParams {
        preconditions: Some(preconditions),
        ..DeleteParams::default()
    }
}

/// Everything a controller does, in one life of an object.
async fn life_of_a_pod(client: Client) {
    let pods: Api<Pod> = Api::namespaced(client, "default");
    let created = pods
        .create(&PostParams::default(), &pod("a"))
        .await
        .unwrap();
    assert!(created.metadata.uid.is_some());
    assert_eq!(created.metadata.generation, Some(1));
    let again = pods
        .create(&PostParams::default(), &pod("a"))
        .await
        .unwrap_err();
    assert_eq!(code(again), 409);

    let list = pods
        .list(&ListParams::default().labels("app=web"))
        .await
        .unwrap();
    assert_eq!(list.items.len(), 1);
    let version = list.metadata.resource_version.unwrap();
    let watch = pods.watch(&WatchParams::default(), &version).await.unwrap();
    let mut watch = pin!(watch);

    let patch = Patch::Merge(json!({"metadata": {"labels": {"tier": "front"}}}));
    let patched = pods
        .patch("a", &PatchParams::default(), &patch)
        .await
        .unwrap();
    assert_eq!(patched.metadata.labels.as_ref().unwrap().len(), 2);
    let stale = pods
        .replace("a", &PostParams::default(), &created)
        .await
        .unwrap_err();
    assert_eq!(code(stale), 409);
    let mut newer = patched.clone();
    newer.spec.as_mut().unwrap().node_name = Some("n2".into());
    let replaced = pods
        .replace("a", &PostParams::default(), &newer)
        .await
        .unwrap();
    assert_eq!(replaced.metadata.generation, Some(2));
    let status = Patch::Merge(json!({"status": {"phase": "Running"}, "spec": {"nodeName": "x"}}));
    let with_status = pods
        .patch_status("a", &PatchParams::default(), &status)
        .await
        .unwrap();
    assert_eq!(with_status.spec.unwrap().node_name.as_deref(), Some("n2"));

    let refused = pods.delete("a", &only_with_uid("other")).await.unwrap_err();
    assert_eq!(code(refused), 409);
    pods.delete("a", &DeleteParams::default()).await.unwrap();
    assert_eq!(code(pods.get("a").await.unwrap_err()), 404);

    let mut seen = Vec::new();
    while seen.len() < 4 {
        match watch.try_next().await.unwrap().expect("the watch is open") {
            WatchEvent::Modified(pod) => seen.push(("modified", pod.metadata.resource_version)),
            WatchEvent::Deleted(pod) => seen.push(("deleted", pod.metadata.resource_version)),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(seen[0], ("modified", patched.metadata.resource_version));
    assert_eq!(seen[1], ("modified", replaced.metadata.resource_version));
    assert_eq!(seen[3].0, "deleted");
}

#[tokio::test]
async fn a_life_of_a_pod_without_sockets() {
    life_of_a_pod(Client::new(ApiServer::new().service(), "default")).await;
}

#[tokio::test]
async fn a_life_of_a_pod_over_http() {
    let server = ApiServer::new();
    let handle = server.serve().await.unwrap();
    let config = Config::new(handle.url.parse().unwrap());
    life_of_a_pod(Client::try_from(config).unwrap()).await;
    handle.shutdown().await;
}

/// Pages come from one state, and a token that has expired says so with 410 (FM-06).
#[tokio::test]
async fn pages_are_consistent_and_expire() {
    let server = ApiServer::new();
    for name in ["a", "b", "c", "d", "e"] {
        server
            .create(&Resource::nodes(), json!({"metadata": {"name": name}}))
            .unwrap();
    }
    let nodes: Api<Node> = Api::all(Client::new(server.service(), "default"));
    let page = ListParams::default().limit(2);
    let first = nodes.list(&page).await.unwrap();
    assert_eq!(first.metadata.remaining_item_count, Some(3));
    let token = first.metadata.continue_.clone().unwrap();
    server.delete(&Resource::nodes(), "", "c").unwrap();
    server
        .patch(&Resource::nodes(), "", "d", json!({"spec": {"x": 1}}))
        .unwrap();
    let second = nodes
        .list(&page.clone().continue_token(&token))
        .await
        .unwrap();
    let names: Vec<_> = second
        .items
        .iter()
        .filter_map(|node| node.metadata.name.clone())
        .collect();
    assert_eq!(names, ["c", "d"]);
    assert_eq!(
        second.metadata.resource_version,
        first.metadata.resource_version
    );
    server.compact();
    let token = second.metadata.continue_.unwrap();
    let expired = nodes
        .list(&page.clone().continue_token(&token))
        .await
        .unwrap_err();
    assert_eq!(code(expired), 410);
}

#[tokio::test]
async fn discovery_finds_built_in_and_custom_resources() {
    let widgets = Resource::custom("example.com", "v1alpha1", "Widget", "widgets", true);
    let server = ApiServer::builder().resource(widgets.clone()).build();
    let client = Client::new(server.service(), "default");
    assert_eq!(client.apiserver_version().await.unwrap().major, "1");
    let core = client.list_core_api_resources("v1").await.unwrap();
    let pods = core
        .resources
        .iter()
        .find(|resource| resource.name == "pods")
        .unwrap();
    assert_eq!(pods.short_names.as_deref(), Some(&["po".to_owned()][..]));
    let groups = client.list_api_groups().await.unwrap();
    let names: Vec<_> = groups
        .groups
        .iter()
        .map(|group| group.name.as_str())
        .collect();
    assert_eq!(names, ["apps", "coordination.k8s.io", "example.com"]);

    let gvk = GroupVersionKind::gvk("example.com", "v1alpha1", "Widget");
    let (found, _) = kube_client::discovery::pinned_kind(&client, &gvk)
        .await
        .unwrap();
    assert_eq!(found.plural, "widgets");
    let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), "default", &found);
    let widget = DynamicObject::new("w", &found).data(json!({"spec": {"size": 1}}));
    api.create(&PostParams::default(), &widget).await.unwrap();
    let list = api.list(&ListParams::default()).await.unwrap();
    assert_eq!(list.items[0].types.as_ref().unwrap().kind, "Widget");
    let unknown = ApiResource::from_gvk(&GroupVersionKind::gvk("no.such", "v1", "Thing"));
    let unknown: Api<DynamicObject> = Api::all_with(client.clone(), &unknown);
    assert_eq!(
        code(unknown.list(&ListParams::default()).await.unwrap_err()),
        404
    );

    let all = kube_client::Discovery::new(client).run().await.unwrap();
    assert!(all.has_group("example.com"));
}

#[tokio::test]
async fn metadata_only_lists_and_watches_carry_no_spec() {
    let server = ApiServer::new();
    server.create(&Resource::pods(), pod("a")).unwrap();
    let pods: Api<Pod> = Api::all(Client::new(server.service(), "default"));
    let list = pods.list_metadata(&ListParams::default()).await.unwrap();
    assert_eq!(list.items[0].metadata.name.as_deref(), Some("a"));
    let watch = pods
        .watch_metadata(&WatchParams::default(), "0")
        .await
        .unwrap();
    let mut watch = pin!(watch);
    let event = watch.next().await.unwrap().unwrap();
    let WatchEvent::Added(added) = event else {
        panic!("not added")
    };
    let added: PartialObjectMeta<Pod> = added;
    assert_eq!(added.types.unwrap().kind, "PartialObjectMetadata");
}

/// RL-24, RL-25: the state first, then the bookmark that ends it, then changes.
#[tokio::test]
async fn a_streaming_list_ends_with_its_bookmark() {
    let server = ApiServer::new();
    for name in ["a", "b"] {
        server
            .create(
                &Resource::config_maps(),
                json!({"metadata": {"name": name}}),
            )
            .unwrap();
    }
    let maps: Api<ConfigMap> = Api::all(Client::new(server.service(), "default"));
    let watch = maps
        .watch(&WatchParams::default().initial_events(), "0")
        .await
        .unwrap();
    let mut watch = pin!(watch);
    let mut seen = Vec::new();
    for _ in 0..3 {
        seen.push(match watch.next().await.unwrap().unwrap() {
            WatchEvent::Added(map) => map.metadata.name.unwrap(),
            WatchEvent::Bookmark(bookmark) => {
                let annotations = bookmark.metadata.annotations;
                assert_eq!(annotations["k8s.io/initial-events-end"], "true");
                bookmark.metadata.resource_version
            }
            other => panic!("{other:?}"),
        });
    }
    assert_eq!(seen, ["a", "b", "3"]);
    server
        .delete(&Resource::config_maps(), "default", "a")
        .unwrap();
    let deleted = watch.next().await.unwrap().unwrap();
    assert!(matches!(deleted, WatchEvent::Deleted(_)));
}

#[tokio::test]
async fn a_scripted_status_reaches_the_client_and_the_story_tells_it() {
    let server = ApiServer::new();
    let forbidden = Fault::status(403, "Forbidden", "pods is forbidden");
    server.fault(
        Match::list().resource(&Resource::pods()),
        forbidden,
        Times::Once,
    );
    let pods: Api<Pod> = Api::all(Client::new(server.service(), "default"));
    assert_eq!(
        code(pods.list(&ListParams::default()).await.unwrap_err()),
        403
    );
    pods.list(&ListParams::default()).await.unwrap();
    let story = server.requests();
    assert_eq!(
        story.iter().map(|record| record.code).collect::<Vec<_>>(),
        [Some(403), Some(200)]
    );
    assert!(
        story[0].to_string().contains("pods is forbidden"),
        "{}",
        story[0]
    );
}

/// A server that refuses, crashes and comes back at its address keeps its state; what was open
/// breaks.
#[tokio::test]
async fn a_restart_over_http_breaks_connections_and_keeps_the_state() {
    let server = ApiServer::new();
    let handle = server.serve().await.unwrap();
    let mut config = Config::new(handle.url.parse().unwrap());
    config.default_retry = false;
    let client = Client::try_from(config).unwrap();
    let pods: Api<Pod> = Api::default_namespaced(client);
    server.fault(Match::list(), Fault::Refuse, Times::Once);
    let refused = pods.list(&ListParams::default()).await.unwrap_err();
    assert!(!matches!(refused, Error::Api(_)), "{refused}");
    pods.create(&PostParams::default(), &pod("a"))
        .await
        .unwrap();
    let watch = pods.watch(&WatchParams::default(), "1").await.unwrap();
    let mut watch = pin!(watch);
    assert!(matches!(watch.next().await, Some(Ok(WatchEvent::Added(_)))));

    let addr = handle.addr;
    handle.shutdown().await;
    let end = watch.next().await;
    assert!(matches!(end, None | Some(Err(_))), "{end:?}");
    pods.get("a").await.unwrap_err();
    let handle = server.serve_at(addr).await.unwrap();
    pods.get("a").await.unwrap();
    handle.shutdown().await;
}

/// An object with a finalizer goes when the finalizer does.
#[tokio::test]
async fn finalizers_hold_a_deletion() {
    let server = ApiServer::new();
    let maps: Api<ConfigMap> = Api::default_namespaced(Client::new(server.service(), "default"));
    let metadata = json!({"generateName": "m-", "finalizers": ["example.com/f"]});
    let map: ConfigMap = serde_json::from_value(json!({"metadata": metadata})).unwrap();
    let map = maps.create(&PostParams::default(), &map).await.unwrap();
    let name = map.metadata.name.unwrap();
    assert_eq!(name.len(), "m-".len() + 5);
    let pending = maps.delete(&name, &DeleteParams::default()).await.unwrap();
    assert!(
        pending
            .left()
            .unwrap()
            .metadata
            .deletion_timestamp
            .is_some()
    );
    let patch = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    maps.patch(&name, &PatchParams::default(), &patch)
        .await
        .unwrap();
    assert_eq!(code(maps.get(&name).await.unwrap_err()), 404);
}

/// A write that changes nothing has no version and no event, as in kube-apiserver.
#[tokio::test]
async fn a_write_without_a_change_is_no_change() {
    let server = ApiServer::new();
    let before = server.create(&Resource::pods(), pod("a")).unwrap();
    let patch = json!({"metadata": {"labels": {"app": "web"}}});
    let after = server
        .patch(&Resource::pods(), "default", "a", patch)
        .unwrap();
    assert_eq!(
        (after.version(), server.version()),
        (before.version(), before.version())
    );
    assert_eq!(
        server.replace(&Resource::pods(), after.json()).unwrap(),
        before
    );
}

#[test]
fn handles_can_be_sent_and_shared() {
    fn are_sent<T: Send>() {}
    fn are_shared<T: Send + Sync + Clone>() {}
    are_shared::<ApiServer>();
    are_sent::<informer_testkit::ApiService>();
    are_sent::<informer_testkit::ServerHandle>();
    are_sent::<informer_testkit::Source<Pod>>();
    are_sent::<informer_testkit::Events<Pod>>();
}

/// The sum of now and these durations is beyond what an `Instant` can be.
#[tokio::test]
async fn timeouts_beyond_all_time_never_end() {
    let server = ApiServer::builder()
        .bookmark_interval(Duration::MAX)
        .watch_timeout(Duration::MAX)
        .build();
    let close = Fault::CloseAfter(Duration::MAX);
    server.fault(Match::watch(), close, Times::Always);
    let client = Client::new(server.service(), "default");
    for timeout in ["", "&timeoutSeconds=18446744073709551615"] {
        let path = format!("/api/v1/pods?watch=1&allowWatchBookmarks=true{timeout}");
        let request = http::Request::get(path).body(Vec::new()).unwrap();
        let mut events = client.request_events::<Pod>(request).await.unwrap().boxed();
        server
            .create(
                &Resource::pods(),
                json!({"metadata": {"generateName": "a"}}),
            )
            .unwrap();
        let event = events.try_next().await.unwrap();
        assert!(matches!(event, Some(WatchEvent::Added(_))), "{event:?}");
    }
}
