//! The arguments of `pintle web`.

use std::path::PathBuf;

use super::server::ReachArgs;

/// Examples of `pintle web`.
pub(crate) const HELP: &str = concat!(
    "  pintle web                                     choose a server in the page\n",
    "  pintle web https://example.com/mcp             a URL\n",
    "  pintle web -- npx -y some-server               a program\n",
    "  pintle web --recording session.jsonl           a recording of pintle tap\n\n",
    "The URL of the page has a secret token. Do not pass it on: it allows everything that the page does."
);

/// The arguments of `pintle web`.
#[derive(Debug, clap::Args)]
pub(crate) struct WebArgs {
    /// The server: a URL, or @NAME. Without one, the page offers the servers that hosts know
    #[arg(value_name = "SERVER", conflicts_with = "command")]
    pub(crate) server: Option<String>,

    /// A program to start as the server, with its arguments
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,

    /// Port of the page on 127.0.0.1; 0 is any free port
    #[arg(long, value_name = "PORT", default_value = "0")]
    pub(crate) port: u16,

    /// Print the URL of the page, and open no browser
    #[arg(long)]
    pub(crate) no_open: bool,

    /// Show the messages of a file of `pintle tap --record`
    #[arg(long, value_name = "FILE")]
    pub(crate) recording: Option<PathBuf>,

    /// Root directory for a server that requests roots; the option can be repeated
    #[arg(
        long = "root",
        value_name = "DIRECTORY",
        help_heading = "Questions of the server"
    )]
    pub(crate) roots: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) reach: ReachArgs,
}
