//! The key of a shared server: hosts with the same key share a process.

use std::env;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;

use crate::command::serve::Proxied;
use crate::conversation::Opening;
use crate::exit::CliError;
use crate::shared::{depends_on, digest, parts_of};

/// Returns the key of a command line and its server, as a name of a file. Secrets are in it as a digest only.
///
/// # Errors
///
/// If the current folder does not exist any more.
pub(super) fn of(opening: &Opening<'_>, proxied: &Proxied) -> Result<String, CliError> {
    let here = env::current_dir()?;
    let words: Vec<OsString> = env::args_os().skip(1).collect();
    let mut parts: Vec<&[u8]> = vec![env!("CARGO_PKG_VERSION").as_bytes()];
    parts.extend(words.iter().map(|word| word.as_bytes()));
    let of_server = parts_of(opening.target());
    parts.extend(of_server.iter().map(|part| part.as_bytes()));
    let settings = opening.options().settings;
    let files = [&settings.config, &settings.trace, &proxied.filter.lock];
    let names_file = files.into_iter().flatten().any(|file| file.is_relative());
    if names_file || depends_on(opening.target(), &here) {
        parts.push(here.as_os_str().as_bytes());
    }
    Ok(digest(&parts))
}
