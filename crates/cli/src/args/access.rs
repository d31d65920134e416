//! Who asks, where a server at a URL wants to know.

/// Who asks: in every command that talks to a server. No option holds a secret; it names what does.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Authorization of a URL")]
pub(crate) struct AccessArgs {
    /// Send the token that this variable holds; nobody is asked to sign in
    #[arg(long, value_name = "VARIABLE")]
    pub(crate) bearer_env: Option<String>,
}
