//! The help of every command, as `docs/texts/help.txt` stores it for reviews.

use std::fmt::Write as _;
use std::path::Path;

use clap::{Command, CommandFactory as _};

use crate::args::Args;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/texts/help.txt");

const HEADER: &str = "\
# The help of every command. `cargo xtask texts --write` writes this file.
";

#[test]
fn help_is_current() {
    let mut program = Args::command();
    program.build();
    let mut help = HEADER.to_owned();
    render(&mut program, "pintle", &mut help);
    if std::env::var_os("PINTLE_WRITE_TEXTS").is_some() {
        std::fs::write(Path::new(FILE), &help).expect("the file can be written");
    }
    let stored = std::fs::read_to_string(FILE).expect("the file can be read");
    assert!(
        help == stored,
        "docs/texts/help.txt is not current: run `cargo xtask texts --write`"
    );
}

/// Writes the help of a command and of the commands inside of it.
fn render(command: &mut Command, name: &str, help: &mut String) {
    let text = command.render_long_help().to_string();
    let _ = writeln!(help, "\n# {name}\n");
    for line in text.lines() {
        let _ = writeln!(help, "{}", line.trim_end());
    }
    for inner in command.get_subcommands_mut() {
        if inner.get_name() != "help" {
            let name = format!("{name} {}", inner.get_name());
            render(inner, &name, help);
        }
    }
}
