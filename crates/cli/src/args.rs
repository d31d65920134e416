//! What was typed.

use std::net::SocketAddr;
use std::num::NonZeroUsize;

use clap::{ArgAction, Parser, Subcommand};

/// The Model Context Protocol from a terminal.
#[derive(Debug, Parser)]
#[command(name = "pintle", version, propagate_version = true)]
#[command(after_help = concat!(
    "Exit codes: 0 done; 1 not understood; 3 sign-in needed; 4 unreachable;\n",
    "5 the tool failed, or nothing was found; 6 a schema was broken."
))]
pub(crate) struct Args {
    /// Say more about what goes on, on standard error; twice for everything
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The first word.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve the showcase: an example of every feature of a server
    Serve(ServeArgs),
}

/// `pintle serve`.
#[derive(Debug, clap::Args)]
pub(crate) struct ServeArgs {
    /// Serve on standard input and output, for a host that starts its servers
    #[arg(long, conflicts_with_all = ["http", "allow_insecure_bind"])]
    pub(crate) stdio: bool,

    /// Serve over HTTP on this address; port 0 is any free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8000")]
    pub(crate) http: SocketAddr,

    /// Serve on an address that is not loopback, although nobody is asked who they are
    #[arg(long)]
    pub(crate) allow_insecure_bind: bool,

    /// Serve lists in pages of this many entries, to see whether a client turns them
    #[arg(long, value_name = "ENTRIES")]
    pub(crate) page_size: Option<NonZeroUsize>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    fn parsed(line: &str) -> Result<ServeArgs, clap::Error> {
        let Command::Serve(serve) = Args::try_parse_from(line.split(' '))?.command;
        Ok(serve)
    }

    #[test]
    fn the_command_line_is_well_formed() {
        Args::command().debug_assert();
    }

    #[test]
    fn http_on_loopback_is_the_default() {
        let serve = parsed("pintle serve").expect("serve");
        assert!(!serve.stdio && !serve.allow_insecure_bind);
        assert_eq!(serve.http.to_string(), "127.0.0.1:8000");
    }

    #[test]
    fn a_page_has_an_entry_at_least() {
        let serve = parsed("pintle serve --page-size 5").expect("serve");
        assert_eq!(serve.page_size, NonZeroUsize::new(5));
        assert!(parsed("pintle serve --page-size 0").is_err());
    }

    #[test]
    fn one_transport_at_a_time() {
        assert!(parsed("pintle serve --stdio").expect("stdio").stdio);
        assert!(parsed("pintle serve --stdio --http 127.0.0.1:1").is_err());
        assert!(parsed("pintle serve --http nowhere").is_err());
        assert!(parsed("pintle").is_err());
    }
}
