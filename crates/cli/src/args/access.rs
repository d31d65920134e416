//! Who asks, where a server at a URL wants to know.

use std::path::PathBuf;

/// Who asks: in every command that talks to a server. No option holds a secret; it names what does.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Authorization of a URL")]
pub(crate) struct AccessArgs {
    /// Send the token that this variable holds; nobody is asked to sign in
    #[arg(long, value_name = "VARIABLE", conflicts_with_all = ["client_id", "scopes", "redirect_port", "no_browser"])]
    pub(crate) bearer_env: Option<String>,

    /// Be this client, which the authorization server knows; it may be the address of a document
    #[arg(long, value_name = "ID")]
    pub(crate) client_id: Option<String>,

    /// Show the client's secret that this variable holds
    #[arg(long, value_name = "VARIABLE", requires = "client_id")]
    pub(crate) client_secret_env: Option<String>,

    /// Sign what says who the client is with the key of this file (PEM, PKCS #8)
    #[arg(
        long,
        value_name = "FILE",
        requires = "client_id",
        conflicts_with = "client_secret_env"
    )]
    pub(crate) client_key: Option<PathBuf>,

    /// Ask for a token for the client itself, and not for a person; it is not kept
    #[arg(long, requires = "client_id", conflicts_with_all = ["redirect_port", "no_browser"])]
    pub(crate) client_credentials: bool,

    /// Ask for this scope, and for none that the server names; may be said several times
    #[arg(long = "scope", value_name = "SCOPE")]
    pub(crate) scopes: Vec<String>,

    /// Wait at this port of this machine for the browser to come back
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) redirect_port: Option<u16>,

    /// Keep what comes of a sign-in in the keyring of the system, and in no file
    #[arg(long, conflicts_with_all = ["bearer_env", "client_credentials"])]
    pub(crate) keyring: bool,

    /// Open no browser: show the address to sign in at
    #[arg(long)]
    pub(crate) no_browser: bool,
}
