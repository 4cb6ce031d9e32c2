//! The permissions that a factory's informers need, and no more.

// SEC-14, SEC-15

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::json;

/// The roles under which informers can list and watch what they follow, as plain data.
///
/// Its `Display` is a YAML manifest, as `kubectl apply -f -` takes it.
///
/// ```
/// use informer_factory::RbacRoles;
///
/// let pods = ("".to_owned(), "pods".to_owned(), Some("web".to_owned()));
/// let manifest = RbacRoles::to_read("reader", [pods]).to_string();
/// assert!(manifest.contains("kind: Role\n"));
/// assert!(manifest.contains(r#"resources: ["pods"]"#));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RbacRoles {
    /// The cluster role, if one is needed, and then one role for each namespace, by name.
    pub roles: Vec<RbacRole>,
}

/// A `ClusterRole`, or the `Role` of one namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RbacRole {
    /// The name of the role.
    pub name: String,
    /// The namespace of a `Role`; `None` for a `ClusterRole`, which grants access in all namespaces
    /// and to cluster-scoped resources.
    pub namespace: Option<String>,
    /// The permissions: one rule for each API group.
    pub rules: Vec<RbacRule>,
}

/// One rule of a role.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RbacRule {
    /// The API groups; the core group is empty.
    pub api_groups: Vec<String>,
    /// The resources, by plural.
    pub resources: Vec<String>,
    /// The verbs.
    pub verbs: Vec<String>,
}

impl RbacRoles {
    /// Roles of this name to list and watch resources, each given as API group, plural and
    /// namespace. The namespace `None` stands for all namespaces, and for cluster-scoped resources.
    pub fn to_read(
        name: &str,
        resources: impl IntoIterator<Item = (String, String, Option<String>)>,
    ) -> Self {
        let by_namespace = |(group, plural, namespace)| (namespace, group, plural);
        let needs: BTreeSet<_> = resources.into_iter().map(by_namespace).collect();
        let mut roles: BTreeMap<_, BTreeMap<_, Vec<_>>> = BTreeMap::new();
        for (namespace, group, plural) in &needs {
            // A permission in all namespaces includes those in single ones.
            if namespace.is_none() || !needs.contains(&(None, group.clone(), plural.clone())) {
                let rules = roles.entry(namespace.clone()).or_default();
                let resources = rules.entry(group.clone()).or_default();
                resources.push(plural.clone());
            }
        }
        let rule = |(group, resources)| RbacRule {
            api_groups: vec![group],
            resources,
            verbs: ["list", "watch"].map(str::to_owned).to_vec(),
        };
        let role = |(namespace, rules): (_, BTreeMap<_, _>)| RbacRole {
            name: name.to_owned(),
            namespace,
            rules: rules.into_iter().map(rule).collect(),
        };
        Self {
            roles: roles.into_iter().map(role).collect(),
        }
    }
}

impl fmt::Display for RbacRoles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let documents: Vec<_> = self.roles.iter().map(ToString::to_string).collect();
        f.write_str(&documents.join("---\n"))
    }
}

/// One YAML document.
impl fmt::Display for RbacRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.namespace {
            Some(_) => "Role",
            None => "ClusterRole",
        };
        writeln!(f, "apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}")?;
        // A JSON value is a YAML value, whatever its strings hold.
        writeln!(f, "metadata:\n  name: {}", json!(self.name))?;
        if let Some(namespace) = &self.namespace {
            writeln!(f, "  namespace: {}", json!(namespace))?;
        }
        writeln!(f, "rules:")?;
        for rule in &self.rules {
            writeln!(f, "- apiGroups: {}", json!(rule.api_groups))?;
            writeln!(f, "  resources: {}", json!(rule.resources))?;
            writeln!(f, "  verbs: {}", json!(rule.verbs))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn role(name: &str, needs: &[(&str, &str, Option<&str>)]) -> RbacRoles {
        let owned = |&(group, plural, namespace): &(&str, &str, Option<&str>)| {
            let namespace = namespace.map(str::to_owned);
            (group.to_owned(), plural.to_owned(), namespace)
        };
        RbacRoles::to_read(name, needs.iter().map(owned))
    }

    #[test]
    fn nothing_followed_needs_nothing() {
        let role = role("idle", &[]);
        assert_eq!(role, RbacRoles::default());
        assert_eq!(role.to_string(), "");
    }

    #[test]
    fn what_may_be_read_everywhere_is_not_granted_again_in_a_namespace() {
        let role = role(
            "x",
            &[
                ("", "pods", Some("a")),
                ("", "pods", None),
                ("apps", "deployments", Some("a")),
                ("", "pods", Some("b")),
            ],
        );
        let [everywhere, only] = &*role.roles else {
            panic!("{role:?}");
        };
        assert_eq!(everywhere.namespace, None);
        assert_eq!(only.namespace.as_deref(), Some("a"));
        assert_eq!(only.rules.len(), 1);
        assert_eq!(only.rules[0].resources, ["deployments"]);
    }

    #[test]
    fn the_manifest_is_one_document_for_each_role() {
        let role = role(
            "reader",
            &[
                ("", "pods", None),
                ("", "nodes", None),
                ("apps", "deployments", Some("a")),
            ],
        );
        let expected = r#"apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: "reader"
rules:
- apiGroups: [""]
  resources: ["nodes","pods"]
  verbs: ["list","watch"]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: "reader"
  namespace: "a"
rules:
- apiGroups: ["apps"]
  resources: ["deployments"]
  verbs: ["list","watch"]
"#;
        assert_eq!(role.to_string(), expected);
    }
}
