//! The arguments of `pintle doctor`.

use std::path::PathBuf;
use std::time::Duration;

use super::value;

/// The arguments of `pintle doctor`.
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// @ for the servers of all hosts, @HOST/ for those of one host, @NAME for one server
    #[arg(value_name = "@|@NAME", default_value = "@")]
    pub(crate) target: String,

    /// Print the findings as JSON, for programs
    #[arg(long)]
    pub(crate) json: bool,

    /// Examine the servers of this file only
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Use servers from the files of projects without a question for consent, in this run
    #[arg(long)]
    pub(crate) trust: bool,

    /// Answer to a question of a file (`${input:ID}`)
    #[arg(long = "input", value_name = "ID=VALUE", value_parser = value::pair)]
    pub(crate) inputs: Vec<(String, String)>,

    /// Longest time for the start of each server; 30s without this option, or the limit of its host
    #[arg(long, value_name = "TIME", value_parser = value::duration)]
    pub(crate) timeout: Option<Duration>,
}
