//! The job `advisories`: no dependency has a known vulnerability.
//!
//! A check of our own, because `cargo audit` takes minutes to build. It reads RustSec's database, a
//! git repository with a file for each advisory; without a connection to it the job is skipped.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use cargo_metadata::Package;
use cargo_metadata::semver::{Version, VersionReq};

use crate::shell::{output_of, program};
use crate::stopwatch::Outcome;

use super::deny::packages;

const DATABASE: &str = "https://github.com/rustsec/advisory-db";

/// What the database says of one problem of one crate.
#[derive(Debug, Default)]
struct Advisory<'a> {
    id: &'a str,
    /// Set if the crate has no vulnerability, such as `unmaintained`, `notice` or `unsound`.
    informational: Option<&'a str>,
    is_withdrawn: bool,
    /// The versions without the problem, as lists of requirements.
    good: Vec<VersionReq>,
}

/// Checks every package that a build of the workspace with any feature can use.
pub(super) fn run() -> Result<Outcome> {
    let folder = tempfile::tempdir().context("cannot create a folder for the database")?;
    let mut clone = program("git");
    clone.args(["clone", "--quiet", "--depth", "1", DATABASE]);
    clone.arg(folder.path()).env("GIT_TERMINAL_PROMPT", "0");
    if output_of(&mut clone).is_err() {
        return Ok(Outcome::Skipped(format!("git cannot clone {DATABASE}")));
    }
    let packages = packages()?;
    let mut errors = 0;
    for package in &packages {
        errors += judge(package, &folder.path().join("crates"))?;
    }
    if errors > 0 {
        bail!("{errors} advisories are about dependencies");
    }
    println!(
        "advisories: {} packages have no known vulnerability",
        packages.len()
    );
    Ok(Outcome::Passed)
}

/// Prints what the database says of one package, and returns the number of errors in it.
///
/// That a crate is not maintained is printed only: no version of it would be better.
fn judge(package: &Package, crates: &Path) -> Result<usize> {
    let mut errors = 0;
    let folder = crates.join(package.name.as_str());
    for entry in folder.read_dir().into_iter().flatten() {
        let path = entry?.path();
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {path:?}"))?;
        let advisory = parse(&text).with_context(|| format!("in {path:?}"))?;
        if !advisory.concerns(&package.version) {
            continue;
        }
        let kind = match advisory.informational {
            Some(kind @ ("unmaintained" | "notice")) => kind,
            other => {
                errors += 1;
                other.unwrap_or("error")
            }
        };
        eprintln!(
            "{kind}: {} {}: {}",
            package.name, package.version, advisory.id
        );
    }
    Ok(errors)
}

impl Advisory<'_> {
    fn concerns(&self, version: &Version) -> bool {
        !self.is_withdrawn && !self.good.iter().any(|good| good.matches(version))
    }
}

/// Reads the TOML at the beginning of an advisory: one field or list at the beginning of a line.
fn parse(text: &str) -> Result<Advisory<'_>> {
    let block = text.split("```").nth(1);
    let block = block.context("no TOML between fences")?;
    let field = |name: &str| {
        let value = block.lines().find_map(|line| line.strip_prefix(name));
        let value = value.and_then(|value| value.trim_start().strip_prefix('='));
        value.and_then(|value| value.split('"').nth(1))
    };
    let mut advisory = Advisory {
        id: field("id").context("no id")?,
        informational: field("informational"),
        is_withdrawn: field("withdrawn").is_some(),
        good: Vec::new(),
    };
    for name in ["\npatched = [", "\nunaffected = ["] {
        let list = block.split(name).nth(1).unwrap_or_default();
        let list = list.split(']').next().unwrap_or_default();
        for good in list.split('"').skip(1).step_by(2) {
            let good = good.parse().with_context(|| format!("{good:?}"))?;
            advisory.good.push(good);
        }
    }
    Ok(advisory)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
```toml
[advisory]
id = \"RUSTSEC-2023-0001\"
package = \"x\"
withdrawn = \"2024-01-01\"
informational = \"unsound\"

[versions]
patched = [
    \">= 1.18.4, < 1.19.0\",
    \">= 1.20.3\",
]
unaffected = [\"< 1.7.0\"]
```

# A title

patched = [\"1.19.0\"] is no field here.
";

    fn concerns(advisory: &Advisory<'_>, version: &str) -> bool {
        advisory.concerns(&version.parse().expect("a version"))
    }

    #[test]
    fn advisory_concerns_the_versions_between_its_lists() {
        let mut advisory = parse(TEXT).expect("well formed");
        assert_eq!(advisory.id, "RUSTSEC-2023-0001");
        assert_eq!(advisory.informational, Some("unsound"));
        assert!(!concerns(&advisory, "1.10.0"), "it was withdrawn");
        advisory.is_withdrawn = false;
        for version in ["1.7.0", "1.18.3", "1.19.0", "1.20.2"] {
            assert!(concerns(&advisory, version), "{version}");
        }
        for version in ["1.6.9", "1.18.4", "1.20.3", "2.0.0"] {
            assert!(!concerns(&advisory, version), "{version}");
        }
    }

    #[test]
    fn advisory_without_good_versions_concerns_all() {
        let text = "```toml\nid = \"X-1\"\n[versions]\npatched = []\n```\n";
        assert!(concerns(&parse(text).expect("well formed"), "9.9.9"));
        assert!(parse("# No block\n").is_err());
    }
}
