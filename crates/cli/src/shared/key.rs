//! The keys of shared servers, as names of files.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use pintle_hosts::{Program, Target};
use ring::digest::{Context, SHA256};

/// Number of the bytes of the digest that the key has. The path of a socket is short on some systems.
const KEY_BYTES: usize = 10;
/// The first part of the key of a target, so that it differs from the key of a command line.
const OF_TARGET: &[u8] = b"target";

/// Returns the key of a server without a command line of `pintle serve`: commands find its shared process by it.
pub(crate) fn of_target(target: &Target, here: &Path) -> String {
    let mut parts = vec![OF_TARGET, env!("CARGO_PKG_VERSION").as_bytes()];
    let of_target = parts_of(target);
    parts.extend(of_target.iter().map(|part| part.as_bytes()));
    if depends_on(target, here) {
        parts.push(here.as_os_str().as_bytes());
    }
    digest(&parts)
}

/// Whether the server depends on the folder in which the host starts it: it runs there, because its command line
/// names a file there. Otherwise it runs in the home folder of the user.
pub(crate) fn depends_on(target: &Target, here: &Path) -> bool {
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

/// Returns the parts of a server that a key is made of.
pub(crate) fn parts_of(target: &Target) -> Vec<String> {
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
pub(crate) fn digest(parts: &[&[u8]]) -> String {
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
