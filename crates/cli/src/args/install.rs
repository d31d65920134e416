//! The arguments of `pintle install` and `pintle uninstall`.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use pintle::auth::Secret;
use pintle_hosts::{Host, Placement};

use super::value;

/// The arguments of `pintle install`.
#[derive(Debug, clap::Args)]
pub(crate) struct InstallArgs {
    /// The server: a URL, or @NAME to copy a server of another host
    #[arg(value_name = "SERVER", conflicts_with = "command")]
    pub(crate) server: Option<String>,

    /// A program that the host starts as the server, with its arguments
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,

    #[command(flatten)]
    pub(crate) change: ChangeArgs,

    /// Name of the server in the file; a copy has the same name otherwise
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,

    /// Variable for the environment of the program; NAME alone stores a reference to the variable in the syntax of
    /// the host, and no value
    #[arg(long, value_name = "NAME[=VALUE]", value_parser = value::reference)]
    pub(crate) env: Vec<(String, Option<Secret>)>,

    /// Header for every request to the URL
    #[arg(long = "header", value_name = "NAME:VALUE", value_parser = value::header)]
    pub(crate) headers: Vec<(String, Secret)>,

    /// Send the token in this variable to the URL; the file has a reference to the variable
    #[arg(long, value_name = "VARIABLE")]
    pub(crate) bearer_env: Option<String>,

    /// Replace a server of the same name
    #[arg(long)]
    pub(crate) replace: bool,

    /// Copy @NAME from the file of a project without a question for consent
    #[arg(long)]
    pub(crate) trust: bool,
}

/// The arguments of `pintle uninstall`.
#[derive(Debug, clap::Args)]
pub(crate) struct UninstallArgs {
    /// Name of the server in the file
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    #[command(flatten)]
    pub(crate) change: ChangeArgs,
}

/// The file to change, and how the change is confirmed.
#[derive(Debug, clap::Args)]
pub(crate) struct ChangeArgs {
    /// The host whose file is changed
    #[arg(long, value_name = "HOST", value_parser = hosts())]
    pub(crate) host: String,

    /// Change the file of the project, and not the file of the user
    #[arg(long, conflicts_with = "file")]
    pub(crate) project: bool,

    /// Change this file, which has the form of the host
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// Print the change as a unified diff, and write nothing
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,

    /// Write the change without a question
    #[arg(long)]
    pub(crate) yes: bool,
}

impl ChangeArgs {
    /// Returns which file of the host is changed.
    pub(crate) fn placement(&self) -> Placement {
        match &self.file {
            Some(file) => Placement::File(file.clone()),
            None if self.project => Placement::Project,
            None => Placement::User,
        }
    }
}

fn hosts() -> PossibleValuesParser {
    PossibleValuesParser::new(Host::all().iter().map(|host| host.id))
}
