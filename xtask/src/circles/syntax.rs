//! One Rust file as the check sees it: modules, items, imports, and the paths that are used.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{
    Arm, Attribute, ExprBlock, ExprCall, ExprMethodCall, Field, FieldValue, ImplItem, Item,
    ItemUse, Local, Macro, Meta, StmtMacro, Token, TraitItem, UseTree, Variant, Visibility,
};

/// The settings of builds that no user has.
const TEST_BUILDS: [&str; 5] = ["test", "shuttle", "fuzzing", "sim", "doctest"];

/// The name of a glob import.
pub(super) const GLOB: &str = "*";

/// One name of a `use`.
#[derive(Debug)]
pub(super) struct Import {
    /// The name in this module, or [`GLOB`].
    pub(super) name: String,
    pub(super) path: Vec<String>,
    /// Whether the import has a visibility of its own.
    pub(super) is_export: bool,
}

/// What one module contains, without the modules in it.
#[derive(Debug, Default)]
pub(super) struct Contents {
    /// Names of the items that the module defines.
    pub(super) items: BTreeSet<String>,
    /// Names of items and modules that only test builds contain.
    pub(super) for_tests: BTreeSet<String>,
    pub(super) imports: Vec<Import>,
    /// Paths in types, expressions, patterns and arguments of macros.
    pub(super) paths: BTreeSet<Vec<String>>,
}

/// A module inside another one.
pub(super) struct Child {
    pub(super) name: String,
    /// The items, if they are in the same file.
    pub(super) items: Option<Vec<Item>>,
}

impl Contents {
    /// Reads the items of a module, and returns the modules among them.
    pub(super) fn read(items: Vec<Item>) -> (Self, Vec<Child>) {
        let mut contents = Self::default();
        let mut children = Vec::new();
        for item in items {
            if !is_shipped(attributes(&item)) {
                contents.for_tests.extend(name(&item));
            } else if let Item::Mod(module) = item {
                children.push(Child {
                    name: module.ident.to_string(),
                    items: module.content.map(|(_, items)| items),
                });
            } else {
                contents.items.extend(name(&item));
                contents.visit_item(&item);
            }
        }
        (contents, children)
    }

    /// Returns the imports with this name in the module.
    pub(super) fn imports_of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Import> {
        self.imports
            .iter()
            .filter(move |import| import.name == name)
    }

    fn add_imports(&mut self, tree: &UseTree, path: &mut Vec<String>, is_export: bool) {
        let (name, last) = match tree {
            UseTree::Path(part) => {
                path.push(part.ident.to_string());
                self.add_imports(&part.tree, path, is_export);
                path.pop();
                return;
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.add_imports(tree, path, is_export);
                }
                return;
            }
            UseTree::Glob(_) => (GLOB.to_owned(), None),
            UseTree::Name(part) => (part.ident.to_string(), Some(part.ident.to_string())),
            UseTree::Rename(part) => (part.rename.to_string(), Some(part.ident.to_string())),
        };
        let mut path = path.clone();
        // `use a::{self}` imports `a`.
        let name = match path.last() {
            Some(module) if name == "self" => module.clone(),
            _ => name,
        };
        path.extend(last.filter(|last| last != "self"));
        self.imports.push(Import {
            name,
            path,
            is_export,
        });
    }

    /// Finds paths among the tokens of a macro's call or definition.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let is = |at: usize, wanted: char| match tokens.get(at) {
            Some(TokenTree::Punct(punct)) => punct.as_char() == wanted,
            _ => false,
        };
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Group(group) => self.add_tokens(group.stream()),
                TokenTree::Ident(first) => {
                    let is_member = at > 0 && is(at - 1, '.');
                    let mut path = vec![first.to_string()];
                    while let (true, true, Some(TokenTree::Ident(next))) =
                        (is(at + 1, ':'), is(at + 2, ':'), tokens.get(at + 3))
                    {
                        path.push(next.to_string());
                        at += 3;
                    }
                    if path.len() > 1 || !is_member {
                        self.paths.insert(path);
                    }
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
            at += 1;
        }
    }
}

/// Visits what a user's build contains.
macro_rules! shipped {
    ($($method:ident($kind:ty, $attributes:expr);)*) => {$(
        fn $method(&mut self, node: &$kind) {
            let attributes: fn(&$kind) -> &[Attribute] = $attributes;
            if is_shipped(attributes(node)) {
                visit::$method(self, node);
            }
        }
    )*};
}

impl Visit<'_> for Contents {
    shipped! {
        visit_item(Item, attributes);
        visit_impl_item(ImplItem, |item| match item {
            ImplItem::Const(item) => &item.attrs,
            ImplItem::Fn(item) => &item.attrs,
            ImplItem::Type(item) => &item.attrs,
            ImplItem::Macro(item) => &item.attrs,
            _ => &[],
        });
        visit_trait_item(TraitItem, |item| match item {
            TraitItem::Const(item) => &item.attrs,
            TraitItem::Fn(item) => &item.attrs,
            TraitItem::Type(item) => &item.attrs,
            TraitItem::Macro(item) => &item.attrs,
            _ => &[],
        });
        visit_field(Field, |field| &field.attrs);
        visit_variant(Variant, |variant| &variant.attrs);
        visit_arm(Arm, |arm| &arm.attrs);
        visit_field_value(FieldValue, |value| &value.attrs);
        visit_local(Local, |local| &local.attrs);
        visit_stmt_macro(StmtMacro, |statement| &statement.attrs);
        visit_expr_block(ExprBlock, |block| &block.attrs);
        visit_expr_call(ExprCall, |call| &call.attrs);
        visit_expr_method_call(ExprMethodCall, |call| &call.attrs);
    }

    fn visit_item_use(&mut self, item: &ItemUse) {
        // `use ::a` is a path to another crate.
        if item.leading_colon.is_none() {
            let is_export = !matches!(item.vis, Visibility::Inherited);
            self.add_imports(&item.tree, &mut Vec::new(), is_export);
        }
    }

    fn visit_path(&mut self, path: &syn::Path) {
        if path.leading_colon.is_none() {
            let names = path.segments.iter().map(|part| part.ident.to_string());
            self.paths.insert(names.collect());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &Macro) {
        self.visit_path(&call.path);
        self.add_tokens(call.tokens.clone());
    }

    /// `pub(in crate::a)` uses nothing.
    fn visit_visibility(&mut self, _: &Visibility) {}

    fn visit_attribute(&mut self, _: &Attribute) {}
}

/// Returns whether a build for users may contain what has these attributes.
fn is_shipped(attributes: &[Attribute]) -> bool {
    let cfg = attributes
        .iter()
        .filter(|one| one.path().is_ident("cfg"))
        .filter_map(|one| one.parse_args::<Meta>().ok());
    cfg.into_iter().all(|condition| may_hold(&condition))
}

fn may_hold(condition: &Meta) -> bool {
    let Meta::List(list) = condition else {
        return !TEST_BUILDS
            .iter()
            .any(|name| condition.path().is_ident(name));
    };
    let parts = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
    let mut parts = parts.into_iter().flatten();
    match list.path.get_ident().map(ToString::to_string).as_deref() {
        Some("all") => parts.all(|part| may_hold(&part)),
        Some("any") => parts.any(|part| may_hold(&part)),
        _ => true,
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn name(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Mod(item) => &item.ident,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(text: &str) -> Contents {
        let file = syn::parse_file(text).expect("the fixture is Rust");
        Contents::read(file.items).0
    }

    #[test]
    fn imports_are_listed_one_by_one() {
        let text = "use a::{self, b::{C as D, *}}; pub(crate) use super::e; use ::f::g;";
        let found = contents(text).imports;
        let found: Vec<_> = found
            .iter()
            .map(|one| (one.name.as_str(), one.path.join("::"), one.is_export))
            .collect();
        let path = str::to_owned;
        assert_eq!(
            found,
            [
                ("a", path("a"), false),
                ("D", path("a::b::C"), false),
                ("*", path("a::b"), false),
                ("e", path("super::e"), true),
            ]
        );
    }

    #[test]
    fn paths_are_found_in_code_and_in_arguments_of_macros() {
        let text = "fn f(a: b::C) -> Vec<D> { g!(h::<i::J>(), k.l, m: n, $crate::o); p::q() }";
        let found = contents(text).paths;
        let found: Vec<_> = found.iter().map(|path| path.join("::")).collect();
        let wanted = [
            "D", "Vec", "b::C", "crate::o", "g", "h", "i::J", "k", "m", "n", "p::q",
        ];
        assert_eq!(found, wanted);
    }

    #[test]
    fn conditions_of_test_builds_are_told_from_others() {
        let is_shipped = |condition: &str| {
            let found = contents(&format!("#[cfg({condition})] fn f() {{}}"));
            found.items.contains("f")
        };
        for condition in [
            "test",
            "all(test, unix)",
            "any(test, fuzzing)",
            "all(shuttle)",
        ] {
            assert!(!is_shipped(condition), "{condition}");
        }
        for condition in [
            "unix",
            "not(test)",
            "not(all(test, shuttle))",
            "any(test, feature = \"test\")",
        ] {
            assert!(is_shipped(condition), "{condition}");
        }
    }
}
