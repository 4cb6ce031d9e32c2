//! The job `deny`: which crates the libraries may depend on, by licence, name and source.
//!
//! A check of our own, because `cargo deny` takes longer to build than all the jobs that check a
//! rule. Advisories need a database that is not in the tree: the job `advisories` reads it.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail};
use cargo_metadata::{CargoOpt, MetadataCommand, Package};

use crate::checkout;
use crate::fuzz;
use crate::stopwatch::Outcome;

/// The licences that a dependency may have, as its manifest states them.
///
/// All but one ask a program only to name the authors. `MPL-2.0+` is the licence of `imbl` and
/// `imbl-sized-chunks`, whose persistent maps the store's snapshots consist of. It holds for single
/// files: a program keeps its own licence, and only a changed file of these crates has to be
/// published. ADR 2 compares the alternatives.
const LICENCES: [&str; 10] = [
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MPL-2.0+",
    "Unicode-3.0",
    "Zlib",
];

/// The crates that no crate of the workspace may depend on, whatever its features, and why.
const BANNED: [(&str, &str); 4] = [
    ("aws-lc-sys", "is a second provider for rustls, beside ring"),
    ("native-tls", "differs on each platform; rustls does not"),
    (
        "openssl-sys",
        "needs a library of the system; rustls does not",
    ),
    ("serde_yaml", "is not maintained"),
];

/// Checks every package that a build of the workspace with any feature can use.
///
/// The fuzz targets have a lock file of their own, which a new dependency of a crate makes stale.
/// It is read here because the job that builds them is among the last of a run.
pub(super) fn run() -> Result<Outcome> {
    let packages = packages()?;
    locked(fuzz::MANIFEST)?;
    let errors = errors(&packages);
    if errors.is_empty() {
        println!("deny: {} packages are allowed", packages.len());
        return Ok(Outcome::Passed);
    }
    for error in &errors {
        eprintln!("error: {error}");
    }
    bail!("{} errors in the dependencies", errors.len());
}

/// Every package that a build of the workspace with any feature can use.
pub(super) fn packages() -> Result<Vec<Package>> {
    locked("Cargo.toml")
}

/// Every package that a build of this manifest with any feature can use, as its lock file has them.
///
/// # Errors
///
/// If the lock file does not have them all.
fn locked(manifest: &str) -> Result<Vec<Package>> {
    let mut command = MetadataCommand::new();
    command
        .manifest_path(checkout::root().join(manifest))
        .features(CargoOpt::AllFeatures)
        .other_options(["--locked".to_owned()]);
    let metadata = command
        .exec()
        .with_context(|| format!("cannot read the dependencies of {manifest}"))?;
    Ok(metadata.packages)
}

fn errors(packages: &[Package]) -> Vec<String> {
    let mut errors = Vec::new();
    let mut registries = BTreeSet::new();
    for package in packages {
        let named = format!("{} {}", package.name, package.version);
        match &package.license {
            Some(licence) if is_allowed(licence) => {}
            Some(licence) => errors.push(format!("{named} has the licence {licence}")),
            None => errors.push(format!("{named} states no licence")),
        }
        if let Some((_, why)) = BANNED.iter().find(|(name, _)| package.name == *name) {
            errors.push(format!("{named} is banned: it {why}"));
        }
        match &package.source {
            Some(source) if source.repr.starts_with("registry+") => {
                registries.insert(source.repr.as_str());
            }
            Some(source) => errors.push(format!("{named} comes from {source}")),
            None => {}
        }
    }
    if registries.len() > 1 {
        errors.push(format!(
            "packages come from several registries: {registries:?}"
        ));
    }
    errors
}

/// Whether an SPDX expression can be met with [`LICENCES`] alone.
///
/// `/` is what older manifests write for `OR`.
fn is_allowed(expression: &str) -> bool {
    let text = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut rest = &words[..];
    let met = alternatives(&mut rest);
    met && rest.is_empty()
}

/// `a OR b`: one of them is enough.
fn alternatives(rest: &mut &[&str]) -> bool {
    let mut met = together(rest);
    while let ["OR", tail @ ..] = *rest {
        *rest = tail;
        met |= together(rest);
    }
    met
}

/// `a AND b`: all of them hold.
fn together(rest: &mut &[&str]) -> bool {
    let mut met = one(rest);
    while let ["AND", tail @ ..] = *rest {
        *rest = tail;
        met &= one(rest);
    }
    met
}

/// One licence, one licence with an exception, or an expression in parentheses.
fn one(rest: &mut &[&str]) -> bool {
    match *rest {
        ["(", tail @ ..] => {
            *rest = tail;
            let met = alternatives(rest);
            let closed = rest.first() == Some(&")");
            *rest = rest.get(1..).unwrap_or_default();
            met && closed
        }
        [licence, "WITH", exception, tail @ ..] => {
            *rest = tail;
            LICENCES.contains(&&*format!("{licence} WITH {exception}"))
        }
        [licence, tail @ ..] => {
            *rest = tail;
            LICENCES.contains(licence)
        }
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn package(name: &str, license: Option<&str>, source: &str) -> Package {
        let package = json!({
            "name": name, "version": "1.0.0", "id": name, "license": license, "source": source,
            "dependencies": [], "targets": [], "features": {}, "manifest_path": "/x/Cargo.toml"
        });
        serde_json::from_value(package).expect("a package of cargo")
    }

    #[test]
    fn a_licence_is_allowed_if_some_choice_of_it_is_in_the_list() {
        for allowed in [
            "MIT",
            "MIT/Apache-2.0",
            "GPL-3.0 OR MIT",
            "Apache-2.0 WITH LLVM-exception",
            "(MIT OR GPL-3.0) AND Unicode-3.0",
        ] {
            assert!(is_allowed(allowed), "{allowed}");
        }
        for refused in [
            "",
            "GPL-3.0",
            "MIT AND GPL-3.0",
            "GPL-3.0 AND MIT OR GPL-2.0",
            "MIT WITH LLVM-exception",
            "(MIT",
            "MIT GPL-3.0",
        ] {
            assert!(!is_allowed(refused), "{refused}");
        }
    }

    #[test]
    fn each_rule_finds_a_planted_violation() {
        let good = || package("good", Some("MIT"), "registry+one");
        assert_eq!(errors(&[good()]), Vec::<String>::new());
        let planted = [
            (
                package("x", Some("GPL-3.0"), "registry+one"),
                "has the licence GPL-3.0",
            ),
            (package("x", None, "registry+one"), "states no licence"),
            (
                package("serde_yaml", Some("MIT"), "registry+one"),
                "is banned",
            ),
            (
                package("x", Some("MIT"), "git+somewhere"),
                "comes from git+somewhere",
            ),
            (
                package("x", Some("MIT"), "registry+two"),
                "several registries",
            ),
        ];
        for (bad, expected) in planted {
            let errors = errors(&[good(), bad]);
            assert!(
                errors.len() == 1 && errors[0].contains(expected),
                "{expected}: {errors:?}"
            );
        }
    }
}
