//! Objects as scenarios and traces write them: `key@version`, in a second life `key.2@version`.

use super::form::Form;
use k8s_openapi::api::core::v1::ConfigMap;

/// Namespace and name of a key; a bare name is in `default`.
pub(super) fn split_key(key: &str) -> (&str, &str) {
    key.split_once('/').unwrap_or(("default", key))
}

/// The key a store knows the object by.
pub(super) fn store_key(key: &str) -> String {
    let (namespace, name) = split_key(key);
    format!("{namespace}/{name}")
}

/// The key of an object as scenarios have it.
pub(super) fn short_key(object: &ConfigMap) -> String {
    let name = object.metadata.name.as_deref().unwrap_or_default();
    match object.metadata.namespace.as_deref() {
        Some("default") => name.to_owned(),
        namespace => format!("{}/{name}", namespace.unwrap_or_default()),
    }
}

/// The object as traces have it.
pub(super) fn display(object: &ConfigMap) -> String {
    let uid = object.metadata.uid.as_deref().unwrap_or_default();
    let life = match uid.rsplit_once('-') {
        Some((_, life)) if life != "1" => format!(".{life}"),
        _ => String::new(),
    };
    let version = object.metadata.resource_version.as_deref();
    let version = version.filter(|version| !version.is_empty());
    format!("{}{life}@{}", short_key(object), version.unwrap_or("-"))
}

/// Several objects, in the order in which they come.
pub(super) fn display_all<'a, T: Form>(objects: impl IntoIterator<Item = &'a T>) -> String {
    let objects = objects.into_iter();
    let texts: Vec<String> = objects.map(|object| display(&object.whole())).collect();
    match texts.is_empty() {
        true => "none".to_owned(),
        false => texts.join(" "),
    }
}

/// An object of a scenario, taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Named<'a> {
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
    pub(super) life: u64,
    pub(super) version: u64,
}

impl<'a> Named<'a> {
    /// Reads `key@version` or `key.life@version`.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let (key, version) = text.split_once('@')?;
        let (key, life) = match key.split_once('.') {
            Some((key, life)) => (key, life.parse().ok()?),
            None => (key, 1),
        };
        let (namespace, name) = split_key(key);
        let version = version.parse().ok()?;
        Some(Self {
            namespace,
            name,
            life,
            version,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_read() {
        let named = |namespace, name, life, version| {
            Some(Named {
                namespace,
                name,
                life,
                version,
            })
        };
        assert_eq!(Named::parse("a@3"), named("default", "a", 1, 3));
        assert_eq!(Named::parse("ns/a.2@9"), named("ns", "a", 2, 9));
        assert_eq!(Named::parse("a"), None);
        assert_eq!(Named::parse("a@x"), None);
    }
}
