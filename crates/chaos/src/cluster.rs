//! The server under test: clients for it, faults of it on request, and the resources of the run.

use std::env;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Pod, Secret};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube_client::api::{DeleteParams, ListParams, PostParams};
use kube_client::config::{KubeConfigOptions, Kubeconfig};
use kube_client::{Api, Client, Config, Error};
use kube_core::DynamicObject;
use kube_core::discovery::ApiResource;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

const KUBECONFIG: &str = "INFORMER_E2E_KUBECONFIG";
const CONTROL: &str = "INFORMER_E2E_CONTROL";

/// Where the load writes. The second one is deleted and made again.
pub(crate) const NAMESPACES: [&str; 2] = ["chaos-first", "chaos-second"];

/// Between two looks at something that gives no event.
pub(crate) const LOOK: Duration = Duration::from_millis(50);
/// Whatever takes longer does not come.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The control plane that `cargo xtask chaos` or `cargo xtask control-plane run` has started.
pub(crate) struct Cluster {
    /// Of somebody who may do everything.
    pub(crate) config: Config,
    pub(crate) client: Client,
    control: PathBuf,
}

impl Cluster {
    pub(crate) async fn from_environment() -> Result<Self> {
        let path = |name: &str| -> Result<PathBuf> {
            let value = env::var_os(name);
            Ok(value
                .with_context(|| format!("{name} is not set: run `cargo xtask chaos`"))?
                .into())
        };
        let kubeconfig = Kubeconfig::read_from(path(KUBECONFIG)?)?;
        let options = KubeConfigOptions::default();
        let config = Config::from_custom_kubeconfig(kubeconfig, &options).await?;
        Ok(Self {
            client: informer_factory::client(config.clone())?,
            config,
            control: path(CONTROL)?,
        })
    }

    /// Where the server listens.
    pub(crate) fn address(&self) -> Result<String> {
        let port = self.config.cluster_url.port_u16();
        let port = port.context("the server's address has a port")?;
        Ok(format!("127.0.0.1:{port}"))
    }

    /// Asks the control socket; see `control` of xtask's control plane for what it knows.
    pub(crate) async fn ask(&self, command: &str) -> Result<String> {
        let mut stream = UnixStream::connect(&self.control).await?;
        stream.write_all(format!("{command}\n").as_bytes()).await?;
        let mut answer = String::new();
        BufReader::new(stream).read_line(&mut answer).await?;
        match answer.trim().strip_prefix("ok") {
            Some(text) => Ok(text.trim().to_owned()),
            None => bail!("{command} failed: {answer}"),
        }
    }

    /// Makes the namespaces and the custom resource.
    pub(crate) async fn furnish(&self) -> Result<()> {
        for name in NAMESPACES {
            self.create_namespace(name).await?;
        }
        self.create_definition().await
    }

    pub(crate) async fn create_namespace(&self, name: &str) -> Result<()> {
        let mut namespace = Namespace::default();
        namespace.metadata.name = Some(name.to_owned());
        let all = Api::<Namespace>::all(self.client.clone());
        all.create(&PostParams::default(), &namespace).await?;
        Ok(())
    }

    /// Deletes a namespace with what is in it, which is a controller's work, and waits until it is
    /// gone.
    pub(crate) async fn delete_namespace(&self, name: &str) -> Result<()> {
        let all = Api::<Namespace>::all(self.client.clone());
        all.delete(name, &DeleteParams::default()).await?;
        let (at_once, every) = (
            DeleteParams::default().grace_period(0),
            ListParams::default(),
        );
        let resources = ["roles", "rolebindings"].map(|plural| ApiResource {
            group: "rbac.authorization.k8s.io".to_owned(),
            version: "v1".to_owned(),
            api_version: "rbac.authorization.k8s.io/v1".to_owned(),
            kind: String::new(),
            plural: plural.to_owned(),
        });
        for resource in [config_maps(), secrets(), pods(), gadgets()]
            .iter()
            .chain(&resources)
        {
            let api = Api::<DynamicObject>::namespaced_with(self.client.clone(), name, resource);
            api.delete_collection(&at_once, &every).await?;
        }
        let mut namespace = all.get(name).await?;
        namespace.spec = None;
        let params = PostParams::default();
        all.replace_subresource("finalize", name, &params, &namespace)
            .await?;
        until("the namespace is gone", async || {
            Ok(is_absent(all.get(name).await.map(drop)))
        })
        .await
    }

    pub(crate) async fn create_definition(&self) -> Result<()> {
        let all = Api::<CustomResourceDefinition>::all(self.client.clone());
        all.create(&PostParams::default(), &definition()?).await?;
        self.until_served(&gadgets()).await
    }

    /// Deletes the definition, and waits until its objects are gone too.
    pub(crate) async fn delete_definition(&self) -> Result<()> {
        let resource = gadgets();
        let name = format!("{}.{}", resource.plural, resource.group);
        let all = Api::<CustomResourceDefinition>::all(self.client.clone());
        let deleted = all.delete(&name, &DeleteParams::default()).await?;
        drop(deleted);
        until("the definition is gone", async || {
            Ok(is_absent(all.get(&name).await.map(drop)))
        })
        .await
    }

    async fn until_served(&self, resource: &ApiResource) -> Result<()> {
        let api = Api::<DynamicObject>::all_with(self.client.clone(), resource);
        until("the custom resource is served", async || {
            Ok(api.list_metadata(&ListParams::default()).await.is_ok())
        })
        .await
    }
}

/// Waits until `look` says yes.
pub(crate) async fn until(what: &str, look: impl AsyncFn() -> Result<bool>) -> Result<()> {
    let looks = async {
        while !look().await? {
            tokio::time::sleep(LOOK).await;
        }
        Ok(())
    };
    let looked = tokio::time::timeout(PATIENCE, looks).await;
    looked.with_context(|| format!("not within {PATIENCE:?}: {what}"))?
}

fn is_absent(answer: Result<(), Error>) -> bool {
    matches!(answer, Err(Error::Api(status)) if status.code == 404)
}

pub(crate) fn config_maps() -> ApiResource {
    ApiResource::erase::<ConfigMap>(&())
}

/// Followed in some namespaces, by nobody who may see them everywhere.
pub(crate) fn secrets() -> ApiResource {
    ApiResource::erase::<Secret>(&())
}

pub(crate) fn pods() -> ApiResource {
    ApiResource::erase::<Pod>(&())
}

pub(crate) fn gadgets() -> ApiResource {
    ApiResource {
        group: "chaos.example.test".to_owned(),
        version: "v1".to_owned(),
        api_version: "chaos.example.test/v1".to_owned(),
        kind: "Gadget".to_owned(),
        plural: "gadgets".to_owned(),
    }
}

/// What an object has beside its metadata. Nobody will run the pods, and they end at once.
pub(crate) fn body(resource: &ApiResource) -> Value {
    match resource.kind.as_str() {
        "Pod" => json!({ "spec": {
            "containers": [{ "name": "main", "image": "example.test/none" }],
            "terminationGracePeriodSeconds": 0,
            "automountServiceAccountToken": false,
        }}),
        "Secret" => json!({ "stringData": { "text": "x".repeat(512) } }),
        "ConfigMap" => json!({ "data": { "text": "x".repeat(512) } }),
        _ => json!({ "spec": { "text": "x".repeat(512) } }),
    }
}

fn definition() -> Result<CustomResourceDefinition> {
    let resource = gadgets();
    let schema = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    let version = json!({
        "name": resource.version,
        "served": true,
        "storage": true,
        "schema": { "openAPIV3Schema": schema },
    });
    let definition = json!({
        "metadata": { "name": format!("{}.{}", resource.plural, resource.group) },
        "spec": {
            "group": resource.group,
            "scope": "Namespaced",
            "names": { "plural": resource.plural, "kind": resource.kind },
            "versions": [version],
        },
    });
    Ok(serde_json::from_value(definition)?)
}
