//! `docs/texts/errors.txt`: every error text of the crates, so that a review sees each change.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::place::Place;
use super::{sources, texts};
use crate::failure::{Attempt, Failure, Result};
use crate::workspace::Workspace;

const FILE: &str = "docs/texts/errors.txt";

const HEADER: &str = "\
# Every error text of the crates, file by file. `cargo xtask texts --write` writes this file.
";

/// The test that compares `docs/texts/help.txt`; with the variable, it writes the file.
const HELP_TEST: [&str; 5] = [
    "test",
    "--package",
    "pintle-cli",
    "--lib",
    "help_is_current",
];
const HELP_VARIABLE: &str = "PINTLE_WRITE_TEXTS";

/// Compares the error texts with the file. A test of `pintle-cli` compares the help.
pub(crate) fn check() -> Result<()> {
    let root = Workspace::read()?.root;
    let current = render(&root)?;
    let stored = fs::read_to_string(root.join(FILE)).unwrap_or_default();
    println!("texts: {} lines of error texts", current.lines().count());
    let faults = match current == stored {
        true => Vec::new(),
        false => vec![format!("{FILE}: write it with `cargo xtask texts --write`")],
    };
    Failure::unless_empty("not up to date", faults)
}

/// Writes the error texts and the help.
pub(crate) fn write() -> Result<()> {
    let root = Workspace::read()?.root;
    fs::write(root.join(FILE), render(&root)?).attempting(|| format!("write {FILE}"))?;
    let mut test = Command::new("cargo");
    test.args(HELP_TEST)
        .env(HELP_VARIABLE, "1")
        .current_dir(&root);
    let status = test.status().attempting(|| "write the help".into())?;
    match status.success() {
        true => Ok(()),
        false => Err(Failure::unable("write the help", "the test failed")),
    }
}

fn render(root: &Path) -> Result<String> {
    let mut text = HEADER.to_owned();
    for (path, source) in sources(root)? {
        let is_of_users = path.starts_with("crates/") && path.ends_with(".rs");
        let lines = match is_of_users {
            true => lines(&path, &source),
            false => Vec::new(),
        };
        if !lines.is_empty() {
            text += &format!("\n{path}\n{}", lines.concat());
        }
    }
    Ok(text)
}

/// The error texts of a file, one on each line.
fn lines(path: &str, source: &str) -> Vec<String> {
    let texts = texts::of_rust(path, source).into_iter();
    let errors = texts.filter(|text| text.place == Place::Error);
    let lines = errors.map(|text| {
        let parts: Vec<&str> = text.lines.iter().map(|(_, line)| line.trim()).collect();
        format!("  {}\n", parts.join(" ").trim())
    });
    lines
        .filter(|line| line.contains(char::is_alphabetic))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn a_text_is_one_line() {
        let source = "#[error(\"one \\\n   two {x}\")]\nA,\n#[error(\", \")]\nB,";

        assert_eq!(lines("crates/a/src/lib.rs", source), ["  one two {x}\n"]);
    }
}
