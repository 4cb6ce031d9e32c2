//! What the server has: discovery, in one request where the server can, in many where not.

use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{APIResource, APIResourceList};
use kube_client::Client;
use kube_core::discovery::v2::{APIGroupDiscovery, APIResourceDiscovery};

use super::discovery::{Discovery, DiscoveryError, is_refusal};
use super::resource::{Resource, ResourceError};
use crate::escape;

/// How many requests are under way at once where the server cannot answer in one.
const CONCURRENT: usize = 8;

/// Everything the server says it has, in its own order.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    pub(crate) resources: Vec<Resource>,
    /// Groups that did not answer, usually since the extension behind them is down.
    pub(crate) silent: Vec<String>,
}

impl Catalog {
    /// Requests the catalog from the server.
    pub(crate) async fn fetch(
        client: &Client,
        discovery: &Discovery<'_>,
    ) -> Result<Self, DiscoveryError> {
        match Self::aggregated(client, discovery).await {
            Ok(catalog) if !catalog.resources.is_empty() => Ok(catalog),
            // Servers before 1.26 answer in another form, or that they cannot.
            Ok(_) => Self::plain(client, discovery).await,
            Err(error) if is_refusal(&error) => Self::plain(client, discovery).await,
            Err(error) => Err(error),
        }
    }

    /// The resource that is meant.
    pub(crate) fn resolve(&self, name: &str) -> Result<&Resource, ResourceError> {
        super::resource::resolve(self, name)
    }

    async fn aggregated(
        client: &Client,
        discovery: &Discovery<'_>,
    ) -> Result<Self, DiscoveryError> {
        let core = client.list_core_api_versions_aggregated();
        let core = discovery.request("/api", core).await?;
        let groups = client.list_api_groups_aggregated();
        let groups = discovery.request("/apis", groups).await?;
        let mut catalog = Self::default();
        for group in core.items.into_iter().chain(groups.items) {
            catalog.add_group(group);
        }
        Ok(catalog)
    }

    fn add_group(&mut self, group: APIGroupDiscovery) {
        let name = group
            .metadata
            .and_then(|meta| meta.name)
            .unwrap_or_default();
        for (order, version) in group.versions.into_iter().enumerate() {
            if version.resources.is_empty() && version.freshness.as_deref() == Some("Stale") {
                self.silent.push(name.clone());
            }
            let number = version.version.unwrap_or_default();
            let resources = version.resources.into_iter();
            let resources = resources.filter_map(|found| from_v2(&name, &number, order, found));
            self.resources.extend(resources);
        }
    }

    async fn plain(client: &Client, discovery: &Discovery<'_>) -> Result<Self, DiscoveryError> {
        let mut catalog = Self::default();
        let core = client.list_core_api_versions();
        let core = discovery.request("/api", core).await?;
        for (order, version) in core.versions.iter().enumerate() {
            let list = client.list_core_api_resources(version);
            let list = discovery.request(&format!("/api/{version}"), list).await?;
            catalog.add_list("", version, order, list);
        }
        let groups = client.list_api_groups();
        let groups = discovery.request("/apis", groups).await?;
        let mut wanted = Vec::new();
        for group in groups.groups {
            let preferred = group.preferred_version.map(|version| version.version);
            let mut versions: Vec<_> = group.versions.into_iter().map(|v| v.version).collect();
            // Stable, so the others stay in the server's order.
            versions.sort_by_key(|version| Some(version) != preferred.as_ref());
            let versions = versions.into_iter().enumerate();
            wanted.extend(versions.map(|(order, version)| (group.name.clone(), version, order)));
        }
        let answers = stream::iter(wanted).map(|(group, version, order)| async move {
            let name = format!("{group}/{version}");
            let list = client.list_api_group_resources(&name);
            match discovery.request(&format!("/apis/{name}"), list).await {
                Ok(list) => Ok((group, version, order, Some(list))),
                // One extension that is down must not hide all the others.
                Err(error) if is_refusal(&error) => Ok((group, version, order, None)),
                Err(error) => Err(error),
            }
        });
        let answers: Vec<_> = answers.buffered(CONCURRENT).try_collect().await?;
        for (group, version, order, list) in answers {
            match list {
                Some(list) => catalog.add_list(&group, &version, order, list),
                None => catalog.silent.push(group),
            }
        }
        Ok(catalog)
    }

    fn add_list(&mut self, group: &str, version: &str, order: usize, list: APIResourceList) {
        let resources = list.resources.into_iter();
        let resources = resources.filter_map(|found| from_v1(group, version, order, found));
        self.resources.extend(resources);
    }

    /// A remark about groups that did not answer; empty if all did.
    pub(crate) fn silence(&self) -> String {
        if self.silent.is_empty() {
            return String::new();
        }
        let mut names = self.silent.clone();
        names.dedup();
        format!(
            " (these groups did not answer: {})",
            escape::text(&names.join(", "))
        )
    }
}

fn from_v2(
    group: &str,
    version: &str,
    order: usize,
    found: APIResourceDiscovery,
) -> Option<Resource> {
    let kind = found.response_kind?;
    Some(Resource {
        // The kind may belong to another group, as that of a scale does; the path does not.
        group: group.to_owned(),
        version: version.to_owned(),
        order,
        kind: kind.kind?,
        plural: found.resource?,
        singular: found.singular_resource.unwrap_or_default(),
        short_names: found.short_names,
        namespaced: found.scope.as_deref() == Some("Namespaced"),
        verbs: found.verbs,
    })
}

fn from_v1(group: &str, version: &str, order: usize, found: APIResource) -> Option<Resource> {
    let is_part = found.name.contains('/');
    (!is_part).then(|| Resource {
        group: group.to_owned(),
        version: version.to_owned(),
        order,
        kind: found.kind,
        plural: found.name,
        singular: found.singular_name,
        short_names: found.short_names.unwrap_or_default(),
        namespaced: found.namespaced,
        verbs: found.verbs,
    })
}
