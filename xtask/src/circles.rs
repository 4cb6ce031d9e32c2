//! The check that no more than two files of a product crate depend on each other in a circle.
//!
//! `syntax` reads one file with `syn`: its modules, items, imports and the paths it uses.
//! `modules` builds the module tree of a crate and resolves a path to the file that defines the
//! item. `graph` finds circles in the graph of files and a short path around each.
//!
//! File A depends on file B if A uses an item that B defines, in a `use` or in a path. These are
//! no dependency: the declaration `mod b;`, and the re-export of a child's item. A path through a
//! re-export counts for the file with the definition. Code behind `cfg(test)`, `cfg(shuttle)`,
//! `cfg(fuzzing)` and `cfg(sim)` is left out, with the files it declares.
//!
//! The check does not see types. Calls of methods are therefore invisible: a file that calls a
//! method defined in another file depends on it only if it names the type, and then on the file
//! that defines the type. Names that a macro makes count for the file that calls the macro.

mod graph;
mod modules;
mod syntax;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use graph::Graph;
use modules::ModuleTree;

/// Where the rule is documented.
const RULE: &str = "docs/ARCHITECTURE.md#layers";

/// The number of files that may depend on each other.
const LIMIT: usize = 2;

/// The sources of one crate: text by path below `src`, with slashes.
type Sources = BTreeMap<String, String>;

/// The result for one crate.
#[derive(Debug)]
pub(crate) struct Report {
    /// The number of files that were read; files for tests only are not among them.
    pub(crate) files: usize,
    /// The number of pairs of files of which one depends on the other.
    pub(crate) dependencies: usize,
    /// One message for each circle.
    pub(crate) errors: Vec<String>,
}

/// Checks the crate whose package is in `folder`.
pub(crate) fn check(package: &str, folder: &Path) -> Result<Report> {
    let mut sources = Sources::new();
    collect(&folder.join("src"), "", &mut sources)?;
    check_sources(package, &sources)
}

fn check_sources(package: &str, sources: &Sources) -> Result<Report> {
    let tree = ModuleTree::read(sources).with_context(|| format!("cannot read {package}"))?;
    let graph = tree.graph();
    let circles = graph.circles(LIMIT);
    let message = |circle: &Vec<usize>| message(package, &graph, circle);
    Ok(Report {
        files: graph.files.len(),
        dependencies: graph.edges.len(),
        errors: circles.iter().map(message).collect(),
    })
}

fn collect(folder: &Path, prefix: &str, sources: &mut Sources) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list {folder:?}"))?;
    for entry in entries {
        let entry = entry?;
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{path}/"), sources)?;
        } else if path.ends_with(".rs") {
            let text = fs::read_to_string(entry.path());
            let text = text.with_context(|| format!("cannot read {:?}", entry.path()))?;
            sources.insert(path, text);
        }
    }
    Ok(())
}

/// Lists the files of the circle, a short way around it, and what every file uses of the others.
fn message(package: &str, graph: &Graph, circle: &[usize]) -> String {
    let file = |index: &usize| graph.files[*index].as_str();
    let edge = |(from, to): (usize, usize)| {
        let names = graph.edges.get(&(from, to));
        let names: Vec<_> = names.into_iter().flatten().map(String::as_str).collect();
        format!("{} -> {} ({})", file(&from), file(&to), names.join(", "))
    };
    let lines = |edges: Vec<(usize, usize)>| -> String {
        let lines = edges
            .into_iter()
            .map(|pair| format!("\n      {}", edge(pair)));
        lines.collect()
    };
    let shortest = match graph.shortest_cycle(circle) {
        Some(cycle) => format!("  a shortest circle of them:{}", lines(cycle)),
        None => "  every single circle has two files, but the pairs overlap".to_owned(),
    };
    format!(
        "error: {package}: {} files depend on each other: {}    {RULE}\n{shortest}\n  all uses \
         inside the circle:{}",
        circle.len(),
        circle.iter().map(file).collect::<Vec<_>>().join(", "),
        lines(graph.edges_inside(circle)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkout;

    /// The messages for a crate of the given files.
    fn errors(files: &[(&str, &str)]) -> Vec<String> {
        let owned = |&(path, text): &(&str, &str)| (path.to_owned(), text.to_owned());
        let sources = files.iter().map(owned).collect();
        let report = check_sources("informer-x", &sources).expect("the fixture is a crate");
        report.errors
    }

    #[test]
    fn circle_of_three_files_is_reported_with_the_imports_that_close_it() {
        let found = errors(&[
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::b::B; pub struct A(B);"),
            ("b.rs", "pub struct B(Box<super::c::C>);"),
            ("c.rs", "use super::a; pub struct C(Box<a::A>);"),
        ]);
        let cycle = "
      a.rs -> b.rs (B)
      b.rs -> c.rs (C)
      c.rs -> a.rs (A)";
        let error = "error: informer-x: 3 files depend on each other: a.rs, b.rs, c.rs";
        let wanted = format!(
            "{error}    {RULE}\n  a shortest circle of them:{cycle}\n  all uses inside the \
             circle:{cycle}"
        );
        assert_eq!(found, [wanted]);
    }

    #[test]
    fn circle_of_two_files_is_allowed() {
        let a = ("a.rs", "use crate::b::B; pub struct A(B);");
        let b = ("b.rs", "use crate::a::A; pub struct B(Box<A>);");
        assert!(errors(&[("lib.rs", "mod a; mod b;"), a, b]).is_empty());
    }

    #[test]
    fn pairs_that_share_a_file_are_one_circle() {
        let found = errors(&[
            ("lib.rs", "mod a;"),
            (
                "a/mod.rs",
                "mod b; mod c; pub struct A; fn f() { b::b(); c::c() }",
            ),
            ("a/b.rs", "use super::A; pub fn b() -> A { A }"),
            ("a/c.rs", "use super::A; pub fn c() -> A { A }"),
        ]);
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("3 files"), "{found:?}");
        assert!(found[0].contains("the pairs overlap"), "{found:?}");
    }

    #[test]
    fn re_export_leads_to_the_file_that_defines_the_name() {
        // Without the re-exports resolved, `lib.rs` and `room/mod.rs` would be in the circle.
        let root = "mod a; mod room; pub use a::A; pub use room::{Inner as Renamed, *};";
        let found = errors(&[
            ("lib.rs", root),
            ("a.rs", "use crate::Renamed; pub struct A(Renamed);"),
            (
                "room/mod.rs",
                "mod inner; mod outer; pub use inner::Inner; pub use outer::Outer;",
            ),
            (
                "room/inner.rs",
                "use crate::Outer; pub struct Inner(Box<Outer>);",
            ),
            ("room/outer.rs", "pub struct Outer(Box<crate::A>);"),
        ]);
        assert_eq!(found.len(), 1);
        assert!(
            found[0].contains(": a.rs, room/inner.rs, room/outer.rs  "),
            "{found:?}"
        );
        assert!(
            found[0].contains("a.rs -> room/inner.rs (Inner)"),
            "{found:?}"
        );
    }

    #[test]
    fn parent_that_declares_and_re_exports_is_no_part_of_a_circle() {
        let parent = "mod b; mod c; pub use b::b; pub use c::C; pub struct A;";
        let b = ("a/b.rs", "use super::{A, C}; pub fn b(_: A, _: C) {}");
        let c = ("a/c.rs", "use super::A; pub struct C(A);");
        assert!(errors(&[("lib.rs", "mod a;"), ("a/mod.rs", parent), b, c]).is_empty());
        // The parent uses what it re-exports: now it depends on its children.
        let calls = format!("{parent} fn f(c: C) {{ b(A, c) }}");
        assert_eq!(
            errors(&[("lib.rs", "mod a;"), ("a/mod.rs", &calls), b, c]).len(),
            1
        );
    }

    #[test]
    fn code_for_tests_is_ignored() {
        let circle = "use crate::b::B; #[cfg(test)] mod tests { use crate::c::C; }
                      #[cfg(any(test, fuzzing))] use crate::c::hook;
                      impl B { #[cfg(test)] fn f(_: crate::c::C) {} }
                      pub struct A { b: B, #[cfg(all(test, shuttle))] c: crate::c::C }";
        let files = |a| {
            errors(&[
                ("lib.rs", "mod a; mod b; mod c; #[cfg(test)] mod tests;"),
                ("a.rs", a),
                ("b.rs", "pub struct B;"),
                ("c.rs", "use crate::{a::A, b::B}; pub struct C(A, B);"),
                ("tests.rs", "this file is not even read"),
            ])
        };
        assert!(files(circle).is_empty());
    }

    #[test]
    fn arguments_of_macros_are_read() {
        let found = errors(&[
            ("lib.rs", "mod a; mod b; mod c;"),
            ("a.rs", "use crate::b::B; pub struct A(B);"),
            (
                "b.rs",
                "pub struct B; fn f(x: u8) { assert!(matches!(x, crate::c::C)) }",
            ),
            (
                "c.rs",
                "pub const C: u8 = 1; const _: usize = size_of::<crate::a::A>();",
            ),
        ]);
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn every_file_of_the_product_crates_is_read() {
        for name in [
            "store",
            "deltafifo",
            "reflector",
            "processor",
            "informer-factory",
        ] {
            let report = check(name, &checkout::root().join("crates").join(name));
            let report = report.expect("the sources parse and every module has its file");
            assert!(report.files > 5, "{name}: {}", report.files);
            assert!(report.dependencies > report.files, "{name}");
        }
    }
}
