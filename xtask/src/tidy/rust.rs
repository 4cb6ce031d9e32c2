//! Rules for Rust sources.

use super::Finding;
use super::source::{RustSource, TestFiles};

/// How long a file may be, without its test modules.
const FILE_LIMIT: usize = 400;

/// How long a function may be.
const FUNCTION_LIMIT: usize = 70;

/// How wide a line may be, in characters.
const LINE_LIMIT: usize = 100;

/// Names that say nothing, so that everything ends up behind them.
const BANNED_NAMES: [&str; 11] = [
    "utils",
    "util",
    "common",
    "helpers",
    "helper",
    "misc",
    "miscellaneous",
    "manager",
    "types",
    "base",
    "stuff",
];

/// The files that catch panics of users' code, and the number of places in each. No other file
/// may: a panic that is caught twice is not reported.
/// ADR 5 has the reasons: handlers, transforms, index functions and destructors.
const PANIC_BOUNDARIES: [(&str, usize); 3] = [
    ("crates/processor/src/", 1),
    ("crates/kube-source/src/decode/object.rs", 1),
    // Around the commit, around the drop of what it displaced, to find the object it panics on,
    // and to look for a timer.
    ("crates/informer-factory/src/", 4),
];

/// Applies all rules that need one file.
pub(super) fn check(source: &RustSource<'_>, test_files: &TestFiles) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(module_doc(source));
    findings.extend(names(source));
    findings.extend(function_length(source));
    findings.extend(line_length(source));
    findings.extend(ignored_tests(source));
    if test_files.contain(&source.file.path) {
        findings.extend(sleeps(source, |_| true));
    } else {
        findings.extend(file_length(source));
        findings.extend(sleeps(source, |line| source.is_test_line(line)));
    }
    findings
}

/// Counts the places where a panic is caught, per crate that may.
pub(super) fn check_panic_boundaries(
    sources: &[RustSource<'_>],
    test_files: &TestFiles,
) -> Vec<Finding> {
    let needle = ["catch", "_unwind("].concat();
    let mut findings = Vec::new();
    let mut counts = PANIC_BOUNDARIES.map(|_| 0);
    for source in sources
        .iter()
        .filter(|source| !test_files.contain(&source.file.path))
    {
        for (number, line) in code_lines(source, &needle) {
            if source.is_test_line(number) {
                continue;
            }
            let place = |(folder, _): &(&str, _)| source.file.path.starts_with(folder);
            match PANIC_BOUNDARIES.iter().position(place) {
                Some(index) => counts[index] += line.matches(&needle).count(),
                None => findings.push(source.file.finding(
                    "panic-boundary",
                    number,
                    "catches a panic; only the boundaries of ADR 5 do (style C9)",
                )),
            }
        }
    }
    for ((folder, wanted), count) in PANIC_BOUNDARIES.iter().zip(counts) {
        let exists = sources
            .iter()
            .any(|source| source.file.path.starts_with(folder));
        if exists && count != *wanted {
            findings.push(Finding {
                rule: "panic-boundary",
                path: (*folder).to_owned(),
                line: 0,
                message: format!("catches panics at {count} places, must be {wanted}"),
            });
        }
    }
    findings
}

/// The first thing a reader meets is what the module is for. Only `#!` lines may stand before it.
fn module_doc(source: &RustSource<'_>) -> Option<Finding> {
    let mut lines = source.file.lines();
    let first = lines.find(|(_, line)| !line.is_empty() && !line.starts_with("#!"));
    let good = first.is_some_and(|(_, line)| line.starts_with("//!"));
    let message = "must begin with `//!` and say what the module is for";
    (!good).then(|| source.file.finding("module-doc", 1, message))
}

fn names(source: &RustSource<'_>) -> Vec<Finding> {
    let banned = |name: &&str| BANNED_NAMES.contains(name);
    let message = |name| format!("`{name}` says nothing: name it for the concept (style D2)");
    let parts = source
        .file
        .path
        .split('/')
        .map(|part| part.trim_end_matches(".rs"));
    let modules = source
        .inline_modules
        .iter()
        .map(|(name, line)| (name.as_str(), *line));
    parts
        .map(|part| (part, 0))
        .chain(modules)
        .filter(|(name, _)| banned(name))
        .map(|(name, line)| source.file.finding("empty-name", line, message(name)))
        .collect()
}

fn file_length(source: &RustSource<'_>) -> Option<Finding> {
    let counted = source
        .file
        .lines()
        .filter(|(line, _)| !source.is_test_line(*line))
        .count();
    let message = format!("has {counted} lines, limit {FILE_LIMIT} (split by role)");
    (counted > FILE_LIMIT).then(|| source.file.finding("file-length", 0, message))
}

fn function_length(source: &RustSource<'_>) -> Vec<Finding> {
    let long = source
        .functions
        .iter()
        .filter(|function| function.lines > FUNCTION_LIMIT);
    long.map(|function| {
        let message = format!(
            "function `{}` has {} lines, limit {FUNCTION_LIMIT} (split by phase, or shrink)",
            function.name, function.lines
        );
        source
            .file
            .finding("function-length", function.first_line, message)
    })
    .collect()
}

/// Formatting breaks code; what is left are comments, and literals that cannot be broken.
fn line_length(source: &RustSource<'_>) -> Vec<Finding> {
    let is_long = |line: &str| line.chars().count() > LINE_LIMIT;
    let is_exempt = |line: &str| line.contains('"') || line.contains("://");
    source
        .file
        .lines()
        .filter(|(_, line)| is_long(line) && !is_exempt(line))
        .map(|(number, line)| {
            let message = format!("has {} columns, limit {LINE_LIMIT}", line.chars().count());
            source.file.finding("line-length", number, message)
        })
        .collect()
}

fn ignored_tests(source: &RustSource<'_>) -> Vec<Finding> {
    let needle = ["#[", "ignore"].concat();
    let message = "a test that does not run proves nothing: fix it, or give it a feature";
    code_lines(source, &needle)
        .map(|(number, _)| source.file.finding("ignored-test", number, message))
        .collect()
}

/// Sleeping tests are slow on a good day and red on a bad one.
fn sleeps(source: &RustSource<'_>, in_test: impl Fn(usize) -> bool) -> Vec<Finding> {
    let needle = ["thread::", "sleep("].concat();
    let message = "a test must not sleep: wait for the event, or use a paused clock";
    code_lines(source, &needle)
        .filter(|(number, _)| in_test(*number))
        .map(|(number, _)| source.file.finding("sleeping-test", number, message))
        .collect()
}

/// Lines with the needle that are not comments.
fn code_lines<'a>(
    source: &'a RustSource<'_>,
    needle: &'a str,
) -> impl Iterator<Item = (usize, &'a str)> {
    let is_code = |line: &str| !line.trim_start().starts_with("//");
    source
        .file
        .lines()
        .filter(move |(_, line)| line.contains(needle) && is_code(line))
}

#[cfg(test)]
mod tests {
    use super::super::TextFile;
    use super::*;

    const LIBRARY: &str = "crates/x/src/lib.rs";

    fn rules(path: &str, text: &str) -> Vec<(&'static str, usize)> {
        let file = TextFile::fixture(path, text);
        let source = RustSource::parse(&file).expect("the fixture is Rust");
        let found = check(&source, &TestFiles::default());
        found
            .into_iter()
            .map(|finding| (finding.rule, finding.line))
            .collect()
    }

    #[test]
    fn a_module_begins_with_its_documentation() {
        assert_eq!(
            rules(LIBRARY, "// A remark.\nfn a() {}\n"),
            [("module-doc", 1)]
        );
        assert!(rules(LIBRARY, "#![forbid(unsafe_code)]\n\n//! A module.\n").is_empty());
        assert_eq!(rules(LIBRARY, ""), [("module-doc", 1)]);
    }

    #[test]
    fn names_that_say_nothing_are_found_in_paths_and_inline() {
        assert_eq!(
            rules("crates/x/src/utils.rs", "//! X.\n"),
            [("empty-name", 0)]
        );
        assert_eq!(
            rules("crates/common/src/lib.rs", "//! X.\n"),
            [("empty-name", 0)]
        );
        assert_eq!(
            rules(LIBRARY, "//! X.\nmod helpers {}\n"),
            [("empty-name", 2)]
        );
        assert!(rules("crates/x/src/database.rs", "//! X.\n").is_empty());
    }

    #[test]
    fn a_file_is_measured_without_its_tests() {
        let code = |count: usize| format!("//! X.\n{}", "const _: () = ();\n".repeat(count - 1));
        let tests = "#[cfg(test)]\nmod tests {\n}\n";
        assert!(
            rules(LIBRARY, &(code(FILE_LIMIT - 1) + tests)).is_empty(),
            "one for `#[cfg`"
        );
        assert_eq!(rules(LIBRARY, &code(FILE_LIMIT + 1)), [("file-length", 0)]);
        assert!(rules("crates/x/tests/api.rs", &code(FILE_LIMIT + 1)).is_empty());
    }

    #[test]
    fn a_function_has_a_limit_in_tests_too() {
        let function = |lines: usize| format!("//! X.\nfn a() {{\n{}}}\n", "\n".repeat(lines - 2));
        assert!(rules(LIBRARY, &function(FUNCTION_LIMIT)).is_empty());
        assert_eq!(
            rules(LIBRARY, &function(FUNCTION_LIMIT + 1)),
            [("function-length", 2)]
        );
    }

    #[test]
    fn a_wide_line_is_found_unless_it_holds_a_literal_or_an_address() {
        let wide = "x".repeat(LINE_LIMIT);
        assert_eq!(
            rules(LIBRARY, &format!("//! {wide}\n")),
            [("line-length", 1)]
        );
        assert!(rules(LIBRARY, &format!("//! https://{wide}\n")).is_empty());
        assert!(rules(LIBRARY, &format!("//! X.\nconst A: &str = \"{wide}\";\n")).is_empty());
    }

    #[test]
    fn tests_are_neither_ignored_nor_asleep() {
        let ignored = ["#[", "ignore]"].concat();
        let text = format!("//! X.\n#[test]\n{ignored}\nfn a() {{}}\n");
        assert_eq!(rules(LIBRARY, &text), [("ignored-test", 3)]);
        let sleep = ["std::thread::", "sleep(d)"].concat();
        let text = format!("//! X.\nfn a() {{ {sleep} }}\n");
        assert!(rules(LIBRARY, &text).is_empty(), "that is for clippy");
        assert_eq!(rules("crates/x/tests/a.rs", &text), [("sleeping-test", 2)]);
        let text = format!("//! X.\n#[cfg(test)]\nmod tests {{\nfn a() {{ {sleep} }}\n}}\n");
        assert_eq!(rules(LIBRARY, &text), [("sleeping-test", 4)]);
    }

    #[test]
    fn panics_are_caught_at_one_place_only() {
        let call = ["catch", "_unwind(f)"].concat();
        let caught = format!("//! X.\nfn a() {{ {call} }}\n// {call}\n");
        let boundary = TextFile::fixture("crates/processor/src/boundary.rs", &caught);
        let second = TextFile::fixture("crates/processor/src/second.rs", &caught);
        let stray = TextFile::fixture(LIBRARY, &caught);
        let test = TextFile::fixture("crates/x/tests/a.rs", &caught);
        let messages = |files: &[&TextFile]| -> Vec<String> {
            let parse = |file| RustSource::parse(file).expect("the fixture is Rust");
            let sources: Vec<_> = files.iter().copied().map(parse).collect();
            let found = check_panic_boundaries(&sources, &TestFiles::default());
            found
                .into_iter()
                .map(|finding| finding.to_string())
                .collect()
        };
        assert!(messages(&[&boundary, &test]).is_empty());
        assert!(messages(&[&boundary, &second])[0].contains("at 2 places"));
        assert!(messages(&[&stray, &boundary])[0].starts_with("crates/x/src/lib.rs:2: "));
    }
}
