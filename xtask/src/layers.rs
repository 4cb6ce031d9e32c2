//! `cargo xtask layers`: which crate may depend on which, and files that depend on each other.
//!
//! Three rules. A dependency between crates of the workspace must be in [`LAYERS`]. A leaf, as its
//! users get it, must not pull in a crate that [`light`] names. At most two files of a product
//! crate depend on each other in a circle ([`circles`]).

mod light;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};
use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};

use crate::checkout;
use crate::circles;

const RULE: &str = "docs/ARCHITECTURE.md#layers";

/// The leaves, which know no other crate of the workspace.
pub(crate) const LEAVES: [&str; 6] = [
    "informer-store",
    "informer-deltafifo",
    "informer-reflector",
    "informer-processor",
    "informer-packed",
    "informer-kube-protobuf",
];

/// One row of the table of layers.
struct Layer {
    package: &'static str,
    /// What it may depend on.
    uses: &'static [&'static str],
    /// What its tests and examples may use beside that, and beside itself.
    tests_use: &'static [&'static str],
}

impl Layer {
    /// A crate that depends on no other of the workspace.
    const fn alone(package: &'static str) -> Self {
        Self {
            package,
            uses: &[],
            tests_use: &[],
        }
    }
}

/// The one type that store, reflector and source share: see ADR 12.
const OBJECT: &str = "informer-object";

const LAYERS: [Layer; 16] = [
    Layer::alone(OBJECT),
    Layer {
        package: "informer-store",
        uses: &[OBJECT],
        tests_use: &[],
    },
    Layer::alone("informer-deltafifo"),
    Layer {
        package: "informer-reflector",
        uses: &[OBJECT],
        tests_use: &[],
    },
    Layer::alone("informer-processor"),
    Layer::alone("informer-packed"),
    Layer::alone("informer-kube-protobuf"),
    // Implements the reflector's port over HTTP. Its tests run it against the in-memory server.
    Layer {
        package: "informer-kube-source",
        uses: &[OBJECT, "informer-reflector", "informer-kube-protobuf"],
        tests_use: &["informer-testkit"],
    },
    // For the reflector's port, which the in-memory server implements, and for the encoder.
    Layer {
        package: "informer-testkit",
        uses: &["informer-reflector", "informer-kube-protobuf"],
        tests_use: &[],
    },
    Layer {
        package: "informer-factory",
        uses: &[
            OBJECT,
            "informer-store",
            "informer-deltafifo",
            "informer-reflector",
            "informer-processor",
            "informer-packed",
            "informer-kube-source",
            "informer-kube-protobuf",
        ],
        tests_use: &["informer-testkit"],
    },
    Layer {
        package: "informer-cli",
        uses: &["informer-factory", "informer-testkit"],
        tests_use: &[],
    },
    // These two are not published and may look at leaves directly.
    Layer {
        package: "informer-conformance",
        uses: &["informer-factory", "informer-testkit", "informer-deltafifo"],
        tests_use: &LEAVES,
    },
    Layer {
        package: "informer-bench",
        uses: &[
            "informer-factory",
            "informer-testkit",
            "informer-kube-protobuf",
        ],
        tests_use: &LEAVES,
    },
    // A user like any other, who sees nothing but the facade and the server.
    Layer {
        package: "informer-simulation",
        uses: &["informer-factory", "informer-testkit"],
        tests_use: &[],
    },
    Layer {
        package: "informer-chaos",
        uses: &["informer-factory", "informer-testkit"],
        tests_use: &[],
    },
    Layer::alone("xtask"),
];

/// Returns the facade and every crate below it: what a user of the facade compiles of ours.
pub(crate) fn product() -> BTreeSet<&'static str> {
    let mut product = BTreeSet::new();
    let mut open = vec!["informer-factory"];
    while let Some(package) = open.pop() {
        if product.insert(package) {
            let layer = LAYERS.iter().find(|layer| layer.package == package);
            open.extend(layer.into_iter().flat_map(|layer| layer.uses));
        }
    }
    product
}

/// Checks the rules on this checkout.
pub(crate) fn run() -> Result<()> {
    let metadata = MetadataCommand::new()
        .current_dir(checkout::root())
        .no_deps()
        .exec()
        .context("cannot read the workspace")?;
    let arrows = arrows(&metadata);
    print!("{}", table(&arrows));
    let mut errors = forbidden_arrows(&arrows);
    errors.extend(light::heavy_dependencies(|package| {
        arrows.contains_key(package)
    })?);
    errors.extend(file_circles(&metadata)?);
    if errors.is_empty() {
        println!("layers: {} crates keep to their layers", arrows.len());
        return Ok(());
    }
    for error in &errors {
        eprintln!("{error}");
    }
    bail!("{} errors in the layers", errors.len());
}

/// Checks the files of every product crate of this checkout, and prints how many there are.
fn file_circles(metadata: &Metadata) -> Result<Vec<String>> {
    let product = product();
    let members = metadata.workspace_packages();
    let mut errors = Vec::new();
    for package in members
        .iter()
        .filter(|one| product.contains(one.name.as_str()))
    {
        let folder = package.manifest_path.parent();
        let folder = folder.context("a manifest is in a folder")?;
        let report = circles::check(&package.name, folder.as_std_path())?;
        println!(
            "files: {:<20} {:>3} files, {:>4} dependencies between them, {} circles",
            package.name.as_str(),
            report.files,
            report.dependencies,
            report.errors.len()
        );
        errors.extend(report.errors);
    }
    Ok(errors)
}

/// The crates of this checkout and what each depends on, a line for each.
fn table(all: &BTreeMap<String, Arrows>) -> String {
    let order = |package: &str| LAYERS.iter().position(|layer| layer.package == package);
    let mut rows: Vec<_> = all.iter().collect();
    rows.sort_by_key(|(package, _)| order(package).unwrap_or(LAYERS.len()));
    let list = |names: &BTreeSet<String>| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        names.join(", ")
    };
    let line = |(package, arrows): (&String, &Arrows)| {
        let uses = match list(&arrows.uses) {
            none if none.is_empty() => "none of ours".to_owned(),
            uses => uses,
        };
        let tests = match list(&arrows.tests_use) {
            none if none.is_empty() => none,
            uses => format!("; in tests {uses}"),
        };
        format!("crate: {package:<20} uses {uses}{tests}\n")
    };
    rows.into_iter().map(line).collect()
}

/// The dependencies of one package inside the workspace.
#[derive(Debug, Default)]
struct Arrows {
    /// Of the library and its build script.
    uses: BTreeSet<String>,
    /// Of tests, examples and benchmarks.
    tests_use: BTreeSet<String>,
}

fn arrows(metadata: &Metadata) -> BTreeMap<String, Arrows> {
    let members = metadata.workspace_packages();
    let names: BTreeSet<&str> = members
        .iter()
        .map(|package| package.name.as_str())
        .collect();
    let mut all = BTreeMap::new();
    for package in &members {
        let mut arrows = Arrows::default();
        let inside = package
            .dependencies
            .iter()
            .filter(|d| names.contains(d.name.as_str()));
        for dependency in inside {
            let kind = match dependency.kind {
                DependencyKind::Development => &mut arrows.tests_use,
                _ => &mut arrows.uses,
            };
            kind.insert(dependency.name.clone());
        }
        all.insert(package.name.to_string(), arrows);
    }
    all
}

fn forbidden_arrows(all: &BTreeMap<String, Arrows>) -> Vec<String> {
    all.iter()
        .flat_map(|(package, arrows)| forbidden_arrows_of(package, arrows))
        .collect()
}

fn forbidden_arrows_of(package: &str, arrows: &Arrows) -> Vec<String> {
    let Some(layer) = LAYERS.iter().find(|layer| layer.package == package) else {
        return vec![format!(
            "error: {package} is in no layer\n  give it a row in xtask/src/layers.rs    {RULE}"
        )];
    };
    let allowed_in_tests = |name: &str| {
        name == package || layer.uses.contains(&name) || layer.tests_use.contains(&name)
    };
    let normal = arrows
        .uses
        .iter()
        .filter(|name| !layer.uses.contains(&name.as_str()));
    let tests = arrows
        .tests_use
        .iter()
        .filter(|name| !allowed_in_tests(name));
    let normal = normal.map(|name| format!("error: {package} depends on {name}"));
    let tests = tests.map(|name| format!("error: {package} depends on {name} in its tests"));
    normal
        .chain(tests)
        .map(|error| format!("{error}\n  {}", allowance(layer)))
        .collect()
}

fn allowance(layer: &Layer) -> String {
    let list = |names: &[&str]| match names {
        [] => "(no workspace crate)".to_owned(),
        names => names.join(", "),
    };
    let mut text = format!("allowed for {}: {}", layer.package, list(layer.uses));
    if !layer.tests_use.is_empty() {
        text.push_str(&format!("; in tests also {}", list(layer.tests_use)));
    }
    format!("{text}    {RULE}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(package: &str, uses: &[&str], tests_use: &[&str]) -> Vec<String> {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        forbidden_arrows_of(
            package,
            &Arrows {
                uses: owned(uses),
                tests_use: owned(tests_use),
            },
        )
    }

    #[test]
    fn a_leaf_that_knows_another_leaf_is_an_error_with_the_rule_beside_it() {
        assert_eq!(
            errors("informer-reflector", &["informer-store"], &[]),
            ["error: informer-reflector depends on informer-store\n  \
              allowed for informer-reflector: informer-object    docs/ARCHITECTURE.md#layers"]
        );
    }

    #[test]
    fn the_arrows_of_the_table_are_fine() {
        for layer in &LAYERS {
            assert!(errors(layer.package, layer.uses, layer.tests_use).is_empty());
            assert!(
                errors(layer.package, &[], &[layer.package]).is_empty(),
                "itself, in tests"
            );
        }
    }

    #[test]
    fn what_only_tests_may_use_is_not_for_the_library() {
        assert!(errors("informer-factory", &[], &["informer-testkit"]).is_empty());
        let error = &errors("informer-factory", &["informer-testkit"], &[])[0];
        assert!(error.contains("in tests also informer-testkit"), "{error}");
        let error = &errors("informer-store", &[], &["informer-testkit"])[0];
        assert!(error.starts_with("error: informer-store depends on informer-testkit in its"));
    }

    #[test]
    fn table_has_a_line_for_every_crate_from_the_leaves_up() {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let arrows = |uses: &[&str], tests_use: &[&str]| Arrows {
            uses: names(uses),
            tests_use: names(tests_use),
        };
        let all = BTreeMap::from([
            (
                "informer-factory".to_owned(),
                arrows(&["informer-store"], &["informer-testkit"]),
            ),
            ("informer-store".to_owned(), arrows(&[], &[])),
        ]);
        assert_eq!(
            table(&all),
            "crate: informer-store       uses none of ours\n\
             crate: informer-factory     uses informer-store; in tests informer-testkit\n"
        );
    }

    #[test]
    fn product_is_the_facade_and_what_it_uses() {
        let product = product();
        assert!(LEAVES.iter().all(|leaf| product.contains(leaf)));
        assert!(product.contains("informer-factory") && !product.contains("informer-testkit"));
    }

    #[test]
    fn a_crate_without_a_row_is_an_error() {
        assert!(errors("informer-new", &[], &[])[0].contains("is in no layer"));
    }
}
