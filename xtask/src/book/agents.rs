//! Files for agents of users, made of the book: `llms.txt`, and `docs/agents/AGENTS.md` from its template.

use std::fs;
use std::path::Path;

use super::{CHAPTERS, SUMMARY, read};
use crate::failure::{Attempt, Failure, Result};

const INDEX: &str = "llms.txt";
const AGENTS: &str = "docs/agents/AGENTS.md";
const TEMPLATE: &str = "docs/agents/template.md";

/// The chapters as text.
const RAW: &str = "https://raw.githubusercontent.com/pintle-mcp/pintle/main/docs/book/src/";

const INDEX_HEADER: &str = "\
# Pintle

> The Model Context Protocol (MCP) in Rust: servers, clients, and a command that talks to any server. One function serves
> clients of every revision. The programs of the chapters are compiled by tests.
";

/// Returns the files that are not current.
pub(super) fn faults(root: &Path) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for (file, current) in rendered(root)? {
        if fs::read_to_string(root.join(file)).unwrap_or_default() != current {
            faults.push(format!("{file}: write it with `cargo xtask book --write`"));
        }
    }
    Ok(faults)
}

/// Writes the files.
pub(super) fn write(root: &Path) -> Result<()> {
    for (file, current) in rendered(root)? {
        fs::write(root.join(file), current).attempting(|| format!("write {file}"))?;
    }
    Ok(())
}

fn rendered(root: &Path) -> Result<[(&'static str, String); 2]> {
    let chapter = |name: &str| read(&root.join(CHAPTERS).join(name));
    let summary = chapter(SUMMARY)?;
    let template = read(&root.join(TEMPLATE))?;
    Ok([
        (INDEX, index(&summary, chapter)?),
        (AGENTS, filled(&template, chapter)?),
    ])
}

/// Lists the chapters, each with its first paragraph.
fn index(summary: &str, chapter: impl Fn(&str) -> Result<String>) -> Result<String> {
    let mut index = INDEX_HEADER.to_owned();
    for line in summary.lines().skip(1) {
        if let Some(part) = line.strip_prefix("# ") {
            index.push_str(&format!("\n## {part}\n\n"));
        } else if let Some((title, name)) = entry(line) {
            let about = first_paragraph(&chapter(name)?);
            index.push_str(&format!("- [{title}]({RAW}{name}): {about}\n"));
        }
    }
    Ok(index)
}

/// Returns the title and the file of a line of the table of contents.
fn entry(line: &str) -> Option<(&str, &str)> {
    let (title, rest) = line.strip_prefix("- [")?.split_once("](")?;
    Some((title, rest.strip_suffix(')')?))
}

/// Returns the first paragraph of a page in one line.
fn first_paragraph(page: &str) -> String {
    let lines = page.lines().skip(1).skip_while(|line| line.is_empty());
    let lines: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
    lines.join(" ")
}

/// Replaces each `{{chapter}}` by the first program of the chapter, and `{{chapter 3}}` by the third.
fn filled(template: &str, chapter: impl Fn(&str) -> Result<String>) -> Result<String> {
    let mut filled = String::new();
    for line in template.lines() {
        let place = line
            .strip_prefix("{{")
            .and_then(|rest| rest.strip_suffix("}}"));
        match place {
            Some(place) => {
                let (name, number) = place.split_once(' ').unwrap_or((place, "1"));
                let program = program(&chapter(name)?, number);
                let missing =
                    || Failure::unable(format!("read the program {place}"), "it is missing");
                filled.push_str(&program.ok_or_else(missing)?);
            }
            None => filled.push_str(line),
        }
        filled.push('\n');
    }
    Ok(filled)
}

/// Returns the first dependencies, and the Rust block of this number behind them.
fn program(page: &str, number: &str) -> Option<String> {
    let (_, rest) = page.split_once("\n```toml\n")?;
    let (manifest, rest) = rest.split_once("\n```\n")?;
    let block = rest.split("\n```rust").nth(number.parse().ok()?)?;
    let (code, _) = block.split_once('\n')?.1.split_once("\n```")?;
    let code = shown(code);
    Some(format!("```toml\n{manifest}\n```\n\n```rust\n{code}\n```"))
}

/// Returns the lines that readers see.
fn shown(code: &str) -> String {
    let is_shown = |line: &&str| !line.starts_with("# ") && *line != "#";
    let lines: Vec<&str> = code.lines().filter(is_shown).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str =
        "# A\n\nFirst\nparagraph.\n\nx\n\n```toml\na = 1\n```\n\n```rust,no_run\n# b\nc\n```\n";

    #[test]
    fn the_index_has_the_first_paragraph_of_each_chapter() {
        let index = index("# Summary\n\n# Part\n\n- [A](a.md)\n", |_| {
            Ok(PAGE.to_owned())
        });
        let index = index.expect("an index");
        let entry = format!("\n## Part\n\n- [A]({RAW}a.md): First paragraph.\n");
        assert!(index.ends_with(&entry), "{index}");
    }

    #[test]
    fn a_placeholder_becomes_the_program_without_hidden_lines() {
        let filled = filled("x\n{{a.md}}\ny", |_| Ok(PAGE.to_owned()));
        let program = "```toml\na = 1\n```\n\n```rust\nc\n```";
        assert_eq!(filled.expect("a text"), format!("x\n{program}\ny\n"));
    }

    #[test]
    fn a_chapter_without_a_program_is_an_error() {
        for (place, page) in [
            ("{{a.md}}", "# A\n"),
            ("{{a.md 2}}", PAGE),
            ("{{a.md x}}", PAGE),
        ] {
            assert!(filled(place, |_| Ok(page.to_owned())).is_err(), "{place}");
        }
    }
}
