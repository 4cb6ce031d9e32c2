//! Scopes of a cache: namespaces, selectors, dynamic kinds, metadata, transforms (FAX-1).

use crate::cluster::{QUEUES, Recorder, SOON, factory, pod, pod_in, pods};
use informer_factory::{
    AddNamespaceError, Grace, InformerError, InformerOptions, Namespaces, Projection,
    RemoveNamespaceError, Transform, labelled,
};
use informer_testkit::{ApiServer, Resource};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube_core::{ApiResource, Selector};
use serde_json::json;

/// FM-14, FM-79: one store over several namespaces; a relist of one leaves the other alone, and a
/// namespace that is no longer followed is told by tombstones.
#[tokio::test(start_paused = true)]
async fn several_namespaces_share_one_store() {
    for queue in QUEUES {
        let server = ApiServer::new();
        for namespace in ["red", "green", "blue"] {
            server
                .create(&pods(), pod_in(namespace, "a", "n1"))
                .expect("created");
        }
        let factory = factory(&server, queue);
        let both = Namespaces::These(vec!["red".into(), "green".into()]);
        let options = InformerOptions::new().namespaces(both);
        let informer = factory
            .informer_with::<Pod>(options)
            .expect("pods are namespaced");
        let recorder = Recorder::default();
        informer.add_handler(recorder.clone()).expect("running");
        factory.start().expect("a runtime");
        factory.wait_synced(SOON).await.expect("synced");
        assert_eq!(recorder.wait(2).await.len(), 2);
        assert_eq!(informer.lister().all().len(), 2);
        assert_eq!(server.open_watches(&pods()), 2);

        informer.add_namespace("blue").expect("a new one");
        let again = informer.add_namespace("blue");
        assert!(matches!(
            again,
            Err(AddNamespaceError::AlreadyWatched { .. })
        ));
        let lines = recorder.wait(1).await;
        assert!(
            lines[0].starts_with("add a@") && !lines[0].ends_with("initial"),
            "{lines:?}"
        );
        assert!(informer.is_synced(), "IN-1: never false again");
        assert_eq!(informer.lister().namespace("blue").all().len(), 1);

        let removed = informer.remove_namespace("red").await;
        removed.expect("it was watched");
        let again = informer.remove_namespace("red").await;
        assert!(matches!(
            again,
            Err(RemoveNamespaceError::NotWatched { .. })
        ));
        let lines = recorder.wait(1).await;
        assert!(lines[0].starts_with("tombstone red/a last a@"), "{lines:?}");
        assert_eq!(informer.lister().all().len(), 2);
        server.wait_for_watches(&pods(), 2).await;
    }
}

/// FM-42: what leaves the selector is deleted, what enters it is added.
#[tokio::test(start_paused = true)]
async fn selectors_bound_the_cache() {
    let server = ApiServer::new();
    server.create(&pods(), pod("a", "n1")).expect("created");
    server.create(&pods(), pod("b", "n2")).expect("created");
    let factory = factory(&server, QUEUES[0]);
    let by_label = InformerOptions::new().labels("app=web");
    let web = factory.informer_with::<Pod>(by_label).expect("new");
    let by_field = InformerOptions::new().fields("spec.nodeName=n2");
    let on_n2 = factory.informer_with::<Pod>(by_field).expect("new");
    let recorder = Recorder::default();
    web.add_handler(recorder.clone()).expect("running");
    factory.start().expect("a runtime");
    factory.wait_synced(SOON).await.expect("synced");
    assert_eq!(web.lister().all().len(), 2);
    assert_eq!(on_n2.lister().all().len(), 1);
    recorder.wait(2).await;
    let label = |value: &str| json!({"metadata": {"labels": {"app": value}}});
    server
        .patch(&pods(), "default", "a", label("db"))
        .expect("patched");
    assert!(recorder.wait(1).await[0].starts_with("delete a@"));
    server
        .patch(&pods(), "default", "a", label("web"))
        .expect("patched");
    assert!(recorder.wait(1).await[0].starts_with("add a@"));
    let selector = Selector::from_iter([("app", "web")]);
    assert_eq!(web.lister().matching(labelled(&selector)).len(), 2);
    assert_eq!(
        web.lister()
            .namespace("default")
            .matching(labelled(&Selector::default()))
            .len(),
        2
    );
}

/// A resource that this program has no type for, whole and as metadata.
#[tokio::test(start_paused = true)]
async fn kinds_known_at_run_time_only() {
    let server = ApiServer::new();
    let widgets = Resource::custom("example.com", "v1", "Widget", "widgets", true);
    server.register(widgets.clone());
    let widget = json!({
        "apiVersion": "example.com/v1", "kind": "Widget",
        "metadata": {"name": "w", "namespace": "default"}, "spec": {"size": 3},
    });
    server.create(&widgets, widget).expect("created");
    let factory = factory(&server, QUEUES[0]);
    let gvk = kube_core::GroupVersionKind::gvk("example.com", "v1", "Widget");
    let resource = ApiResource::from_gvk_with_plural(&gvk, "widgets");
    let whole = factory
        .dynamic(&resource, InformerOptions::new())
        .expect("new");
    let metadata = factory
        .metadata(&resource, InformerOptions::new())
        .expect("new");
    factory.start().expect("a runtime");
    factory.wait_synced(SOON).await.expect("synced");
    let object = whole.lister().get("default/w").expect("stored");
    assert_eq!(object.data["spec"]["size"], 3);
    let types = object.types.as_ref().expect("list and watch look the same");
    assert_eq!(
        (&*types.api_version, &*types.kind),
        ("example.com/v1", "Widget")
    );
    let partial = metadata.lister().get("default/w").expect("stored");
    assert_eq!(partial.metadata.uid, object.metadata.uid);
    assert_eq!(whole.name(), "widgets.example.com");
}

/// FM-57: the transform runs on what is received; a second one is refused.
#[tokio::test(start_paused = true)]
async fn one_transform_per_shared_informer() {
    let server = ApiServer::new();
    server.create(&pods(), pod("a", "n1")).expect("created");
    server.create(&pods(), pod("bad", "n1")).expect("created");
    let factory = factory(&server, QUEUES[0]);
    let strip = Transform::new(|mut pod: Pod| {
        pod.spec = None;
        match pod.metadata.name.as_deref() {
            Some("bad") => Err("not this one".to_owned()),
            _ => Ok(pod),
        }
    });
    let options = InformerOptions::new().transform(strip.clone());
    let informer = factory.informer_with::<Pod>(options.clone()).expect("new");
    factory
        .informer_with::<Pod>(options)
        .expect("the same value is shared");
    let other = InformerOptions::new().transform(Transform::new(Ok));
    let error = factory
        .informer_with::<Pod>(other)
        .expect_err("another transform");
    assert!(
        matches!(error, InformerError::TransformDiffers { .. }),
        "{error}"
    );
    factory.start().expect("a runtime");
    factory.wait_synced(SOON).await.expect("synced");
    assert!(
        informer
            .lister()
            .get("default/a")
            .expect("stored")
            .spec
            .is_none()
    );
    assert!(informer.lister().get("default/bad").is_none());
    assert_eq!(informer.quarantined().len(), 1);
    assert_eq!(informer.quarantined()[0].key.as_str(), "default/bad");
}

/// The projection is part of what is shared: two of them are two caches (FAX-1).
#[tokio::test(start_paused = true)]
async fn projections_are_caches_of_their_own() {
    let server = ApiServer::new();
    let mut object = pod("a", "n1");
    object["metadata"]["managedFields"] = json!([{"manager": "kubectl"}]);
    server.create(&pods(), object).expect("created");
    let factory = factory(&server, QUEUES[0]);
    let lean = InformerOptions::new().projection(Projection::lean());
    let lean = factory.informer_with::<Pod>(lean).expect("new");
    let full = factory.informer::<Pod>();
    factory.start().expect("a runtime");
    factory.wait_synced(SOON).await.expect("synced");
    let managed = |informer: &crate::cluster::Pods| {
        informer
            .lister()
            .get("default/a")
            .expect("stored")
            .metadata
            .managed_fields
            .clone()
    };
    assert!(managed(&lean).is_none());
    assert!(managed(&full).is_some());
}

/// Requests that make no sense are refused by name.
#[tokio::test(start_paused = true)]
async fn senseless_scopes_are_refused() {
    let server = ApiServer::new();
    let factory = factory(&server, QUEUES[0]);
    let builder = informer_factory::SharedInformerFactory::builder(crate::cluster::client(&server));
    let in_one = builder.namespaces(Namespaces::one("default")).build();
    let in_one = in_one.expect("legal");
    assert_eq!(
        in_one.informer::<Node>().name(),
        "nodes",
        "cluster-scoped: followed as a whole"
    );
    let informer = in_one.informer::<Pod>();
    assert!(informer.name().starts_with("pods#") && informer.name().ends_with(" [in default]"));
    // Options that name no namespaces have those of the factory, and then the same informer.
    let same = in_one.informer_with::<Pod>(InformerOptions::new());
    assert_eq!(same.expect("legal").name(), informer.name());
    let all = InformerOptions::<Pod>::new().namespaces(Namespaces::All);
    assert_eq!(in_one.informer_with(all).expect("legal").name(), "pods");
    let nodes = in_one.informer_with::<Node>(InformerOptions::new());
    assert_eq!(nodes.expect("legal").name(), "nodes");
    let error = factory.informer_with::<Node>(InformerOptions::new().namespace("default"));
    assert!(matches!(error, Err(InformerError::NotNamespaced { .. })));
    for (names, message) in [
        (vec![], "is empty"),
        (vec!["a/b".into()], "\"a/b\" cannot be"),
    ] {
        let client = crate::cluster::client(&server);
        let builder = informer_factory::SharedInformerFactory::builder(client);
        let error = builder.namespaces(Namespaces::These(names)).build();
        let error = error.expect_err("no informer could be made").to_string();
        assert!(error.contains(message), "{error}");
    }
    let none = InformerOptions::new().namespaces(Namespaces::These(Vec::new()));
    let error = factory.informer_with::<Pod>(none);
    assert!(matches!(error, Err(InformerError::NoNamespace)));
}

/// FAX-1: the first request names the informer, which keeps its name, and no other can have it.
#[tokio::test(start_paused = true)]
async fn informers_have_the_names_they_are_given() {
    let server = ApiServer::new();
    let factory = factory(&server, QUEUES[0]);
    let in_web = || InformerOptions::<Pod>::new().namespace("web");
    let named = factory.informer_with(in_web().name("web-pods"));
    let named = named.expect("a new name");
    let status = named.status();
    assert_eq!(
        (named.name(), &*status.name, &*status.label),
        ("web-pods", "web-pods", "web-pods")
    );
    for same in [in_web(), in_web().name("web-pods")] {
        let same = factory.informer_with(same).expect("it is shared");
        assert_eq!(same.name(), "web-pods");
    }
    let renamed = factory.informer_with(in_web().name("pods-of-web"));
    assert!(
        matches!(renamed, Err(InformerError::NameDiffers { .. })),
        "{renamed:?}"
    );
    for name in ["web-pods", "nodes"] {
        factory.informer::<Node>();
        let taken = factory.informer_with(InformerOptions::<Pod>::new().name(name));
        assert!(
            matches!(taken, Err(InformerError::NameTaken { .. })),
            "{taken:?}"
        );
    }
    let released = factory.release(&named, Grace::none()).await;
    assert!(released.expect("not in a callback").is_some());
    let next = factory.informer_with(InformerOptions::<Pod>::new().name("web-pods"));
    assert_eq!(next.expect("the name is free").name(), "web-pods");
}

/// A namespace is added to and removed from informers of several namespaces, while they run.
#[tokio::test(start_paused = true)]
async fn refused_changes_of_namespaces_name_the_reason() {
    let server = ApiServer::new();
    let factory = factory(&server, QUEUES[0]);
    let all = factory.informer::<Pod>();
    let early = all.add_namespace("web").expect_err("not started");
    assert_eq!(early.to_string(), "pods is not running: it is Created");
    factory.start().expect("a runtime");
    let added = all.add_namespace("web").expect_err("it watches all");
    assert!(
        matches!(added, AddNamespaceError::WatchesAll { .. }),
        "{added}"
    );
    let removed = all.remove_namespace("web").await.expect_err("as before");
    assert_eq!(
        removed.to_string(),
        "pods has no watch for namespace \"web\""
    );
    let ended = factory.shutdown(Grace::default()).await;
    ended.expect("not in a callback");
    let late = all.remove_namespace("web").await.expect_err("it has ended");
    assert_eq!(late.to_string(), "pods is not running: it is Stopped");
}

/// An informer whose last unsynced namespace is let go is synced, and so are its handlers.
#[tokio::test(start_paused = true)]
async fn letting_go_of_what_cannot_be_read_completes_the_sync() {
    let server = ApiServer::new();
    server
        .create(&pods(), pod_in("open", "a", "n1"))
        .expect("created");
    let forbidden = informer_testkit::Fault::status(403, "Forbidden", "no");
    let closed = informer_testkit::Match::any().namespace("closed");
    server.fault(closed, forbidden, informer_testkit::Times::Always);
    let factory = factory(&server, QUEUES[0]);
    let both = Namespaces::These(vec!["open".into(), "closed".into()]);
    let options = InformerOptions::new().namespaces(both);
    let informer = factory
        .informer_with::<Pod>(options)
        .expect("pods are namespaced");
    let recorder = Recorder::default();
    let registration = informer.add_handler(recorder.clone()).expect("running");
    factory.start().expect("a runtime");
    let error = factory.wait_synced(std::time::Duration::from_secs(5)).await;
    let culprits = error.expect_err("one is closed").culprits;
    assert_eq!(culprits.len(), 1);
    assert!(culprits[0].source.contains("closed"), "{culprits:?}");
    assert_eq!(recorder.wait(1).await.len(), 1);
    assert!(!registration.is_synced());

    let removed = informer.remove_namespace("closed").await;
    removed.expect("it was watched");
    assert!(informer.is_synced());
    registration.wait_synced(SOON).await.expect("synced");
    let nameless = informer.add_namespace("");
    assert!(matches!(
        nameless,
        Err(AddNamespaceError::InvalidName { .. })
    ));
    informer.add_namespace("closed").expect("it can come back");
    let bad = InformerOptions::new().namespace("");
    let error = factory.informer_with::<Pod>(bad).expect_err("no name");
    assert!(
        matches!(error, InformerError::InvalidNamespace { .. }),
        "{error}"
    );
}
