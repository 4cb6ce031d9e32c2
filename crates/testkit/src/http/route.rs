//! What a path is about. Pure.

use crate::{Cluster, Part, ResourceId};

/// What a path leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Route {
    Collection {
        id: ResourceId,
        namespace: Option<String>,
    },
    Object {
        id: ResourceId,
        namespace: Option<String>,
        name: String,
        part: Part,
    },
    /// `/api`
    CoreVersions,
    /// `/apis`
    Groups,
    /// `/apis/g`
    Group(String),
    /// `/api/v1` and `/apis/g/v`
    Resources {
        group: String,
        version: String,
    },
    Version,
    Health,
    Unknown,
}

/// Reads a path; what is percent-encoded in it is not looked at, since names need no encoding.
pub(super) fn route(path: &str, cluster: &Cluster) -> Route {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    match parts.as_slice() {
        ["api"] => Route::CoreVersions,
        ["apis"] => Route::Groups,
        ["apis", group] => Route::Group((*group).to_owned()),
        ["api", version] => resources("", version),
        ["apis", group, version] => resources(group, version),
        ["api", version, rest @ ..] => of_resource(cluster, "", version, rest),
        ["apis", group, version, rest @ ..] => of_resource(cluster, group, version, rest),
        ["version"] => Route::Version,
        ["readyz" | "livez" | "healthz", ..] => Route::Health,
        _ => Route::Unknown,
    }
}

fn resources(group: &str, version: &str) -> Route {
    Route::Resources {
        group: group.to_owned(),
        version: version.to_owned(),
    }
}

fn of_resource(cluster: &Cluster, group: &str, version: &str, rest: &[&str]) -> Route {
    let (namespace, rest) = match rest {
        ["namespaces", namespace, rest @ ..] if !rest.is_empty() => (Some(*namespace), rest),
        rest => (None, rest),
    };
    let [plural, rest @ ..] = rest else {
        return Route::Unknown;
    };
    let known = cluster.resources().position(|resource| {
        resource.group == group && resource.version == version && resource.plural == *plural
    });
    let Some(id) = known.map(ResourceId) else {
        return Route::Unknown;
    };
    let is_namespaced = cluster.collection(id).resource.namespaced;
    if namespace.is_some() && !is_namespaced {
        return Route::Unknown;
    }
    let namespace = namespace.map(str::to_owned);
    let object = |name: &str, part| match is_namespaced == namespace.is_some() {
        true => Route::Object {
            id,
            namespace: namespace.clone(),
            name: name.to_owned(),
            part,
        },
        false => Route::Unknown,
    };
    match rest {
        [] => Route::Collection { id, namespace },
        [name] => object(name, Part::Whole),
        [name, "status"] => object(name, Part::Status),
        _ => Route::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Resource;

    #[test]
    fn paths_lead_where_they_do_in_kubernetes() {
        let mut cluster = Cluster::new(1, 10, 0);
        let pods = cluster.register(Resource::pods());
        let nodes = cluster.register(Resource::nodes());
        let namespace = Some("x".to_owned());
        let at = |path| route(path, &cluster);
        assert_eq!(
            at("/api/v1/pods"),
            Route::Collection {
                id: pods,
                namespace: None
            }
        );
        let of_x = Route::Collection {
            id: pods,
            namespace: namespace.clone(),
        };
        assert_eq!(at("/api/v1/namespaces/x/pods"), of_x);
        let name = "a".to_owned();
        let part = Part::Status;
        let status = Route::Object {
            id: pods,
            namespace,
            name: name.clone(),
            part,
        };
        assert_eq!(at("/api/v1/namespaces/x/pods/a/status"), status);
        let part = Part::Whole;
        let node = Route::Object {
            id: nodes,
            namespace: None,
            name,
            part,
        };
        assert_eq!(at("/api/v1/nodes/a"), node);
        for unknown in [
            "/",
            "/api/v2/pods",
            "/apis/apps/v1/pods",
            "/api/v1/pods/a",
            "/api/v1/namespaces/x/nodes",
            "/api/v1/namespaces/x/pods/a/log",
        ] {
            assert_eq!(at(unknown), Route::Unknown, "{unknown}");
        }
    }
}
