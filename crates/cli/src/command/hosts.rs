//! `pintle list @`: lists the servers in the files of hosts.

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
    let environment = Environment {
        platform: Platform::HERE,
        here: &here,
        env: &var,
        disk: &LocalFiles,
    };
    let registry = match config {
        Some(file) => ServerRegistry::of_file(&environment, file)?,
        None => ServerRegistry::open(&environment),
    };
    let screen = Screen::look();
    for error in &registry.errors {
        output::warn(&screen, error);
    }
    match format {
        Format::Json => output::json(&screen, &show::hosts_json(&registry)),
        Format::Text => output::result(show::hosts(&registry, screen.output).as_bytes()),
    }
}
