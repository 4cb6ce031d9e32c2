//! Rules for ids, such as `FQ-9` or `R4`: the documents define each id that a file cites, each row
//! of `docs/INVARIANTS.md` names existing tests, and the rustdoc of a product crate cites no id.

use std::collections::BTreeMap;

use super::source::{RustSource, TestFiles};
use super::table::{absent, code, columns};
use super::{Finding, TextFile};

/// The table of invariants.
const INVARIANTS: &str = "docs/INVARIANTS.md";

/// The document outside of `docs` that defines ids.
const UPSTREAM: &str = "crates/conformance/UPSTREAM.md";

/// Where the scenarios are that a row may name.
const SCENARIOS: &str = "crates/conformance/scenarios";

/// Id, invariant, tests.
const COLUMNS: usize = 3;

/// What stands before the hyphen of an id.
const FAMILIES: [&str; 37] = [
    "C", "CLU", "COL", "CT", "D", "DF", "EH", "FA", "FAX", "FEED", "FM", "FQ", "GT", "IN", "IX",
    "KY", "LI", "LW", "PD", "PG", "PL", "PR", "QU", "RB", "RF", "RFX", "RL", "SEC", "SI", "SP",
    "ST", "STX", "SY", "SYS", "TF", "WF", "X",
];

/// The first letters of numeric goals. Their ids have no hyphen.
const GOALS: [char; 6] = ['D', 'L', 'M', 'P', 'R', 'T'];

/// Crates whose rustdoc is written for users.
const PRODUCT_CRATES: [&str; 8] = [
    "deltafifo",
    "informer-factory",
    "kube-source",
    "object",
    "processor",
    "reflector",
    "store",
    "testkit",
];

/// Applies all rules of this module, in a checkout that has documents at all.
pub(super) fn check(files: &[TextFile]) -> Vec<Finding> {
    if !files.iter().any(|file| file.path.starts_with("docs/")) {
        return Vec::new();
    }
    let (defined, mut findings) = definitions(files);
    for file in files {
        findings.extend(unknown(file, &defined));
        findings.extend(sections(file));
    }
    let tables = files.iter().filter(|file| file.path == INVARIANTS);
    findings.extend(tables.flat_map(|table| rows(files, table)));
    findings
}

/// Finds ids in the rustdoc of a product crate. Tests and planted bugs may cite them.
pub(super) fn check_rustdoc(source: &RustSource<'_>, test_files: &TestFiles) -> Vec<Finding> {
    let path = &source.file.path;
    let is_product = PRODUCT_CRATES
        .iter()
        .any(|name| path.starts_with(&format!("crates/{name}/src/")));
    if !is_product || test_files.contain(path) || path.ends_with("/planted.rs") {
        return Vec::new();
    }
    let is_rustdoc = |line: &str| line.starts_with("///") || line.starts_with("//!");
    let mut findings = Vec::new();
    for (number, line) in source.file.lines() {
        if !is_rustdoc(line.trim_start()) || source.is_test_line(number) {
            continue;
        }
        for id in ids(line) {
            let message = format!("cites {id} in rustdoc: cite it in a `//` comment");
            findings.push(source.file.finding("id-in-rustdoc", number, message));
        }
    }
    findings
}

/// Every id that has a definition, and the findings about ids that have two.
///
/// A row of measurements repeats the id of its goal, so goals may stand in several rows.
fn definitions(files: &[TextFile]) -> (BTreeMap<&str, String>, Vec<Finding>) {
    let mut defined: BTreeMap<&str, String> = BTreeMap::new();
    let mut findings = Vec::new();
    let is_document = |file: &&TextFile| match file.path.strip_prefix("docs/") {
        Some(name) => name.ends_with(".md") && !name.contains('/'),
        None => file.path == UPSTREAM,
    };
    for file in files.iter().filter(is_document) {
        for (number, line) in file.lines() {
            let Some(id) = definition(line) else {
                continue;
            };
            let here = format!("{}:{number}", file.path);
            match defined.get(id) {
                Some(first) if id.contains('-') => {
                    let message = format!("defines {id}, which {first} defines");
                    findings.push(file.finding("id-defined-twice", number, message));
                }
                Some(_) => {}
                None => {
                    defined.insert(id, here);
                }
            }
        }
    }
    (defined, findings)
}

/// The id that a row of a table or an item of a list defines. An anchor may stand before it.
fn definition(line: &str) -> Option<&str> {
    let head = match line.strip_prefix("- ") {
        Some(item) => item.split_once(": ")?.0,
        None if line.starts_with('|') => columns(line).next()?,
        None => return None,
    };
    let id = head.rsplit("</a>").next()?;
    is_id(id).then_some(id)
}

fn unknown(file: &TextFile, defined: &BTreeMap<&str, String>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in file.lines() {
        for id in ids(line).filter(|id| !defined.contains_key(id)) {
            let message = format!("cites {id}, which no document defines");
            findings.push(file.finding("unknown-id", number, message));
        }
    }
    findings
}

/// A section of a design is no id: the design changes, and is not part of the tree.
fn sections(file: &TextFile) -> Vec<Finding> {
    let needle = "design ";
    let cites = |line: &str| {
        let line = line.to_ascii_lowercase();
        line.match_indices(needle)
            .any(|(at, _)| line[at + needle.len()..].starts_with(|c: char| c.is_ascii_digit()))
    };
    file.lines()
        .filter(|(_, line)| cites(line))
        .map(|(number, _)| {
            let message = "cites a section of a design: cite an id, or give the reason";
            file.finding("design-section", number, message)
        })
        .collect()
}

/// The ids in a line.
fn ids(line: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    line.split(move |c| !is_part(c)).filter(|word| is_id(word))
}

fn is_id(word: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    match word.split_once('-') {
        Some((family, number)) => FAMILIES.contains(&family) && is_number(number),
        None => word.strip_prefix(GOALS).is_some_and(|rest| {
            let number = rest.strip_suffix('b').unwrap_or(rest);
            is_number(number) && number.len() <= 2 && !number.starts_with('0')
        }),
    }
}

/// The faults of the rows of the table of invariants.
fn rows(files: &[TextFile], table: &TextFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in table.lines().filter(|(_, line)| definition(line).is_some()) {
        let wrong = row(files, line).into_iter();
        findings.extend(wrong.map(|message| table.finding("invariants", number, message)));
    }
    findings
}

fn row(files: &[TextFile], line: &str) -> Vec<String> {
    let cells: Vec<_> = columns(line).collect();
    if cells.len() != COLUMNS || cells.iter().any(|cell| cell.is_empty()) {
        return vec![format!("has not {COLUMNS} columns that all say something")];
    }
    let tests = cells[COLUMNS - 1];
    if tests.starts_with("No test:") {
        return code(tests).filter_map(|name| absent(files, name)).collect();
    }
    let mut wrong: Vec<_> = code(tests)
        .filter_map(|name| match name.contains(".rs") {
            true => absent(files, name),
            false => absent_scenario(files, name),
        })
        .collect();
    let is_test = |name: &str| name.contains(".rs::") || !name.contains(".rs");
    if !code(tests).any(is_test) {
        wrong.push("names no test, and does not say `No test:` and why".to_owned());
    }
    wrong
}

/// Why a name such as `queue/a-list-is-replaced` leads to no scenario.
fn absent_scenario(files: &[TextFile], name: &str) -> Option<String> {
    let exists = name.split_once('/').is_some_and(|(level, title)| {
        let folder = format!("{SCENARIOS}/{level}/");
        let heading = format!("== {title}");
        files
            .iter()
            .filter(|file| file.path.starts_with(&folder))
            .any(|file| file.lines().any(|(_, line)| line == heading))
    });
    (!exists).then(|| format!("names `{name}`, which is no scenario"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFINED: &str = "# Invariants\n\n\
        | <a id=\"fq-9\"></a>FQ-9 | synced is never false again | `x/tests/y.rs::holds` |\n\
        | <a id=\"df-01\"></a>DF-01 | keys keep their place | `queue/in-order` |\n";

    fn checked(others: &[(&str, &str)]) -> Vec<(&'static str, usize, String)> {
        let files = [
            ("crates/x/tests/y.rs", "fn holds() {}\n"),
            ("crates/conformance/scenarios/queue/a.txt", "== in-order\n"),
        ];
        let files: Vec<_> = files
            .iter()
            .chain(others)
            .map(|(path, text)| TextFile::fixture(path, text))
            .collect();
        check(&files)
            .into_iter()
            .map(|finding| (finding.rule, finding.line, finding.message))
            .collect()
    }

    fn checked_with(table: &str) -> Vec<String> {
        let found = checked(&[(INVARIANTS, table)]);
        found.into_iter().map(|(_, _, message)| message).collect()
    }

    #[test]
    fn a_cited_id_needs_a_definition() {
        let text = "// FQ-9, DF-01\n// see FQ-10: (R4)\n";
        let found = checked(&[(INVARIANTS, DEFINED), ("a.rs", text)]);
        let messages = [
            "cites FQ-10, which no document defines",
            "cites R4, which no document defines",
        ];
        assert_eq!(
            found,
            messages.map(|message| ("unknown-id", 2, message.to_owned()))
        );
    }

    #[test]
    fn rows_and_items_of_documents_define_ids() {
        let documents = [
            ("docs/RELIABILITY.md", "| R4 | 3 s |\n| R4 | 2 s |\n"),
            ("docs/ARCHITECTURE.md", "- SYS-1: the reader is right.\n"),
            (UPSTREAM, "| IX-11 | a race | run |\n"),
            ("a.rs", "// R4, SYS-1, IX-11\n"),
        ];
        assert!(checked(&documents).is_empty());
        let decision = [("docs/adr/0001-x.md", "| R4 | 3 s |\n")];
        assert_eq!(checked(&decision)[0].0, "unknown-id");
    }

    #[test]
    fn an_id_with_a_hyphen_has_one_definition() {
        let found = checked(&[("docs/A.md", "| FQ-9 | a |\n"), (INVARIANTS, DEFINED)]);
        let message = "defines FQ-9, which docs/A.md:1 defines".to_owned();
        assert_eq!(found, [("id-defined-twice", 3, message)]);
    }

    #[test]
    fn other_words_are_no_ids() {
        for word in [
            "UTF-8", "SHA-256", "P0", "R", "FQ-", "FQ-9a", "T08", "M100", "PR-x", "R4_a",
        ] {
            assert!(!is_id(word), "{word}");
        }
        for word in ["X-8", "FM-90", "R4b", "T16"] {
            assert!(is_id(word), "{word}");
        }
        assert_eq!(ids("FM-48..50 (`D-07`): R4's").count(), 3);
    }

    #[test]
    fn a_section_of_a_design_is_found() {
        let text = "// The design is simple.\n// Design_6.4\n//! (X, design_7)\n".replace('_', " ");
        let found = checked(&[("docs/A.md", ""), ("a.rs", &text)]);
        let lines: Vec<_> = found.iter().map(|(rule, line, _)| (*rule, *line)).collect();
        assert_eq!(lines, [("design-section", 2), ("design-section", 3)]);
    }

    #[test]
    fn what_an_invariant_names_exists() {
        assert!(checked_with(DEFINED).is_empty());
        for (tests, message) in [
            (
                "`x/tests/z.rs::a`",
                "names crates/x/tests/z.rs, which is not there",
            ),
            (
                "`x/tests/y.rs::a`",
                "names `a`, which is not in crates/x/tests/y.rs",
            ),
            ("`queue/a`", "names `queue/a`, which is no scenario"),
            ("`in-order`", "names `in-order`, which is no scenario"),
            (
                "`x/tests/y.rs`",
                "names no test, and does not say `No test:` and why",
            ),
            ("", "has not 3 columns that all say something"),
        ] {
            let table = format!("| FQ-9 | it holds | {tests} |\n");
            assert_eq!(checked_with(&table), [message], "{tests}");
        }
        assert!(checked_with("| FQ-9 | it holds | No test: by `Construction`. |\n").is_empty());
    }

    #[test]
    fn a_checkout_without_documents_is_not_checked() {
        assert!(checked(&[("a.rs", "// FQ-9\n")]).is_empty());
    }

    fn lines_of_rustdoc(path: &str) -> Vec<usize> {
        let text = "//! FQ-9.\n\n/// Syncs (FQ-9).\n// FQ-9\nfn f() {}\n\n\
                    #[cfg(test)]\nmod tests {\n    /// FQ-9\n    fn g() {}\n}\n";
        let file = TextFile::fixture(path, text);
        let source = RustSource::parse(&file).expect("the text is Rust");
        let found = check_rustdoc(&source, &TestFiles::default()).into_iter();
        found.map(|finding| finding.line).collect()
    }

    #[test]
    fn the_rustdoc_of_a_product_cites_no_ids() {
        assert_eq!(lines_of_rustdoc("crates/store/src/a.rs"), [1, 3]);
        for path in [
            "crates/store/src/planted.rs",
            "crates/store/src/tests/a.rs",
            "crates/store/tests/a.rs",
            "crates/simulation/src/a.rs",
        ] {
            assert!(lines_of_rustdoc(path).is_empty(), "{path}");
        }
    }
}
