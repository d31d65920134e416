//! The settings of the command line.

use tokio::runtime::{Builder, Runtime};

use crate::Failure;

/// Settings that may stand anywhere in the command line.
pub(crate) struct Settings {
    /// Number of tools for `scale`; without it the tools are those of `bench-server`.
    pub(crate) tools: Option<usize>,
    /// Number of worker threads; 1 by default.
    pub(crate) threads: usize,
    /// Whether the server is as the documentation shows it.
    pub(crate) is_documented: bool,
}

impl Settings {
    /// Returns the settings and the other words.
    pub(crate) fn read(
        words: impl Iterator<Item = String>,
    ) -> Result<(Self, Vec<String>), Failure> {
        let (mut settings, mut others) = (Self::default(), Vec::new());
        for word in words {
            match word.split_once('=') {
                Some(("tools", count)) => settings.tools = Some(count.parse()?),
                Some(("threads", count)) => settings.threads = count.parse()?,
                None if word == "documented" => settings.is_documented = true,
                _ => others.push(word),
            }
        }
        Ok((settings, others))
    }

    /// A runtime with so many worker threads. One thread needs no scheduler of several.
    pub(crate) fn runtime(&self) -> std::io::Result<Runtime> {
        let mut builder = match self.threads {
            0 | 1 => Builder::new_current_thread(),
            _ => Builder::new_multi_thread(),
        };
        builder
            .worker_threads(self.threads.max(1))
            .enable_all()
            .build()
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            tools: None,
            threads: 1,
            is_documented: false,
        }
    }
}
