//! The key of a shared server: hosts with the same key share a process.

use std::env;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use pintle_hosts::{Program, Target};
use ring::digest::{Context, SHA256};

use crate::command::serve::Proxied;
use crate::conversation::Opening;
use crate::exit::CliError;

/// Number of the bytes of the digest that the key has. The path of a socket is short on some systems.
const KEY_BYTES: usize = 10;

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
    let of_server = described(opening.target());
    parts.extend(of_server.iter().map(|part| part.as_bytes()));
    let settings = opening.options().settings;
    let files = [&settings.config, &settings.trace, &proxied.filter.lock];
    let names_file = files.into_iter().flatten().any(|file| file.is_relative());
    if names_file || depends_on(opening.target(), &here) {
        parts.push(here.as_os_str().as_bytes());
    }
    Ok(digest(&parts))
}

/// Whether the server depends on the folder in which the host starts it: it runs there, because its command line
/// names a file there. Otherwise it runs in the home folder of the user.
pub(super) fn depends_on(target: &Target, here: &Path) -> bool {
    let Target::Program(program) = target else {
        return false;
    };
    if program.directory.is_some() {
        return program
            .directory
            .as_ref()
            .is_some_and(|path| path.is_relative());
    }
    let is_here = |word: &String| Path::new(word).is_relative() && here.join(word).exists();
    let command = Some(&program.command).filter(|command| command.contains('/'));
    let words = program.arguments.iter().filter(|word| !word.is_empty());
    command.into_iter().chain(words).any(is_here)
}

fn described(target: &Target) -> Vec<String> {
    match target {
        Target::Url(endpoint) => {
            let headers = endpoint.headers.iter();
            let headers = headers.flat_map(|(name, value)| [name.clone(), value.clone()]);
            std::iter::once(endpoint.url.clone())
                .chain(headers)
                .collect()
        }
        Target::Program(Program {
            command,
            arguments,
            environment,
            directory,
        }) => {
            let mut parts = vec![command.clone()];
            parts.extend(arguments.iter().cloned());
            parts.push(String::new());
            parts.extend(
                environment
                    .iter()
                    .flat_map(|(name, value)| [name.clone(), value.clone()]),
            );
            parts.extend(directory.iter().map(|path| path.display().to_string()));
            parts
        }
    }
}

/// Returns the beginning of the digest of texts, each after its length.
fn digest(parts: &[&[u8]]) -> String {
    let mut context = Context::new(&SHA256);
    for part in parts {
        context.update(&(part.len() as u64).to_le_bytes());
        context.update(part);
    }
    let digest = context.finish();
    let bytes = digest.as_ref().iter().take(KEY_BYTES);
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(command: &str, arguments: &[&str]) -> Target {
        Target::Program(Program {
            command: command.to_owned(),
            arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
            ..Program::default()
        })
    }

    #[test]
    fn a_command_with_a_relative_file_depends_on_its_folder() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        for (target, expected) in [
            (program("npx", &["-y", "server"]), false),
            (program("node", &["Cargo.toml"]), true),
            (program("src/main.rs", &[]), true),
            (program("/bin/cat", &[""]), false),
            (program("server", &["."]), true),
        ] {
            assert_eq!(depends_on(&target, here), expected);
        }
    }

    #[test]
    fn the_border_between_words_is_a_part_of_the_key() {
        assert_ne!(digest(&[b"ab", b"c"]), digest(&[b"a", b"bc"]));
        assert_ne!(digest(&[b"a"]), digest(&[b"a", b""]));
        assert_eq!(digest(&[b"a"]).len(), 2 * KEY_BYTES);
    }
}
