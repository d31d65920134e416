//! The arguments of `pintle tap`.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use super::value;

/// The arguments of `pintle tap`.
#[derive(Debug, clap::Args)]
pub(crate) struct TapArgs {
    /// The server to observe, at a URL
    #[arg(value_name = "URL", requires = "http", conflicts_with = "command")]
    pub(crate) url: Option<String>,

    /// The server to start, with its arguments. It gets the environment of this program
    #[arg(last = true, required_unless_present = "url", value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,

    /// Pass the requests to this loopback address on to the URL; port 0 is any free port
    #[arg(long, value_name = "ADDRESS", requires = "url")]
    pub(crate) http: Option<SocketAddr>,

    /// Write the messages to this file as JSON Lines, for `pintle replay`; its mode is 0600
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,

    /// Maximum size of the file, such as 10MB; the messages pass on when it is full
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = value::size)]
    pub(crate) record_limit: u64,

    /// Show one line of JSON for each message
    #[arg(long, conflicts_with = "quiet")]
    pub(crate) json: bool,

    /// Show nothing on standard error, which then has only the output of the server
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Show and record secrets: passwords, tokens, and API keys
    #[arg(long)]
    pub(crate) secrets: bool,
}
