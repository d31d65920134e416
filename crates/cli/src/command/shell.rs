//! `pintle shell`: reads commands line by line. A line is a command without its server, or the name
//! of a tool and its arguments. Without a terminal, the first failed line ends the shell.

mod complete;
mod known_offers;

use std::io::{self, BufRead as _};
use std::sync::Arc;

use clap::Parser as _;
use rustyline::Editor;
use rustyline::error::ReadlineError;
use rustyline::history::MemHistory;
use tokio::task::spawn_blocking;

use crate::args::{Args, Format, UsageError};
use crate::conversation::Conversation;
use crate::exit::CliError;
use crate::output;
use crate::{text, words};

use super::{Action, Invocation};
use complete::Helper;
use known_offers::KnownOffers;

/// Placeholder for the server of this conversation, because a command requires a server.
const PLACEHOLDER: &str = "@.";

/// Maximum length of a line without a terminal, in bytes.
const LINE_BYTES: u64 = 16 * 1024 * 1024;

pub(super) const ONE_SERVER: &str = "a conversation has one server";

const HELP: &str = "\
TOOL [KEY=VALUE]...              call a tool; `call TOOL …` is the same
list [KIND]...                   tools, resources, templates, prompts
read URI...                      read resources
prompt PROMPT [KEY=TEXT]...      get a prompt
complete PROMPT|TEMPLATE KEY=…   complete an argument
listen [URI]... [--count=N]      print changes of the lists, or of these resources
tasks [list|get|wait|cancel]     list, poll, await or cancel tasks
ping, inspect, bench TOOL        response time; identity and offers; latency of a tool
reload                           list the offers of the server again
help, COMMAND --help             this help; the help of a command
exit                             exit; Ctrl-D likewise
";

/// Meaning of a line.
#[derive(Debug)]
enum Step {
    Nothing,
    Exit,
    Help,
    Reload,
    Run(Format, Box<Action>),
}

/// Reads lines and runs them, until the end of input or `exit`.
pub(crate) async fn run(conversation: &Conversation) -> Result<(), CliError> {
    let mut offers = Arc::new(KnownOffers::learn(conversation).await?);
    match conversation.screen.is_typed_on {
        true => typed(conversation, &mut offers).await,
        false => scripted(conversation, &mut offers).await,
    }
}

async fn typed(conversation: &Conversation, offers: &mut Arc<KnownOffers>) -> Result<(), CliError> {
    let prompt = prompt(conversation);
    conversation
        .live
        .note("`help` lists the commands; Tab completes; Ctrl-D exits.");
    let mut history = MemHistory::new();
    loop {
        let helper = Helper::new(Arc::clone(offers), conversation);
        let prompt = prompt.clone();
        let read = spawn_blocking(move || edited(&prompt, helper, history));
        let (line, returned) = read.await.map_err(io::Error::other)?;
        history = returned;
        let line = match line {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => return Ok(()),
            Err(error) => return Err(unable(error)),
        };
        match run_line(conversation, offers, &line).await {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            Err(failure) => {
                output::failed(&failure, Format::Text);
            }
        }
    }
}

/// Reads a typed line, and adds it to the history.
///
/// An editor handles Ctrl-C while it exists, also between its lines, where Ctrl-C must cancel a
/// call. So every line has an editor of its own.
fn edited(
    prompt: &str,
    helper: Helper,
    history: MemHistory,
) -> (rustyline::Result<String>, MemHistory) {
    let mut editor = match Editor::with_history(rustyline::Config::default(), history) {
        Ok(editor) => editor,
        Err(error) => return (Err(error), MemHistory::new()),
    };
    editor.set_helper(Some(helper));
    let line = editor.readline(prompt);
    if let Ok(line) = &line {
        // An error means that the history does not have the line, which does no harm.
        let _ = editor.add_history_entry(line);
    }
    let history = std::mem::take(editor.history_mut());
    (line, history)
}

fn unable(error: ReadlineError) -> CliError {
    io::Error::other(error).into()
}

async fn scripted(
    conversation: &Conversation,
    offers: &mut Arc<KnownOffers>,
) -> Result<(), CliError> {
    loop {
        let line = spawn_blocking(|| {
            let mut line = String::new();
            let mut input = io::Read::take(io::stdin().lock(), LINE_BYTES);
            input
                .read_line(&mut line)
                .map(|length| (length > 0).then_some(line))
        });
        let Some(line) = line.await.map_err(io::Error::other)?? else {
            return Ok(());
        };
        if !run_line(conversation, offers, &line).await? {
            return Ok(());
        }
    }
}

fn prompt(conversation: &Conversation) -> String {
    let server = conversation
        .client
        .server()
        .and_then(|server| server.identity);
    let name = server.map_or_else(|| "server".to_owned(), |server| server.name.clone());
    format!("{}> ", text::line(&name))
}

/// Runs a line. Returns false if the line ends the shell.
async fn run_line(
    conversation: &Conversation,
    offers: &mut Arc<KnownOffers>,
    line: &str,
) -> Result<bool, CliError> {
    match step(line, offers)? {
        Step::Nothing => {}
        Step::Exit => return Ok(false),
        Step::Help => output::result(HELP.as_bytes())?,
        Step::Reload => *offers = Arc::new(KnownOffers::learn(conversation).await?),
        Step::Run(format, action) => {
            let conversation = conversation.with_format(format);
            let fulfilled = super::fulfil(&conversation, &action);
            let done = tokio::select! {
                done = fulfilled => done,
                interrupted = tokio::signal::ctrl_c() => {
                    interrupted?;
                    conversation.interrupt();
                    Err(CliError::interrupted())
                }
            };
            conversation.live.clear();
            done?;
        }
    }
    Ok(true)
}

fn step(line: &str, offers: &KnownOffers) -> Result<Step, CliError> {
    let unclosed = || UsageError("a quote is not closed".to_owned());
    let words = words::split(line).ok_or_else(unclosed)?;
    let Some((first, rest)) = words.split_first() else {
        return Ok(Step::Nothing);
    };
    match first.as_str() {
        comment if comment.starts_with('#') => Ok(Step::Nothing),
        "exit" | "quit" => Ok(Step::Exit),
        "help" | "?" => Ok(Step::Help),
        "reload" => Ok(Step::Reload),
        tool if offers.is_tool(tool) && !known_offers::is_command(tool) => parsed("call", &words),
        command => parsed(command, rest),
    }
}

fn parsed(command: &str, rest: &[String]) -> Result<Step, CliError> {
    if !known_offers::is_command(command) {
        let near = pintle_hosts::suggestion(command, known_offers::COMMANDS);
        let unknown =
            format!("`{command}` is neither a command nor a tool{near}; `help` lists the commands");
        return Err(UsageError(unknown).into());
    }
    if rest.iter().any(|word| word == "--") {
        return Err(UsageError(ONE_SERVER.to_owned()).into());
    }
    let typed = ["pintle", command, PLACEHOLDER]
        .into_iter()
        .chain(rest.iter().map(String::as_str));
    let args = match Args::try_parse_from(typed) {
        Ok(args) => args,
        Err(error) if error.use_stderr() => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            let first = first.strip_prefix("error: ").unwrap_or(first);
            return Err(UsageError(first.to_owned()).into());
        }
        Err(help) => {
            output::usage(&help);
            return Ok(Step::Nothing);
        }
    };
    let invocation = Invocation::try_from(args)?;
    Ok(Step::Run(invocation.format, Box::new(invocation.action)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample_offers() -> KnownOffers {
        KnownOffers::of_tools(serde_json::json!([
            { "name": "add", "inputSchema": { "type": "object", "properties": { "a": {} } } },
            { "name": "read", "inputSchema": { "type": "object" } },
        ]))
    }

    fn action(line: &str) -> Action {
        match step(line, &sample_offers()) {
            Ok(Step::Run(_, action)) => *action,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn a_line_is_a_command_or_a_tool() {
        for line in ["add a=1", "call add a=1", "  call   add 'a=1' "] {
            match action(line) {
                Action::Call(call) => {
                    assert_eq!((call.tool.as_str(), call.words.len()), ("add", 1))
                }
                other => panic!("{line}: {other:?}"),
            }
        }
        // A command has priority over a tool of the same name.
        assert!(matches!(action("read file:///a"), Action::Read(_)));
        assert!(matches!(action("call read"), Action::Call(_)));
        assert!(matches!(action("listen --count=1"), Action::Listen { .. }));
        assert!(matches!(
            step("list --json", &sample_offers()),
            Ok(Step::Run(Format::Json, _))
        ));
        assert!(matches!(step("exit", &sample_offers()), Ok(Step::Exit)));
        for line in ["", "   ", "# a remark"] {
            assert!(
                matches!(step(line, &sample_offers()), Ok(Step::Nothing)),
                "{line}"
            );
        }
    }

    #[test]
    fn an_unknown_command_is_reported() {
        for (line, reason) in [
            ("ad a=1", "`ad` is neither a command"),
            ("serve", "`serve` is neither a command"),
            ("shell", "`shell` is neither a command"),
            ("call 'add", "a quote"),
            ("call", "which tool"),
            ("list --nonsense", "unexpected argument"),
            ("ping -- sh", "one server"),
        ] {
            let failure = step(line, &sample_offers()).expect_err(line);
            let text = failure.to_string();
            assert!(text.contains(reason), "{line}: {text}");
        }
    }
}
