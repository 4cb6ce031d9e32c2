//! Which namespaces are meant.

use informer_factory::Namespaces;

use super::resource::Resource;
use crate::escape;
use crate::failure::Failure;

/// What the command line says about namespaces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    /// `-n`
    pub(crate) namespaces: &'a [String],
    /// `-A`
    pub(crate) all: bool,
    /// The namespace of the context.
    pub(crate) default: &'a str,
}

/// The namespaces to follow.
pub(crate) fn namespaces(resource: &Resource, asked: &Asked<'_>) -> Result<Namespaces, Failure> {
    if !resource.namespaced {
        return match asked.namespaces {
            [] => Ok(Namespaces::All),
            _ => Err(Failure::setup(format!(
                "{} belong to the cluster, not to namespaces",
                resource.qualified()
            ))
            .advise("Leave -n away.")),
        };
    }
    if asked.all {
        return Ok(Namespaces::All);
    }
    let names = match asked.namespaces {
        [] => vec![asked.default.to_owned()],
        names => names.to_vec(),
    };
    check_names(&names)?;
    Ok(Namespaces::These(names))
}

/// Refuses what cannot be the name of a namespace.
pub(crate) fn check_names(names: &[String]) -> Result<(), Failure> {
    match names.iter().find(|name| !is_name(name)) {
        Some(name) => Err(Failure::setup(format!(
            "{:?} is no namespace",
            escape::text(name)
        ))),
        None => Ok(()),
    }
}

/// Whether it is a DNS label, so that it can be put into a path as it is.
pub(crate) fn is_name(name: &str) -> bool {
    let good = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    !name.is_empty() && name.len() <= 63 && name.bytes().all(good)
}

/// `in namespace "x"`, for messages; empty for what has no namespace.
pub(crate) fn in_words(resource: &Resource, namespaces: &Namespaces) -> String {
    match namespaces {
        Namespaces::All if resource.namespaced => "in all namespaces".to_owned(),
        Namespaces::All => String::new(),
        Namespaces::These(names) => format!("in namespace {}", names.join(", ")),
        // A scope that this program does not choose.
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(namespaced: bool) -> Resource {
        Resource {
            group: String::new(),
            version: "v1".to_owned(),
            order: 0,
            kind: "Node".to_owned(),
            plural: "nodes".to_owned(),
            singular: "node".to_owned(),
            short_names: Vec::new(),
            namespaced,
            verbs: Vec::new(),
        }
    }

    #[test]
    fn namespaces_are_those_asked_for_or_that_of_the_context() {
        let names = ["a".to_owned(), "b".to_owned()];
        fn asked(namespaces: &[String], all: bool) -> Asked<'_> {
            Asked {
                namespaces,
                all,
                default: "ctx",
            }
        }
        let get = |namespaced, asked: Asked<'_>| namespaces(&resource(namespaced), &asked);
        let these = |names: &[&str]| Namespaces::These(names.iter().map(|&n| n.into()).collect());
        assert_eq!(get(true, asked(&[], false)).expect("fine"), these(&["ctx"]));
        assert_eq!(
            get(true, asked(&names, false)).expect("fine"),
            these(&["a", "b"])
        );
        assert_eq!(get(true, asked(&[], true)).expect("fine"), Namespaces::All);
        assert_eq!(
            get(false, asked(&[], false)).expect("fine"),
            Namespaces::All
        );
        let error = get(false, asked(&names, false)).expect_err("no namespaces");
        assert!(
            error.to_string().contains("belong to the cluster"),
            "{error}"
        );
        for wrong in ["", "A", "a/b", "../x", "a?b"] {
            let wrong = [wrong.to_owned()];
            assert!(get(true, asked(&wrong, false)).is_err(), "{wrong:?}");
        }
    }
}
