//! `pintle list @`: the servers that hosts know.

use std::env;

use crate::exit::CliError;
use crate::output;
use crate::plan::{Format, Hosts};
use crate::screen::Screen;
use crate::show;
use pintle_hosts::{Environment, LocalFiles, Platform, ServerRegistry};

/// Lists servers. Files that cannot be read are named, and do not hide the others.
pub(crate) fn run(wanted: &Hosts) -> Result<(), CliError> {
    let here = env::current_dir()?;
    let var = |name: &str| env::var(name).ok();
    let world = Environment {
        platform: Platform::HERE,
        here: &here,
        env: &var,
        disk: &LocalFiles,
    };
    let book = match &wanted.config {
        Some(file) => ServerRegistry::of_file(&world, file)?,
        None => ServerRegistry::open(&world),
    };
    let screen = Screen::look();
    for fault in &book.faults {
        output::warn(&screen, fault);
    }
    match wanted.format {
        Format::Json => output::json(&screen, &show::hosts_json(&book)),
        Format::Text => output::result(show::hosts(&book, screen.output).as_bytes()),
    }
}
