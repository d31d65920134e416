//! `pintle`: the Model Context Protocol from a terminal.
//!
//! What was typed ([`args`]) becomes what was meant ([`plan`]), which a command runs; everything
//! that is printed is printed by [`output`], and the end is an [`exit`] code.

mod args;
mod command;
mod exit;
mod output;
mod plan;
mod showcase;

use std::process::ExitCode;

use clap::Parser;

use args::Args;
use exit::Exit;
use plan::Plan;

fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return output::usage(&error).into(),
    };
    let plan = Plan::from(args);
    output::trace(plan.chatter);
    match run(plan) {
        Ok(()) => Exit::Done.into(),
        Err(failure) => output::failed(&failure).into(),
    }
}

fn run(plan: Plan) -> Result<(), exit::Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let ended = runtime.block_on(command::run(plan));
    // A tool that blocks must not hold the process once everybody has been answered.
    runtime.shutdown_background();
    ended
}
