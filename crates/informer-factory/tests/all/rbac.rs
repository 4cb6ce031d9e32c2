//! The role a factory asks for is what its requests need (SEC-14, SEC-15).

use std::collections::BTreeSet;

use crate::cluster::{QUEUES, SOON, factory};
use informer_factory::{Grace, InformerOptions, Namespaces, RbacRoles};
use informer_testkit::{ApiServer, Verb};
use k8s_openapi::api::core::v1::{Node, Pod};

/// Namespace (empty: everywhere) and resource of everything granted.
fn granted(roles: &RbacRoles) -> BTreeSet<(String, String)> {
    let mut granted = BTreeSet::new();
    for role in &roles.roles {
        for rule in &role.rules {
            assert_eq!(rule.verbs, ["list", "watch"]);
            for resource in &rule.resources {
                let namespace = role.namespace.clone().unwrap_or_default();
                granted.insert((namespace, resource.clone()));
            }
        }
    }
    granted
}

/// Namespace (empty: everywhere) and resource of everything that was asked for.
fn requested(server: &ApiServer) -> BTreeSet<(String, String)> {
    let requests = server.requests().into_iter().map(|request| request.line);
    let asked = requests.map(|line| {
        assert!(matches!(line.verb, Verb::List | Verb::Watch), "{line:?}");
        let resource = line.resource.expect("lists and watches are of resources");
        (line.namespace.unwrap_or_default(), resource.plural)
    });
    asked.collect()
}

fn pairs(pairs: &[(&str, &str)]) -> BTreeSet<(String, String)> {
    let owned =
        |(namespace, resource): &(&str, &str)| (namespace.to_string(), resource.to_string());
    pairs.iter().map(owned).collect()
}

#[tokio::test(start_paused = true)]
async fn the_role_follows_the_namespaces_of_an_informer() {
    let server = ApiServer::new();
    let factory = factory(&server, QUEUES[0]);
    assert_eq!(
        factory.rbac_role("x"),
        RbacRoles::default(),
        "nothing was asked for"
    );
    let namespaces = Namespaces::These(vec!["a".into(), "b".into()]);
    let options = InformerOptions::<Pod>::new().namespaces(namespaces);
    let informer = factory.informer_with(options).expect("two names");
    let role = factory.rbac_role("x");
    assert_eq!(granted(&role), pairs(&[("a", "pods"), ("b", "pods")]));
    let everywhere = role.roles.iter().find(|role| role.namespace.is_none());
    assert_eq!(everywhere, None, "a role in a namespace is enough");

    factory.start().expect("a runtime");
    factory.wait_synced(SOON).await.expect("synced");
    informer.add_namespace("c").expect("a new one");
    let removed = informer.remove_namespace("a").await;
    removed.expect("it was watched");
    assert_eq!(
        granted(&factory.rbac_role("x")),
        pairs(&[("b", "pods"), ("c", "pods")])
    );

    factory.informer::<Node>();
    factory.start().expect("the new one");
    factory.wait_synced(SOON).await.expect("synced");
    let role = factory.rbac_role("x");
    assert_eq!(
        granted(&role),
        pairs(&[("", "nodes"), ("b", "pods"), ("c", "pods")])
    );
    let ever = pairs(&[("", "nodes"), ("a", "pods"), ("b", "pods"), ("c", "pods")]);
    assert_eq!(
        requested(&server),
        ever,
        "nothing else was asked of the server"
    );
    factory
        .shutdown(Grace::default())
        .await
        .expect("not in a callback");
}
