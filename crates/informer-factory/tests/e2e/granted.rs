//! Informers run as a user of their own, who may do what the factory's role says and nothing else
//! (SEC-15).

use std::fmt::Debug;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use informer_factory::{RbacRole, SharedInformerFactory};
use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec,
};
use k8s_openapi::api::rbac::v1::{ClusterRoleBinding, PolicyRule, RoleBinding, RoleRef, Subject};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_client::api::PostParams;
use kube_client::{Api, Client, Config};
use kube_core::Resource;
use serde::Serialize;
use serde::de::DeserializeOwned;

const GROUP: &str = "rbac.authorization.k8s.io";

/// How long the server may take to know of a grant, and how often it is asked.
const LIMIT: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(50);

/// A user without any permission at first.
pub(crate) struct User {
    name: String,
    /// As that user.
    pub(crate) config: Config,
    grants: AtomicU32,
}

impl User {
    /// One nobody else is, in the name of whoever `config` is.
    pub(crate) fn new(mut config: Config) -> Self {
        static USERS: AtomicU32 = AtomicU32::new(0);
        let number = USERS.fetch_add(1, Ordering::Relaxed);
        let name = format!("e2e-{}-{number}", std::process::id());
        config.auth_info.impersonate = Some(name.clone());
        Self {
            name,
            config,
            grants: AtomicU32::new(0),
        }
    }

    /// Grants what the factory's informers need, and waits until the server knows.
    pub(crate) async fn grant(&self, admin: &Client, factory: &SharedInformerFactory) {
        let number = self.grants.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{number}", self.name);
        let role = factory.rbac_role(&name);
        println!("{role}");
        self.create(admin, &name, &role).await;
        let client = informer_factory::client(self.config.clone()).expect("as before");
        let everywhere = role.cluster_role.iter();
        let everywhere = everywhere.map(|role| (None, &role.rules));
        let roles = role.roles.iter();
        let some = roles.map(|role| (role.metadata.namespace.clone(), &role.rules));
        for (namespace, rules) in everywhere.chain(some) {
            for rule in rules.iter().flatten() {
                wait_for(&client, &namespace, rule).await;
            }
        }
    }

    async fn create(&self, admin: &Client, name: &str, role: &RbacRole) {
        let subjects = Some(vec![Subject {
            api_group: Some(GROUP.to_owned()),
            kind: "User".to_owned(),
            name: self.name.clone(),
            namespace: None,
        }]);
        let role_ref = |kind: &str| RoleRef {
            api_group: Some(GROUP.to_owned()),
            kind: kind.to_owned(),
            name: name.to_owned(),
        };
        if let Some(role) = &role.cluster_role {
            create(&Api::all(admin.clone()), role).await;
            let binding = ClusterRoleBinding {
                metadata: role.metadata.clone(),
                role_ref: role_ref("ClusterRole"),
                subjects: subjects.clone(),
            };
            create(&Api::all(admin.clone()), &binding).await;
        }
        for role in &role.roles {
            let ObjectMeta { namespace, .. } = &role.metadata;
            let namespace = namespace.as_deref().expect("a role is in a namespace");
            create(&Api::namespaced(admin.clone(), namespace), role).await;
            let binding = RoleBinding {
                metadata: role.metadata.clone(),
                role_ref: role_ref("Role"),
                subjects: subjects.clone(),
            };
            create(&Api::namespaced(admin.clone(), namespace), &binding).await;
        }
    }
}

async fn create<K>(api: &Api<K>, object: &K)
where
    K: Resource + Clone + Debug + Serialize + DeserializeOwned,
{
    let made = api.create(&PostParams::default(), object).await;
    made.expect("roles and bindings are accepted");
}

/// The authorizer follows roles by an informer of its own.
async fn wait_for(client: &Client, namespace: &Option<String>, rule: &PolicyRule) {
    let first = |texts: &Option<Vec<String>>| texts.as_ref().and_then(|all| all.first().cloned());
    let groups = first(&rule.api_groups);
    let review = |verb: &String, resource: &String| SelfSubjectAccessReview {
        spec: SelfSubjectAccessReviewSpec {
            resource_attributes: Some(ResourceAttributes {
                group: groups.clone(),
                namespace: namespace.clone(),
                resource: Some(resource.clone()),
                verb: Some(verb.clone()),
                ..ResourceAttributes::default()
            }),
            ..SelfSubjectAccessReviewSpec::default()
        },
        ..SelfSubjectAccessReview::default()
    };
    let reviews = Api::<SelfSubjectAccessReview>::all(client.clone());
    for (verb, resource) in rule.resources.iter().flatten().flat_map(|resource| {
        let verbs = rule.verbs.iter();
        verbs.map(move |verb| (verb, resource))
    }) {
        let granted = async {
            loop {
                let asked = review(verb, resource);
                let answer = reviews.create(&PostParams::default(), &asked).await;
                let answer = answer.expect("everybody may ask what they may do");
                if answer.status.is_some_and(|status| status.allowed) {
                    break;
                }
                tokio::time::sleep(PAUSE).await;
            }
        };
        let waited = tokio::time::timeout(LIMIT, granted).await;
        waited.unwrap_or_else(|_| panic!("{verb} {resource} in {namespace:?} is not granted"));
    }
}
