//! The three resources: pods, config maps, and one that the server has never heard of before.

use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube_client::api::PostParams;
use kube_client::{Api, Client};
use kube_core::discovery::ApiResource;
use serde_json::{Value, json};

/// A resource, and what an object of it has beside its metadata.
#[derive(Clone)]
pub(crate) struct Kind {
    pub(crate) resource: ApiResource,
    pub(crate) body: Value,
}

impl Kind {
    pub(crate) fn config_map() -> Self {
        Self {
            resource: ApiResource::erase::<ConfigMap>(&()),
            body: json!({ "data": { "text": "x".repeat(128) } }),
        }
    }

    /// A pod that nobody will run, and that ends at once when it is deleted.
    pub(crate) fn pod() -> Self {
        let spec = json!({
            "containers": [{ "name": "main", "image": "example.test/none" }],
            "terminationGracePeriodSeconds": 0,
            "automountServiceAccountToken": false,
        });
        Self {
            resource: ApiResource::erase::<Pod>(&()),
            body: json!({ "spec": spec }),
        }
    }

    /// A custom resource. A group of its own for every run, since a definition takes its time to
    /// go.
    pub(crate) async fn gadget(client: &Client, run: &str) -> Self {
        let group = format!("{run}.example.test");
        let resource = ApiResource {
            api_version: format!("{group}/v1"),
            group,
            version: "v1".to_owned(),
            kind: "Gadget".to_owned(),
            plural: "gadgets".to_owned(),
        };
        let definitions = Api::<CustomResourceDefinition>::all(client.clone());
        let made = definitions
            .create(&PostParams::default(), &definition(&resource))
            .await;
        made.expect("the definition is accepted");
        Self {
            resource,
            body: json!({ "spec": { "size": 3 } }),
        }
    }
}

fn definition(resource: &ApiResource) -> CustomResourceDefinition {
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
    serde_json::from_value(definition).expect("the definition is one")
}
