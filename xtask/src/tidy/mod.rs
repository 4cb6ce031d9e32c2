//! `cargo xtask tidy`: the house rules that no compiler knows.
//!
//! Every rule is a function from text to findings with a test of its own. `text` has the rules for
//! all files, `rust` those for Rust sources, `manifest` those for crates, `links` those for links
//! in documents, `lessons` those for the table of failures, `ids` those for ids and the table of
//! invariants, and `allowed` the exceptions. Limits do not move; code does.

mod allowed;
mod ids;
mod lessons;
mod links;
mod manifest;
mod rust;
mod source;
mod table;
mod text;

use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::checkout;
use allowed::AllowList;
use source::{RustSource, TestFiles};

/// Folders that hold no text of ours.
const FOREIGN_FOLDERS: [&str; 3] = [".git", "node_modules", "corpus"];

/// Files that tools write. In a linked work tree, `.git` is a file.
const FOREIGN_FILES: [&str; 4] = [".git", "Cargo.lock", "go.sum", "LICENSE"];

/// One place that breaks one rule.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Finding {
    /// The rule's name, as the allow-list has it.
    rule: &'static str,
    path: String,
    /// Counted from one; zero means the file as a whole.
    line: usize,
    message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {} [{}]", self.path, self.message, self.rule),
            line => write!(f, "{}:{line}: {} [{}]", self.path, self.message, self.rule),
        }
    }
}

/// One text file of the checkout.
#[derive(Clone, Debug)]
struct TextFile {
    /// Relative to the checkout, with slashes.
    path: String,
    text: String,
}

impl TextFile {
    #[cfg(test)]
    fn fixture(path: &str, text: &str) -> Self {
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
        }
    }

    fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    fn finding(&self, rule: &'static str, line: usize, message: impl Into<String>) -> Finding {
        Finding {
            rule,
            path: self.path.clone(),
            line,
            message: message.into(),
        }
    }

    /// The lines, counted from one.
    fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line))
    }
}

/// Checks this checkout.
pub(crate) fn run() -> Result<()> {
    let root = checkout::root();
    let mut files = Vec::new();
    collect(&root, &root, &mut files)?;
    let allowed = AllowList::read(&root.join(allowed::PATH))?;
    let findings = allowed.apply(findings(&files));
    if findings.is_empty() {
        println!("tidy: {} files keep to the rules", files.len());
        return Ok(());
    }
    for finding in &findings {
        eprintln!("{finding}");
    }
    bail!("{} findings", findings.len());
}

fn findings(files: &[TextFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut sources = Vec::new();
    for file in files {
        findings.extend(text::check(file));
        if file.is_rust() {
            match RustSource::parse(file) {
                Ok(source) => sources.push(source),
                Err(finding) => findings.push(finding),
            }
        }
    }
    let test_files = TestFiles::declared_in(&sources);
    for source in &sources {
        findings.extend(rust::check(source, &test_files));
        findings.extend(ids::check_rustdoc(source, &test_files));
    }
    findings.extend(rust::check_panic_boundaries(&sources, &test_files));
    findings.extend(manifest::check(files));
    findings.extend(links::check(files));
    findings.extend(lessons::check(files));
    findings.extend(ids::check(files));
    findings.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
    findings
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<TextFile>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list {folder:?}"))?;
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let kind = entry.file_type()?;
        if kind.is_dir() {
            if !FOREIGN_FOLDERS.contains(&name.as_str()) && !is_target(&name) {
                collect(root, &entry.path(), files)?;
            }
        } else if kind.is_file() && !FOREIGN_FILES.contains(&name.as_str()) {
            let path = entry.path();
            let bytes = fs::read(&path).with_context(|| format!("cannot read {path:?}"))?;
            // What is not text is not ours to judge.
            if let Ok(text) = String::from_utf8(bytes) {
                let path = path
                    .strip_prefix(root)?
                    .to_string_lossy()
                    .replace('\\', "/");
                files.push(TextFile { path, text });
            }
        }
    }
    Ok(())
}

/// Build folders, as `.gitignore` names them.
fn is_target(name: &str) -> bool {
    name == "target" || name.starts_with("target-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_reads_like_a_compilers() {
        let file = TextFile::fixture("crates/x/src/lib.rs", "");
        let finding = file.finding("line-length", 3, "too long");
        assert_eq!(
            finding.to_string(),
            "crates/x/src/lib.rs:3: too long [line-length]"
        );
        let finding = file.finding("file-length", 0, "too long");
        assert_eq!(
            finding.to_string(),
            "crates/x/src/lib.rs: too long [file-length]"
        );
    }

    #[test]
    fn findings_of_all_kinds_come_in_the_order_of_files() {
        let files = [
            TextFile::fixture("b.rs", "fn f() {}\n"),
            TextFile::fixture("a.md", "# One\n# Two\n"),
            TextFile::fixture("c.rs", "//! Broken.\nfn {\n"),
        ];
        let found = findings(&files);
        let rules: Vec<_> = found.iter().map(|finding| finding.rule).collect();
        assert_eq!(rules[..3], ["one-title", "module-doc", "syntax"]);
    }

    #[test]
    fn build_folders_are_left_alone() {
        assert!(is_target("target") && is_target("target-bench"));
        assert!(!is_target("targets"));
    }
}
