//! The tool `pintle`, except its `main`. It is a library, because the library and the showcase compile in parallel;
//! a program would be compiled after all of its crates.
//!
//! The arguments ([`args`]) become an [`Action`], and [`command`] runs it. [`output`] prints everything, and
//! the end is an [`exit`] code.

mod access;
mod args;
mod arguments;
mod ask;
#[cfg(test)]
mod book;
mod command;
mod consent;
mod conversation;
mod exit;
#[cfg(all(test, feature = "keyring"))]
mod help_snapshot;
mod live;
mod output;
mod pack;
mod page;
mod screen;
#[cfg(unix)]
mod shared;
mod show;
mod text;
mod words;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use tokio::runtime::Builder;

use args::{Args, Format};
use command::{Action, Invocation};

/// Longest wait at the end for tasks that were cut off.
const CLEARING: Duration = Duration::from_millis(500);

/// Runs the tool with the arguments of the process, and returns its exit code.
pub fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return output::usage(&error).into(),
    };
    let invocation = match Invocation::try_from(args) {
        Ok(invocation) => invocation,
        Err(misunderstood) => {
            // The option for JSON may be the invalid one.
            return output::failed(&misunderstood.into(), Format::Text).into();
        }
    };
    let is_server = matches!(
        invocation.action,
        Action::Serve(_) | Action::Tap(_) | Action::Web(_) | Action::Replay(_) | Action::Mock(_)
    );
    output::trace(invocation.verbosity, is_server);
    let format = invocation.format;
    match run(invocation) {
        Ok(code) => code,
        Err(failure) => output::failed(&failure, format).into(),
    }
}

fn run(invocation: Invocation) -> Result<ExitCode, exit::CliError> {
    let has_server = invocation.server.is_some();
    let runtime = match invocation.action.needs_threads(has_server) {
        true => Builder::new_multi_thread().enable_all().build()?,
        // One thread starts faster than several.
        false => Builder::new_current_thread().enable_all().build()?,
    };
    let ended = runtime.block_on(command::run(invocation));
    // Dropped handlers clean up. A handler that blocks is abandoned.
    runtime.shutdown_timeout(CLEARING);
    ended
}
