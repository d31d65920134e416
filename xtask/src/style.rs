//! Sizes: a file that has to be scrolled through and a function that does several things are
//! split, not excused.

use std::path::Path;

use crate::failure::{Failure, Result};
use crate::source::{Code, closing_brace};
use crate::user_code::{self, SourceFile};
use crate::workspace::Workspace;

/// Lines of a file, without its tests. Worth a split.
const FILE_ASKS: usize = 450;
/// Lines of a file, without its tests. Never more.
const FILE_MOST: usize = 600;
/// Lines of a function, from `fn` to its closing brace. Never more.
const FUNCTION_MOST: usize = 60;

/// Measures every file that users compile.
pub(crate) fn check() -> Result<()> {
    let workspace = Workspace::read()?;
    let mut faults = Vec::new();
    let mut files = 0;
    for package in workspace.members() {
        for SourceFile { path, text, code } in user_code::read(package)? {
            let place = path.strip_prefix(&workspace.root).unwrap_or(&path);
            faults.extend(measure(place, &text, &code));
            files += 1;
        }
    }
    println!("style: {files} files measured");
    Failure::unless_empty("too much in one place", faults)
}

fn measure(place: &Path, text: &str, code: &Code) -> Vec<String> {
    let place = place.display();
    let lines = code.lines_for_users(text);
    let mut faults = Vec::new();
    if lines > FILE_MOST {
        faults.push(format!("{place}: {lines} lines, at most {FILE_MOST}"));
    } else if lines > FILE_ASKS {
        println!("style: {place} has {lines} lines; from {FILE_ASKS} on a split is worth it");
    }
    let long = functions(code.text()).filter(|function| function.lines > FUNCTION_MOST);
    faults.extend(long.map(|Function { name, line, lines }| {
        format!("{place}:{line}: {name} has {lines} lines, at most {FUNCTION_MOST}")
    }));
    faults.extend(unfinished(text).map(|line| format!("{place}:{line}: not finished")));
    faults
}

/// A function with a body.
struct Function<'a> {
    name: &'a str,
    line: usize,
    lines: usize,
}

fn functions(code: &str) -> impl Iterator<Item = Function<'_>> {
    let starts = code
        .match_indices("fn ")
        .filter(|(at, _)| is_word_start(code, *at));
    starts.filter_map(|(at, _)| {
        let rest = &code[at + "fn ".len()..];
        let name = rest
            .split(|c: char| c != '_' && !c.is_alphanumeric())
            .next()?;
        let body = at + code[at..].find(['{', ';'])?;
        let end = (code.as_bytes()[body] == b'{').then(|| closing_brace(code.as_bytes(), body))?;
        Some(Function {
            name,
            line: code[..at].lines().count().max(1),
            lines: code[at..end].lines().count(),
        })
    })
}

fn is_word_start(code: &str, at: usize) -> bool {
    let before = code[..at].chars().next_back();
    !before.is_some_and(|c| c == '_' || c.is_alphanumeric())
}

/// Lines that say that something is still to be done.
fn unfinished(text: &str) -> impl Iterator<Item = usize> {
    let lines = text.lines().enumerate();
    let marks = ["TODO", "FIXME", "XXX"];
    lines.filter_map(move |(at, line)| {
        let comment = line.split_once("//")?.1;
        let mut words = comment.split(|c: char| !c.is_alphanumeric());
        words.any(|word| marks.contains(&word)).then_some(at + 1)
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Code, functions, measure};

    fn measured(text: &str) -> Vec<String> {
        measure(Path::new("a.rs"), text, &Code::of(text))
    }

    #[test]
    fn a_function_ends_with_its_brace() {
        let code = "trait A {\n fn a();\n fn b() {\n  if x {\n  }\n }\n}\n";
        let found: Vec<_> = functions(code).map(|f| (f.name, f.line, f.lines)).collect();

        assert_eq!(found, [("b", 3, 4)]);
    }

    #[test]
    fn tests_do_not_count() {
        let tests = "    #[test]\n    fn a() {}\n".repeat(500);
        let text = format!("fn a() {{}}\n#[cfg(test)]\nmod tests {{\n{tests}}}\n");

        assert!(measured(&text).is_empty());
    }

    #[test]
    fn a_long_function_is_found() {
        let text = format!("fn a() {{\n{}}}\n", "    b();\n".repeat(60));

        assert_eq!(measured(&text), ["a.rs:1: a has 62 lines, at most 60"]);
    }
}
