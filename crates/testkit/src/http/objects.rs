//! Requests about objects: what each method does to a collection or to an object.

use http::{HeaderMap, Method, Response, StatusCode, header::CONTENT_TYPE};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    accept,
    answer::{ApiBody, answer, broken, json_bytes, json_value},
    query::Query,
    watch,
};
use crate::{
    Deletion, Fault, ListOptions, Object, Part, Preconditions, Rejection, Resource, ResourceId,
    feed::Feed,
    server::Server,
    source::{list_with_faults, story},
    tampering::{ListBody, write_list},
    wire::Form,
};
use std::sync::Arc;

/// One request about objects, read.
pub(super) struct Call<'a> {
    pub(super) server: &'a Arc<Server>,
    pub(super) id: ResourceId,
    pub(super) resource: Arc<Resource>,
    pub(super) namespace: Option<String>,
    pub(super) method: Method,
    pub(super) query: Query,
    pub(super) headers: HeaderMap,
    pub(super) body: bytes::Bytes,
    pub(super) faults: Vec<Fault>,
}

/// An answer, and why it was given.
pub(super) type Answered = Result<(Response<ApiBody>, String), Rejection>;

const PAGE: &str = "text/html";

impl Call<'_> {
    pub(super) fn collection(self) -> Answered {
        match self.method {
            Method::GET if self.query.flag("watch")? == Some(true) => self.watch(),
            Method::GET => self.list(),
            Method::POST => self.create(),
            Method::DELETE => self.delete_collection(),
            _ => Err(not_allowed()),
        }
    }

    pub(super) fn object(self, name: &str, part: Part) -> Answered {
        match self.method {
            Method::GET => self.get(name),
            Method::PUT => self.replace(name, part),
            Method::PATCH => self.patch(name, part),
            Method::DELETE if part == Part::Whole => self.delete(name),
            _ => Err(not_allowed()),
        }
    }

    fn list(self) -> Answered {
        let form = accept::form(&self.headers)?;
        let options = self
            .query
            .list_options(&self.resource, self.namespace.clone())?;
        let listing = list_with_faults(self.server, self.id, &options, &self.faults)?;
        let why = story(&listing.why, &self.faults);
        let ListBody {
            mut body,
            cut,
            is_html,
        } = write_list(&listing, &self.resource, form, &self.faults);
        let media_type = if is_html { PAGE } else { "application/json" };
        if let Some(cut) = cut {
            body.truncate(cut);
            let parts = [Ok(bytes::Bytes::from(body)), Err(broken())];
            let body = ApiBody::stream(futures::stream::iter(parts));
            return Ok((answer(StatusCode::OK, media_type, body), why));
        }
        let body = ApiBody::from(bytes::Bytes::from(body));
        Ok((answer(StatusCode::OK, media_type, body), why))
    }

    fn watch(self) -> Answered {
        let form = accept::form(&self.headers)?;
        let options = self
            .query
            .watch_options(&self.resource, self.namespace.clone())?;
        let (feed, why) = Feed::open(self.server, self.id, options, form, &self.faults)?;
        let is_html = self.faults.contains(&Fault::Html);
        let media_type = if is_html { PAGE } else { "application/json" };
        let response = answer(StatusCode::OK, media_type, watch::body(feed));
        Ok((response, story(&why, &self.faults)))
    }

    fn get(self, name: &str) -> Answered {
        let form = accept::form(&self.headers)?;
        let state = self.server.lock();
        let object = state
            .cluster
            .get(self.id, self.namespace.as_deref(), name)?;
        Ok((whole(StatusCode::OK, &object, form), "it exists".to_owned()))
    }

    fn create(self) -> Answered {
        let form = accept::form(&self.headers)?;
        let object = parse(&self.body)?;
        let namespace = self.namespace.as_deref();
        if self.resource.namespaced && namespace.is_none() {
            return Err(Rejection::bad_request(
                "an empty namespace may not be set during creation",
            ));
        }
        let object = self.server.write(self.id, |cluster, now| {
            cluster.create(self.id, namespace, object, now)
        })?;
        let why = format!("created at {}", object.version());
        Ok((whole(StatusCode::CREATED, &object, form), why))
    }

    fn replace(self, name: &str, part: Part) -> Answered {
        let form = accept::form(&self.headers)?;
        let object = parse(&self.body)?;
        let namespace = self.namespace.as_deref();
        let object = self.server.write(self.id, |cluster, _| {
            cluster.replace(self.id, namespace, name, object, part)
        })?;
        let why = format!("it is at {} now", object.version());
        Ok((whole(StatusCode::OK, &object, form), why))
    }

    fn patch(self, name: &str, part: Part) -> Answered {
        let form = accept::form(&self.headers)?;
        let media_type = self
            .headers
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok());
        let media_type = media_type
            .unwrap_or_default()
            .split(';')
            .next()
            .unwrap_or_default();
        if media_type.trim() != "application/merge-patch+json" {
            let message = "the body of the request was in an unknown format - accepted media \
                           types include: application/merge-patch+json";
            return Err(Rejection::new(415, "UnsupportedMediaType", message));
        }
        let patch = parse(&self.body)?;
        let namespace = self.namespace.as_deref();
        let object = self.server.write(self.id, |cluster, _| {
            cluster.patch(self.id, namespace, name, &patch, part)
        })?;
        let why = format!("it is at {} now", object.version());
        Ok((whole(StatusCode::OK, &object, form), why))
    }

    fn delete(self, name: &str) -> Answered {
        let form = accept::form(&self.headers)?;
        let preconditions = preconditions(&self.body)?;
        let namespace = self.namespace.as_deref();
        let deletion = self.server.write(self.id, |cluster, now| {
            cluster.delete(self.id, namespace, name, &preconditions, now)
        })?;
        Ok(match deletion {
            Deletion::Gone(object) => {
                let why = format!("deleted at {}", object.version());
                (json_value(StatusCode::OK, &self.success(&object)), why)
            }
            Deletion::Pending(object) => {
                let why = "marked; it goes when its finalizers have".to_owned();
                (whole(StatusCode::OK, &object, form), why)
            }
        })
    }

    fn success(&self, object: &Object) -> Value {
        json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Success",
            "details": {
                "name": object.name(),
                "group": self.resource.group,
                "kind": self.resource.plural,
                "uid": object.uid(),
            },
        })
    }

    fn delete_collection(self) -> Answered {
        let form = accept::form(&self.headers)?;
        let options = self
            .query
            .list_options(&self.resource, self.namespace.clone())?;
        let options = ListOptions {
            selection: options.selection,
            ..ListOptions::default()
        };
        let listing = self.server.write(self.id, |cluster, now| {
            let mut listing = cluster.list(self.id, &options)?;
            for item in &mut listing.items {
                let (namespace, name) = (item.namespace(), item.name());
                let any = Preconditions::default();
                let deletion = cluster.delete(self.id, namespace, name, &any, now)?;
                *item = deletion.object().clone();
            }
            Ok(listing)
        })?;
        let why = format!("{} objects deleted", listing.items.len());
        let body = listing.write(&self.resource, form);
        Ok((json_bytes(StatusCode::OK, body), why))
    }
}

fn whole(status: StatusCode, object: &Object, form: Form) -> Response<ApiBody> {
    match form {
        Form::Whole => json_bytes(status, object.bytes()),
        Form::Metadata => {
            let mut bytes = Vec::new();
            object.write_partial(&mut bytes);
            json_bytes(status, bytes)
        }
    }
}

fn parse(body: &[u8]) -> Result<Value, Rejection> {
    serde_json::from_slice(body)
        .map_err(|error| Rejection::bad_request(format!("the body is not JSON: {error}")))
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct DeleteOptions {
    preconditions: Option<WirePreconditions>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WirePreconditions {
    uid: Option<String>,
    resource_version: Option<String>,
}

fn preconditions(body: &[u8]) -> Result<Preconditions, Rejection> {
    if body.is_empty() {
        return Ok(Preconditions::default());
    }
    let options: DeleteOptions = serde_json::from_slice(body)
        .map_err(|error| Rejection::bad_request(format!("these are no DeleteOptions: {error}")))?;
    let given = options.preconditions.unwrap_or_default();
    Ok(Preconditions {
        uid: given.uid,
        version: given.resource_version,
    })
}

fn not_allowed() -> Rejection {
    let message = "the server does not allow this method on the requested resource";
    Rejection::new(405, "MethodNotAllowed", message)
}
