//! Which resource is meant: from a name on the command line to one entry of the catalog.

use std::collections::BTreeSet;

use kube_core::discovery::ApiResource;

use super::catalog::Catalog;
use super::near;
use crate::escape;
use crate::failure::Failure;

/// How many near matches are told.
const SUGGESTIONS: usize = 5;

/// One resource of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Resource {
    /// Empty in the core group.
    pub(crate) group: String,
    pub(crate) version: String,
    /// The place of the version in its group; 0 is the preferred one.
    pub(crate) order: usize,
    pub(crate) kind: String,
    pub(crate) plural: String,
    pub(crate) singular: String,
    pub(crate) short_names: Vec<String>,
    pub(crate) namespaced: bool,
    pub(crate) verbs: Vec<String>,
}

impl Resource {
    /// `pods`, `widgets.example.com`
    pub(crate) fn qualified(&self) -> String {
        let name = match self.group.as_str() {
            "" => self.plural.clone(),
            group => format!("{}.{group}", self.plural),
        };
        escape::text(&name).into_owned()
    }

    /// As the facade wants it.
    pub(crate) fn api(&self) -> ApiResource {
        let api_version = match self.group.as_str() {
            "" => self.version.clone(),
            group => format!("{group}/{}", self.version),
        };
        ApiResource {
            group: self.group.clone(),
            version: self.version.clone(),
            api_version,
            kind: self.kind.clone(),
            plural: self.plural.clone(),
        }
    }

    /// Whether its objects are secrets, whose values are never shown.
    pub(crate) fn is_secret(&self) -> bool {
        self.group.is_empty() && self.plural == "secrets"
    }

    fn can_be_watched(&self) -> bool {
        ["list", "watch"]
            .iter()
            .all(|verb| self.verbs.iter().any(|v| v == verb))
    }

    /// How well a word names this resource: 0 by a name of its own, 1 by a short name.
    fn named(&self, word: &str) -> Option<u8> {
        let is = |name: &String| name.eq_ignore_ascii_case(word);
        if [&self.plural, &self.singular, &self.kind]
            .into_iter()
            .any(is)
        {
            return Some(0);
        }
        self.short_names.iter().any(is).then_some(1)
    }

    /// Whether what follows the first dot of a name fits: `group`, `version.group` or `version`.
    fn is_qualified_by(&self, rest: &str) -> bool {
        let rest = rest.trim_end_matches('.');
        let is = |text: &str| rest.eq_ignore_ascii_case(text);
        is(&self.group) || self.has_version(rest)
    }

    /// Whether this names the version too.
    fn has_version(&self, rest: &str) -> bool {
        let rest = rest.trim_end_matches('.');
        let with_version = match self.group.as_str() {
            "" => self.version.clone(),
            group => format!("{}.{group}", self.version),
        };
        rest.eq_ignore_ascii_case(&with_version)
    }
}

/// No resource can be watched under this name. All strings are escaped.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ResourceError {
    /// Nothing is called so.
    #[error("the server has no resource {name:?}{silence}")]
    Unknown {
        name: String,
        /// What may have been meant.
        near: Vec<String>,
        /// A remark about groups that did not answer.
        silence: String,
    },
    /// Several groups have it.
    #[error("{name:?} may mean {}", .choices.join(" or "))]
    Ambiguous { name: String, choices: Vec<String> },
    /// The server does not offer what an informer needs.
    #[error("{name} cannot be watched; the server offers {}", or_nothing(.verbs))]
    NotWatchable { name: String, verbs: Vec<String> },
    /// An object or a part of one was named.
    #[error("{name:?} names one object or a part of one, not a resource")]
    NotACollection { name: String, object: String },
}

impl From<ResourceError> for Failure {
    fn from(error: ResourceError) -> Self {
        let failure = Self::setup(error.to_string());
        match &error {
            ResourceError::Unknown { near, .. } if near.is_empty() => {
                failure.advise("`kubectl api-resources` lists what there is.")
            }
            ResourceError::Unknown { near, .. } => {
                failure.advise(format!("Did you mean {}?", near.join(", ")))
            }
            ResourceError::Ambiguous { .. } => failure.advise("Write one of these."),
            ResourceError::NotWatchable { .. } => {
                failure.advise("An informer needs the verbs `list` and `watch`.")
            }
            ResourceError::NotACollection { object, .. } => failure.advise(format!(
                "For one object, add: --field-selector metadata.name={object}"
            )),
        }
    }
}

fn or_nothing(verbs: &[String]) -> String {
    match verbs {
        [] => "nothing".to_owned(),
        verbs => verbs.join(", "),
    }
}

/// Finds the one resource that is meant.
///
/// A name of its own goes before a short name, the core group before others, as kubectl has it; the
/// preferred version before others unless one is named.
pub(crate) fn resolve<'a>(catalog: &'a Catalog, name: &str) -> Result<&'a Resource, ResourceError> {
    let shown = || escape::text(name).into_owned();
    if let Some((_, object)) = name.split_once('/') {
        let object = escape::text(object).into_owned();
        return Err(ResourceError::NotACollection {
            name: shown(),
            object,
        });
    }
    let (word, rest) = match name.split_once('.') {
        Some((word, rest)) => (word, Some(rest)),
        None => (name, None),
    };
    let fits = |found: &&Resource| rest.is_none_or(|rest| found.is_qualified_by(rest));
    let found: Vec<_> = catalog.resources.iter().filter(fits).collect();
    let best = found
        .iter()
        .filter_map(|resource| resource.named(word))
        .min();
    let Some(best) = best else {
        return Err(unknown(catalog, name, word));
    };
    let named = found
        .into_iter()
        .filter(|resource| resource.named(word) == Some(best));
    let (good, bad): (Vec<&Resource>, Vec<&Resource>) =
        named.partition(|resource| resource.can_be_watched());
    let names: BTreeSet<_> = good.iter().map(|resource| resource.qualified()).collect();
    let core: Vec<_> = good
        .iter()
        .copied()
        .filter(|resource| resource.group.is_empty())
        .collect();
    let candidates = if names.len() > 1 && !core.is_empty() {
        core
    } else {
        good
    };
    let names: BTreeSet<_> = candidates
        .iter()
        .map(|resource| resource.qualified())
        .collect();
    if names.len() > 1 {
        let choices = names.into_iter().collect();
        return Err(ResourceError::Ambiguous {
            name: shown(),
            choices,
        });
    }
    let exact = |resource: &Resource| rest.is_some_and(|rest| resource.has_version(rest));
    let chosen = candidates
        .into_iter()
        .min_by_key(|resource| (!exact(resource), resource.order));
    match (chosen, bad.first()) {
        (Some(chosen), _) => Ok(chosen),
        (None, Some(bad)) => Err(ResourceError::NotWatchable {
            name: bad.qualified(),
            verbs: bad
                .verbs
                .iter()
                .map(|verb| escape::text(verb).into_owned())
                .collect(),
        }),
        (None, None) => Err(unknown(catalog, name, word)),
    }
}

fn unknown(catalog: &Catalog, name: &str, word: &str) -> ResourceError {
    let watchable = || {
        catalog
            .resources
            .iter()
            .filter(|resource| resource.can_be_watched())
    };
    let mut near: Vec<String> = Vec::new();
    // The right word in the wrong group is nearer than another word.
    let same = watchable().filter(|resource| resource.named(word).is_some());
    near.extend(same.map(Resource::qualified));
    let names = watchable().flat_map(|resource| {
        let own = [&resource.plural, &resource.singular, &resource.kind];
        own.into_iter()
            .chain(&resource.short_names)
            .map(String::as_str)
    });
    for nearest in near::nearest(word, names, 2 * SUGGESTIONS) {
        let called = watchable().filter(|resource| resource.named(nearest).is_some());
        near.extend(called.map(Resource::qualified));
    }
    let mut seen = BTreeSet::new();
    near.retain(|name| seen.insert(name.clone()));
    near.truncate(SUGGESTIONS);
    ResourceError::Unknown {
        name: escape::text(name).into_owned(),
        near,
        silence: catalog.silence(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(group: &str, version: &str, kind: &str, plural: &str, short: &str) -> Resource {
        Resource {
            group: group.to_owned(),
            version: version.to_owned(),
            order: usize::from(version == "v1beta1"),
            kind: kind.to_owned(),
            plural: plural.to_owned(),
            singular: kind.to_lowercase(),
            short_names: [short]
                .into_iter()
                .filter(|s| !s.is_empty())
                .map(str::to_owned)
                .collect(),
            namespaced: true,
            verbs: ["get", "list", "watch"].map(str::to_owned).to_vec(),
        }
    }

    fn catalog() -> Catalog {
        let metrics = Resource {
            verbs: vec!["get".to_owned(), "list".to_owned()],
            ..resource("metrics.k8s.io", "v1beta1", "PodMetrics", "pods", "")
        };
        let review = Resource {
            verbs: vec!["create".to_owned()],
            ..resource(
                "authorization.k8s.io",
                "v1",
                "AccessReview",
                "accessreviews",
                "",
            )
        };
        Catalog {
            resources: vec![
                resource("", "v1", "Pod", "pods", "po"),
                resource("", "v1", "Event", "events", "ev"),
                resource("apps", "v1beta1", "Deployment", "deployments", "deploy"),
                resource("apps", "v1", "Deployment", "deployments", "deploy"),
                resource("events.k8s.io", "v1", "Event", "events", "ev"),
                resource("a.example", "v1", "Widget", "widgets", "po"),
                resource("b.example", "v1", "Widget", "widgets", ""),
                metrics,
                review,
            ],
            silent: Vec::new(),
        }
    }

    fn found(name: &str) -> Result<String, ResourceError> {
        let catalog = catalog();
        let resource = resolve(&catalog, name)?;
        Ok(format!("{} {}", resource.qualified(), resource.version))
    }

    #[test]
    fn all_the_names_of_a_resource_lead_to_it() {
        for name in ["pods", "pod", "po.v1", "Pod", "PODS", "pods.v1", "pods.v1."] {
            assert_eq!(found(name), Ok("pods v1".to_owned()), "{name}");
        }
        for name in [
            "deploy",
            "deployments.apps",
            "deployments.v1.apps",
            "Deployment.apps",
        ] {
            assert_eq!(found(name), Ok("deployments.apps v1".to_owned()), "{name}");
        }
        assert_eq!(
            found("deploy.v1beta1.apps"),
            Ok("deployments.apps v1beta1".to_owned())
        );
    }

    #[test]
    fn the_core_group_goes_first_and_others_have_to_be_named() {
        assert_eq!(found("events"), Ok("events v1".to_owned()));
        assert_eq!(
            found("events.events.k8s.io"),
            Ok("events.events.k8s.io v1".to_owned())
        );
        assert_eq!(found("po"), Ok("pods v1".to_owned()));
        let error = found("widgets").expect_err("two groups have it");
        assert_eq!(
            error.to_string(),
            "\"widgets\" may mean widgets.a.example or widgets.b.example"
        );
        assert_eq!(
            found("widgets.b.example"),
            Ok("widgets.b.example v1".to_owned())
        );
    }

    #[test]
    fn what_is_not_there_is_answered_with_what_is() {
        let near = |name: &str| match found(name) {
            Err(ResourceError::Unknown { near, .. }) => near,
            other => panic!("{name}: {other:?}"),
        };
        assert_eq!(near("podz"), ["pods"]);
        assert_eq!(near("deployment.extensions"), ["deployments.apps"]);
        assert!(near("unicorns").is_empty());
        assert_eq!(near("wigdets"), ["widgets.a.example", "widgets.b.example"]);
    }

    #[test]
    fn what_cannot_be_watched_is_said_to_be_so() {
        let error = found("accessreviews").expect_err("only create");
        assert!(error.to_string().contains("offers create"), "{error}");
        assert!(matches!(
            found("pods.metrics.k8s.io"),
            Err(ResourceError::NotWatchable { .. })
        ));
        assert!(matches!(
            found("pods/nginx"),
            Err(ResourceError::NotACollection { .. })
        ));
    }
}
