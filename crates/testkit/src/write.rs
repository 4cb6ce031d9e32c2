//! Writes to the history: create, replace, merge-patch and delete, with the checks of
//! kube-apiserver.
//!
//! Each is prepared by one function from the state to a change or a [`Rejection`], and then
//! recorded; a dry run ends before that. A refused write leaves no trace, and one that changes
//! nothing gets no version, as in kube-apiserver.
//!
//! Of admission and validation there is only what clients rely on: names, namespaces, versions,
//! uids, finalizers. What a field may contain is not checked.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::{
    Change, Cluster, Object, Rejection, ResourceId,
    fields::Fields,
    merge_patch::merge_patch,
    object::{split, text},
    validation::{
        check_identity, check_preconditions, check_type, checked_name, checked_namespace,
    },
};

/// What must hold of an object for it to be deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Preconditions {
    /// This very object, not one of the same name.
    pub uid: Option<String>,
    /// This very version.
    pub version: Option<String>,
}

/// What became of a deletion.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Deletion {
    /// It is gone; this is its final state.
    Gone(Object),
    /// It is marked, and goes when its finalizers are gone.
    Pending(Object),
}

impl Deletion {
    pub(crate) fn new(object: Object, is_gone: bool) -> Self {
        match is_gone {
            true => Self::Gone(object),
            false => Self::Pending(object),
        }
    }

    /// The object's state now, or its final state.
    pub fn object(&self) -> &Object {
        match self {
            Self::Gone(object) | Self::Pending(object) => object,
        }
    }
}

/// Which part of an object a write is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// All of it, its status included.
    #[default]
    Whole,
    /// Only `status`; the rest of what is sent is ignored, but for its metadata.
    Status,
}

/// A write that was checked and rendered, and is not recorded.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// The object as it is after the write.
    object: Object,
    /// What is to be recorded; `None` if nothing changes.
    change: Option<Change>,
}

impl Prepared {
    fn unchanged(object: Object) -> Self {
        Self {
            object,
            change: None,
        }
    }

    fn change(before: Option<Object>, object: Object, deleted: bool) -> Self {
        Self {
            object: object.clone(),
            change: Some(Change {
                version: object.version(),
                before,
                object,
                deleted,
            }),
        }
    }

    /// Whether the object goes away with this write.
    pub(crate) fn deletes(&self) -> bool {
        self.change.as_ref().is_some_and(|change| change.deleted)
    }

    /// The object as a dry run answers it: under the version it has now, since the write gets none.
    ///
    /// A creation has no version to go back to. kube-apiserver sends none, and so must the caller.
    pub(crate) fn dry(self) -> Object {
        let before = self.change.and_then(|change| change.before);
        match before {
            Some(before) => self.object.with_version(before.version()),
            None => self.object,
        }
    }
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
        let prepared = self.prepare_create(id, namespace, object, now)?;
        Ok(self.commit(id, prepared))
    }

    pub(crate) fn prepare_create(
        &mut self,
        id: ResourceId,
        namespace: Option<&str>,
        object: Value,
        now: &str,
    ) -> Result<Prepared, Rejection> {
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
        let object = Object::render(&resource, self.next_version(), &metadata, &fields);
        Ok(Prepared::change(None, object, false))
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
        let prepared = self.prepare_replace(id, namespace, name, object, part)?;
        Ok(self.commit(id, prepared))
    }

    pub(crate) fn prepare_replace(
        &self,
        id: ResourceId,
        namespace: Option<&str>,
        name: &str,
        object: Value,
        part: Part,
    ) -> Result<Prepared, Rejection> {
        let before = self.get(id, namespace, name)?;
        let resource = Arc::clone(&self.collection(id).resource);
        check_type(&resource, &object)?;
        let (metadata, fields) = split(object);
        self.prepare_update(id, before, (metadata, fields), part)
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
        let prepared = self.prepare_patch(id, namespace, name, patch, part)?;
        Ok(self.commit(id, prepared))
    }

    pub(crate) fn prepare_patch(
        &self,
        id: ResourceId,
        namespace: Option<&str>,
        name: &str,
        patch: &Value,
        part: Part,
    ) -> Result<Prepared, Rejection> {
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
        self.prepare_update(id, before, (metadata, fields), part)
    }

    fn prepare_update(
        &self,
        id: ResourceId,
        before: Object,
        (mut metadata, fields): Parts,
        part: Part,
    ) -> Result<Prepared, Rejection> {
        let resource = &self.collection(id).resource;
        check_identity(resource, &before, &metadata)?;
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
        let object = Object::render(resource, self.next_version(), &metadata, &fields);
        if object.is_same_but_version(&before) {
            return Ok(Prepared::unchanged(before));
        }
        let deletes = metadata.contains_key("deletionTimestamp") && !has_finalizers(&metadata);
        Ok(Prepared::change(Some(before), object, deletes))
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
        let prepared = self.prepare_delete(id, namespace, name, preconditions, now)?;
        let is_gone = prepared.deletes();
        Ok(Deletion::new(self.commit(id, prepared), is_gone))
    }

    pub(crate) fn prepare_delete(
        &self,
        id: ResourceId,
        namespace: Option<&str>,
        name: &str,
        preconditions: &Preconditions,
        now: &str,
    ) -> Result<Prepared, Rejection> {
        let before = self.get(id, namespace, name)?;
        let resource = &self.collection(id).resource;
        check_preconditions(resource, &before, preconditions)?;
        let version = self.next_version();
        let (mut metadata, fields) = before.to_parts();
        if !has_finalizers(&metadata) {
            let last = before.with_version(version);
            return Ok(Prepared::change(Some(before), last, true));
        }
        if metadata.contains_key("deletionTimestamp") {
            return Ok(Prepared::unchanged(before));
        }
        metadata.insert("deletionTimestamp".into(), json!(now));
        metadata.insert("deletionGracePeriodSeconds".into(), json!(0));
        metadata.insert("generation".into(), json!(generation(&metadata) + 1));
        let marked = Object::render(resource, version, &metadata, &fields);
        Ok(Prepared::change(Some(before), marked, false))
    }

    /// Records a write that was prepared from the present state.
    pub(crate) fn commit(&mut self, id: ResourceId, prepared: Prepared) -> Object {
        if let Some(change) = prepared.change {
            self.record(id, change);
        }
        prepared.object
    }
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
