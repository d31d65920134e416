//! One module per command.

mod access;
mod bench;
mod call;
mod complete;
mod hosts;
mod inspect;
mod list;
mod listen;
mod older;
mod ping;
mod print;
mod prompt;
mod read;
mod serve;
mod shell;
mod tasks;

use std::future::Future;

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::args::Args;
use crate::conversation::{Conversation, Opening};
use crate::exit::{CliError, Exit};
use crate::output;
use crate::plan::{Plan, Talk, Task, Wanted, Wish};
use crate::screen::Screen;
use pintle_hosts::without_query;

/// Does what was meant.
pub(crate) async fn run(plan: Plan) -> Result<(), CliError> {
    match plan.task {
        Task::Hosts(wanted) => hosts::run(&wanted),
        Task::Talk(talk) => {
            let wanted = talk.wanted.clone();
            let done = converse(*talk).await;
            done.map_err(|failure| failure.with_next(|| next_step(&wanted)))
        }
        Task::Access(ask) => or_interrupted(access::run(*ask)).await,
        Task::Serve(serving) => serve::run(serving).await,
        Task::Completions(shell) => completions(shell),
        Task::Man => manual(),
    }
}

/// What to do about a server that wants to know who asks.
pub(crate) fn next_step(wanted: &Wanted) -> String {
    let server = match wanted {
        Wanted::Named(name) => format!("@{name}"),
        Wanted::Url(url) => without_query(url).to_owned(),
        Wanted::Program(_) => return "the program has to be given what it asks with".to_owned(),
    };
    format!("Sign in with `pintle login {server}`, or give a token with --bearer-env VARIABLE.")
}

/// Talks to a server until the wish is fulfilled, or nobody waits any more. Whoever is there signs in
/// when the server wants that, and then it is tried again.
async fn converse(talk: Talk) -> Result<(), CliError> {
    let mut opening = Opening::new(&talk, Screen::look())?;
    let done = attempts(&mut opening, &talk.wish).await;
    if done.is_err() {
        opening.report_hidden();
    }
    match done {
        Err(failure) if matches!(talk.wish, Wish::Inspect) && failure.exit() == Exit::SignIn => {
            Err(or_interrupted(inspect::explain(&opening, failure)).await?)
        }
        done => done,
    }
}

async fn attempts(opening: &mut Opening<'_>, wish: &Wish) -> Result<(), CliError> {
    for _ in 0..SIGN_INS {
        match attempt(opening, wish).await {
            Err(AttemptError::InVain(failure)) if opening.may_sign_in(&failure) => {
                or_interrupted(opening.sign_in()).await?;
            }
            done => return done.map_err(AttemptError::into_failure),
        }
    }
    let done = attempt(opening, wish).await;
    done.map_err(AttemptError::into_failure)
}

/// How often somebody signs in for one command: servers that want more after that will want more for
/// ever.
const SIGN_INS: u32 = 3;

/// What became of an attempt that did not do what was meant.
enum AttemptError {
    /// Nothing came of it, so that it can be made again.
    InVain(CliError),
    /// Something may have.
    InPart(CliError),
}

impl AttemptError {
    fn into_failure(self) -> CliError {
        match self {
            Self::InVain(failure) | Self::InPart(failure) => failure,
        }
    }
}

async fn attempt(opening: &Opening<'_>, wish: &Wish) -> Result<(), AttemptError> {
    // First what may ask for something that a file leaves open: until then Ctrl-C ends the program
    // as it ends any other.
    let opened = or_interrupted(opening.open()).await;
    let conversation = opened.map_err(AttemptError::InVain)?;
    let done = match wish {
        // A shell gives up a call when it is interrupted, and goes on.
        Wish::Shell => shell::run(&conversation).await,
        wish => tokio::select! {
            done = fulfil(&conversation, wish) => done,
            interrupted = tokio::signal::ctrl_c() => {
                conversation.interrupt();
                interrupted.map_err(CliError::from).and(Err(CliError::interrupted()))
            }
        },
    };
    conversation.live.clear();
    // Whoever interrupts twice does not want to wait for a farewell.
    tokio::select! {
        () = conversation.close() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
    done.map_err(match wish.prints_at_its_end() {
        true => AttemptError::InVain,
        false => AttemptError::InPart,
    })
}

/// What comes of something, unless somebody presses Ctrl-C first.
async fn or_interrupted<T>(
    something: impl Future<Output = Result<T, CliError>>,
) -> Result<T, CliError> {
    tokio::select! {
        biased;
        done = something => done,
        interrupted = tokio::signal::ctrl_c() => {
            interrupted?;
            Err(CliError::interrupted())
        }
    }
}

async fn fulfil(conversation: &Conversation, wish: &Wish) -> Result<(), CliError> {
    match wish {
        Wish::List(kinds) => list::run(conversation, kinds).await,
        Wish::Call(call) => call::run(conversation, call).await,
        Wish::Read(reading) => read::run(conversation, reading).await,
        Wish::Prompt(call) => prompt::run(conversation, call).await,
        Wish::Complete(completion) => complete::run(conversation, completion).await,
        Wish::Listen { uris, count } => listen::run(conversation, uris.clone(), *count).await,
        Wish::Ping(count) => ping::run(conversation, *count).await,
        Wish::Inspect => inspect::run(conversation).await,
        Wish::Tasks(wish) => tasks::run(conversation, wish).await,
        Wish::Shell => shell::run(conversation).await,
        Wish::Bench(bench) => bench::run(conversation, bench).await,
    }
}

fn completions(shell: Shell) -> Result<(), CliError> {
    output::result(&script(shell))
}

fn script(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "pintle", &mut script);
    script
}

fn manual() -> Result<(), CliError> {
    output::result(&pages()?)
}

/// One page for the program, and one for each command behind it.
fn pages() -> std::io::Result<Vec<u8>> {
    let mut program = Args::command();
    program.build();
    let mut page = Vec::new();
    clap_mangen::Man::new(program.clone()).render(&mut page)?;
    behind(&program, "pintle", &mut page)?;
    Ok(page)
}

/// The pages of the commands behind a word, and behind those.
fn behind(command: &clap::Command, name: &str, page: &mut Vec<u8>) -> std::io::Result<()> {
    let shown = command.get_subcommands();
    for command in shown.filter(|command| !command.is_hide_set() && command.get_name() != "help") {
        let name = format!("{name}-{}", command.get_name());
        let own = command.clone().display_name(name.clone());
        clap_mangen::Man::new(own).render(page)?;
        behind(command, &name, page)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::*;

    #[test]
    fn every_shell_and_the_manual_know_every_command_and_flag() {
        let page = String::from_utf8(pages().expect("written")).expect("text");
        // Where a hyphen may not become a dash, the manual escapes it.
        let page = page.replace("\\-", "-");
        let mut program = Args::command();
        program.build();
        assert!(
            page.contains("pintle-auth-status"),
            "a command behind a command"
        );
        for command in program.get_subcommands() {
            let name = command.get_name();
            assert!(page.contains(&format!("pintle-{name}")), "{name}");
            for flag in command.get_opts().filter_map(clap::Arg::get_long) {
                assert!(page.contains(&format!("--{flag}")), "{name} --{flag}");
            }
        }
        for shell in Shell::value_variants() {
            let script = String::from_utf8(script(*shell)).expect("text");
            for command in program.get_subcommands() {
                let name = command.get_name();
                assert!(script.contains(name), "{shell}: {name}");
                for flag in command.get_opts().filter_map(clap::Arg::get_long) {
                    assert!(script.contains(flag), "{shell}: {name} --{flag}");
                }
            }
        }
    }
}
