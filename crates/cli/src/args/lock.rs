//! The arguments of `pintle lock`, `pintle verify` and `pintle diff`.

use std::path::PathBuf;

use super::server::{ServerArgs, ServerSpec, Settings};
use super::words::UsageError;

/// The arguments of `pintle lock`.
#[derive(Debug, clap::Args)]
pub(crate) struct LockArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,

    /// Lock file to write
    #[arg(long, value_name = "FILE", default_value = "pintle.lock.json")]
    pub(crate) file: PathBuf,
}

/// The arguments of `pintle verify`.
#[derive(Debug, clap::Args)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,

    /// Lock file to compare with
    #[arg(long, value_name = "FILE", default_value = "pintle.lock.json")]
    pub(crate) file: PathBuf,
}

/// The arguments of `pintle diff`.
#[derive(Debug, clap::Args)]
pub(crate) struct DiffArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

/// One of two surfaces to compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SurfaceSource {
    /// The surface in a lock file.
    File(PathBuf),
    /// The surface of a server.
    Server(ServerSpec),
}

impl SurfaceSource {
    /// Returns the two sources of a command line: words, and a program behind `--`, which is the second.
    ///
    /// # Errors
    ///
    /// [`UsageError`] unless there are two.
    pub(crate) fn two_of(
        words: Vec<String>,
        command: Vec<String>,
    ) -> Result<[Self; 2], UsageError> {
        let mut sources: Vec<Self> = words.into_iter().map(Self::of_word).collect();
        if !command.is_empty() {
            sources.push(Self::Server(ServerSpec::Program(command)));
        }
        sources.try_into().map_err(|_| {
            let reason = "which two are to be compared? Each is a lock file, a URL or @NAME; a program behind `--` \
                          is the second";
            UsageError(reason.to_owned())
        })
    }

    /// Returns the one source of a command line: a word, or the program behind `--`.
    ///
    /// # Errors
    ///
    /// [`UsageError`] unless there is one.
    pub(crate) fn one_of(words: Vec<String>, command: Vec<String>) -> Result<Self, UsageError> {
        let mut sources: Vec<Self> = words.into_iter().map(Self::of_word).collect();
        if !command.is_empty() {
            sources.push(Self::Server(ServerSpec::Program(command)));
        }
        match (sources.pop(), sources.is_empty()) {
            (Some(source), true) => Ok(source),
            _ => {
                let reason = "which server? A URL, @NAME, a lock file, or -- COMMAND";
                Err(UsageError(reason.to_owned()))
            }
        }
    }

    fn of_word(word: String) -> Self {
        match word.strip_prefix('@') {
            Some(name) => Self::Server(ServerSpec::Named(name.to_owned())),
            None if word.contains("://") => Self::Server(ServerSpec::Url(word)),
            None => Self::File(word.into()),
        }
    }
}

impl DiffArgs {
    /// Splits the arguments into the sources and the settings.
    ///
    /// # Errors
    ///
    /// [`UsageError`] unless there are two sources.
    pub(crate) fn take(self) -> Result<([SurfaceSource; 2], super::Format, Settings), UsageError> {
        let (words, command, format, settings) = Settings::take(self.server)?;
        Ok((SurfaceSource::two_of(words, command)?, format, settings))
    }
}
