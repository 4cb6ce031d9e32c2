//! What kinds of objects the server knows: group, version, names and scope.
//!
//! A [`Resource`] is data. Seven are registered from the start; any other is registered with
//! [`crate::Builder::resource`] or [`crate::ApiServer::register`], as a CRD would do it.

/// One kind of object, as discovery describes it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Resource {
    /// The API group; empty for the core group.
    pub group: String,
    /// The version within the group, such as `v1`.
    pub version: String,
    /// The kind, such as `Pod`.
    pub kind: String,
    /// The name in paths, such as `pods`.
    pub plural: String,
    /// The singular name, such as `pod`.
    pub singular: String,
    /// Short names, such as `po`.
    pub short_names: Vec<String>,
    /// Whether objects live in a namespace.
    pub namespaced: bool,
    /// True for the server's own types: as in kube-apiserver, the items of their lists carry
    /// neither `kind` nor `apiVersion`, while custom resources carry both.
    pub built_in: bool,
}

impl Resource {
    /// A custom resource; the singular name is the kind in lower case, without short names.
    pub fn custom(group: &str, version: &str, kind: &str, plural: &str, namespaced: bool) -> Self {
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: kind.to_owned(),
            plural: plural.to_owned(),
            singular: kind.to_lowercase(),
            short_names: Vec::new(),
            namespaced,
            built_in: false,
        }
    }

    fn own(group: &str, kind: &str, plural: &str, short: Option<&str>, namespaced: bool) -> Self {
        Self {
            short_names: short.map(str::to_owned).into_iter().collect(),
            built_in: true,
            ..Self::custom(group, "v1", kind, plural, namespaced)
        }
    }

    /// `v1/pods`
    pub fn pods() -> Self {
        Self::own("", "Pod", "pods", Some("po"), true)
    }

    /// `v1/nodes`, without a namespace.
    pub fn nodes() -> Self {
        Self::own("", "Node", "nodes", Some("no"), false)
    }

    /// `v1/configmaps`
    pub fn config_maps() -> Self {
        Self::own("", "ConfigMap", "configmaps", Some("cm"), true)
    }

    /// `v1/secrets`
    pub fn secrets() -> Self {
        Self::own("", "Secret", "secrets", None, true)
    }

    /// `v1/services`
    pub fn services() -> Self {
        Self::own("", "Service", "services", Some("svc"), true)
    }

    /// `apps/v1/deployments`
    pub fn deployments() -> Self {
        Self::own("apps", "Deployment", "deployments", Some("deploy"), true)
    }

    /// `coordination.k8s.io/v1/leases`
    pub fn leases() -> Self {
        Self::own("coordination.k8s.io", "Lease", "leases", None, true)
    }

    /// Those registered from the start.
    pub fn defaults() -> Vec<Self> {
        vec![
            Self::pods(),
            Self::nodes(),
            Self::config_maps(),
            Self::secrets(),
            Self::services(),
            Self::deployments(),
            Self::leases(),
        ]
    }

    /// `group/version`, or the version alone in the core group.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// `plural.group`, or the plural alone in the core group: as messages name it.
    pub fn qualified(&self) -> String {
        if self.group.is_empty() {
            self.plural.clone()
        } else {
            format!("{}.{}", self.plural, self.group)
        }
    }

    /// The path of the collection, such as `/api/v1/namespaces/x/pods`.
    pub fn path(&self, namespace: Option<&str>) -> String {
        let root = if self.group.is_empty() {
            format!("/api/{}", self.version)
        } else {
            format!("/apis/{}/{}", self.group, self.version)
        };
        match namespace {
            Some(namespace) => format!("{root}/namespaces/{namespace}/{}", self.plural),
            None => format!("{root}/{}", self.plural),
        }
    }

    /// Whether two descriptions mean the same collection.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.group == other.group && self.plural == other.plural
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_names_are_those_of_kubernetes() {
        assert_eq!(
            Resource::pods().path(Some("x")),
            "/api/v1/namespaces/x/pods"
        );
        assert_eq!(Resource::nodes().path(None), "/api/v1/nodes");
        let leases = Resource::leases();
        assert_eq!(leases.path(None), "/apis/coordination.k8s.io/v1/leases");
        assert_eq!(leases.qualified(), "leases.coordination.k8s.io");
        assert_eq!(leases.api_version(), "coordination.k8s.io/v1");
    }
}
