//! The commands in the book and in the README: the program accepts each of them.

use std::path::{Path, PathBuf};

use clap::Parser as _;

use crate::args::Args;
use crate::words::split;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Returns the pages with commands.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(ROOT);
    let chapters = std::fs::read_dir(root.join("docs/book/src")).expect("the book has a folder");
    let chapters = chapters.map(|entry| entry.expect("the folder can be read").path());
    let chapters = chapters.filter(|path| path.extension().is_some_and(|end| end == "md"));
    chapters.chain([root.join("README.md")]).collect()
}

/// Returns the commands in the shell blocks of a page, without comments.
fn commands(page: &str) -> Vec<String> {
    let mut is_shell = false;
    let mut commands = Vec::new();
    for line in page.lines() {
        if line.starts_with("```") {
            is_shell = line == "```sh";
        } else if is_shell && line.starts_with("pintle ") {
            let command = line.split(" #").next().unwrap_or_default();
            let command = command
                .split([';', '|', '>', '&'])
                .next()
                .unwrap_or_default();
            commands.push(command.to_owned());
        }
    }
    commands
}

#[test]
fn the_commands_of_the_book_are_valid() {
    let mut count = 0;
    for page in pages() {
        let text = std::fs::read_to_string(&page).expect("a page can be read");
        for command in commands(&text) {
            let words = split(&command).expect("its quotes are closed");
            let parsed = Args::try_parse_from(words);
            let page = page.display();
            assert!(
                parsed.is_ok(),
                "{page}: {command}: {}",
                parsed.expect_err("it is invalid")
            );
            count += 1;
        }
    }
    assert!(count > 20, "{count} commands");
}
