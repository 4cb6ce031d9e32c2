//! Whether all that is known of client-go is accounted for: each of its own tests, each of the
//! golden rows, and each statement that was only read.
//!
//! `UPSTREAM.md` has a row for each, with the scenarios or tests that show it, or the reason why
//! nothing can. The names of the tests are data, `upstream-tests.txt`, taken from the module the
//! judge is built with ([`names_in`]), so that a new version of client-go is noticed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::documents::{Known, is_scenario, references};
use crate::files;

/// A reason has at least so many words.
const WORDS_OF_A_REASON: usize = 5;

/// What was derived from reading and nothing else, or looked like a defect of client-go.
const ONLY_READ: [&str; 23] = [
    "IX-11", "IX-12", "IX-14", "DF-12", "RF-10", "RF-11", "PD-02", "PD-06", "PD-07", "PD-08",
    "CT-05", "RL-04", "RL-09", "RL-30", "RL-31", "RL-41", "RL-42", "RL-47", "PL-06", "SP-06",
    "SP-11", "SI-02", "SI-21",
];

/// How many golden rows there are, `GT-01` and so on.
const GOLDEN_ROWS: usize = 20;

/// The names of the tests in a folder of client-go, those of its folders as `folder/TestName`.
///
/// # Errors
///
/// The folder cannot be read.
pub fn names_in(folder: &Path) -> Result<Vec<String>> {
    let mut names = tests_of(folder, "")?;
    for path in entries_of(folder)? {
        if path.is_dir() {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            names.extend(tests_of(&path, &format!("{name}/"))?);
        }
    }
    names.sort();
    Ok(names)
}

/// Stores the names anew; `folder` is `tools/cache` of the module the judge is built with.
///
/// # Errors
///
/// The folder cannot be read, or the file not be written.
pub fn store_names(folder: &Path) -> Result<usize> {
    let names = names_in(folder)?;
    fs::write(names_path(), names.join("\n") + "\n").context("storing the names of the tests")?;
    Ok(names.len())
}

fn names_path() -> PathBuf {
    files::root().join("upstream-tests.txt")
}

fn entries_of(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    entries.map(|entry| Ok(entry?.path())).collect()
}

fn tests_of(folder: &Path, prefix: &str) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for path in entries_of(folder)? {
        let is_test = path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().ends_with("_test.go"));
        if !is_test {
            continue;
        }
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let functions = text
            .lines()
            .filter_map(|line| line.strip_prefix("func Test"));
        let found =
            functions.filter_map(|rest| Some(format!("{prefix}Test{}", rest.split_once('(')?.0)));
        names.extend(found);
    }
    Ok(names)
}

/// What is not accounted for, or by what does not exist; a text for each.
///
/// # Errors
///
/// A file cannot be read.
pub fn findings() -> Result<Vec<String>> {
    let names = fs::read_to_string(names_path()).context("the names of client-go's tests")?;
    let mut wanted: BTreeSet<String> = names.lines().map(str::to_owned).collect();
    wanted.extend(ONLY_READ.map(str::to_owned));
    wanted.extend((1..=GOLDEN_ROWS).map(|number| format!("GT-{number:02}")));
    let table = fs::read_to_string(files::root().join("UPSTREAM.md")).context("UPSTREAM.md")?;
    Ok(compare_rows(
        &wanted,
        &rows_of(&table),
        &covered()?,
        &Known::read()?,
    ))
}

/// What each stored scenario says that it covers.
fn covered() -> Result<BTreeMap<String, Vec<String>>> {
    let mut covered = BTreeMap::new();
    for file in files::stored()? {
        for scenario in file.scenarios {
            covered.insert(format!("{}/{}", file.level, scenario.name), scenario.covers);
        }
    }
    Ok(covered)
}

/// First and last cell of each row of a table, the first without its backticks.
fn rows_of(text: &str) -> Vec<(String, String)> {
    let rows = text.lines().filter_map(|line| {
        let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
        let mut cells = inner.split('|').map(str::trim);
        let (first, last) = (cells.next()?, cells.next_back()?);
        let is_data = first != "id" && first != "test" && !first.starts_with("---");
        is_data.then(|| (first.trim_matches('`').to_owned(), last.to_owned()))
    });
    rows.collect()
}

fn compare_rows(
    wanted: &BTreeSet<String>,
    rows: &[(String, String)],
    covered: &BTreeMap<String, Vec<String>>,
    known: &Known,
) -> Vec<String> {
    let mut findings = Vec::new();
    let mut seen = BTreeSet::new();
    for (name, shown) in rows {
        if !wanted.contains(name) {
            findings.push(format!("{name}: nothing of client-go's has this name"));
        }
        if !seen.insert(name.clone()) {
            findings.push(format!("{name}: has two rows"));
        }
        findings.extend(check_row(name, shown, covered, known));
    }
    for name in wanted.difference(&seen) {
        let by: Vec<&str> = covered
            .iter()
            .filter(|(_, covers)| says(covers, name))
            .map(|(scenario, _)| scenario.as_str())
            .collect();
        findings.push(format!("{name}: has no row; covered by {by:?}"));
    }
    findings
}

fn check_row(
    name: &str,
    shown: &str,
    covered: &BTreeMap<String, Vec<String>>,
    known: &Known,
) -> Vec<String> {
    let references = references(shown);
    let mut findings = Vec::new();
    for reference in &references {
        if is_scenario(reference) {
            match covered.get(*reference) {
                None => findings.push(format!("{name}: there is no scenario `{reference}`")),
                Some(covers) if !says(covers, name) => {
                    findings.push(format!(
                        "{name}: `{reference}` does not say that it covers this"
                    ));
                }
                Some(_) => {}
            }
        } else if !known.has(reference) {
            findings.push(format!("{name}: `{reference}` does not exist"));
        }
    }
    let words = shown.split_whitespace().count();
    if references.is_empty() && words < WORDS_OF_A_REASON {
        findings.push(format!(
            "{name}: neither shown by anything nor given a reason"
        ));
    }
    findings
}

/// Whether a scenario says that it covers this; a case may stand behind the name of a test, and
/// the folder of the test may be left out.
fn says(covers: &[String], name: &str) -> bool {
    let bare = name.rsplit('/').next().unwrap_or_default();
    covers.iter().any(|cover| {
        [name, bare].iter().any(|name| {
            let rest = cover.strip_prefix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Known {
        Known::read().expect("the tree is readable")
    }

    fn check(name: &str, shown: &str) -> usize {
        let covers = vec!["TestA/case".to_owned(), "GT-01".to_owned()];
        let covered = BTreeMap::from([("store/s".to_owned(), covers)]);
        check_row(name, shown, &covered, &known()).len()
    }

    #[test]
    fn a_row_is_worth_what_it_names() {
        assert_eq!(check("TestA", "`store/s`"), 0);
        assert_eq!(check("sub/TestA", "`store/s`, `object/src/key.rs`"), 0);
        assert_eq!(check("GT-01", "`store/s`"), 0);
        assert_eq!(check("TestAB", "`store/s`"), 1, "another test");
        assert_eq!(check("TestA", "`store/none`"), 1, "no such scenario");
        assert_eq!(check("TestA", "`store/src/none.rs`"), 1, "no such file");
        assert_eq!(check("TestA", "no reason"), 1);
        assert_eq!(check("TestA", "there is no such thing in ours"), 0);
    }

    #[test]
    fn names_without_rows_and_rows_without_names_are_found() {
        let wanted = BTreeSet::from(["TestA".to_owned(), "TestB".to_owned()]);
        let reason = "there is no such thing in ours";
        let table = format!("| test | shown by |\n| --- | --- |\n| `TestA` | {reason} |\n");
        let mut rows = rows_of(&table);
        assert_eq!(rows.len(), 1);
        let judged = |rows: &[_]| compare_rows(&wanted, rows, &BTreeMap::new(), &known()).len();
        assert_eq!(judged(&rows), 1, "TestB has no row");
        rows.push(("TestB".to_owned(), reason.to_owned()));
        assert_eq!(judged(&rows), 0);
        rows.push(("TestB".to_owned(), reason.to_owned()));
        rows.push(("TestC".to_owned(), reason.to_owned()));
        assert_eq!(judged(&rows), 2, "one twice, one unknown");
    }

    #[test]
    fn the_names_of_tests_are_read_from_go() {
        // The judge is a test too.
        let go = files::root().join("go");
        let names = names_in(&go).expect("readable");
        assert!(names.contains(&"TestJudge".to_owned()), "{names:?}");
        let folder = go.parent().expect("it has one");
        let names = names_in(folder).expect("readable");
        assert!(names.contains(&"go/TestJudge".to_owned()), "{names:?}");
    }
}
