//! Informers run as a user of their own, who may do what the factory's role says and nothing else
//! (SEC-15).

use std::fmt::Debug;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use informer_factory::{RbacRole, RbacRoles, RbacRule, SharedInformerFactory};
use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec,
};
use k8s_openapi::api::rbac::v1::{
    ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject,
};
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
        for role in &role.roles {
            for rule in &role.rules {
                wait_for(&client, &role.namespace, rule).await;
            }
        }
    }

    async fn create(&self, admin: &Client, name: &str, roles: &RbacRoles) {
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
        for role in &roles.roles {
            let metadata = ObjectMeta {
                name: Some(role.name.clone()),
                namespace: role.namespace.clone(),
                ..ObjectMeta::default()
            };
            let (rules, subjects) = (Some(policy(role)), subjects.clone());
            if let Some(namespace) = &role.namespace {
                let role = Role {
                    metadata: metadata.clone(),
                    rules,
                };
                create(&Api::namespaced(admin.clone(), namespace), &role).await;
                let binding = RoleBinding {
                    metadata,
                    role_ref: role_ref("Role"),
                    subjects,
                };
                create(&Api::namespaced(admin.clone(), namespace), &binding).await;
            } else {
                let role = ClusterRole {
                    metadata: metadata.clone(),
                    rules,
                    ..ClusterRole::default()
                };
                create(&Api::all(admin.clone()), &role).await;
                let binding = ClusterRoleBinding {
                    metadata,
                    role_ref: role_ref("ClusterRole"),
                    subjects,
                };
                create(&Api::all(admin.clone()), &binding).await;
            }
        }
    }
}

/// The rules of a role, as the API has them.
fn policy(role: &RbacRole) -> Vec<PolicyRule> {
    let rules = role.rules.iter().map(|rule| PolicyRule {
        api_groups: Some(rule.api_groups.clone()),
        resources: Some(rule.resources.clone()),
        verbs: rule.verbs.clone(),
        ..PolicyRule::default()
    });
    rules.collect()
}

async fn create<K>(api: &Api<K>, object: &K)
where
    K: Resource + Clone + Debug + Serialize + DeserializeOwned,
{
    let made = api.create(&PostParams::default(), object).await;
    made.expect("roles and bindings are accepted");
}

/// The authorizer follows roles by an informer of its own.
async fn wait_for(client: &Client, namespace: &Option<String>, rule: &RbacRule) {
    let group = rule.api_groups.first();
    let review = |verb: &String, resource: &String| SelfSubjectAccessReview {
        spec: SelfSubjectAccessReviewSpec {
            resource_attributes: Some(ResourceAttributes {
                group: group.cloned(),
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
    for (verb, resource) in rule.resources.iter().flat_map(|resource| {
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
