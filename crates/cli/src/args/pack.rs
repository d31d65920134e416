//! The arguments of `pintle pack`.

use std::path::PathBuf;

use super::server::ServerArgs;
use super::value;

/// The arguments of `pintle pack`.
#[derive(Debug, clap::Args)]
pub(crate) struct PackArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,

    /// Directory of the project, with its Cargo.toml, package.json or pyproject.toml
    #[arg(
        long,
        value_name = "DIRECTORY",
        default_value = ".",
        help_heading = "Package"
    )]
    pub(crate) project: PathBuf,

    /// Directory for the files of the package
    #[arg(
        long,
        value_name = "DIRECTORY",
        default_value = "dist",
        help_heading = "Package"
    )]
    pub(crate) out: PathBuf,

    /// Check the package, and write nothing
    #[arg(long, help_heading = "Package")]
    pub(crate) check: bool,

    /// Name for registries, such as io.github.USER/SERVER; derived from a repository at GitHub otherwise
    #[arg(long, value_name = "NAME", help_heading = "Package")]
    pub(crate) name: Option<String>,

    /// Description of at most 100 characters, in place of the project's
    #[arg(long, value_name = "TEXT", help_heading = "Package")]
    pub(crate) description: Option<String>,

    /// Author, in place of the project's
    #[arg(long, value_name = "NAME", help_heading = "Package")]
    pub(crate) author: Option<String>,

    /// Program for a bundle of this target, such as x86_64-unknown-linux-musl; the option can be repeated
    #[arg(long = "binary", value_name = "TARGET=FILE", value_parser = value::pair, help_heading = "Package")]
    pub(crate) binaries: Vec<(String, String)>,

    /// Argument of the program in a bundle; the option can be repeated
    #[arg(
        long = "argument",
        value_name = "ARGUMENT",
        allow_hyphen_values = true,
        help_heading = "Package"
    )]
    pub(crate) arguments: Vec<String>,

    /// Variable of the server that each user sets; the option can be repeated
    #[arg(long = "setting", value_name = "NAME", value_parser = value::name, help_heading = "Package")]
    pub(crate) settings: Vec<String>,

    /// URL of the directory with the bundles; the release at GitHub otherwise
    #[arg(long, value_name = "URL", value_parser = value::web_url, help_heading = "Package")]
    pub(crate) download: Option<String>,

    /// URL at which the server is hosted; the option can be repeated
    #[arg(long = "remote", value_name = "URL", value_parser = value::web_url, help_heading = "Package")]
    pub(crate) remotes: Vec<String>,
}
