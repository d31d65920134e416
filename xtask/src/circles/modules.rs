//! The modules of one crate, and the edges between its rooms.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::imports::{Import, Names};
use crate::failure::Result;
use crate::user_code::{self, SourceFile};
use crate::workspace::Package;

/// How many re-exports may lead to an item. More are a circle of globs.
const CHAIN_MOST: usize = 12;

/// An import that leads from one room to a sibling.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    /// The room that contains both, as `crate/module`.
    pub(crate) folder: String,
    pub(crate) from: String,
    pub(crate) to: String,
    /// File, line and path of the import.
    pub(crate) place: String,
}

/// One file of a crate.
#[derive(Debug)]
struct Module {
    /// The file, from the root of the repository.
    file: String,
    names: Names,
}

/// The path of a module in its crate.
type ModulePath = Vec<String>;

/// The modules of one crate.
#[derive(Debug, Default)]
pub(crate) struct Crate {
    /// Its name without the prefix of the workspace.
    name: String,
    modules: BTreeMap<ModulePath, Module>,
}

/// The end of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Target {
    Module(ModulePath),
    /// An item that the module declares.
    Item(ModulePath),
}

impl Crate {
    /// Reads the code of `package` that its users compile.
    pub(crate) fn read(package: &Package, root: &Path) -> Result<Self> {
        let sources = package.folder().join("src");
        let name = package
            .name
            .strip_prefix("pintle-")
            .unwrap_or(&package.name);
        let mut read = Self {
            name: name.to_owned(),
            modules: BTreeMap::new(),
        };
        for SourceFile { path, code, .. } in user_code::read(package)? {
            let inside = path.strip_prefix(&sources).unwrap_or(&path);
            let file = path
                .strip_prefix(root)
                .unwrap_or(&path)
                .display()
                .to_string();
            read.add(inside, file, code.text());
        }
        Ok(read)
    }

    fn add(&mut self, inside: &Path, file: String, code: &str) {
        let names = Names::of(code);
        self.modules
            .insert(module_path(inside), Module { file, names });
    }

    /// The imports between rooms beside each other.
    pub(crate) fn edges(&self) -> Vec<Edge> {
        let mut edges = Vec::new();
        for (from, module) in &self.modules {
            let uses = module
                .names
                .uses
                .iter()
                .map(|import| (import, self.end_of_use(from, import)));
            let paths = module
                .names
                .paths
                .iter()
                .map(|import| (import, self.end_of_path(from, import)));
            for (import, end) in uses.chain(paths) {
                let place = format!("{}:{} {}", module.file, import.line, import.path.join("::"));
                edges.extend(end.and_then(|to| self.edge(from, &to, place)));
            }
        }
        edges
    }

    /// The edge between the two rooms, beside each other, that contain the ends.
    fn edge(&self, from: &[String], to: &[String], place: String) -> Option<Edge> {
        let common = from.iter().zip(to).take_while(|(a, b)| a == b).count();
        let (room, other) = (from.get(common)?, to.get(common)?);
        let folder = [std::slice::from_ref(&self.name), &from[..common]].concat();
        Some(Edge {
            folder: folder.join("/"),
            from: room.clone(),
            to: other.clone(),
            place,
        })
    }

    /// The module that declares what a `use` names. A module alone is not an import of its items.
    fn end_of_use(&self, from: &ModulePath, import: &Import) -> Option<ModulePath> {
        let (last, parents) = import.path.split_last()?;
        if last == "*" {
            return match self.resolve(from, parents, 0)? {
                Target::Module(path) | Target::Item(path) => Some(path),
            };
        }
        item(self.resolve(from, &import.path, 0)?)
    }

    fn end_of_path(&self, from: &ModulePath, import: &Import) -> Option<ModulePath> {
        let first = import.path.first()?;
        let is_local = matches!(first.as_str(), "crate" | "self" | "super");
        let is_module = || matches!(self.look_up(from, first, true, 0), Some(Target::Module(_)));
        let end = (is_local || is_module()).then(|| self.resolve(from, &import.path, 0));
        item(end.flatten()?)
    }

    /// The end of `path` as the module `from` sees it; none for other crates.
    fn resolve(&self, from: &ModulePath, path: &[String], steps: usize) -> Option<Target> {
        let (first, rest) = path.split_first()?;
        let mut at = match first.as_str() {
            "crate" => Target::Module(Vec::new()),
            "self" => Target::Module(from.clone()),
            "super" => Target::Module(parent(from)?),
            name => self.look_up(from, name, !rest.is_empty(), steps)?,
        };
        for (number, part) in rest.iter().enumerate() {
            let is_prefix = number + 1 < rest.len();
            let Target::Module(module) = &at else {
                return Some(at);
            };
            at = match part.as_str() {
                "super" => Target::Module(parent(module)?),
                name => match self.look_up(module, name, is_prefix, steps) {
                    Some(end) => end,
                    None => Target::Item(module.clone()),
                },
            };
        }
        Some(at)
    }

    /// The meaning of `name` in a module: a module in it, an item, or an import. A prefix of a path
    /// is not a function.
    fn look_up(
        &self,
        module: &ModulePath,
        name: &str,
        is_prefix: bool,
        steps: usize,
    ) -> Option<Target> {
        if steps > CHAIN_MOST {
            return None;
        }
        let child: ModulePath = module.iter().cloned().chain([name.to_owned()]).collect();
        if self.modules.contains_key(&child) {
            return Some(Target::Module(child));
        }
        let names = &self.modules.get(module)?.names;
        if names.types.contains(name) || (!is_prefix && names.values.contains(name)) {
            return Some(Target::Item(module.clone()));
        }
        let is_other = |import: &&Import| import.path.first().is_none_or(|first| first != name);
        let named = names
            .uses
            .iter()
            .filter(|import| import.name == name)
            .find(is_other);
        match named {
            Some(import) => self.resolve(module, &import.path, steps + 1),
            None => self.in_globs(module, name, is_prefix, steps),
        }
    }

    fn in_globs(
        &self,
        module: &ModulePath,
        name: &str,
        is_prefix: bool,
        steps: usize,
    ) -> Option<Target> {
        let mut globs = self
            .modules
            .get(module)?
            .names
            .uses
            .iter()
            .filter(|import| import.name == "*");
        globs.find_map(|import| {
            let (_, parents) = import.path.split_last()?;
            match self.resolve(module, parents, steps + 1)? {
                Target::Module(other) if other != *module => {
                    self.look_up(&other, name, is_prefix, steps + 1)
                }
                _ => None,
            }
        })
    }
}

fn item(target: Target) -> Option<ModulePath> {
    match target {
        Target::Item(path) => Some(path),
        Target::Module(_) => None,
    }
}

fn parent(module: &ModulePath) -> Option<ModulePath> {
    let (_, parents) = module.split_last()?;
    Some(parents.to_vec())
}

/// `a/b.rs` is `a::b`; `lib.rs` and `main.rs` are the crate.
fn module_path(file: &Path) -> ModulePath {
    let parts = file.with_extension("");
    let parts = parts.iter().map(|part| part.to_string_lossy().into_owned());
    let mut path: ModulePath = parts.collect();
    let roots = BTreeSet::from(["lib", "main", "mod"]);
    if path
        .last()
        .is_some_and(|last| roots.contains(last.as_str()))
    {
        path.pop();
    }
    path
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Crate;

    /// The edges of a crate of these files, as `folder: from → to`.
    fn edges(files: &[(&str, &str)]) -> Vec<String> {
        let mut read = Crate {
            name: "x".to_owned(),
            ..Crate::default()
        };
        for (file, code) in files {
            read.add(Path::new(file), (*file).to_owned(), code);
        }
        let edges = read.edges().into_iter();
        edges
            .map(|edge| format!("{}: {} → {}", edge.folder, edge.from, edge.to))
            .collect()
    }

    #[test]
    fn an_import_leads_to_the_file_that_declares_the_item() {
        let files = [
            ("lib.rs", "mod a;\nmod b;\npub use b::C;"),
            ("a.rs", "use crate::C;"),
            ("b.rs", "pub use self::c::*;"),
            ("b/c.rs", "pub struct C;"),
        ];

        assert_eq!(edges(&files), ["x: a → b"]);
    }

    #[test]
    fn an_item_of_the_parent_is_not_an_edge() {
        let files = [
            ("lib.rs", "pub struct A;"),
            ("a.rs", "use crate::A;\nuse super::B;"),
        ];

        assert!(edges(&files).is_empty());
    }

    #[test]
    fn rooms_inside_of_rooms_have_edges_of_their_own() {
        let files = [
            ("lib.rs", ""),
            ("a.rs", ""),
            ("a/b.rs", "use super::c::D;"),
            ("a/c.rs", "pub struct D;\nfn e() { crate::a::b::f() }"),
        ];

        assert_eq!(edges(&files), ["x/a: b → c", "x/a: c → b"]);
    }

    #[test]
    fn a_path_through_an_imported_module_is_an_import() {
        let files = [
            ("lib.rs", ""),
            ("a.rs", "use crate::b;\nfn c() { b::d() }"),
            ("b.rs", "pub fn d() {}"),
        ];

        assert_eq!(edges(&files), ["x: a → b"]);
    }

    #[test]
    fn a_function_may_have_the_name_of_a_module() {
        let files = [
            ("lib.rs", ""),
            ("a.rs", "use super::b;\nfn b() { b::c() }"),
            ("b.rs", "pub fn c() {}"),
        ];

        assert_eq!(edges(&files), ["x: a → b"]);
    }

    #[test]
    fn names_of_other_crates_are_not_edges() {
        let files = [
            ("lib.rs", ""),
            ("a.rs", "use std::fmt::Debug;\nfn b() { fmt::c() }"),
        ];

        assert!(edges(&files).is_empty());
    }
}
