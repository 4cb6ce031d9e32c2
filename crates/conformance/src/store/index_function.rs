//! The functions an index may be made of. Those of the facade are meant where it has one.

use std::sync::Arc;

use informer_factory::index;
use k8s_openapi::api::core::v1::ConfigMap;

use super::object::data_of;

/// The name of a function that fails.
pub(super) const FAILING: &str = "bad";

/// Why there are no values: the function failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Failed;

/// The values of one object, or that the function fails for it.
pub(super) type IndexFunction = fn(&ConfigMap) -> Result<Vec<String>, Failed>;

/// The function of this name.
pub(super) fn index_function(name: &str) -> Option<IndexFunction> {
    Some(match name {
        "data" => |object| Ok(data_of(object).cloned().into_iter().collect()),
        "parts" => |object| {
            let parts = data_of(object).map(|data| data.split(',').map(str::to_owned));
            Ok(parts.into_iter().flatten().collect())
        },
        "label" => |object| Ok(texts(index::label("l")(object))),
        "owner" => |object| Ok(texts(index::owner_uid(object))),
        "controller" => |object| Ok(texts(index::controller_uid(object))),
        "name" => |object| Ok(vec![object.metadata.name.clone().unwrap_or_default()]),
        "namespace" => |object| Ok(vec![object.metadata.namespace.clone().unwrap_or_default()]),
        "same" => |_| Ok(vec!["same".to_owned()]),
        FAILING => |object| match data_of(object) {
            Some(data) if data == "bad" => Err(Failed),
            data => Ok(data.cloned().into_iter().collect()),
        },
        _ => return None,
    })
}

fn texts(values: impl IntoIterator<Item = Arc<str>>) -> Vec<String> {
    values.into_iter().map(|value| value.to_string()).collect()
}

/// As the store wants it: our index functions have no errors, a failure is a panic.
pub(super) fn total(function: IndexFunction) -> impl Fn(&ConfigMap) -> Vec<String> + Send + Sync {
    move |object| match function(object) {
        Ok(values) => values,
        // Nothing is printed, as by `panic!`: this one is expected.
        Err(failed) => std::panic::resume_unwind(Box::new(failed)),
    }
}
