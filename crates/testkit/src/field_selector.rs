//! Field selectors: `metadata.name`, `metadata.namespace`, and of pods `spec.nodeName`.
//!
//! Nothing else can be selected by; asking for it is answered with 400.

use crate::{Object, Rejection, Resource};

/// All requirements must hold; without any, everything matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSelector(Vec<Requirement>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Requirement {
    field: Field,
    value: String,
    equal: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Name,
    Namespace,
    Node,
}

impl FieldSelector {
    /// Reads `metadata.name=a,spec.nodeName!=b` for this resource.
    ///
    /// # Errors
    ///
    /// 400 for what cannot be read, and for a field this resource cannot be selected by.
    pub fn parse(text: &str, resource: &Resource) -> Result<Self, Rejection> {
        let parts = text
            .split(',')
            .map(str::trim)
            .filter(|part| !part.is_empty());
        parts
            .map(|part| requirement(part, resource))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    pub(crate) fn matches(&self, object: &Object) -> bool {
        self.0.iter().all(|requirement| {
            let value = match requirement.field {
                Field::Name => object.name(),
                Field::Namespace => object.namespace().unwrap_or_default(),
                Field::Node => object.node(),
            };
            (value == requirement.value) == requirement.equal
        })
    }

    /// True if everything matches.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn requirement(part: &str, resource: &Resource) -> Result<Requirement, Rejection> {
    let (name, value, equal) = if let Some((name, value)) = part.split_once("!=") {
        (name, value, false)
    } else if let Some((name, value)) = part.split_once("==").or(part.split_once('=')) {
        (name, value, true)
    } else {
        let message = format!("invalid selector: {part:?}; can't understand it");
        return Err(Rejection::bad_request(message));
    };
    let field = match name.trim() {
        "metadata.name" => Field::Name,
        "metadata.namespace" => Field::Namespace,
        "spec.nodeName" if resource.is_same(&Resource::pods()) => Field::Node,
        other => {
            let message = format!("field label not supported: {other}");
            return Err(Rejection::bad_request(message));
        }
    };
    Ok(Requirement {
        field,
        value: value.trim().to_owned(),
        equal,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_kubernetes_indexes_can_be_selected_by() {
        let parse = |text, resource| FieldSelector::parse(text, &resource).map_err(|e| e.code);
        assert!(parse("metadata.name=a,spec.nodeName!=b", Resource::pods()).is_ok());
        assert_eq!(parse("spec.nodeName=b", Resource::services()), Err(400));
        assert_eq!(parse("status.phase=Running", Resource::pods()), Err(400));
        assert_eq!(parse("metadata.name", Resource::pods()), Err(400));
    }
}
