//! What both sides follow.

use std::collections::BTreeMap;
use std::time::Duration;

use kube_core::discovery::ApiResource;
use serde::Serialize;

/// How often the handlers that want it are reminded.
pub(crate) const RESYNC: Duration = Duration::from_secs(5);

/// What the handler is called that is reminded.
pub(crate) const REMINDED: &str = "reminded";

/// The label that decides about the selection; objects move in and out of it.
pub(crate) const SIDE: (&str, &str) = ("side", "in");

/// Which objects of a resource.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    /// `None` stands for all namespaces.
    pub(crate) namespace: Option<String>,
    /// Only objects with [`SIDE`].
    pub(crate) selected: bool,
}

impl Scope {
    pub(crate) fn has_key(&self, key: &str) -> bool {
        let namespace = key.split_once('/').map(|(namespace, _)| namespace);
        self.namespace.is_none() || self.namespace.as_deref() == namespace
    }

    pub(crate) fn selects(&self, labels: &BTreeMap<String, String>) -> bool {
        !self.selected || labels.get(SIDE.0).is_some_and(|value| value == SIDE.1)
    }

    pub(crate) fn selector(&self) -> Option<String> {
        self.selected.then(|| format!("{}={}", SIDE.0, SIDE.1))
    }
}

/// How the objects are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Form {
    Typed,
    Dynamic,
    Metadata,
}

/// One informer of each side.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    pub(crate) name: &'static str,
    pub(crate) form: Form,
    pub(crate) resource: ApiResource,
    pub(crate) scope: Scope,
    /// Whether one of its handlers is reminded.
    pub(crate) reminded: bool,
}

/// The same in the words of the Go program.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Wanted<'a> {
    name: &'a str,
    form: Form,
    group: &'a str,
    version: &'a str,
    resource: &'a str,
    namespace: &'a str,
    selector: String,
    resync_millis: u128,
}

/// One line of JSON.
pub(crate) fn in_go(all: &[Watched]) -> String {
    let wanted = all.iter().map(|watched| Wanted {
        name: watched.name,
        form: watched.form,
        group: &watched.resource.group,
        version: &watched.resource.version,
        resource: &watched.resource.plural,
        namespace: watched.scope.namespace.as_deref().unwrap_or_default(),
        selector: watched.scope.selector().unwrap_or_default(),
        resync_millis: if watched.reminded {
            RESYNC.as_millis()
        } else {
            0
        },
    });
    let wanted: Vec<_> = wanted.collect();
    serde_json::to_string(&wanted).expect("plain data is JSON")
}
