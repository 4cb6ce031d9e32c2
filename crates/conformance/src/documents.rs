//! `docs/DIVERGENCES.md` and `docs/CONTRACT.md` against what really happens: a row without a
//! scenario or a rule, a rule without a row, or a reference to what does not exist is a finding.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::files;
use crate::level::Level;
use crate::rules::rules_of;
use crate::stored::Stored;

/// One row of a table: its cells.
type Row = Vec<String>;

/// The promises of client-go's documentation that a user may rely on.
const PROMISES: [&str; 10] = [
    "C-01", "C-02", "C-03", "C-04", "C-05", "C-06", "C-07", "C-08", "C-09", "C-10",
];

/// Checks both documents against what the stored scenarios showed.
///
/// # Errors
///
/// A document cannot be read.
pub fn check_documents(stored: &Stored) -> Result<Vec<String>> {
    let known = Known::read()?;
    let mut findings = divergences(stored, &known)?;
    findings.extend(contract(&known)?);
    Ok(findings)
}

/// What a document may refer to.
pub(crate) struct Known {
    repository: PathBuf,
    scenarios: BTreeSet<String>,
}

impl Known {
    pub(crate) fn read() -> Result<Self> {
        let mut scenarios = BTreeSet::new();
        for file in files::stored()? {
            let names = file
                .scenarios
                .iter()
                .map(|s| format!("{}/{}", file.level, s.name));
            scenarios.extend(names);
        }
        let repository = files::root().join("../..");
        Ok(Self {
            repository,
            scenarios,
        })
    }

    fn table(&self, document: &str) -> Result<Vec<Row>> {
        let path = self.repository.join("docs").join(document);
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        Ok(rows_of(&text))
    }

    /// Whether `reference` is a scenario, or a path of the tree below the root or `crates`.
    pub(crate) fn has(&self, reference: &str) -> bool {
        let is_there = |folder: &str| self.repository.join(folder).join(reference).exists();
        self.scenarios.contains(reference)
            || is_there("")
            || is_there("crates")
            || Path::new(reference).extension().is_none() && is_module(&self.repository, reference)
    }
}

/// `deltafifo/src/tests` may be a folder or a file of a test without its ending.
fn is_module(repository: &Path, reference: &str) -> bool {
    repository
        .join("crates")
        .join(format!("{reference}.rs"))
        .exists()
}

/// Rows whose first cell is an id.
fn rows_of(text: &str) -> Vec<Row> {
    let cells = |line: &str| -> Option<Row> {
        let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
        Some(
            inner
                .split('|')
                .map(|cell| cell.trim().to_owned())
                .collect(),
        )
    };
    let is_id = |cell: &String| {
        let (letters, number) = cell.split_once('-').unwrap_or_default();
        !letters.is_empty() && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
    };
    let rows = text.lines().filter_map(cells);
    rows.filter(|row| row.first().is_some_and(is_id)).collect()
}

/// What stands between backticks and looks like a place.
pub(crate) fn references(cell: &str) -> Vec<&str> {
    let quoted = cell.split('`').skip(1).step_by(2);
    quoted.filter(|text| text.contains('/')).collect()
}

/// `store/a-name` is a scenario; `object/src/key.rs` and `processor/src/tests` are places.
pub(crate) fn is_scenario(reference: &str) -> bool {
    let Some((level, name)) = reference.split_once('/') else {
        return false;
    };
    !name.contains(['/', '.']) && Level::ALL.iter().any(|known| known.name() == level)
}

/// Each row of the first table needs a rule that fires in the scenarios it names; each row of the
/// second, of what client-go does not have and no trace can show, needs a test that exists.
fn divergences(stored: &Stored, known: &Known) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    let mut rows = BTreeSet::new();
    let ruled: BTreeSet<&str> = Level::ALL
        .iter()
        .flat_map(|&level| rules_of(level).iter().map(|rule| rule.row))
        .collect();
    for row in known.table("DIVERGENCES.md")? {
        let (id, shown) = (row[0].clone(), row.last().cloned().unwrap_or_default());
        let shown = references(&shown);
        findings.extend(missing(&id, &shown, known));
        if ruled.contains(id.as_str()) {
            let fired = stored.fired.get(id.as_str()).map_or(&[][..], Vec::as_slice);
            let scenarios: Vec<&&str> = shown.iter().filter(|name| is_scenario(name)).collect();
            if scenarios.is_empty() {
                findings.push(format!("{id}: a row names the scenario that shows it"));
            }
            let silent = scenarios
                .iter()
                .filter(|name| !fired.contains(&(***name).to_owned()));
            findings.extend(silent.map(|name| format!("{id}: its rule does not fire in {name}")));
        } else if row.len() > 5 {
            findings.push(format!("{id}: a row without a rule"));
        }
        if !rows.insert(id.clone()) {
            findings.push(format!("{id}: is there twice"));
        }
    }
    let unwritten = ruled.iter().filter(|row| !rows.contains(**row));
    findings.extend(unwritten.map(|row| format!("{row}: a rule without a row")));
    Ok(findings)
}

/// Each promise has a row, and each row something that holds it.
fn contract(known: &Known) -> Result<Vec<String>> {
    let rows = known.table("CONTRACT.md")?;
    let mut findings = Vec::new();
    for promise in PROMISES {
        if !rows.iter().any(|row| row[0] == promise) {
            findings.push(format!("{promise}: not in docs/CONTRACT.md"));
        }
    }
    for row in &rows {
        let held = references(row.last().map_or("", String::as_str));
        findings.extend(missing(&row[0], &held, known));
    }
    Ok(findings)
}

fn missing(id: &str, named: &[&str], known: &Known) -> Vec<String> {
    let absent = named.iter().filter(|name| !known.has(name));
    let mut findings: Vec<String> = absent
        .map(|name| format!("{id}: `{name}` does not exist"))
        .collect();
    if named.is_empty() {
        findings.push(format!("{id}: names nothing that shows it"));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_references_are_found() {
        let text = "| id | x |\n| --- | --- |\n| D-07 | a | `queue/x`, `y` |\ntext | D-08 |";
        let rows = rows_of(text);
        assert_eq!(rows, [["D-07", "a", "`queue/x`, `y`"]]);
        assert_eq!(references(&rows[0][2]), ["queue/x"]);
    }

    #[test]
    fn what_is_not_there_is_found() {
        let known = Known::read().expect("the tree is readable");
        assert!(known.has("conformance/src/documents.rs") && known.has("docs/DIVERGENCES.md"));
        let findings = missing("D-07", &["queue/nobody-wrote-this"], &known);
        assert_eq!(findings.len(), 1);
        assert_eq!(missing("D-07", &[], &known).len(), 1);
    }
}
