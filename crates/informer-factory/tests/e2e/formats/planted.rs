//! Objects of most built-in kinds, with fields that the two formats write differently.

use kube_client::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use kube_client::{Client, Error};
use kube_core::DynamicObject;
use serde_json::{Value, json};

use super::served::Served;

/// Stands for the namespace.
const NAMESPACE: &str = "NAMESPACE";

/// One planted object.
pub(super) struct Planted {
    api: Api<DynamicObject>,
    name: String,
    object: Value,
}

impl Planted {
    /// Reads the objects of the kinds that `wanted` accepts; `served` tells their resources. A
    /// server of an older minor lacks a few.
    pub(super) fn all(
        client: &Client,
        namespace: &str,
        served: &[Served],
        wanted: impl Fn(&str) -> bool,
    ) -> Vec<Self> {
        let text = include_str!("objects.json").replace(NAMESPACE, namespace);
        let objects: Vec<Value> = serde_json::from_str(&text).expect("the objects are JSON");
        let mut all = Vec::new();
        for mut object in objects {
            let field = |name: &str| object[name].as_str().unwrap_or_default().to_owned();
            let (api_version, kind) = (field("apiVersion"), field("kind"));
            let is_it = |it: &&Served| it.api_version == api_version && it.kind == kind;
            let Some(served) = served.iter().find(is_it).filter(|_| wanted(&kind)) else {
                continue;
            };
            let resource = served.resource();
            let api = match served.namespaced {
                true => Api::namespaced_with(client.clone(), namespace, &resource),
                false => Api::all_with(client.clone(), &resource),
            };
            let name = object["metadata"]["name"].as_str().unwrap_or(namespace);
            let name = name.to_owned();
            object["metadata"]["name"] = name.clone().into();
            all.push(Self { api, name, object });
        }
        all
    }

    /// Creates the object with its status.
    pub(super) async fn create(&self) {
        let object = serde_json::from_value(self.object.clone()).expect("an object");
        let made = self.api.create(&PostParams::default(), &object).await;
        match made {
            Ok(_) => {}
            // A definition has the same name in all runs against one server.
            Err(Error::Api(status)) if status.code == 409 => {}
            Err(error) => panic!("cannot create {} {}: {error}", self.kind(), self.name),
        }
        if let Some(status) = self.object.get("status") {
            let (params, patch) = (
                PatchParams::default(),
                Patch::Merge(json!({ "status": status })),
            );
            let patched = self.api.patch_status(&self.name, &params, &patch).await;
            patched.unwrap_or_else(|error| panic!("status of {}: {error}", self.kind()));
        }
    }

    /// Labels the object; its version after that.
    pub(super) async fn touch(&self, value: &str) -> String {
        let patch = Patch::Merge(json!({ "metadata": { "labels": { "touched": value } } }));
        let patched = self
            .api
            .patch(&self.name, &PatchParams::default(), &patch)
            .await;
        let object = patched.unwrap_or_else(|error| panic!("{}: {error}", self.kind()));
        object
            .metadata
            .resource_version
            .expect("an object has a version")
    }

    /// Deletes the object.
    pub(super) async fn delete(&self) {
        let params = DeleteParams::default().grace_period(0);
        let deleted = self.api.delete(&self.name, &params).await;
        deleted
            .unwrap_or_else(|error| panic!("{}: {error}", self.kind()))
            .map_left(drop);
    }

    fn kind(&self) -> &str {
        self.object["kind"].as_str().unwrap_or_default()
    }
}
