//! What a user of the published crates has: packages without the checkout around them.
//!
//! `.cargo/config.toml` chooses a version of Kubernetes for every build in the checkout. A site
//! that builds documentation and a user's program do not have that file, so both are built here in
//! a folder outside the checkout: each package's documentation with the settings its manifest has
//! for such a site, and the README's program with the README's install lines. The same settings
//! describe each library's public API, whose foreign types are checked.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use cargo_metadata::{Metadata, Package, Target};
use serde_json::Value;

use crate::cache;
use crate::checkout;
use crate::shell::{cargo, program, run as shell_run};

use super::public_types;

/// Where the install lines of the README have the checkout, seen from the new crate.
const CHECKOUT: &str = "../informer/";

/// Set by `.cargo/config.toml` for xtask itself.
const KUBERNETES: &str = "K8S_OPENAPI_ENABLED_VERSION";

/// Builds the documentation of every published crate, and the README's program.
pub(super) fn run(metadata: &Metadata) -> Result<()> {
    // Kept between runs, or every dependency would be built each time.
    let target = cache::folder()?.join("published");
    let outside = tempfile::tempdir().context("cannot create a folder outside the checkout")?;
    let unpacked = outside.path().join("packages");
    unpack_all(metadata, &target, &unpacked)?;
    let mut foreign = BTreeSet::new();
    for package in published(metadata) {
        shell_run(&mut document(package, "doc", &unpacked, &target)?)?;
        if has_library(package) {
            let mut describe = document(package, "rustdoc", &unpacked, &target)?;
            public_types::write_json(&mut describe)?;
            shell_run(&mut describe)?;
            let json = format!("doc/{}.json", package.name.replace('-', "_"));
            foreign.extend(public_types::read(&package.name, &target.join(json))?);
        }
    }
    public_types::check(&foreign)?;
    build_readme(outside.path(), &target)
}

/// Packs every published crate and unpacks it below `unpacked`, where each finds the others.
///
/// `target` keeps what is built, except our own crates: their folders are new each time, and what
/// was built from old ones would stay there for good.
pub(super) fn unpack_all(metadata: &Metadata, target: &Path, unpacked: &Path) -> Result<()> {
    let mut clean = for_published("clean", metadata);
    shell_run(clean.arg("--target-dir").arg(target))?;
    shell_run(package(metadata).arg("--target-dir").arg(target))?;
    let packages: Vec<&Package> = published(metadata).collect();
    // Cargo reads the configuration in every folder below.
    fs::create_dir_all(unpacked.join(".cargo"))?;
    let configuration = unpacked.join(".cargo/config.toml");
    fs::write(configuration, siblings(&packages, unpacked))?;
    for package in packages {
        unpack(package, target, unpacked)?;
    }
    Ok(())
}

/// The command that packs every published crate.
pub(super) fn package(metadata: &Metadata) -> Command {
    let mut command = for_published("package", metadata);
    // A check runs on uncommitted changes as well; a release checks that there are none.
    command.args(["--allow-dirty", "--no-verify"]);
    command
}

fn for_published(verb: &str, metadata: &Metadata) -> Command {
    let mut command = cargo([verb, "--locked"]);
    for package in published(metadata) {
        command.args(["-p", package.name.as_str()]);
    }
    command
}

/// `publish = false` is an empty list of registries.
pub(super) fn published(metadata: &Metadata) -> impl Iterator<Item = &Package> {
    let packages = metadata.workspace_packages().into_iter();
    packages.filter(|package| package.publish.as_ref().is_none_or(|all| !all.is_empty()))
}

/// `cargo` in a folder outside the checkout, without what the checkout chooses.
pub(super) fn cargo_in<'a>(folder: &Path, arguments: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = cargo(arguments);
    command.current_dir(folder).env_remove(KUBERNETES);
    command
}

fn unpack(package: &Package, target: &Path, unpacked: &Path) -> Result<()> {
    let archive = format!("package/{}.crate", folder_name(package));
    let mut tar = program("tar");
    tar.arg("-xzf").arg(target.join(archive));
    shell_run(tar.arg("-C").arg(unpacked))
}

pub(super) fn folder_name(package: &Package) -> String {
    format!("{}-{}", package.name, package.version)
}

/// The part of a configuration with which the packages find each other before they are published.
fn siblings(packages: &[&Package], unpacked: &Path) -> String {
    let mut patch = "[patch.crates-io]\n".to_owned();
    for package in packages {
        let folder = unpacked.join(folder_name(package));
        patch.push_str(&format!("{} = {{ path = {folder:?} }}\n", package.name));
    }
    patch
}

fn has_library(package: &Package) -> bool {
    package.targets.iter().any(Target::is_lib)
}

/// The command that runs rustdoc for one unpacked package: `verb` is `doc` or `rustdoc`.
fn document(package: &Package, verb: &str, unpacked: &Path, target: &Path) -> Result<Command> {
    let scope = if has_library(package) {
        "--lib"
    } else {
        "--bins"
    };
    let mut command = cargo_in(&unpacked.join(folder_name(package)), [verb, scope]);
    // The other verb is about one package anyway, and does not know the option.
    command.args((verb == "doc").then_some("--no-deps"));
    let settings = documentation_settings(&package.metadata);
    let settings = settings.with_context(|| format!("in the manifest of {}", package.name))?;
    command.args(settings).env("RUSTDOCFLAGS", "-D warnings");
    command.arg("--target-dir").arg(target);
    Ok(command)
}

/// The arguments for cargo in the table `package.metadata.docs.rs` of a manifest.
fn documentation_settings(metadata: &Value) -> Result<Vec<String>> {
    let mut arguments = Vec::new();
    let table = metadata.pointer("/docs/rs").and_then(Value::as_object);
    for (name, value) in table.into_iter().flatten() {
        if name == "all-features" {
            arguments.extend((value == true).then(|| "--all-features".to_owned()));
            continue;
        }
        let words: Vec<String> = serde_json::from_value(value.clone())
            .with_context(|| format!("{name} is not a list of strings"))?;
        match name.as_str() {
            "features" => arguments.extend(["--features".to_owned(), words.join(",")]),
            "cargo-args" => arguments.extend(words),
            _ => bail!("xtask/src/ci/published.rs does not support the setting {name}; add it"),
        }
    }
    Ok(arguments)
}

/// Builds the first program of the README in an empty crate, after the README's install lines.
fn build_readme(outside: &Path, target: &Path) -> Result<()> {
    let root = checkout::root();
    let readme = fs::read_to_string(root.join("README.md")).context("cannot read the README")?;
    let program = first_block(&readme, "rust").context("the README has no program")?;
    let folder = outside.join("readme");
    fs::create_dir(&folder)?;
    shell_run(&mut cargo_in(&folder, ["init", "--vcs", "none"]))?;
    // The versions that everything else is tested with.
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock"))?;
    for line in install_lines(&readme) {
        let words = line.iter().map(|word| from_checkout(word, &root));
        let words: Vec<String> = words.collect();
        shell_run(&mut cargo_in(&folder, words.iter().map(String::as_str)))?;
    }
    fs::write(folder.join("src/main.rs"), program)?;
    let mut check = cargo_in(&folder, ["check"]);
    shell_run(check.arg("--target-dir").arg(target))
}

/// The text of the first fenced block whose language is this.
fn first_block<'a>(markdown: &'a str, language: &str) -> Option<&'a str> {
    let begins = |rest: &str| rest.starts_with([',', '\n']);
    let mut fences = markdown.match_indices("```");
    let (at, _) = fences.find(|(at, fence)| {
        let rest = &markdown[at + fence.len()..];
        rest.strip_prefix(language).is_some_and(begins)
    })?;
    let (_, block) = markdown[at..].split_once('\n')?;
    block.split_once("```").map(|(text, _)| text)
}

/// The arguments of each `cargo add` in the text.
fn install_lines(markdown: &str) -> Vec<Vec<&str>> {
    let lines = markdown.lines().map(|line| line.split('#').next());
    let lines = lines.filter_map(|line| line?.strip_prefix("cargo "));
    let lines = lines.map(|line| line.split_whitespace().collect());
    lines
        .filter(|words: &Vec<&str>| words.first() == Some(&"add"))
        .collect()
}

/// A word of an install line, with the path of this checkout for the one that a reader has.
fn from_checkout(word: &str, root: &Path) -> String {
    let path = word.strip_prefix(CHECKOUT).map(|rest| root.join(rest));
    path.map_or_else(
        || word.to_owned(),
        |path: PathBuf| path.display().to_string(),
    )
}

#[cfg(test)]
mod tests {
    use cargo_metadata::MetadataCommand;
    use serde_json::json;

    use super::*;
    use crate::layers::LEAVES;

    const README: &str = "\
```sh
cargo run --release
```
```sh
cargo add informer-factory --path ../informer/crates/informer-factory --features rustls-tls
cargo add tokio@1 --features macros,rt # a runtime
```
```rusty
no
```
```rust,no_run
fn main() {}
```
```rust
fn second() {}
```
";

    #[test]
    fn the_program_is_the_first_block_of_its_language() {
        assert_eq!(first_block(README, "rust"), Some("fn main() {}\n"));
        assert_eq!(first_block(README, "sh"), Some("cargo run --release\n"));
        assert_eq!(first_block(README, "go"), None);
    }

    #[test]
    fn install_lines_are_those_that_add_a_dependency() {
        let lines = install_lines(README);
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert_eq!(lines[1], ["add", "tokio@1", "--features", "macros,rt"]);
        let path = from_checkout(lines[0][3], Path::new("/here"));
        assert_eq!(path, "/here/crates/informer-factory");
        assert_eq!(from_checkout("tokio@1", Path::new("/here")), "tokio@1");
    }

    #[test]
    fn the_readme_has_a_program_and_install_lines_for_it() {
        let readme = fs::read_to_string(checkout::root().join("README.md")).expect("readable");
        let program = first_block(&readme, "rust").expect("a program");
        assert!(program.contains("fn main()"), "{program}");
        let lines = install_lines(&readme);
        let ours = lines
            .iter()
            .flatten()
            .any(|word| word.starts_with(CHECKOUT));
        assert!(ours, "{lines:?}");
    }

    #[test]
    fn settings_for_documentation_become_arguments() {
        let arguments = |table: Value| documentation_settings(&json!({"docs": {"rs": table}}));
        let features = arguments(json!({"features": ["a", "b/c"]})).expect("supported");
        assert_eq!(features, ["--features", "a,b/c"]);
        let raw = arguments(json!({"cargo-args": ["--config", "x=1"]})).expect("supported");
        assert_eq!(raw, ["--config", "x=1"]);
        let all = arguments(json!({"all-features": true})).expect("supported");
        assert_eq!(all, ["--all-features"]);
        assert!(arguments(json!({"targets": []})).is_err());
        assert!(
            documentation_settings(&Value::Null)
                .expect("no table")
                .is_empty()
        );
    }

    #[test]
    fn xtask_is_not_published_and_the_leaves_are() {
        let mut command = MetadataCommand::new();
        let metadata = command.current_dir(checkout::root()).no_deps().exec();
        let metadata = metadata.expect("the workspace can be read");
        let names: Vec<&str> = published(&metadata).map(|one| one.name.as_str()).collect();
        assert!(LEAVES.iter().all(|leaf| names.contains(leaf)), "{names:?}");
        assert!(!names.contains(&"xtask"), "{names:?}");
    }
}
