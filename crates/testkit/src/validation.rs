//! The checks of a write: types, names, namespaces, and what a write is conditional on.

use serde_json::{Map, Value, json};

use crate::{Object, Preconditions, Rejection, Resource, label_syntax::is_subdomain, object::text};

pub(crate) fn check_type(resource: &Resource, object: &Value) -> Result<(), Rejection> {
    if !object.is_object() {
        return Err(Rejection::bad_request("the body is not a JSON object"));
    }
    let api_version = resource.api_version();
    for (field, expected) in [("kind", &resource.kind), ("apiVersion", &api_version)] {
        if let Some(given) = text(object.get(field)).filter(|given| given != expected) {
            let message =
                format!("the {field} in the data ({given}) does not match the expected {expected}");
            return Err(Rejection::bad_request(message));
        }
    }
    Ok(())
}

pub(crate) fn checked_name(
    resource: &Resource,
    metadata: &Map<String, Value>,
) -> Result<String, Rejection> {
    let Some(name) = text(metadata.get("name")) else {
        let why = "Required value: name or generateName is required";
        return Err(Rejection::invalid(resource, "", "metadata.name", why));
    };
    if !is_subdomain(name) {
        let why = "Invalid value: a lowercase RFC 1123 subdomain must consist of lower case \
                   alphanumeric characters, '-' or '.', and must start and end with an \
                   alphanumeric character";
        return Err(Rejection::invalid(resource, name, "metadata.name", why));
    }
    Ok(name.to_owned())
}

pub(crate) fn checked_namespace(
    resource: &Resource,
    asked: Option<&str>,
    metadata: &mut Map<String, Value>,
) -> Result<Option<String>, Rejection> {
    let given = text(metadata.get("namespace")).map(str::to_owned);
    if !resource.namespaced {
        metadata.remove("namespace");
        return Ok(None);
    }
    let namespace = match (asked, given) {
        (Some(asked), Some(given)) if asked != given => {
            let message = "the namespace of the provided object does not match the namespace sent \
                           on the request";
            return Err(Rejection::bad_request(message));
        }
        (Some(asked), _) => asked.to_owned(),
        (None, Some(given)) => given,
        (None, None) => "default".to_owned(),
    };
    metadata.insert("namespace".into(), json!(namespace));
    Ok(Some(namespace))
}

/// Name, namespace, uid and version of an update must be those of the object, where given.
pub(crate) fn check_identity(
    resource: &Resource,
    before: &Object,
    metadata: &Map<String, Value>,
) -> Result<(), Rejection> {
    let given = |field| text(metadata.get(field));
    if given("name").is_some_and(|name| name != before.name()) {
        let message = "the name of the object does not match the name on the URL";
        return Err(Rejection::bad_request(message));
    }
    if given("namespace").is_some_and(|namespace| Some(namespace) != before.namespace()) {
        let message = "the namespace of the provided object does not match the namespace sent on \
                       the request";
        return Err(Rejection::bad_request(message));
    }
    let preconditions = Preconditions {
        uid: given("uid").map(str::to_owned),
        version: given("resourceVersion").map(str::to_owned),
    };
    check_preconditions(resource, before, &preconditions)
}

pub(crate) fn check_preconditions(
    resource: &Resource,
    object: &Object,
    preconditions: &Preconditions,
) -> Result<(), Rejection> {
    if let Some(uid) = preconditions
        .uid
        .as_deref()
        .filter(|uid| *uid != object.uid())
    {
        let actual = object.uid();
        let why = format!(
            "Precondition failed: UID in precondition: {uid}, UID in object meta: {actual}"
        );
        return Err(Rejection::conflict(resource, object.name(), &why));
    }
    let version = object.version().to_string();
    if preconditions
        .version
        .as_ref()
        .is_some_and(|wanted| *wanted != version)
    {
        let why = "the object has been modified; please apply your changes to the latest version \
                   and try again";
        return Err(Rejection::conflict(resource, object.name(), why));
    }
    Ok(())
}
