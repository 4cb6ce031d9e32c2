//! The permissions that a factory's informers need, and no more (SEC-14, SEC-15).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use k8s_openapi::api::rbac::v1::{ClusterRole, PolicyRule, Role};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

/// What an informer does with its resource.
const VERBS: [&str; 2] = ["list", "watch"];

/// The roles under which all informers of a factory work: to list and to watch what they follow.
///
/// Its `Display` is a YAML manifest, as `kubectl apply -f -` takes it; the objects themselves can
/// be created through the API.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RbacRole {
    /// For what is followed in all namespaces, and for cluster-scoped resources.
    pub cluster_role: Option<ClusterRole>,
    /// For what is followed in single namespaces: one for each, by name.
    pub roles: Vec<Role>,
}

/// Resources by group, each once and in order.
type Rules = BTreeMap<String, BTreeSet<String>>;

/// Collects what informers need.
#[derive(Debug, Default)]
pub(crate) struct Needs {
    everywhere: Rules,
    by_namespace: BTreeMap<String, Rules>,
}

impl Needs {
    /// A resource in a namespace, or everywhere.
    pub(crate) fn add(&mut self, group: &str, plural: &str, namespace: Option<&str>) {
        let rules = match namespace {
            Some(namespace) => self.by_namespace.entry(namespace.to_owned()).or_default(),
            None => &mut self.everywhere,
        };
        let resources = rules.entry(group.to_owned()).or_default();
        resources.insert(plural.to_owned());
    }

    /// The roles, all of this name.
    pub(crate) fn role(mut self, name: &str) -> RbacRole {
        for rules in self.by_namespace.values_mut() {
            for (group, resources) in rules.iter_mut() {
                // What may be read everywhere needs no second permission.
                let granted = self.everywhere.get(group);
                resources.retain(|plural| !granted.is_some_and(|all| all.contains(plural)));
            }
            rules.retain(|_, resources| !resources.is_empty());
        }
        self.by_namespace.retain(|_, rules| !rules.is_empty());
        let metadata = |namespace: Option<String>| ObjectMeta {
            name: Some(name.to_owned()),
            namespace,
            ..ObjectMeta::default()
        };
        let cluster_role = (!self.everywhere.is_empty()).then(|| ClusterRole {
            metadata: metadata(None),
            rules: Some(policy(self.everywhere)),
            ..ClusterRole::default()
        });
        let roles = self.by_namespace.into_iter();
        let roles = roles.map(|(namespace, rules)| Role {
            metadata: metadata(Some(namespace)),
            rules: Some(policy(rules)),
        });
        RbacRole {
            cluster_role,
            roles: roles.collect(),
        }
    }
}

fn policy(rules: Rules) -> Vec<PolicyRule> {
    let rule = |(group, resources): (String, BTreeSet<String>)| PolicyRule {
        api_groups: Some(vec![group]),
        resources: Some(resources.into_iter().collect()),
        verbs: VERBS.map(str::to_owned).to_vec(),
        ..PolicyRule::default()
    };
    rules.into_iter().map(rule).collect()
}

impl fmt::Display for RbacRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cluster = self.cluster_role.iter();
        let cluster = cluster.map(|role| ("ClusterRole", &role.metadata, &role.rules));
        let roles = self.roles.iter();
        let roles = roles.map(|role| ("Role", &role.metadata, &role.rules));
        for (index, (kind, metadata, rules)) in cluster.chain(roles).enumerate() {
            if index > 0 {
                writeln!(f, "---")?;
            }
            writeln!(f, "apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}")?;
            writeln!(f, "metadata:")?;
            // A JSON string is a YAML string, whatever it holds.
            let names = [("name", &metadata.name), ("namespace", &metadata.namespace)];
            for (field, value) in names {
                if let Some(value) = value {
                    writeln!(f, "  {field}: {}", quoted(value))?;
                }
            }
            writeln!(f, "rules:")?;
            for rule in rules.iter().flatten() {
                writeln!(f, "- apiGroups: {}", list(rule.api_groups.as_deref()))?;
                writeln!(f, "  resources: {}", list(rule.resources.as_deref()))?;
                writeln!(f, "  verbs: {}", list(Some(&rule.verbs)))?;
            }
        }
        Ok(())
    }
}

fn quoted(text: &str) -> serde_json::Value {
    text.into()
}

fn list(texts: Option<&[String]>) -> serde_json::Value {
    texts.unwrap_or_default().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_followed_needs_nothing() {
        let role = Needs::default().role("idle");
        assert_eq!(role, RbacRole::default());
        assert_eq!(role.to_string(), "");
    }

    #[test]
    fn what_may_be_read_everywhere_is_not_granted_again_in_a_namespace() {
        let mut needs = Needs::default();
        needs.add("", "pods", Some("a"));
        needs.add("", "pods", None);
        needs.add("apps", "deployments", Some("a"));
        needs.add("", "pods", Some("b"));
        let role = needs.role("x");
        assert!(role.cluster_role.is_some());
        let [only] = &*role.roles else {
            panic!("{role:?}");
        };
        assert_eq!(only.metadata.namespace.as_deref(), Some("a"));
        let rules = only.rules.as_deref().expect("it is not empty");
        assert_eq!(rules.len(), 1);
        assert_eq!(
            rules[0].resources.as_deref(),
            Some(&["deployments".to_owned()][..])
        );
    }

    #[test]
    fn the_manifest_is_one_document_for_each_role() {
        let mut needs = Needs::default();
        needs.add("", "pods", None);
        needs.add("", "nodes", None);
        needs.add("apps", "deployments", Some("a"));
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
        assert_eq!(needs.role("reader").to_string(), expected);
    }
}
