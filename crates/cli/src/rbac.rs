//! `rbac`: the roles under which informers can list and watch resources, as a manifest.

use std::time::Duration;

use informer_factory::RbacRoles;

use crate::cluster::catalog::Catalog;
use crate::cluster::discovery::Discovery;
use crate::cluster::{connect, explain, scope};
use crate::failure::Failure;
use crate::screen::Screen;
use crate::{duration, stdout};

/// Print the roles that informers need: to list and to watch, and no more
///
/// RESOURCE is GROUP/VERSION/PLURAL, in the core group VERSION/PLURAL: no server
/// is contacted for it. Otherwise it is what `watch` takes, and the server is
/// asked what it means.
///
/// With -n there is one role for each namespace; without it, and for resources
/// that the server says have no namespace, there is a cluster role.
///
/// Examples:
///   kubectl informer rbac v1/pods apps/v1/deployments -n web | kubectl apply -f -
///   kubectl informer rbac nodes deploy widgets.example.com --name reader
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct RbacArguments {
    /// GROUP/VERSION/PLURAL, VERSION/PLURAL, or what `watch` takes
    #[arg(required = true, value_name = "RESOURCE")]
    resources: Vec<String>,
    /// The namespaces, several separated by commas [default: all]
    #[arg(short, long, value_name = "NS", value_delimiter = ',')]
    namespace: Vec<String>,
    /// The name of the roles
    #[arg(long, default_value = "informer")]
    name: String,
    /// The deadline of discovery
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration::parse)]
    discovery_timeout: Duration,
    #[command(flatten)]
    cluster: connect::ClusterArguments,
}

/// Prints the manifest.
pub(crate) async fn run(arguments: &RbacArguments) -> Result<(), Failure> {
    scope::check_names(&arguments.namespace)?;
    let everywhere = || vec![None];
    let namespaces = match &*arguments.namespace {
        [] => everywhere(),
        names => names.iter().cloned().map(Some).collect(),
    };
    let mut catalog = None;
    let mut needs = Vec::new();
    for name in &arguments.resources {
        let (group, plural, namespaces) = if let Some((group, plural)) = written_out(name) {
            (group.to_owned(), plural.to_owned(), namespaces.clone())
        } else {
            let catalog = match &mut catalog {
                Some(catalog) => catalog,
                None => catalog.insert(discover(arguments).await?),
            };
            let found = catalog.resolve(name)?;
            let namespaces = match found.namespaced {
                true => namespaces.clone(),
                false => everywhere(),
            };
            (found.group.clone(), found.plural.clone(), namespaces)
        };
        let need = |namespace| (group.clone(), plural.clone(), namespace);
        needs.extend(namespaces.into_iter().map(need));
    }
    let manifest = RbacRoles::to_read(&arguments.name, needs).to_string();
    stdout::print(&manifest)
}

async fn discover(arguments: &RbacArguments) -> Result<Catalog, Failure> {
    let cluster = connect::cluster(&arguments.cluster, &Screen::plain()).await?;
    let discovery = Discovery::begin(&cluster.server, arguments.discovery_timeout);
    let catalog = Catalog::fetch(&cluster.client, &discovery).await;
    catalog.map_err(|error| explain::discovery(&error))
}

/// Group and plural of a resource that is written as GROUP/VERSION/PLURAL or VERSION/PLURAL.
fn written_out(resource: &str) -> Option<(&str, &str)> {
    let parts: Vec<_> = resource.split('/').collect();
    let (group, version, plural) = match *parts {
        [version, plural] => ("", version, plural),
        [group, version, plural] if group.split('.').all(scope::is_name) => {
            (group, version, plural)
        }
        _ => return None,
    };
    (is_version(version) && scope::is_name(plural)).then_some((group, plural))
}

/// Whether it is a version as Kubernetes writes it: `v1`, `v2beta1`.
fn is_version(text: &str) -> bool {
    text.strip_prefix('v').is_some_and(|rest| {
        let first = rest.bytes().next();
        first.is_some_and(|b| b.is_ascii_digit()) && scope::is_name(rest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn group_version_and_plural_are_read_as_written() {
        assert_eq!(written_out("v1/pods"), Some(("", "pods")));
        let deployments = written_out("apps/v1/deployments");
        assert_eq!(deployments, Some(("apps", "deployments")));
        let widgets = written_out("a.example.com/v1alpha1/widgets");
        assert_eq!(widgets, Some(("a.example.com", "widgets")));
        for other in [
            "pods",
            "deployments.apps",
            "pods/nginx",
            "v1/",
            "/v1/pods",
            "apps/v1/Deployments",
            "apps/v1/deployments/status",
            "vx/pods",
        ] {
            assert_eq!(written_out(other), None, "{other}");
        }
    }
}
