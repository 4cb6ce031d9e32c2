//! Rules for `docs/LESSONS.md`: every failure of the catalogue has its row, and every file and test
//! that a row names is there.

use super::table::{absent, code, columns};
use super::{Finding, TextFile};

/// Where the table is.
const PATH: &str = "docs/LESSONS.md";

/// How many failures the catalogue has.
const FAILURES: usize = 90;

/// Id, failure, who met it, countermeasure, test.
const COLUMNS: usize = 5;

/// Applies all rules of this module, in a checkout that has documents at all.
pub(super) fn check(files: &[TextFile]) -> Vec<Finding> {
    let Some(table) = files.iter().find(|file| file.path == PATH) else {
        let documents = files
            .iter()
            .find(|file| file.path == "docs/ARCHITECTURE.md");
        let missing = |file: &TextFile| file.finding("lessons", 0, format!("{PATH} is missing"));
        return documents.map(missing).into_iter().collect();
    };
    let rows = || table.lines().filter(|(_, line)| line.starts_with("| FM-"));
    let mut findings = order(table, rows());
    for (number, line) in rows() {
        let found = row(files, line).into_iter();
        findings.extend(found.map(|message| table.finding("lessons", number, message)));
    }
    findings
}

/// Each id once, in order. Only the first wrong one is reported: those after it follow from it.
fn order<'a>(table: &TextFile, rows: impl Iterator<Item = (usize, &'a str)>) -> Vec<Finding> {
    let mut wanted = 1;
    for (number, line) in rows {
        let id = columns(line).next().unwrap_or_default();
        let expected = format!("FM-{wanted:02}");
        if id != expected {
            let message = format!("has {id} where {expected} must be");
            return vec![table.finding("lessons", number, message)];
        }
        wanted += 1;
    }
    let last = wanted - 1;
    let message = format!("ends with FM-{last:02}, must end with FM-{FAILURES}");
    (last != FAILURES)
        .then(|| table.finding("lessons", 0, message))
        .into_iter()
        .collect()
}

/// The faults of one row.
fn row(files: &[TextFile], line: &str) -> Vec<String> {
    let cells: Vec<_> = columns(line).collect();
    if cells.len() != COLUMNS || cells.iter().any(|cell| cell.is_empty()) {
        return vec![format!("has not {COLUMNS} columns that all say something")];
    }
    let mut wrong: Vec<_> = cells
        .iter()
        .flat_map(|cell| code(cell))
        .filter_map(|name| absent(files, name))
        .collect();
    let test = cells[COLUMNS - 1];
    let is_tested = code(test).any(|name| name.contains(".rs::"));
    if !is_tested && !test.contains("No test:") {
        wrong.push("names no test, and does not say `No test:` and why".to_owned());
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found_in(rows: &[String]) -> Vec<String> {
        let text = format!("# Lessons\n\n{}\n", rows.join("\n"));
        let files = [
            TextFile::fixture(PATH, &text),
            TextFile::fixture("crates/x/tests/y.rs", "fn holds() {}\n"),
        ];
        let found = check(&files).into_iter();
        found.map(|finding| finding.message).collect()
    }

    fn with(id: usize, test: &str) -> String {
        format!("| FM-{id:02} | it fails | k/k#1 | `x/tests/y.rs` | {test} |")
    }

    fn whole() -> Vec<String> {
        let rows = (1..=FAILURES).map(|id| with(id, "`x/tests/y.rs::holds`"));
        rows.collect()
    }

    #[test]
    fn a_whole_table_is_good() {
        assert!(found_in(&whole()).is_empty());
    }

    #[test]
    fn a_table_that_is_not_there_is_found() {
        let documents = [TextFile::fixture("docs/ARCHITECTURE.md", "# Here\n")];
        assert_eq!(check(&documents)[0].message, "docs/LESSONS.md is missing");
        assert!(check(&[]).is_empty(), "a checkout without documents");
    }

    #[test]
    fn each_id_stands_once_and_in_order() {
        let mut rows = whole();
        rows.remove(6);
        assert_eq!(found_in(&rows), ["has FM-08 where FM-07 must be"]);
        let mut rows = whole();
        rows.insert(6, rows[5].clone());
        assert_eq!(found_in(&rows), ["has FM-06 where FM-07 must be"]);
        let mut rows = whole();
        rows.pop();
        assert_eq!(found_in(&rows), ["ends with FM-89, must end with FM-90"]);
    }

    #[test]
    fn what_a_row_names_is_there() {
        for (test, message) in [
            (
                "`x/tests/z.rs::holds`",
                "names crates/x/tests/z.rs, which is not there",
            ),
            (
                "`x/tests/y.rs::hold`",
                "names `hold`, which is not in crates/x/tests/y.rs",
            ),
            (
                "see there",
                "names no test, and does not say `No test:` and why",
            ),
            ("", "has not 5 columns that all say something"),
        ] {
            let mut rows = whole();
            rows[29] = with(30, test);
            assert_eq!(found_in(&rows), [message], "{test}");
        }
        let mut rows = whole();
        rows[29] = with(30, "No test: it cannot happen here.");
        assert!(found_in(&rows).is_empty());
    }
}
