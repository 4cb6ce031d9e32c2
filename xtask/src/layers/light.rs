//! The packages that stay light: what must not be in the tree of those who use them.

use std::collections::BTreeSet;

use anyhow::Result;

use super::RULE;
use crate::shell;

/// A package, and the crates that must not be in its tree of normal dependencies.
struct Light {
    package: &'static str,
    /// How its users get the part that is light.
    flags: &'static [&'static str],
    forbidden: &'static [&'static str],
}

/// A name here also stands for its family: `tokio` forbids `tokio-util`.
const LIGHT: [Light; 7] = [
    Light {
        package: "informer-store",
        flags: &[],
        forbidden: &PURE,
    },
    Light {
        package: "informer-deltafifo",
        flags: &[],
        forbidden: &PURE,
    },
    Light {
        package: "informer-packed",
        flags: &[],
        forbidden: &PURE,
    },
    Light {
        package: "informer-reflector",
        flags: &["--no-default-features"],
        forbidden: &PURE,
    },
    Light {
        package: "informer-reflector",
        flags: &[],
        forbidden: &NO_HTTP,
    },
    Light {
        package: "informer-processor",
        flags: &[],
        forbidden: &NO_HTTP,
    },
    Light {
        package: "informer-kube-protobuf",
        flags: &[],
        forbidden: &NO_IO,
    },
];

const PURE: [&str; 12] = [
    "tokio",
    "hyper",
    "tower",
    "rustls",
    "openssl",
    "native-tls",
    "kube-client",
    "kube-runtime",
    "http",
    "serde",
    "serde_json",
    "simd-json",
];

const NO_IO: [&str; 6] = ["tokio", "hyper", "tower", "rustls", "http", "kube-client"];

const NO_HTTP: [&str; 11] = [
    "hyper",
    "tower",
    "rustls",
    "openssl",
    "native-tls",
    "kube-client",
    "kube-runtime",
    "http",
    "serde",
    "serde_json",
    "simd-json",
];

/// An error for each dependency that is too heavy for a package that `exists`.
pub(super) fn heavy_dependencies(exists: impl Fn(&str) -> bool) -> Result<Vec<String>> {
    let mut errors = Vec::new();
    for light in LIGHT.iter().filter(|light| exists(light.package)) {
        errors.extend(heavy_dependencies_of(light, &tree(light)?));
    }
    Ok(errors)
}

/// The names of everything a user of the package compiles, one a line.
fn tree(light: &Light) -> Result<String> {
    let common = [
        "tree", "--quiet", "--locked", "--edges", "normal", "--prefix", "none",
    ];
    let mut command = shell::cargo(common);
    command
        .args(["--format", "{p}", "--package", light.package])
        .args(light.flags);
    shell::output_of(&mut command)
}

fn heavy_dependencies_of(light: &Light, tree: &str) -> Vec<String> {
    let names = tree
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    let heavy: BTreeSet<&str> = names.filter(|name| is_forbidden(light, name)).collect();
    let describe = |name: &str| {
        let package = light.package;
        let flags: String = light.flags.iter().map(|flag| format!(" {flag}")).collect();
        format!(
            "error: {package}{flags} pulls in {name}\n  a leaf stays without {}; \
             `cargo tree -p {package}{flags} -e normal -i {name}` shows the way    {RULE}",
            light.forbidden.join(", ")
        )
    };
    heavy.into_iter().map(describe).collect()
}

fn is_forbidden(light: &Light, name: &str) -> bool {
    light.forbidden.iter().any(|family| {
        name.strip_prefix(family)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heavy_dependency_is_found_by_family_and_named_once() {
        let tree =
            "informer-store v0.1.0 (/src)\ntokio-util v0.7.1\ntokio-util v0.7.1 (*)\nimbl v7";
        let errors = heavy_dependencies_of(&LIGHT[0], tree);
        assert_eq!(errors.len(), 1);
        assert!(errors[0].starts_with("error: informer-store pulls in tokio-util\n"));
    }

    #[test]
    fn names_that_only_begin_alike_are_fine() {
        assert!(heavy_dependencies_of(&LIGHT[0], "hyperloglog v1\ntowering v2\n").is_empty());
        assert!(
            heavy_dependencies_of(&LIGHT[5], "tokio v1").is_empty(),
            "the processor has tasks"
        );
    }
}
