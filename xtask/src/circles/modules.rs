//! The modules of one crate, and the file to which a path in one of them leads.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use syn::Item;

use super::Sources;
use super::graph::Graph;
use super::syntax::{Contents, GLOB};

/// The root module.
const ROOT: usize = 0;

/// The number of imports that a name may be followed through.
const DEPTH: usize = 16;

/// One module, in a file of its own or inline.
#[derive(Debug)]
struct Module {
    /// An index of [`ModuleTree::files`].
    file: usize,
    parent: usize,
    children: BTreeMap<String, usize>,
    contents: Contents,
}

/// The modules of one crate that a build for users contains.
#[derive(Debug, Default)]
pub(super) struct ModuleTree {
    files: Vec<String>,
    modules: Vec<Module>,
}

/// Where a path ends.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    Module(usize),
    /// An item of the module.
    Item(usize, String),
}

impl ModuleTree {
    /// Reads `lib.rs` and every file that it declares, directly or not.
    ///
    /// # Errors
    ///
    /// A file is no Rust, or a module has no file.
    pub(super) fn read(sources: &Sources) -> Result<Self> {
        let mut tree = Self::default();
        tree.add_file("lib.rs", "", ROOT, sources)?;
        Ok(tree)
    }

    /// Adds a file whose modules are in the folder `inside`, which is empty or ends in a slash.
    fn add_file(
        &mut self,
        path: &str,
        inside: &str,
        parent: usize,
        sources: &Sources,
    ) -> Result<usize> {
        let text = sources
            .get(path)
            .with_context(|| format!("no file {path}"))?;
        let syntax = syn::parse_file(text).with_context(|| format!("{path} is no Rust"))?;
        self.files.push(path.to_owned());
        let file = self.files.len() - 1;
        self.add_module(file, inside, parent, syntax.items, sources)
    }

    fn add_module(
        &mut self,
        file: usize,
        inside: &str,
        parent: usize,
        items: Vec<Item>,
        sources: &Sources,
    ) -> Result<usize> {
        let (contents, children) = Contents::read(items);
        let module = self.modules.len();
        self.modules.push(Module {
            file,
            parent,
            children: BTreeMap::new(),
            contents,
        });
        for child in children {
            let inside = format!("{inside}{}/", child.name);
            let index = match child.items {
                Some(items) => self.add_module(file, &inside, module, items, sources)?,
                None => {
                    let folder = format!("{inside}mod.rs");
                    let flat = format!("{}.rs", inside.trim_end_matches('/'));
                    let path = if sources.contains_key(&folder) {
                        folder
                    } else {
                        flat
                    };
                    self.add_file(&path, &inside, module, sources)?
                }
            };
            self.modules[module].children.insert(child.name, index);
        }
        Ok(module)
    }

    /// Returns the files and what they use of each other.
    pub(super) fn graph(&self) -> Graph {
        let mut edges = BTreeMap::new();
        for index in 0..self.modules.len() {
            for (module, name) in self.used_by(index) {
                let edge = (self.modules[index].file, self.modules[module].file);
                if edge.0 != edge.1 {
                    let names: &mut BTreeSet<String> = edges.entry(edge).or_default();
                    names.insert(name);
                }
            }
        }
        let files = self.files.clone();
        Graph { files, edges }
    }

    /// Returns the items that the module uses, each with the module that defines it.
    fn used_by(&self, index: usize) -> Vec<(usize, String)> {
        let contents = &self.modules[index].contents;
        let imported = contents.imports.iter().filter_map(|import| {
            let place = self.place(index, &import.path, DEPTH)?;
            let is_below = |module| import.is_export && self.is_below(module, index);
            match place {
                Place::Item(module, name) if !is_below(module) => Some((module, name)),
                // A module is used where a path goes through its name.
                _ => None,
            }
        });
        let mentioned =
            contents
                .paths
                .iter()
                .filter_map(|path| match self.place(index, path, DEPTH)? {
                    Place::Item(module, name) => Some((module, name)),
                    Place::Module(_) => None,
                });
        imported.chain(mentioned).collect()
    }

    fn is_below(&self, mut module: usize, above: usize) -> bool {
        while module != above && module != ROOT {
            module = self.modules[module].parent;
        }
        module == above
    }

    /// Follows a path that stands in the module `at`. `None` if it leads out of the crate.
    fn place(&self, mut at: usize, path: &[String], depth: usize) -> Option<Place> {
        let depth = depth.checked_sub(1)?;
        // Whether the path so far leads to a module of this crate.
        let mut is_inside = false;
        for (position, name) in path.iter().enumerate() {
            match name.as_str() {
                "crate" => at = ROOT,
                "self" => {}
                "super" => at = self.modules[at].parent,
                name => match self.named(at, name, position + 1 == path.len(), depth) {
                    Some(Place::Module(module)) => at = module,
                    Some(item) => return Some(item),
                    // A macro makes the item, or the crate imports it from another one.
                    None if is_inside && !self.modules[at].contents.for_tests.contains(name) => {
                        return Some(Place::Item(at, name.to_owned()));
                    }
                    None => return None,
                },
            }
            is_inside = true;
        }
        Some(Place::Module(at))
    }

    /// Finds a name in the scope of a module.
    fn named(&self, at: usize, name: &str, is_last: bool, depth: usize) -> Option<Place> {
        let Module {
            children, contents, ..
        } = &self.modules[at];
        let child = || children.get(name).map(|&child| Place::Module(child));
        // A function may have the name of a module; only the module can have a name after it.
        if !is_last && children.contains_key(name) {
            return child();
        }
        if contents.items.contains(name) {
            return Some(Place::Item(at, name.to_owned()));
        }
        let mut imports = contents.imports_of(name);
        let imported = imports.find_map(|import| self.place(at, &import.path, depth));
        imported.or_else(child).or_else(|| {
            let mut globs = contents.imports_of(GLOB);
            globs.find_map(|import| match self.place(at, &import.path, depth)? {
                Place::Module(module) if depth > 0 => self.named(module, name, is_last, depth - 1),
                _ => None,
            })
        })
    }
}
