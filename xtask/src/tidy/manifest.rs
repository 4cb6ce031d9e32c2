//! Rules for crates as a whole.

use std::collections::BTreeMap;

use super::{Finding, TextFile};
use crate::layers;

/// The number of source files that a folder of a product crate may contain, without subfolders.
const FOLDER_LIMIT: usize = 15;

/// The beginning of the line with the repository's address.
const REPOSITORY: &str = "repository = ";

/// The line of a crate that is not published.
const UNPUBLISHED: &str = "publish = false";

/// Applies all rules of this module.
pub(super) fn check(files: &[TextFile]) -> Vec<Finding> {
    let inherits = files
        .iter()
        .find(|file| file.path == "Cargo.toml")
        .is_some_and(|root| line_of(&root.text, "unsafe_code").contains("\"forbid\""));
    let libraries = files.iter().filter(|file| is_library_root(&file.path));
    let mut findings: Vec<Finding> = libraries
        .filter_map(|library| unsafe_code(library, files, inherits))
        .collect();
    findings.extend(flat_folders(files));
    findings.extend(published(files).flat_map(|manifest| package_metadata(manifest, files)));
    findings
}

/// The address of the repository, from the root manifest.
pub(super) fn repository(files: &[TextFile]) -> Option<&str> {
    let root = files.iter().find(|file| file.path == "Cargo.toml")?;
    let value = line_of(&root.text, REPOSITORY).strip_prefix(REPOSITORY)?;
    Some(value.trim_matches('"'))
}

/// The manifests of the crates that are published.
pub(super) fn published(files: &[TextFile]) -> impl Iterator<Item = &TextFile> {
    let is_crate = |file: &&TextFile| {
        let folder = file.path.strip_prefix("crates/");
        let folder = folder.and_then(|rest| rest.strip_suffix("/Cargo.toml"));
        folder.is_some_and(|folder| !folder.contains('/'))
    };
    let is_published = |file: &&TextFile| !file.text.lines().any(|line| line == UNPUBLISHED);
    files.iter().filter(is_crate).filter(is_published)
}

/// Finds what the manifest of a published crate lacks.
///
/// `documentation` is not set: without it, a registry shows the documentation that it built.
fn package_metadata(manifest: &TextFile, files: &[TextFile]) -> Vec<Finding> {
    let library = manifest.path.replace("Cargo.toml", "src/lib.rs");
    let has_library = files.iter().any(|file| file.path == library);
    let mut needed = vec!["repository.workspace = true", "readme = \"README.md\""];
    if has_library {
        needed.push("[package.metadata.docs.rs]");
    }
    needed.retain(|needed| !manifest.text.lines().any(|line| line == *needed));
    let missing = needed.into_iter();
    missing
        .map(|line| manifest.finding("package-metadata", 0, format!("has no line `{line}`")))
        .collect()
}

/// Finds folders below `src` of the product crates that contain too many source files.
fn flat_folders(files: &[TextFile]) -> Vec<Finding> {
    let product = layers::product();
    let is_product = |manifest: &TextFile| {
        let name = line_of(&manifest.text, "name = ").trim_start_matches("name = ");
        product.contains(name.trim_matches('"'))
    };
    let manifests = files
        .iter()
        .filter(|file| file.path.ends_with("Cargo.toml") && is_product(file));
    let sources: Vec<String> = manifests
        .map(|manifest| manifest.path.replace("Cargo.toml", "src/"))
        .collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        if sources.iter().any(|folder| file.path.starts_with(folder)) {
            let (folder, _) = file.path.rsplit_once('/').unwrap_or_default();
            *counts.entry(folder).or_default() += 1;
        }
    }
    let flat = counts.into_iter().filter(|(_, n)| *n > FOLDER_LIMIT);
    flat.map(|(folder, n)| Finding {
        rule: "flat-folder",
        path: folder.to_owned(),
        line: 0,
        message: format!("contains {n} source files, the limit is {FOLDER_LIMIT}: add a subfolder"),
    })
    .collect()
}

/// `crates/<name>/src/lib.rs`.
fn is_library_root(path: &str) -> bool {
    path.strip_prefix("crates/").is_some_and(|rest| {
        rest.strip_suffix("/src/lib.rs")
            .is_some_and(|name| !name.contains('/'))
    })
}

/// Published code is free of `unsafe`, by its own words or by the workspace's lint.
fn unsafe_code(library: &TextFile, files: &[TextFile], inherits: bool) -> Option<Finding> {
    let manifest = library.path.replace("src/lib.rs", "Cargo.toml");
    let manifest = files.iter().find(|file| file.path == manifest)?;
    let by_lint = inherits && manifest.text.contains("[lints]\nworkspace = true");
    let by_word = library
        .text
        .lines()
        .any(|line| line == "#![forbid(unsafe_code)]");
    let unpublished = manifest.text.lines().any(|line| line == UNPUBLISHED);
    let good = by_lint || by_word || unpublished;
    let message = "needs #![forbid(unsafe_code)], or the workspace's lints in its Cargo.toml";
    (!good).then(|| library.finding("unsafe-code", 0, message))
}

fn line_of<'a>(text: &'a str, beginning: &str) -> &'a str {
    text.lines()
        .find(|line| line.starts_with(beginning))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINT: &str = "[workspace.lints.rust]\nunsafe_code = \"forbid\"\n";

    fn is_good(root: &str, manifest: &str, library: &str) -> bool {
        let files = [
            TextFile::fixture("Cargo.toml", root),
            TextFile::fixture("crates/x/Cargo.toml", manifest),
            TextFile::fixture("crates/x/src/lib.rs", library),
        ];
        !check(&files).iter().any(|one| one.rule == "unsafe-code")
    }

    #[test]
    fn a_published_library_forbids_unsafe_code_one_way_or_the_other() {
        let inherits = "[lints]\nworkspace = true\n";
        assert!(is_good(LINT, inherits, ""));
        assert!(is_good("", "", "//! X.\n#![forbid(unsafe_code)]\n"));
        assert!(is_good("", "publish = false\n", ""));
        assert!(
            !is_good("", inherits, ""),
            "the lint is not there to be inherited"
        );
        assert!(!is_good(LINT, "", ""), "the lint is not inherited");
    }

    #[test]
    fn manifest_of_a_published_crate_describes_the_package() {
        let missing = |manifest: &str| {
            let files = [
                TextFile::fixture("crates/x/Cargo.toml", manifest),
                TextFile::fixture("crates/x/src/lib.rs", ""),
            ];
            let findings: Vec<_> = published(&files)
                .flat_map(|manifest| package_metadata(manifest, &files))
                .collect();
            findings.len()
        };
        let all = "repository.workspace = true\nreadme = \"README.md\"\n";
        assert_eq!(
            missing(all),
            1,
            "a library also needs the settings for its documentation"
        );
        assert_eq!(missing(&format!("{all}[package.metadata.docs.rs]\n")), 0);
        assert_eq!(missing("repository = \"https://host/x\"\n"), 3);
        assert_eq!(missing("publish = false\n"), 0);
    }

    #[test]
    fn folder_of_a_product_crate_has_a_limit_without_its_subfolders() {
        let findings = |package: &str, flat: usize, nested: usize| -> Vec<String> {
            let manifest = format!("[package]\nname = \"{package}\"\n");
            let mut files = vec![TextFile::fixture("crates/x/Cargo.toml", &manifest)];
            let names = (0..flat).map(|n| format!("crates/x/src/a{n}.rs"));
            let below = (0..nested).map(|n| format!("crates/x/src/b/b{n}.rs"));
            let beside = (0..flat).map(|n| format!("crates/x/tests/c{n}.rs"));
            let paths = names.chain(below).chain(beside);
            files.extend(paths.map(|path| TextFile::fixture(&path, "")));
            let found = flat_folders(&files);
            found.iter().map(ToString::to_string).collect()
        };
        assert!(findings("informer-store", FOLDER_LIMIT, FOLDER_LIMIT).is_empty());
        assert_eq!(
            findings("informer-store", FOLDER_LIMIT + 1, 1),
            [
                "crates/x/src: contains 16 source files, the limit is 15: add a subfolder \
              [flat-folder]"
            ]
        );
        assert!(findings("informer-testkit", FOLDER_LIMIT + 1, 0).is_empty());
    }
}
