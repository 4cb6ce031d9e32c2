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
    /// The grammar is that of apimachinery: empty terms are skipped, spaces count, and in values
    /// `\\`, `\,` and `\=` stand for a backslash, a comma and an equals sign.
    ///
    /// # Errors
    ///
    /// 400 for what cannot be read, and for a field this resource cannot be selected by.
    pub fn parse(text: &str, resource: &Resource) -> Result<Self, Rejection> {
        let terms = terms(text).into_iter().filter(|term| !term.is_empty());
        let requirements = terms.map(|term| requirement(term, resource));
        requirements.collect::<Result<_, _>>().map(Self)
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

/// Splits at commas that no backslash precedes.
fn terms(text: &str) -> Vec<&str> {
    let mut is_escaped = false;
    let parts = text.split(|letter| {
        let separates = letter == ',' && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        separates
    });
    parts.collect()
}

fn requirement(term: &str, resource: &Resource) -> Result<Requirement, Rejection> {
    let (name, value, equal) = operation(term).ok_or_else(|| {
        let message = format!("invalid selector: {term:?}; can't understand it");
        Rejection::bad_request(message)
    })?;
    let field = match name {
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
        value: unescaped(value)?,
        equal,
    })
}

/// Splits a term at its first operator: name, value, and whether they have to be equal.
fn operation(term: &str) -> Option<(&str, &str, bool)> {
    let at = term.find("!=").into_iter().chain(term.find('=')).min()?;
    let (name, rest) = term.split_at(at);
    [("!=", false), ("==", true), ("=", true)]
        .into_iter()
        .find_map(|(operator, equal)| Some((name, rest.strip_prefix(operator)?, equal)))
}

fn unescaped(value: &str) -> Result<String, Rejection> {
    let wrong =
        |why: &str| Rejection::bad_request(format!("field selector value {value:?}: {why}"));
    let mut out = String::with_capacity(value.len());
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some(escaped @ ('\\' | ',' | '=')) => out.push(escaped),
                _ => return Err(wrong("invalid escape sequence")),
            },
            ',' | '=' => return Err(wrong("a comma or = must be escaped by a backslash")),
            letter => out.push(letter),
        }
    }
    Ok(out)
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

    /// `fields.ParseSelector` skips empty terms, trims nothing, and unescapes values.
    #[test]
    fn texts_are_parsed_as_apimachinery_does() {
        let code = |text| FieldSelector::parse(text, &Resource::pods()).map_err(|e| e.code);
        for text in [
            "",
            ",",
            "metadata.name=a,,metadata.namespace=b,",
            "metadata.name=",
            "metadata.name==a",
            "metadata.name!=a",
            r"metadata.name=a\,b\=c\\",
            "metadata.name= a",
        ] {
            assert!(code(text).is_ok(), "{text:?}");
        }
        for text in [
            " ",
            "a",
            "=a",
            "metadata.name",
            "metadata.name =a",
            " metadata.name=a",
            "metadata.name=a, metadata.namespace=b",
            "metadata.name=a=b",
            "metadata.name===a",
            "metadata.name!==a",
            "metadata.name>a",
            r"metadata.name=a\b",
            r"metadata.name=a\",
        ] {
            assert_eq!(code(text).map(drop), Err(400), "{text:?}");
        }
    }

    #[test]
    fn values_are_unescaped_and_not_trimmed() {
        let value = |text| {
            let selector = FieldSelector::parse(text, &Resource::pods());
            selector.expect("it is one").0[0].value.clone()
        };
        assert_eq!(value(r"metadata.name=a\,b\=c\\"), r"a,b=c\");
        assert_eq!(value("metadata.name= a "), " a ");
    }
}
