//! The book: its chapters, its programs, and the links of all pages for users.
//!
//! `cargo test` compiles and runs the programs, because `docs/book/lib.rs` includes the chapters.
//! A test of `pintle-cli` parses the commands.

mod agents;
mod links;
mod manifests;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::{Attempt, Failure, Result};
use crate::workspace::{Workspace, files};

/// The folder of the chapters.
const CHAPTERS: &str = "docs/book/src";
/// The file that includes the chapters as doc tests.
const TESTS: &str = "docs/book/lib.rs";
/// The table of contents.
const SUMMARY: &str = "SUMMARY.md";

/// Checks the table of contents, the list of doc tests, and the links.
pub(crate) fn check() -> Result<()> {
    let root = Workspace::read()?.root;
    let chapters = chapters(&root)?;
    let mut faults = contents(&root, &chapters)?;
    faults.extend(untested(&root, &chapters)?);
    faults.extend(agents::faults(&root)?);
    let pages = pages(&root)?;
    faults.extend(links::faults(&root, &pages)?);
    println!(
        "book: {} chapters; the links of {} pages",
        chapters.len(),
        pages.len()
    );
    Failure::unless_empty("the book is complete, and its links lead somewhere", faults)
}

/// Writes the files that are made of the book.
pub(crate) fn write() -> Result<()> {
    agents::write(&Workspace::read()?.root)
}

/// Returns the names of the chapters.
fn chapters(root: &Path) -> Result<BTreeSet<String>> {
    let folder = root.join(CHAPTERS);
    let paths = files(&folder, &["md"])?;
    let names = paths
        .iter()
        .filter_map(|path| path.strip_prefix(&folder).ok());
    let names = names.map(|name| name.display().to_string());
    Ok(names.filter(|name| name != SUMMARY).collect())
}

/// Returns chapters that the table of contents lacks.
fn contents(root: &Path, chapters: &BTreeSet<String>) -> Result<Vec<String>> {
    let summary = read(&root.join(CHAPTERS).join(SUMMARY))?;
    let is_missing = |name: &&String| !summary.contains(&format!("]({name})"));
    let missing = chapters.iter().filter(is_missing);
    Ok(missing
        .map(|name| format!("{SUMMARY} lacks {name}"))
        .collect())
}

/// Returns chapters with Rust blocks that no test compiles, and programs without their dependencies.
fn untested(root: &Path, chapters: &BTreeSet<String>) -> Result<Vec<String>> {
    let tests = read(&root.join(TESTS))?;
    let mut faults = Vec::new();
    for name in chapters {
        let text = read(&root.join(CHAPTERS).join(name))?;
        let has_rust = text.contains("\n```rust");
        let lacks = manifests::faults(&text);
        faults.extend(lacks.into_iter().map(|fault| format!("{name}: {fault}")));
        if has_rust && !tests.contains(&format!("\"src/{name}\"")) {
            faults.push(format!("{TESTS} lacks {name}, which has Rust blocks"));
        }
    }
    Ok(faults)
}

/// Returns the pages whose links are checked: all Markdown files for users and contributors.
fn pages(root: &Path) -> Result<Vec<PathBuf>> {
    let mut pages = files(&root.join("docs"), &["md"])?;
    let names = ["README.md", "CONTRIBUTING.md", "SECURITY.md"];
    pages.extend(names.map(|name| root.join(name)));
    Ok(pages)
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).attempting(|| format!("read {}", path.display()))
}
