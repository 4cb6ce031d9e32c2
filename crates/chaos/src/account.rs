//! Who the informers are: a service account with a token in a file, and the role of their
//! factories (SEC-15). Both can be taken away.

use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use anyhow::{Context, Result};
use informer_factory::{RbacRole, RbacRoles};
use k8s_openapi::api::authentication::v1::{BoundObjectReference, TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use k8s_openapi::api::rbac::v1::{
    ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_client::api::{DeleteParams, ListParams, PostParams};
use kube_client::{Api, Client, Config, Error};
use kube_core::{DynamicObject, Resource};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cluster::{Cluster, until};
use crate::collection::Collection;

const NAME: &str = "informers";
const NAMESPACE: &str = "default";
const GROUP: &str = "rbac.authorization.k8s.io";

/// A token, which is good as long as its secret is there.
struct Token {
    text: String,
    secret: String,
}

/// The service account. Its files go when it is dropped.
pub(crate) struct Account {
    admin: Client,
    /// As the informers, without the proxy.
    pub(crate) config: Config,
    file: PathBuf,
    token: Token,
    pub(crate) roles: Vec<RbacRoles>,
}

impl Account {
    pub(crate) async fn open(cluster: &Cluster) -> Result<Self> {
        let admin = cluster.client.clone();
        let mut account = ServiceAccount::default();
        account.metadata.name = Some(NAME.to_owned());
        let accounts = Api::<ServiceAccount>::namespaced(admin.clone(), NAMESPACE);
        accounts.create(&PostParams::default(), &account).await?;
        let folder = std::env::temp_dir().join(format!("informer-chaos-{}", std::process::id()));
        fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let file = folder.join("token");
        let mut config = cluster.config.clone();
        config.auth_info.token = None;
        config.auth_info.token_file = Some(file.display().to_string());
        let account = Self {
            token: issue(&admin).await?,
            admin,
            config,
            file,
            roles: Vec::new(),
        };
        account.hand_out()?;
        Ok(account)
    }

    /// Makes the roles and who has them; what is there already stays.
    pub(crate) async fn grant(&self) -> Result<()> {
        for role in self.roles.iter().flat_map(|roles| &roles.roles) {
            self.grant_one(role).await?;
        }
        Ok(())
    }

    async fn grant_one(&self, role: &RbacRole) -> Result<()> {
        let subjects = Some(vec![Subject {
            kind: "ServiceAccount".to_owned(),
            name: NAME.to_owned(),
            namespace: Some(NAMESPACE.to_owned()),
            ..Subject::default()
        }]);
        let role_ref = |kind: &str| RoleRef {
            api_group: Some(GROUP.to_owned()),
            kind: kind.to_owned(),
            name: role.name.clone(),
        };
        let metadata = ObjectMeta {
            name: Some(role.name.clone()),
            namespace: role.namespace.clone(),
            ..ObjectMeta::default()
        };
        let rules = Some(policy(role));
        let admin = self.admin.clone();
        match &role.namespace {
            None => {
                let granted = ClusterRole {
                    metadata: metadata.clone(),
                    rules,
                    ..ClusterRole::default()
                };
                create(&Api::all(admin.clone()), &granted).await?;
                let binding = ClusterRoleBinding {
                    metadata,
                    role_ref: role_ref("ClusterRole"),
                    subjects,
                };
                create(&Api::all(admin), &binding).await
            }
            Some(namespace) => {
                let granted = Role {
                    metadata: metadata.clone(),
                    rules,
                };
                create(&Api::namespaced(admin.clone(), namespace), &granted).await?;
                let binding = RoleBinding {
                    metadata,
                    role_ref: role_ref("Role"),
                    subjects,
                };
                create(&Api::namespaced(admin, namespace), &binding).await
            }
        }
    }

    /// Takes every role away; returns when the server knows.
    pub(crate) async fn revoke(&self, collections: &[&Collection]) -> Result<()> {
        let params = DeleteParams::default();
        for role in self.roles.iter().flat_map(|roles| &roles.roles) {
            let admin = self.admin.clone();
            match &role.namespace {
                None => {
                    let bindings = Api::<ClusterRoleBinding>::all(admin);
                    bindings.delete(&role.name, &params).await?.map_left(drop);
                }
                Some(namespace) => {
                    let bindings = Api::<RoleBinding>::namespaced(admin, namespace);
                    bindings.delete(&role.name, &params).await?.map_left(drop);
                }
            }
        }
        let client = informer_factory::client(self.config.clone())?;
        for collection in collections {
            until("nothing is permitted", async || {
                let answer = look(&client, collection).await;
                Ok(matches!(answer, Err(Error::Api(status)) if status.code == 403))
            })
            .await?;
        }
        Ok(())
    }

    /// Returns as soon as everything that informers want can be had, but for the proxy.
    pub(crate) async fn until_served(&self, collections: &[&Collection]) -> Result<()> {
        // A client of its own: what an old one remembers must not count.
        let client = informer_factory::client(self.config.clone())?;
        until("informers are served", async || {
            for collection in collections {
                if look(&client, collection).await.is_err() {
                    return Ok(false);
                }
            }
            Ok(true)
        })
        .await
    }

    /// Makes the next token, ends the current one, and returns when the server refuses that.
    /// Nobody has the next one before [`hand_out`](Self::hand_out).
    pub(crate) async fn rotate(&mut self, collection: &Collection) -> Result<()> {
        let next = issue(&self.admin).await?;
        let old = std::mem::replace(&mut self.token, next);
        let secrets = Api::<Secret>::namespaced(self.admin.clone(), NAMESPACE);
        let deleted = secrets
            .delete(&old.secret, &DeleteParams::default())
            .await?;
        deleted.map_left(drop);
        // The server remembers for some seconds that a token was good.
        let client = informer_factory::client(self.config.clone())?;
        until("the old token is refused", async || {
            let answer = look(&client, collection).await;
            Ok(matches!(answer, Err(Error::Api(status)) if status.code == 401))
        })
        .await
    }

    /// Writes the current token into the file.
    pub(crate) fn hand_out(&self) -> Result<()> {
        // A reader must see one of both, whole.
        let next = self.file.with_extension("next");
        let mut options = fs::OpenOptions::new();
        let mut file = options
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&next)?;
        file.write_all(self.token.text.as_bytes())?;
        fs::rename(&next, &self.file)?;
        Ok(())
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        let folder = self.file.parent().unwrap_or(&self.file);
        if let Err(error) = fs::remove_dir_all(folder) {
            eprintln!("{} is left over: {error}", folder.display());
        }
    }
}

async fn look(client: &Client, collection: &Collection) -> Result<(), Error> {
    let api: Api<DynamicObject> = collection.api(client.clone());
    api.list_metadata(&ListParams::default().limit(1))
        .await
        .map(drop)
}

async fn issue(admin: &Client) -> Result<Token> {
    let mut secret = Secret::default();
    secret.metadata.generate_name = Some(format!("{NAME}-token-"));
    let secrets = Api::<Secret>::namespaced(admin.clone(), NAMESPACE);
    let secret = secrets.create(&PostParams::default(), &secret).await?;
    let name = secret.metadata.name.context("the server gave it a name")?;
    let request = TokenRequest {
        spec: Some(TokenRequestSpec {
            bound_object_ref: Some(BoundObjectReference {
                api_version: Some("v1".to_owned()),
                kind: Some("Secret".to_owned()),
                name: Some(name.clone()),
                uid: secret.metadata.uid,
            }),
            expiration_seconds: Some(24 * 3600),
            ..TokenRequestSpec::default()
        }),
        ..TokenRequest::default()
    };
    let accounts = Api::<ServiceAccount>::namespaced(admin.clone(), NAMESPACE);
    let params = PostParams::default();
    let granted = accounts
        .create_token_request(NAME, &params, &request)
        .await?;
    let status = granted.status.context("the server grants a token")?;
    Ok(Token {
        text: status.token.context("a token is what was asked for")?,
        secret: name,
    })
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

async fn create<K>(api: &Api<K>, object: &K) -> Result<()>
where
    K: Resource + Clone + std::fmt::Debug + Serialize + DeserializeOwned,
{
    match api.create(&PostParams::default(), object).await {
        Err(Error::Api(status)) if status.code == 409 => Ok(()),
        made => Ok(made.map(drop)?),
    }
}
