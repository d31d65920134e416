//! `pintle list @`: the servers that hosts know.

use std::env;
use std::path::Path;

use crate::args::Format;
use crate::exit::CliError;
use crate::output;
use crate::screen::Screen;
use crate::show;
use pintle_hosts::{Environment, LocalFiles, Platform, ServerRegistry};

/// Lists servers. Files that cannot be read are named, and do not hide the others.
pub(super) fn run(config: Option<&Path>, format: Format) -> Result<(), CliError> {
    let here = env::current_dir()?;
    let var = |name: &str| env::var(name).ok();
    let world = Environment {
        platform: Platform::HERE,
        here: &here,
        env: &var,
        disk: &LocalFiles,
    };
    let book = match config {
        Some(file) => ServerRegistry::of_file(&world, file)?,
        None => ServerRegistry::open(&world),
    };
    let screen = Screen::look();
    for fault in &book.faults {
        output::warn(&screen, fault);
    }
    match format {
        Format::Json => output::json(&screen, &show::hosts_json(&book)),
        Format::Text => output::result(show::hosts(&book, screen.output).as_bytes()),
    }
}
