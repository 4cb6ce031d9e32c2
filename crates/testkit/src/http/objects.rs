//! Requests about objects: what each method does to a collection or to an object.

use http::{HeaderMap, Method, Response, StatusCode, header::CONTENT_TYPE};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    accept,
    answer::{ApiBody, answer, broken, encoded, media_type, object_answer, value_answer},
    dry_run::{Mode, without_version},
    query::Query,
    watch,
};
use crate::{
    Fault, ListOptions, Object, Part, Preconditions, Rejection, Resource, ResourceId,
    feed::Feed,
    list_tampering::{ListBody, write_list},
    server::Server,
    source::{list_with_faults, story},
    wire::{Encoding, Format},
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

    /// The format that the client accepts.
    fn format(&self) -> Result<Format, Rejection> {
        let support = self.server.settings.protobuf;
        accept::format(&self.headers, &self.resource, support)
    }

    fn whole(&self, object: &Object, format: Format) -> Response<ApiBody> {
        object_answer(StatusCode::OK, format, object, &self.resource)
    }

    fn list(self) -> Answered {
        let format = self.format()?;
        let options = self
            .query
            .list_options(&self.resource, self.namespace.clone())?;
        let listing = list_with_faults(self.server, self.id, &options, &self.faults)?;
        let why = story(&listing.why, &self.faults);
        let ListBody {
            mut body,
            cut,
            is_html,
        } = write_list(&listing, &self.resource, format, &self.faults);
        let media_type = match is_html {
            true => PAGE,
            false => media_type(format.encoding),
        };
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
        let format = self.format()?;
        let options = self
            .query
            .watch_options(&self.resource, self.namespace.clone())?;
        let (feed, why) = Feed::open(self.server, self.id, options, format, &self.faults)?;
        let is_html = self.faults.contains(&Fault::Html);
        let media_type = match format.encoding {
            _ if is_html => PAGE,
            Encoding::Json => "application/json",
            Encoding::Protobuf => "application/vnd.kubernetes.protobuf;stream=watch",
        };
        let response = answer(StatusCode::OK, media_type, watch::body(feed));
        Ok((response, story(&why, &self.faults)))
    }

    fn get(self, name: &str) -> Answered {
        let format = self.format()?;
        let state = self.server.lock();
        let object = state
            .cluster
            .get(self.id, self.namespace.as_deref(), name)?;
        Ok((self.whole(&object, format), "it exists".to_owned()))
    }

    /// What becomes of a write whose options are in the query.
    fn mode(&self, options: &str) -> Result<Mode, Rejection> {
        Mode::new(options, self.query.all("dryRun"))
    }

    fn create(self) -> Answered {
        let format = self.format()?;
        let mode = self.mode("CreateOptions")?;
        let given = parse(&self.body)?;
        let namespace = self.namespace.as_deref();
        if self.resource.namespaced && namespace.is_none() {
            return Err(Rejection::bad_request(
                "an empty namespace may not be set during creation",
            ));
        }
        let (stored, _) = mode.write(self.server, self.id, |cluster, now| {
            cluster.prepare_create(self.id, namespace, given, now)
        })?;
        let why = mode.story(format!("created at {}", stored.version()));
        let created = StatusCode::CREATED;
        let response = match mode {
            Mode::Recorded => object_answer(created, format, &stored, &self.resource),
            Mode::DryRun => {
                let object = without_version(&stored, format.form);
                value_answer(created, format.encoding, &object)
            }
        };
        Ok((response, why))
    }

    fn replace(self, name: &str, part: Part) -> Answered {
        let format = self.format()?;
        let mode = self.mode("UpdateOptions")?;
        let object = parse(&self.body)?;
        let namespace = self.namespace.as_deref();
        let (object, _) = mode.write(self.server, self.id, |cluster, _| {
            cluster.prepare_replace(self.id, namespace, name, object, part)
        })?;
        let why = mode.story(format!("it is at {} now", object.version()));
        Ok((self.whole(&object, format), why))
    }

    fn patch(self, name: &str, part: Part) -> Answered {
        let format = self.format()?;
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
        let mode = self.mode("PatchOptions")?;
        let patch = parse(&self.body)?;
        let namespace = self.namespace.as_deref();
        let (object, _) = mode.write(self.server, self.id, |cluster, _| {
            cluster.prepare_patch(self.id, namespace, name, &patch, part)
        })?;
        let why = mode.story(format!("it is at {} now", object.version()));
        Ok((self.whole(&object, format), why))
    }

    fn delete(self, name: &str) -> Answered {
        let format = self.format()?;
        let options = self.delete_options()?;
        let mode = options.mode()?;
        let preconditions = options.preconditions();
        let namespace = self.namespace.as_deref();
        let (object, is_gone) = mode.write(self.server, self.id, |cluster, now| {
            cluster.prepare_delete(self.id, namespace, name, &preconditions, now)
        })?;
        let (response, why) = match is_gone {
            true => {
                let why = format!("deleted at {}", object.version());
                let status = self.success(&object);
                let encoding = accept::status(&self.headers, self.server.settings.protobuf);
                (value_answer(StatusCode::OK, encoding, &status), why)
            }
            false => {
                let why = "marked; it goes when its finalizers have".to_owned();
                (self.whole(&object, format), why)
            }
        };
        Ok((response, mode.story(why)))
    }

    /// The options of a deletion: those of the body, or else those of the query, as in
    /// kube-apiserver. A body without `dryRun` deletes, whatever the query says.
    fn delete_options(&self) -> Result<DeleteOptions, Rejection> {
        if self.body.is_empty() {
            return Ok(DeleteOptions {
                dry_run: Some(self.query.all("dryRun").to_vec()),
                ..DeleteOptions::default()
            });
        }
        serde_json::from_slice(&self.body)
            .map_err(|error| Rejection::bad_request(format!("these are no DeleteOptions: {error}")))
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
        let format = self.format()?;
        let options = self
            .query
            .list_options(&self.resource, self.namespace.clone())?;
        let options = ListOptions {
            selection: options.selection,
            ..ListOptions::default()
        };
        let mode = self.delete_options()?.mode()?;
        let any = Preconditions::default();
        let listing = mode.run(self.server, self.id, |cluster, now| {
            let mut listing = cluster.list(self.id, &options)?;
            for item in &mut listing.items {
                let (namespace, name) = (item.namespace(), item.name());
                let prepared = cluster.prepare_delete(self.id, namespace, name, &any, now)?;
                *item = mode.finish(cluster, self.id, prepared);
            }
            Ok(listing)
        })?;
        let why = mode.story(format!("{} objects deleted", listing.items.len()));
        let body = listing.write(&self.resource, format);
        Ok((encoded(StatusCode::OK, format.encoding, body), why))
    }
}

fn parse(body: &[u8]) -> Result<Value, Rejection> {
    serde_json::from_slice(body)
        .map_err(|error| Rejection::bad_request(format!("the body is not JSON: {error}")))
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct DeleteOptions {
    preconditions: Option<WirePreconditions>,
    dry_run: Option<Vec<String>>,
}

impl DeleteOptions {
    fn mode(&self) -> Result<Mode, Rejection> {
        Mode::new("DeleteOptions", self.dry_run.as_deref().unwrap_or_default())
    }

    fn preconditions(self) -> Preconditions {
        let given = self.preconditions.unwrap_or_default();
        Preconditions {
            uid: given.uid,
            version: given.resource_version,
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WirePreconditions {
    uid: Option<String>,
    resource_version: Option<String>,
}

fn not_allowed() -> Rejection {
    let message = "the server does not allow this method on the requested resource";
    Rejection::new(405, "MethodNotAllowed", message)
}
