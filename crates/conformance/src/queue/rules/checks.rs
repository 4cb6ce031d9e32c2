//! The rules hide what their rows say and no more: each line here is a bug of one side or the
//! other, planted beside a rule that fires, and has to be seen.

use crate::files::{read_golden, stored};
use crate::{Level, Trace, compare};

/// A scenario, a line of client-go's or of our trace, and what the bug makes of it; nothing, if it
/// loses the line.
type Bug = (&'static str, &'static str, &'static str);

const THEIRS: [Bug; 15] = [
    // D-06 merges what one list brought, and nothing else.
    (
        "what-is-listed-twice",
        "initial a Replaced@2 Replaced@3",
        "initial a Replaced@3 Replaced@2",
    ),
    (
        "in-order-what-is-listed-twice",
        "initial list 2 a@2 b@2 a@3",
        "initial list 2 a@3 b@2 a@2",
    ),
    (
        "the-same-change-twice-is-there-twice[delta]",
        "a Added@1 Added@1 Updated@1 Updated@1",
        "a Added@1 Updated@1 Updated@1",
    ),
    // D-11 moves the latch behind the item, and no further.
    ("the-latch-and-the-last-initial-item", "synced early", ""),
    // D-12 drops what came after the end, and what was brought before is still handed out.
    (
        "a-closed-queue-and-what-is-brought[delta]",
        "a Added@1 Updated@3~",
        "a Updated@3~",
    ),
    ("a-closed-queue-and-what-is-brought[delta]", "closed", ""),
    // D-13 repeats what fails, and what does not is there once.
    ("a-failing-item-is-lost", "b Added@2", ""),
    // D-14 moves the keys that wait, one whose deletion waits too, and no others.
    (
        "the-keys-of-a-relist-move-up",
        "touched a b w x y",
        "touched a b x y",
    ),
    (
        "the-keys-of-a-relist-move-up",
        "touched a b w x y",
        "touched a b w x",
    ),
    ("the-keys-of-a-relist-move-up", "y Gone@1", ""),
    // D-32 leaves out what fails, and nothing beside it.
    (
        "a-list-with-an-object-that-cannot-be-transformed",
        "d Replaced@4t",
        "d Replaced@4",
    ),
    (
        "a-list-with-an-object-that-cannot-be-transformed",
        "c Updated@2t Replaced@3t",
        "c Replaced@3t",
    ),
    // D-60 is about tombstones that know nothing.
    (
        "of-two-tombstones-the-newer",
        "a Added@1 Gone@2",
        "a Added@1 Gone@1",
    ),
    // D-62 drops bookmarks, and what they mark stays.
    ("a-bookmark-ends-a-batch", "version 5", "version 3"),
    // D-63 moves `synced` behind the first list, and does not make it come twice.
    (
        "a-first-list-while-a-resync-is-processed",
        "list 5 a@5 b@5",
        "list 5 a@5",
    ),
];

const OURS: [Bug; 12] = [
    // Ours loses a change, a tombstone, a flag, an order.
    (
        "add-update-delete-come-together",
        "foo Added@10 Updated@12 Deleted@15",
        "foo Deleted@15",
    ),
    ("a-list-after-a-deletion[yes]", "bar Gone@6", ""),
    (
        "a-list-after-an-add[no]",
        "baz Added@10 Gone@10",
        "baz Added@10",
    ),
    (
        "synced-waits-for-deletions",
        "initial bar Gone@6",
        "bar Gone@6",
    ),
    ("synced-waits-for-deletions", "synced", ""),
    (
        "a-relist-over-a-waiting-deletion",
        "foo Deleted@10 Replaced@11",
        "foo Replaced@11",
    ),
    ("a-relist-that-fails", "together 3", "together 2"),
    ("a-failing-item-is-lost", "given up a", ""),
    ("a-batch-ends-before-a-key-at-the-end", "batch 2", "batch 3"),
    ("a-bookmark-moves-the-version", "version 6", "version 1"),
    (
        "a-list-of-nothing-but-failures[delta]",
        "rejected a b",
        "rejected a",
    ),
    ("an-unknown-deletion-is-ignored", "ignored", ""),
];

/// Both sides of a stored scenario, each altered as told; whether the comparison sees it.
fn is_seen(name: &str, theirs: Option<(&str, &str)>, ours: Option<(&str, &str)>) -> bool {
    let files = stored().expect("readable");
    let queues = files.iter().filter(|file| file.level == Level::Queue);
    let variants = queues.flat_map(|file| {
        let variants = file.scenarios.iter().flat_map(crate::Scenario::variants);
        variants.map(move |variant| (file, variant))
    });
    let mut mine = variants.filter(|(_, variant)| variant.name == name);
    let (file, scenario) = mine.next().expect("stored");
    let golden = read_golden(file).expect("readable")[name].clone();
    let golden = alter(golden, theirs);
    let mut runs = super::super::run(&scenario).expect("well formed");
    for run in &mut runs {
        run.trace = alter(std::mem::take(&mut run.trace), ours);
    }
    let verdict = compare(Level::Queue, &scenario, &golden, &runs);
    !verdict.differences.is_empty()
}

fn alter(trace: Trace, bug: Option<(&str, &str)>) -> Trace {
    let Some((line, instead)) = bug else {
        return trace;
    };
    let mut lines = trace.into_lines();
    let at = lines.iter().position(|known| known == line);
    let at = at.unwrap_or_else(|| panic!("`{line}` is not in {lines:#?}"));
    if instead.is_empty() {
        lines.remove(at);
    } else {
        lines[at] = instead.to_owned();
    }
    Trace::new(lines)
}

#[test]
fn a_planted_bug_of_client_go_is_seen() {
    for (name, line, instead) in THEIRS {
        assert!(!is_seen(name, None, None), "{name}: clean without the bug");
        let seen = is_seen(name, Some((line, instead)), None);
        assert!(seen, "{name}: `{instead}` for `{line}`");
    }
}

#[test]
fn a_planted_bug_of_ours_is_seen() {
    for (name, line, instead) in OURS {
        assert!(!is_seen(name, None, None), "{name}: clean without the bug");
        let seen = is_seen(name, None, Some((line, instead)));
        assert!(seen, "{name}: `{instead}` for `{line}`");
    }
}

/// Without any single rule the stored scenarios do not pass: none is there for nothing.
#[test]
fn no_rule_is_idle() {
    let mut idle: Vec<&str> = super::RULES.iter().map(|rule| rule.name).collect();
    for file in stored().expect("readable") {
        if file.level != Level::Queue {
            continue;
        }
        let golden = read_golden(&file).expect("readable");
        for variant in file.scenarios.iter().flat_map(crate::Scenario::variants) {
            let runs = super::super::run(&variant).expect("well formed");
            idle.retain(|left_out| {
                let others = super::RULES.iter().filter(|rule| rule.name != *left_out);
                let expected = others.fold(golden[&variant.name].clone(), |trace, rule| {
                    (rule.apply)(&variant, "", trace)
                });
                expected == runs[0].trace
            });
        }
    }
    assert_eq!(idle, [""; 0]);
}
