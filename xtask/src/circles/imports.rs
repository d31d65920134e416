//! What one file imports: its `use` declarations and the paths in its code.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex_lite::Regex;

/// A path that a file names.
#[derive(Debug, PartialEq, Eq, Clone)]
pub(crate) struct Import {
    /// Its parts; the last is `*` for all names of a module.
    pub(crate) path: Vec<String>,
    /// The name it has in the file.
    pub(crate) name: String,
    pub(crate) line: usize,
}

/// The names that one file declares or imports.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// The types and modules that it declares, which a path can lead through.
    pub(crate) types: BTreeSet<String>,
    /// The functions, constants and macros that it declares.
    pub(crate) values: BTreeSet<String>,
    /// Its `use` declarations.
    pub(crate) uses: Vec<Import>,
    /// The paths in its code.
    pub(crate) paths: Vec<Import>,
}

static USE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?m)^[ \t]*(?:pub(?:\([^)]*\))?\s+)?use\s+([^;]+);"));
static VISIBILITY: LazyLock<Regex> = LazyLock::new(|| pattern(r"\bpub\(in [^)]*\)"));
static ITEM: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\b(struct|enum|trait|fn|type|const|static|union|mod|macro_rules!)\s+(\w+)")
});
static PATH: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b[A-Za-z_]\w*(?:::[A-Za-z_]\w*)+"));

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the patterns of this file are valid")
}

impl Names {
    /// Reads code without comments, literals and tests.
    pub(crate) fn of(code: &str) -> Self {
        let line = |at: usize| code[..at].matches('\n').count() + 1;
        let mut names = Self::default();
        let mut rest = code.to_owned();
        for found in VISIBILITY.find_iter(code) {
            blank(&mut rest, found.range());
        }
        for found in USE.captures_iter(code) {
            let (Some(whole), Some(tree)) = (found.get(0), found.get(1)) else {
                continue;
            };
            leaves(tree.as_str(), &[], line(tree.start()), &mut names.uses);
            blank(&mut rest, whole.range());
        }
        for found in ITEM.captures_iter(&rest) {
            let [keyword, name] = [1, 2].map(|at| found.get(at).map_or("", |it| it.as_str()));
            let is_value = matches!(keyword, "fn" | "const" | "static" | "macro_rules!");
            let set = if is_value {
                &mut names.values
            } else {
                &mut names.types
            };
            set.insert(name.to_owned());
        }
        for found in PATH.find_iter(&rest) {
            let is_absolute = rest[..found.start()].ends_with(':');
            if !is_absolute {
                let at = line(found.start());
                names.paths.push(import(&[], found.as_str(), at));
            }
        }
        names
    }
}

fn blank(text: &mut String, range: std::ops::Range<usize>) {
    let blanks: String = text[range.clone()]
        .bytes()
        .map(|byte| if byte == b'\n' { '\n' } else { ' ' })
        .collect();
    text.replace_range(range, &blanks);
}

/// Collects the leaves of a `use` tree below `prefix`.
fn leaves(tree: &str, prefix: &[String], line: usize, into: &mut Vec<Import>) {
    let tree = tree.trim();
    let Some((head, group)) = tree.split_once('{') else {
        if !tree.is_empty() {
            into.push(import(prefix, tree, line));
        }
        return;
    };
    let head = parts(head.trim().trim_end_matches("::"));
    let prefix: Vec<String> = prefix.iter().cloned().chain(head).collect();
    let group = group.trim_end().strip_suffix('}').unwrap_or(group);
    for branch in branches(group) {
        leaves(branch, &prefix, line, into);
    }
}

/// The parts of a group, split at the commas that are not in a group inside.
fn branches(group: &str) -> Vec<&str> {
    let (mut depth, mut from, mut all) = (0_usize, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                all.push(&group[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    all.push(&group[from..]);
    all
}

fn parts(path: &str) -> Vec<String> {
    let parts = path.split("::").map(str::trim);
    parts
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

/// One path below `prefix`; `self` at its end names the prefix.
fn import(prefix: &[String], leaf: &str, line: usize) -> Import {
    let mut words = leaf.split_whitespace();
    let mut path: Vec<String> = prefix.to_vec();
    path.extend(parts(words.next().unwrap_or_default()));
    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    let alias = words.nth(1).or(path.last().map(String::as_str));
    let name = alias.unwrap_or_default().to_owned();
    Import { path, name, line }
}

#[cfg(test)]
mod tests {
    use super::{Import, Names};

    fn shown(imports: &[Import]) -> Vec<String> {
        let show = |import: &Import| {
            format!(
                "{}: {} as {}",
                import.line,
                import.path.join("::"),
                import.name
            )
        };
        imports.iter().map(show).collect()
    }

    #[test]
    fn the_leaves_of_a_tree_are_imports() {
        let code = "use a::b;\npub(crate) use crate::{c::{self, D as E}, f::*};\n";
        let expected = [
            "1: a::b as b",
            "2: crate::c as c",
            "2: crate::c::D as E",
            "2: crate::f::* as *",
        ];

        assert_eq!(shown(&Names::of(code).uses), expected);
    }

    #[test]
    fn paths_in_code_are_imports() {
        let code = "fn a(b: super::C) {\n  crate::d::e();\n  <X as Y>::f();\n}\npub(in crate::g) struct H;";

        assert_eq!(
            shown(&Names::of(code).paths),
            ["1: super::C as C", "2: crate::d::e as e"]
        );
    }

    #[test]
    fn items_are_declared() {
        let names = Names::of("pub struct A;\nfn b() {}\nmacro_rules! c {}");

        assert_eq!(names.types.into_iter().collect::<Vec<_>>(), ["A"]);
        assert_eq!(names.values.into_iter().collect::<Vec<_>>(), ["b", "c"]);
    }
}
