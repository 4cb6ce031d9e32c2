//! What the server tells about itself: versions, groups and resources.
//!
//! Unaggregated discovery in JSON only; a client that accepts nothing but the aggregated form gets
//! 406 and falls back.

use http::HeaderMap;
use serde_json::{Value, json};

use super::{accept, route::Route};
use crate::{Cluster, Rejection, Resource};

/// The answer to a route that is not about objects; `None` for health, which is text.
pub(super) fn discover(
    route: &Route,
    cluster: &Cluster,
    headers: &HeaderMap,
) -> Result<Option<Value>, Rejection> {
    let found = match route {
        Route::CoreVersions => json!({
            "kind": "APIVersions",
            "versions": ["v1"],
            "serverAddressByClientCIDRs": [],
        }),
        Route::Groups => {
            let groups: Vec<Value> = names_of_groups(cluster)
                .into_iter()
                .map(|name| group(cluster, name))
                .collect();
            json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
        }
        Route::Group(name) if names_of_groups(cluster).contains(&name.as_str()) => {
            let mut group = group(cluster, name);
            group["kind"] = json!("APIGroup");
            group["apiVersion"] = json!("v1");
            group
        }
        Route::Resources { group, version } => resources(cluster, group, version)?,
        Route::Version => version(),
        Route::Health => return Ok(None),
        _ => return Err(Rejection::no_such_path()),
    };
    accept::json(headers)?;
    Ok(Some(found))
}

fn version() -> Value {
    json!({
        "major": "1",
        "minor": "36",
        "gitVersion": concat!("v1.36.0-testkit.", env!("CARGO_PKG_VERSION")),
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "none",
        "compiler": "rustc",
        "platform": "memory",
    })
}

/// The named groups, each once, in the order of registration.
fn names_of_groups(cluster: &Cluster) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for resource in cluster.resources() {
        if !resource.group.is_empty() && !names.contains(&resource.group.as_str()) {
            names.push(&resource.group);
        }
    }
    names
}

fn group(cluster: &Cluster, name: &str) -> Value {
    let mut versions: Vec<&str> = Vec::new();
    for resource in cluster
        .resources()
        .filter(|resource| resource.group == name)
    {
        if !versions.contains(&resource.version.as_str()) {
            versions.push(&resource.version);
        }
    }
    let version =
        |version: &&str| json!({"groupVersion": format!("{name}/{version}"), "version": version});
    let preferred = versions.first().map(version);
    let versions: Vec<Value> = versions.iter().map(version).collect();
    json!({"name": name, "versions": versions, "preferredVersion": preferred})
}

fn resources(cluster: &Cluster, group: &str, version: &str) -> Result<Value, Rejection> {
    let of_group = cluster
        .resources()
        .filter(|resource| resource.group == group && resource.version == version);
    let resources: Vec<Value> = of_group.flat_map(|of| [resource(of), status(of)]).collect();
    if resources.is_empty() && (group, version) != ("", "v1") {
        return Err(Rejection::no_such_path());
    }
    let group_version = if group.is_empty() {
        version.to_owned()
    } else {
        format!("{group}/{version}")
    };
    Ok(json!({
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": group_version,
        "resources": resources,
    }))
}

fn resource(resource: &Resource) -> Value {
    let verbs = [
        "create",
        "delete",
        "deletecollection",
        "get",
        "list",
        "patch",
        "update",
        "watch",
    ];
    json!({
        "name": resource.plural,
        "singularName": resource.singular,
        "shortNames": resource.short_names,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": verbs,
    })
}

fn status(resource: &Resource) -> Value {
    json!({
        "name": format!("{}/status", resource.plural),
        "singularName": "",
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": ["get", "patch", "update"],
    })
}
