//! The rules hide what their rows say and no more: each line here is a bug of one side or the
//! other, planted beside a rule that fires, and has to be seen.

use crate::files::{read_golden, stored};
use crate::{Level, compare};

/// A scenario, a line of client-go's or of our trace, and what the bug makes of it.
type Bug = (&'static str, &'static str, &'static str);

const THEIRS: [Bug; 8] = [
    // D-41 knows which version it expects, and leaves alone what ends in a version.
    ("each-write-moves-the-version", "version 50", "version 40"),
    ("an-object-without-a-version", "version 4", "version none"),
    // D-42 drops what panicked, and only that.
    ("a-write-that-panics", "panic", "error key"),
    ("a-write-that-panics", "list a/x@1 a/y@2", "list a/y@2"),
    // D-07 and D-40 drop what has no good key, and only that.
    ("an-object-without-a-name", "list a/@2 a/x@1", "list a/@2"),
    ("a-name-with-a-slash", "list a/b/c@2 a/x@1", "list a/b/c@2"),
    // D-44 is about values alone.
    ("an-index-nobody-knows", "error unknown-index", "found"),
    ("the-lister-of-no-namespace", "get none", "get a/x@2"),
];

const OURS: [Bug; 6] = [
    (
        "a-write-that-panics",
        "store a/x@1 a/z@3",
        "store a/x@1 a/y@2 a/z@3",
    ),
    (
        "a-transaction-that-panics",
        "store a/x@1",
        "store a/x@1 a/y@2",
    ),
    (
        "a-transaction-that-ends-in-a-tombstone",
        "version 7",
        "version 4",
    ),
    ("an-object-without-a-version", "version 3", "version none"),
    ("an-object-without-a-name", "error key", "store"),
    ("a-delete-looks-at-the-key-alone", "store", "store a/x@5"),
];

/// Both sides of a stored scenario, each altered as told; whether the comparison sees it.
fn is_seen(name: &str, theirs: Option<(&str, &str)>, ours: Option<(&str, &str)>) -> bool {
    let alter = |lines: Vec<String>, bug: Option<(&str, &str)>| {
        let Some((line, instead)) = bug else {
            return lines;
        };
        let at = lines.iter().position(|known| known == line);
        let mut lines = lines;
        lines[at.expect("the line is there")] = instead.to_owned();
        lines
    };
    let files = stored().expect("readable");
    let file = files
        .iter()
        .find(|file| file.level == Level::Store && file.scenarios.iter().any(|s| s.name == name))
        .expect("stored");
    let scenario = file.scenarios.iter().find(|s| s.name == name);
    let scenario = scenario.expect("found above");
    let golden = read_golden(file).expect("readable")[name].clone();
    let golden = crate::Trace::new(alter(golden.into_lines(), theirs));
    let mut runs = super::super::run(scenario).expect("well formed");
    for run in &mut runs {
        let lines = std::mem::take(&mut run.trace).into_lines();
        run.trace = crate::Trace::new(alter(lines, ours));
    }
    !compare(Level::Store, scenario, &golden, &runs)
        .differences
        .is_empty()
}

#[test]
fn a_planted_bug_of_either_side_is_seen() {
    for (name, line, instead) in THEIRS {
        assert!(!is_seen(name, None, None), "{name}: clean without the bug");
        assert!(
            is_seen(name, Some((line, instead)), None),
            "{name}: {instead}"
        );
    }
    for (name, line, instead) in OURS {
        assert!(!is_seen(name, None, None), "{name}: clean without the bug");
        assert!(
            is_seen(name, None, Some((line, instead))),
            "{name}: {instead}"
        );
    }
}
