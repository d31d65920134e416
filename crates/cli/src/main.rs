//! `pintle`: the Model Context Protocol from a terminal.

use std::process::ExitCode;

fn main() -> ExitCode {
    pintle_cli::main()
}
