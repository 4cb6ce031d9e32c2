//! The resources of the server's discovery.

use kube_client::Client;
use kube_core::discovery::ApiResource;

/// The end of the groups of custom resources in these tests.
const CUSTOM: &str = ".example.test";

/// A built-in resource that can be listed and watched.
pub(super) struct Served {
    pub(super) api_version: String,
    pub(super) kind: String,
    pub(super) plural: String,
    pub(super) namespaced: bool,
}

impl Served {
    /// Returns every one.
    pub(super) async fn all(client: &Client) -> Vec<Self> {
        let groups = client.list_api_groups().await.expect("the groups");
        let versions = groups
            .groups
            .iter()
            .filter(|group| !group.name.ends_with(CUSTOM));
        let versions = versions.flat_map(|group| &group.versions);
        let core = client.list_core_api_resources("v1").await;
        let mut lists = vec![core.expect("the resources of v1")];
        for version in versions {
            let name = &version.group_version;
            let list = client.list_api_group_resources(name).await;
            lists.push(list.unwrap_or_else(|error| panic!("resources of {name}: {error}")));
        }
        let mut all = Vec::new();
        for list in lists {
            for resource in list.resources {
                let has = |verb: &str| resource.verbs.iter().any(|it| it == verb);
                if !resource.name.contains('/') && has("list") && has("watch") {
                    all.push(Self {
                        api_version: list.group_version.clone(),
                        kind: resource.kind,
                        plural: resource.name,
                        namespaced: resource.namespaced,
                    });
                }
            }
        }
        all
    }

    /// The path of all objects.
    pub(super) fn path(&self) -> String {
        let root = match self.api_version.contains('/') {
            true => "/apis",
            false => "/api",
        };
        format!("{root}/{}/{}", self.api_version, self.plural)
    }

    pub(super) fn resource(&self) -> ApiResource {
        let (group, version) = self
            .api_version
            .split_once('/')
            .unwrap_or(("", &self.api_version));
        ApiResource {
            group: group.to_owned(),
            version: version.to_owned(),
            api_version: self.api_version.clone(),
            kind: self.kind.clone(),
            plural: self.plural.clone(),
        }
    }
}
