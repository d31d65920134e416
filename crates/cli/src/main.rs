//! `pintle`: the Model Context Protocol from a terminal.
//!
//! What was typed ([`args`]) becomes what was meant ([`plan`]), which a command runs; everything
//! that is printed is printed by [`output`], and the end is an [`exit`] code.

mod access;
mod args;
mod arguments;
mod ask;
mod auth_diagnosis;
mod command;
mod consent;
mod conversation;
mod exit;
#[cfg(all(test, feature = "keyring"))]
mod help_snapshot;
mod live;
mod output;
mod page;
mod plan;
mod screen;
mod show;
mod showcase;
mod text;
mod words;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use tokio::runtime::Builder;

use args::Args;
use exit::Exit;
use plan::{Format, Plan};

/// How long what was cut off may take to be dropped.
const CLEARING: Duration = Duration::from_millis(500);

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return output::usage(&error).into(),
    };
    let plan = match Plan::try_from(args) {
        Ok(plan) => plan,
        Err(misunderstood) => {
            // The words that ask for JSON may be the ones that are not understood.
            return output::failed(&misunderstood.into(), Format::Text).into();
        }
    };
    output::trace(&plan);
    let format = plan.format();
    match run(plan) {
        Ok(()) => Exit::Done.into(),
        Err(failure) => output::failed(&failure, format).into(),
    }
}

fn run(plan: Plan) -> Result<(), exit::CliError> {
    let runtime = match plan.needs_threads() {
        true => Builder::new_multi_thread().enable_all().build()?,
        // One thread is there sooner than several.
        false => Builder::new_current_thread().enable_all().build()?,
    };
    let ended = runtime.block_on(command::run(plan));
    // Handlers that were cut off put things right as they are dropped; one that blocks is left.
    runtime.shutdown_timeout(CLEARING);
    ended
}
