//! Writes to the history: create, replace, merge-patch and delete, with the checks of
//! kube-apiserver.
//!
//! Each is one function from the state to a recorded change or a [`Rejection`]; a refused write
//! leaves no trace, and one that changes nothing gets no version, as in kube-apiserver.
//!
//! Of admission and validation there is only what clients rely on: names, namespaces, versions,
//! uids, finalizers. What a field may contain is not checked.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::{
    Change, Cluster, Object, Rejection, Resource, ResourceId,
    fields::Fields,
    merge_patch::merge_patch,
    object::{split, text},
};

/// What must hold of an object for it to be deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preconditions {
    /// This very object, not one of the same name.
    pub uid: Option<String>,
    /// This very version.
    pub version: Option<String>,
}

/// What became of a deletion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deletion {
    /// It is gone; this is its final state.
    Gone(Object),
    /// It is marked, and goes when its finalizers are gone.
    Pending(Object),
}

impl Deletion {
    /// The object's state now, or its final state.
    pub fn object(&self) -> &Object {
        match self {
            Self::Gone(object) | Self::Pending(object) => object,
        }
    }
}

/// Which part of an object a write is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    /// All of it, its status included.
    #[default]
    Whole,
    /// Only `status`; the rest of what is sent is ignored, but for its metadata.
    Status,
}

/// The metadata and the other fields of an object.
type Parts = (Map<String, Value>, Fields);

impl Cluster {
    /// Creates an object, named by `metadata.name` or `metadata.generateName`; `now` is RFC 3339.
    ///
    /// # Errors
    ///
    /// 400 or 422 for what is not such an object, 409 if the name is taken.
    pub fn create(
        &mut self,
        id: ResourceId,
        namespace: Option<&str>,
        object: Value,
        now: &str,
    ) -> Result<Object, Rejection> {
        let resource = Arc::clone(&self.collection(id).resource);
        check_type(&resource, &object)?;
        let (mut metadata, fields) = split(object);
        if text(metadata.get("resourceVersion")).is_some() {
            let message = "resourceVersion should not be set on objects to be created";
            return Err(Rejection::bad_request(message));
        }
        if text(metadata.get("name")).is_none()
            && let Some(prefix) = text(metadata.get("generateName")).map(str::to_owned)
        {
            metadata.insert("name".into(), json!(prefix + &self.new_suffix()));
        }
        let name = checked_name(&resource, &metadata)?;
        let namespace = checked_namespace(&resource, namespace, &mut metadata)?;
        if self.get(id, namespace.as_deref(), &name).is_ok() {
            return Err(Rejection::already_exists(&resource, &name));
        }
        for set_by_server in [
            "selfLink",
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
        ] {
            metadata.remove(set_by_server);
        }
        let uid = self.new_uid(namespace.as_deref(), &name);
        metadata.insert("uid".into(), json!(uid));
        metadata.insert("creationTimestamp".into(), json!(now));
        metadata.insert("generation".into(), json!(1));
        let version = self.next_version();
        let object = Object::render(&resource, version, &metadata, &fields);
        let change = Change {
            version,
            before: None,
            object: object.clone(),
            deleted: false,
        };
        self.record(id, change);
        Ok(object)
    }

    /// Puts an object in the place of the one with its name; conditionally, if it has a version.
    ///
    /// # Errors
    ///
    /// 404 if there is none, 409 if version or uid is another, 400 or 422 for a wrong object.
    pub fn replace(
        &mut self,
        id: ResourceId,
        namespace: Option<&str>,
        name: &str,
        object: Value,
        part: Part,
    ) -> Result<Object, Rejection> {
        let before = self.get(id, namespace, name)?;
        let resource = Arc::clone(&self.collection(id).resource);
        check_type(&resource, &object)?;
        let (metadata, fields) = split(object);
        self.update(id, &before, (metadata, fields), part)
    }

    /// Changes an object by a merge patch (RFC 7396).
    ///
    /// # Errors
    ///
    /// As [`Cluster::replace`].
    pub fn patch(
        &mut self,
        id: ResourceId,
        namespace: Option<&str>,
        name: &str,
        patch: &Value,
        part: Part,
    ) -> Result<Object, Rejection> {
        let before = self.get(id, namespace, name)?;
        let resource = Arc::clone(&self.collection(id).resource);
        if !patch.is_object() {
            return Err(Rejection::bad_request(
                "a merge patch of an object must be an object",
            ));
        }
        check_type(&resource, patch)?;
        let (mut metadata, mut fields) = before.to_parts();
        // Only a version the patch itself names is a condition.
        metadata.remove("resourceVersion");
        let mut metadata = Value::Object(metadata);
        for (name, change) in patch.as_object().into_iter().flatten() {
            match name.as_str() {
                "kind" | "apiVersion" => {}
                "metadata" => merge_patch(&mut metadata, change),
                name => fields.merge(name, change),
            }
        }
        let Value::Object(metadata) = metadata else {
            return Err(Rejection::bad_request("metadata must be an object"));
        };
        self.update(id, &before, (metadata, fields), part)
    }

    fn update(
        &mut self,
        id: ResourceId,
        before: &Object,
        (mut metadata, fields): Parts,
        part: Part,
    ) -> Result<Object, Rejection> {
        let resource = Arc::clone(&self.collection(id).resource);
        check_identity(&resource, before, &metadata)?;
        let (old_metadata, old_fields) = before.to_parts();
        let fields = match part {
            Part::Whole => fields,
            Part::Status => old_fields.clone().with_status_of(&fields),
        };
        for kept in [
            "name",
            "namespace",
            "uid",
            "creationTimestamp",
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
            "generation",
            "generateName",
        ] {
            match old_metadata.get(kept) {
                Some(value) => metadata.insert(kept.into(), value.clone()),
                None => metadata.remove(kept),
            };
        }
        metadata.remove("selfLink");
        if fields.is_other_spec(&old_fields) {
            metadata.insert("generation".into(), json!(generation(&old_metadata) + 1));
        }
        let version = self.next_version();
        let object = Object::render(&resource, version, &metadata, &fields);
        if object.is_same_but_version(before) {
            return Ok(before.clone());
        }
        let deleted = metadata.contains_key("deletionTimestamp") && !has_finalizers(&metadata);
        let before = Some(before.clone());
        self.record(
            id,
            Change {
                version,
                before,
                object: object.clone(),
                deleted,
            },
        );
        Ok(object)
    }

    /// Deletes an object, or marks it for deletion while it has finalizers.
    ///
    /// # Errors
    ///
    /// 404 if there is none, 409 if a precondition does not hold.
    pub fn delete(
        &mut self,
        id: ResourceId,
        namespace: Option<&str>,
        name: &str,
        preconditions: &Preconditions,
        now: &str,
    ) -> Result<Deletion, Rejection> {
        let before = self.get(id, namespace, name)?;
        let resource = Arc::clone(&self.collection(id).resource);
        check_preconditions(&resource, &before, preconditions)?;
        let version = self.next_version();
        let (mut metadata, fields) = before.to_parts();
        if !has_finalizers(&metadata) {
            let object = before.with_version(version);
            let before = Some(before);
            self.record(
                id,
                Change {
                    version,
                    before,
                    object: object.clone(),
                    deleted: true,
                },
            );
            return Ok(Deletion::Gone(object));
        }
        if metadata.contains_key("deletionTimestamp") {
            return Ok(Deletion::Pending(before));
        }
        metadata.insert("deletionTimestamp".into(), json!(now));
        metadata.insert("deletionGracePeriodSeconds".into(), json!(0));
        metadata.insert("generation".into(), json!(generation(&metadata) + 1));
        let object = Object::render(&resource, version, &metadata, &fields);
        let before = Some(before);
        self.record(
            id,
            Change {
                version,
                before,
                object: object.clone(),
                deleted: false,
            },
        );
        Ok(Deletion::Pending(object))
    }
}

fn check_type(resource: &Resource, object: &Value) -> Result<(), Rejection> {
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

fn checked_name(resource: &Resource, metadata: &Map<String, Value>) -> Result<String, Rejection> {
    let Some(name) = text(metadata.get("name")) else {
        let why = "Required value: name or generateName is required";
        return Err(Rejection::invalid(resource, "", "metadata.name", why));
    };
    let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    let fits = name.len() <= 253
        && name.starts_with(is_plain)
        && name.ends_with(is_plain)
        && name
            .chars()
            .all(|letter| is_plain(letter) || letter == '-' || letter == '.');
    if !fits {
        let why = "Invalid value: a lowercase RFC 1123 subdomain must consist of lower case \
                   alphanumeric characters, '-' or '.', and must start and end with an \
                   alphanumeric character";
        return Err(Rejection::invalid(resource, name, "metadata.name", why));
    }
    Ok(name.to_owned())
}

fn checked_namespace(
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
fn check_identity(
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

fn check_preconditions(
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

fn generation(metadata: &Map<String, Value>) -> u64 {
    metadata
        .get("generation")
        .and_then(Value::as_u64)
        .unwrap_or(1)
}

fn has_finalizers(metadata: &Map<String, Value>) -> bool {
    let finalizers = metadata.get("finalizers").and_then(Value::as_array);
    finalizers.is_some_and(|finalizers| !finalizers.is_empty())
}
