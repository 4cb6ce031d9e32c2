//! Rules for crates as a whole.

use super::{Finding, TextFile};

/// Applies all rules of this module.
pub(super) fn check(files: &[TextFile]) -> Vec<Finding> {
    let inherits = files
        .iter()
        .find(|file| file.path == "Cargo.toml")
        .is_some_and(|root| line_of(&root.text, "unsafe_code").contains("\"forbid\""));
    let libraries = files.iter().filter(|file| is_library_root(&file.path));
    libraries
        .filter_map(|library| unsafe_code(library, files, inherits))
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
    let unpublished = manifest.text.lines().any(|line| line == "publish = false");
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
        check(&files).is_empty()
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
}
