//! The option `dryRun`: whether a write is recorded, or only answered.

use serde_json::Value;

use crate::{Cluster, Object, Rejection, ResourceId, server::Server, wire::Form, write::Prepared};

/// What becomes of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Recorded,
    DryRun,
}

impl Mode {
    /// Reads the values of `dryRun`; `options` is the kind they belong to.
    pub(super) fn new(options: &str, values: &[String]) -> Result<Self, Rejection> {
        if values.iter().any(|value| value != "All") {
            return Err(Rejection::invalid_dry_run(options, values));
        }
        Ok(match values {
            [] => Self::Recorded,
            _ => Self::DryRun,
        })
    }

    /// Prepares one write and finishes it. Returns the object, and whether it is deleted.
    pub(super) fn write(
        self,
        server: &Server,
        id: ResourceId,
        prepare: impl FnOnce(&mut Cluster, &str) -> Result<Prepared, Rejection>,
    ) -> Result<(Object, bool), Rejection> {
        self.run(server, id, |cluster, now| {
            let prepared = prepare(cluster, now)?;
            let deletes = prepared.deletes();
            Ok((self.finish(cluster, id, prepared), deletes))
        })
    }

    /// Runs writes under the server's lock, and wakes the watches unless this is a dry run.
    pub(super) fn run<R>(
        self,
        server: &Server,
        id: ResourceId,
        writes: impl FnOnce(&mut Cluster, &str) -> Result<R, Rejection>,
    ) -> Result<R, Rejection> {
        match self {
            Self::Recorded => server.write(id, writes),
            Self::DryRun => server.dry_run(writes),
        }
    }

    /// Records a write, unless this is a dry run. Returns the object to answer with.
    pub(super) fn finish(
        self,
        cluster: &mut Cluster,
        id: ResourceId,
        prepared: Prepared,
    ) -> Object {
        match self {
            Self::Recorded => cluster.commit(id, prepared),
            Self::DryRun => prepared.dry(),
        }
    }

    /// The reason for an answer, for the log of requests.
    pub(super) fn story(self, why: String) -> String {
        match self {
            Self::Recorded => why,
            Self::DryRun => format!("dry run: {why}"),
        }
    }
}

/// An object without the version, which a creation that is not recorded does not have.
pub(super) fn without_version(object: &Object, form: Form) -> Value {
    let body = object.bytes_in(form);
    let mut object: Value = serde_json::from_slice(&body).expect("rendered by us, so it is JSON");
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("resourceVersion");
    }
    object
}
