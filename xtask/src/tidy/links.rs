//! Rules for links in documents.
//!
//! A link within the checkout is relative and names a file or a folder. The README of a published
//! crate is also shown outside the checkout, so its links contain the repository's address.

use std::collections::BTreeSet;

use super::{Finding, TextFile, manifest};

/// Where the repository's host shows a file, below the repository's address.
const SHOWN_AT: &str = "/blob/main/";

/// Applies all rules of this module.
pub(super) fn check(files: &[TextFile]) -> Vec<Finding> {
    let repository = manifest::repository(files).unwrap_or_default();
    let places = places(files);
    let published: BTreeSet<String> = manifest::published(files)
        .map(|manifest| manifest.path.replace("Cargo.toml", "README.md"))
        .collect();
    let documents = files.iter().filter(|file| file.path.ends_with(".md"));
    let check_one = |file: &TextFile| {
        let root = published.contains(&file.path).then_some(repository);
        broken(file, root, &places)
    };
    documents.flat_map(check_one).collect()
}

/// All files and folders.
fn places(files: &[TextFile]) -> BTreeSet<&str> {
    // Not part of the texts that tidy reads.
    let mut places = BTreeSet::from(["LICENSE"]);
    for file in files {
        places.insert(&file.path);
        places.extend(file.path.match_indices('/').map(|(at, _)| &file.path[..at]));
    }
    places
}

/// The links of one document that lead nowhere. `repository` is set for a published README.
fn broken(file: &TextFile, repository: Option<&str>, places: &BTreeSet<&str>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, link) in links(file) {
        let target = link.split('#').next().unwrap_or_default();
        let is_absolute = target.contains("://");
        let path = match repository {
            // A link to a heading of the same document.
            _ if target.is_empty() => continue,
            Some(repository) => {
                let rest = target.strip_prefix(repository);
                let Some(path) = rest.and_then(|rest| rest.strip_prefix(SHOWN_AT)) else {
                    let message = format!(
                        "links to {link}; a README of a published crate links to \
                         {repository}{SHOWN_AT}PATH"
                    );
                    findings.push(file.finding("repository-link", line, message));
                    continue;
                };
                path.to_owned()
            }
            None if is_absolute => continue,
            None => resolved(&file.path, target),
        };
        if !places.contains(path.as_str()) {
            findings.push(file.finding(
                "dead-link",
                line,
                format!("links to {path}: no such file"),
            ));
        }
    }
    findings
}

/// The targets of the links outside code, with their lines.
fn links(file: &TextFile) -> Vec<(usize, &str)> {
    let mut links = Vec::new();
    let mut fenced = false;
    for (number, line) in file.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            let ends = line
                .match_indices("](")
                .map(|(at, mark)| &line[at + mark.len()..]);
            links.extend(ends.filter_map(|rest| Some((number, rest.split_once(')')?.0))));
        }
    }
    links
}

/// The path of a relative link, from the root of the checkout.
fn resolved(document: &str, link: &str) -> String {
    let mut parts: Vec<&str> = document.split('/').collect();
    parts.pop();
    for part in link.trim_end_matches('/').split('/') {
        match part {
            "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = "[workspace.package]\nrepository = \"https://host/x\"\n";

    fn found(published: &str, readme: &str) -> Vec<String> {
        let files = [
            TextFile::fixture("Cargo.toml", ROOT),
            TextFile::fixture("crates/x/Cargo.toml", published),
            TextFile::fixture("crates/x/README.md", readme),
            TextFile::fixture("docs/adr/1.md", ""),
        ];
        check(&files).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn relative_link_names_a_file_or_a_folder() {
        let good = "[a](../../docs/adr/1.md#part) [b](../../docs/adr) [c](#here)\n\
            [d](https://elsewhere) `[e]`\n```\n[f](none.md)\n```\n[g](../../LICENSE)\n";
        assert!(found("publish = false\n", good).is_empty());
        assert_eq!(
            found("publish = false\n", "\n[a](../docs/adr)\n"),
            ["crates/x/README.md:2: links to crates/docs/adr: no such file [dead-link]"]
        );
    }

    #[test]
    fn readme_of_a_published_crate_links_to_the_repository() {
        let good = "[a](https://host/x/blob/main/docs/adr/1.md) [c](#here)\n";
        assert!(found("", good).is_empty());
        for bad in [
            "../../docs/adr/1.md",
            "https://other/blob/main/docs/adr/1.md",
        ] {
            let findings = found("", &format!("[a]({bad})\n"));
            assert!(
                findings.len() == 1 && findings[0].contains("repository-link"),
                "{findings:?}"
            );
        }
        let findings = found("", "[a](https://host/x/blob/main/docs/2.md)\n");
        assert_eq!(
            findings,
            ["crates/x/README.md:1: links to docs/2.md: no such file [dead-link]"]
        );
    }
}
