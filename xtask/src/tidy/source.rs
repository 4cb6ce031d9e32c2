//! A Rust source as the rules see it: its functions, and which of its lines are only for tests.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use syn::token::Brace;
use syn::visit::{self, Visit};
use syn::{Attribute, Block, ImplItemFn, ItemFn, ItemMod, Signature, TraitItemFn};

use super::{Finding, TextFile};

/// One function with a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) first_line: usize,
    /// From the line with its name's `fn` to its closing brace.
    pub(super) lines: usize,
}

/// One parsed file.
#[derive(Debug)]
pub(super) struct RustSource<'a> {
    pub(super) file: &'a TextFile,
    pub(super) functions: Vec<Function>,
    /// Modules written in this file, with the line of their name.
    pub(super) inline_modules: Vec<(String, usize)>,
    /// Lines of inline modules behind `#[cfg(test)]`.
    test_lines: Vec<RangeInclusive<usize>>,
    /// Names of modules in other files behind `#[cfg(test)]`.
    test_modules: Vec<String>,
}

impl<'a> RustSource<'a> {
    /// Reads the file; the error is a finding, since such a file breaks every rule.
    pub(super) fn parse(file: &'a TextFile) -> Result<Self, Finding> {
        let syntax = syn::parse_file(&file.text).map_err(|error| {
            file.finding(
                "syntax",
                error.span().start().line,
                format!("is no Rust: {error}"),
            )
        })?;
        let mut source = Self {
            file,
            functions: Vec::new(),
            inline_modules: Vec::new(),
            test_lines: Vec::new(),
            test_modules: Vec::new(),
        };
        source.visit_file(&syntax);
        Ok(source)
    }

    /// Whether the line is inside a test module of this file.
    pub(super) fn is_test_line(&self, line: usize) -> bool {
        self.test_lines.iter().any(|range| range.contains(&line))
    }

    fn add_function(&mut self, signature: &Signature, block: &Block) {
        let first_line = signature.fn_token.span.start().line;
        self.functions.push(Function {
            name: signature.ident.to_string(),
            first_line,
            lines: closing_line(&block.brace_token) - first_line + 1,
        });
    }
}

impl Visit<'_> for RustSource<'_> {
    fn visit_item_fn(&mut self, function: &ItemFn) {
        self.add_function(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &ImplItemFn) {
        self.add_function(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &TraitItemFn) {
        if let Some(block) = &function.default {
            self.add_function(&function.sig, block);
        }
        visit::visit_trait_item_fn(self, function);
    }

    fn visit_item_mod(&mut self, module: &ItemMod) {
        let name = module.ident.to_string();
        let for_tests = module.attrs.iter().any(is_for_tests);
        match &module.content {
            Some((brace, _)) => {
                let first_line = module.mod_token.span.start().line;
                self.inline_modules.push((name, first_line));
                if for_tests {
                    self.test_lines.push(first_line..=closing_line(brace));
                }
            }
            None if for_tests => self.test_modules.push(name),
            None => {}
        }
        visit::visit_item_mod(self, module);
    }
}

fn closing_line(brace: &Brace) -> usize {
    brace.span.close().end().line
}

/// `#[cfg(test)]` and its relatives, such as `#[cfg(all(test, unix))]`.
fn is_for_tests(attribute: &Attribute) -> bool {
    let syn::Meta::List(list) = &attribute.meta else {
        return false;
    };
    let condition = list.tokens.to_string();
    let mut words = condition.split(|c: char| !c.is_alphanumeric() && c != '_');
    list.path.is_ident("cfg") && words.clone().any(|w| w == "test") && words.all(|w| w != "not")
}

/// The files that only tests compile: by their place, or because a parent says so.
#[derive(Debug, Default)]
pub(super) struct TestFiles(BTreeSet<String>);

impl TestFiles {
    pub(super) fn declared_in(sources: &[RustSource<'_>]) -> Self {
        let mut stems = BTreeSet::new();
        for source in sources {
            let folder = folder_of_children(&source.file.path);
            stems.extend(
                source
                    .test_modules
                    .iter()
                    .map(|name| format!("{folder}/{name}")),
            );
        }
        Self(stems)
    }

    /// Whether the file at `path` is only for tests.
    pub(super) fn contain(&self, path: &str) -> bool {
        let by_place = path
            .split('/')
            .any(|part| part == "tests" || part == "tests.rs");
        by_place
            || self.0.iter().any(|stem| {
                path.strip_prefix(stem.as_str())
                    .is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
            })
    }
}

/// Where the modules that this file declares are.
fn folder_of_children(path: &str) -> String {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    match name {
        "lib.rs" | "main.rs" | "mod.rs" => folder.to_owned(),
        name => format!("{folder}/{}", name.trim_end_matches(".rs")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_measured_without_their_attributes() {
        let text = "/// Doc.\n#[inline]\nfn a() {\n    b();\n}\n\ntrait T {\n    fn c();\n    \
                    fn d() {}\n}\n";
        let file = TextFile::fixture("a.rs", text);
        let source = RustSource::parse(&file).expect("the text is Rust");
        let found: Vec<_> = source
            .functions
            .iter()
            .map(|f| (f.name.as_str(), f.first_line, f.lines))
            .collect();
        assert_eq!(found, [("a", 3, 3), ("d", 9, 1)]);
    }

    #[test]
    fn test_modules_are_told_apart_inline_and_by_file() {
        let text = "mod a;\n#[cfg(test)]\nmod proof;\n#[cfg(not(test))]\nmod b;\n\
                    #[cfg(all(test, unix))]\nmod tests {\n}\n";
        let file = TextFile::fixture("crates/x/src/lib.rs", text);
        let source = RustSource::parse(&file).expect("the text is Rust");
        assert!(source.is_test_line(7) && !source.is_test_line(5));
        let test_files = TestFiles::declared_in(&[source]);
        assert!(test_files.contain("crates/x/src/proof.rs"));
        assert!(test_files.contain("crates/x/src/proof/model.rs"));
        assert!(test_files.contain("crates/x/tests/api.rs"));
        assert!(!test_files.contain("crates/x/src/proofreading.rs"));
        assert!(!test_files.contain("crates/x/src/b.rs"));
    }

    #[test]
    fn a_file_that_is_no_rust_is_a_finding() {
        let file = TextFile::fixture("a.rs", "fn {");
        assert_eq!(
            RustSource::parse(&file)
                .expect_err("it does not parse")
                .rule,
            "syntax"
        );
    }
}
