//! The command line, as clap parses it.

mod access;
mod check;
mod doctor;
mod filter;
mod install;
mod lint;
mod lock;
mod output;
mod pack;
mod replay;
mod serve;
mod server;
mod tap;
mod value;
mod web;
mod words;

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub(crate) use access::{AccessSettings, Proof};
pub(crate) use check::{CheckArgs, allowed_tools};
pub(crate) use doctor::DoctorArgs;
pub(crate) use filter::FilterArgs;
pub(crate) use install::{ChangeArgs, InstallArgs, UninstallArgs};
pub(crate) use lint::{LintArgs, TokensArgs, take_source};
pub(crate) use lock::{DiffArgs, LockArgs, SurfaceSource, VerifyArgs};
pub(crate) use output::{Format, Verbosity};
pub(crate) use pack::PackArgs;
pub(crate) use replay::{MOCK_HELP, MockArgs, ReplayArgs, WhereArgs};
pub(crate) use serve::ServeArgs;
pub(crate) use server::{ReachArgs, ServerArgs, ServerSpec, Settings};
pub(crate) use tap::TapArgs;
pub(crate) use web::WebArgs;
pub(crate) use words::{Call, CallTaskOptions, Completion, TaskAction, UsageError, Words};

/// The Model Context Protocol from a terminal: any server, written in anything.
#[derive(Debug, Parser)]
#[command(name = "pintle", version, propagate_version = true)]
#[command(after_help = concat!(
    "SERVER is a URL, or @NAME: a server of that name in the files of Claude, VS Code, Cursor,\n",
    "and other hosts (`pintle list @`). A program to start stands at the end, behind `--`.\n\n",
    "  pintle list https://example.com/mcp\n",
    "  pintle call @weather forecast city=Basel days=3\n",
    "  pintle call add a=1 b=2 -- npx -y some-server --verbose\n\n",
    "Exit codes: 0 done; 1 not understood; 3 sign-in needed; 4 unreachable;\n",
    "5 the tool failed, or nothing was found; 6 a value does not match its schema;\n",
    "7 a server differs from its lock file; 8 `pintle lint`, `check` or `doctor` found errors."
))]
pub(crate) struct Args {
    /// Log more to standard error; repeat for debug output
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The command, which is the first word.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List what a server offers; `pintle list @`: the servers that hosts know
    #[command(
        override_usage = "pintle list SERVER [KIND]...\n       pintle list [KIND]... -- COMMAND..."
    )]
    List(ListArgs),

    /// Call a tool
    #[command(
        override_usage = "pintle call SERVER TOOL [ARGUMENT]...\n       pintle call TOOL [ARGUMENT]... -- COMMAND..."
    )]
    #[command(after_help = concat!(
        "Arguments:\n",
        "  key=text      a value, with the type that the tool's schema has; a repeated key is a list\n",
        "  key:=json     a value as JSON\n",
        "  key=@file     text out of a file; key:=@file is JSON; @- is standard input\n",
        "  a.b=text      the member b of a\n",
        "  '{…}'         all arguments as JSON; @file and - likewise"
    ))]
    Call(CallArgs),

    /// Read resources
    #[command(
        override_usage = "pintle read SERVER URI...\n       pintle read URI... -- COMMAND..."
    )]
    Read(ReadArgs),

    /// Get the messages of a prompt
    #[command(
        override_usage = "pintle prompt SERVER PROMPT [KEY=TEXT]...\n       pintle prompt PROMPT [KEY=TEXT]... -- COMMAND..."
    )]
    Prompt(PromptArgs),

    /// Complete an argument of a prompt, or a variable of a resource template
    #[command(
        override_usage = "pintle complete SERVER PROMPT|TEMPLATE KEY=PREFIX [KEY=TEXT]...\n       pintle complete PROMPT|TEMPLATE KEY=PREFIX [KEY=TEXT]... -- COMMAND..."
    )]
    Complete(CompleteArgs),

    /// Print changes of the lists of a server, or of the named resources
    #[command(
        override_usage = "pintle listen SERVER [URI]...\n       pintle listen [URI]... -- COMMAND..."
    )]
    Listen(ListenArgs),

    /// Ping a server and print the response time
    #[command(override_usage = "pintle ping SERVER\n       pintle ping -- COMMAND...")]
    Ping(PingArgs),

    /// Show the identity of a server, its revisions, its capabilities and everything it offers
    #[command(override_usage = "pintle inspect SERVER\n       pintle inspect -- COMMAND...")]
    Inspect(InspectArgs),

    /// List the tasks of a server, or poll, await or cancel one
    #[command(
        override_usage = "pintle tasks SERVER [list | get ID | wait ID | result ID | cancel ID]\n       pintle tasks [list | get ID | wait ID | result ID | cancel ID] -- COMMAND..."
    )]
    Tasks(TasksArgs),

    /// Run commands against a server, line by line
    #[command(override_usage = "pintle shell SERVER\n       pintle shell -- COMMAND...")]
    Shell(ShellArgs),

    /// Measure the latency of a tool
    #[command(
        override_usage = "pintle bench SERVER TOOL [ARGUMENT]...\n       pintle bench TOOL [ARGUMENT]... -- COMMAND..."
    )]
    Bench(Box<BenchArgs>),

    /// Sign in to a server at a URL in a browser, once; later commands use the stored credentials
    #[command(override_usage = "pintle login SERVER")]
    Login(LoginArgs),

    /// Delete the stored credentials of a server, and revoke its tokens where that is possible
    #[command(override_usage = "pintle logout SERVER")]
    Logout(LogoutArgs),

    /// Show the servers you are signed in to
    Auth {
        #[command(subcommand)]
        command: AuthCommand,
    },

    /// Add a server to the configuration file of a host; the rest of the file stays as it is
    #[command(
        override_usage = "pintle install --host HOST --name NAME URL\n       pintle install --host HOST @NAME\n       pintle install --host HOST --name NAME -- COMMAND..."
    )]
    Install(InstallArgs),

    /// Remove a server from the configuration file of a host
    #[command(override_usage = "pintle uninstall NAME --host HOST")]
    Uninstall(UninstallArgs),

    /// Package your own server: server.json for registries, and an MCPB bundle for each target
    #[command(override_usage = "pintle pack [--binary TARGET=FILE]... -- COMMAND...")]
    Pack(Box<PackArgs>),

    /// Write the lock file of a server: its tools, prompts, resources and instructions, for reviews
    #[command(
        override_usage = "pintle lock SERVER [--file FILE]\n       pintle lock [--file FILE] -- COMMAND..."
    )]
    Lock(LockArgs),

    /// Compare a server with its lock file; exit code 7 if anything differs
    #[command(
        override_usage = "pintle verify SERVER [--file FILE]\n       pintle verify [--file FILE] -- COMMAND..."
    )]
    Verify(VerifyArgs),

    /// Compare two servers or lock files, word by word; exit code 7 if anything differs
    #[command(
        override_usage = "pintle diff SERVER|FILE SERVER|FILE\n       pintle diff SERVER|FILE -- COMMAND..."
    )]
    Diff(DiffArgs),

    /// Check the tools of a server against the limits of hosts; exit code 8 if a host rejects one
    #[command(
        override_usage = "pintle lint SERVER|FILE [--host HOST]...\n       pintle lint [--host HOST]... -- COMMAND..."
    )]
    Lint(LintArgs),

    /// Judge a server or a client by the requirements of the protocol; exit code 8 if a check failed
    #[command(
        override_usage = "pintle check SERVER [--level LEVEL] [--tool NAME [KEY=TEXT]...]\n       pintle check [--level LEVEL] [--tool NAME [KEY=TEXT]...] -- COMMAND...\n       pintle check --client [--level LEVEL] [-- COMMAND...]\n       pintle check --list [--client]",
        after_help = "In the command of a client {url} stands for the URL of the scripted server, and {server} for the command that starts it. Without both the client speaks on its standard streams. The command runs once for each scene."
    )]
    Check(CheckArgs),

    /// Find out why servers do not work in their hosts; names the file and the line to change
    #[command(
        override_usage = "pintle doctor [@ | @HOST/ | @NAME] [OPTIONS]",
        after_help = "Exit code 8 means that there are errors. Servers of projects are used only after consent: see --trust."
    )]
    Doctor(DoctorArgs),

    /// Estimate how many tokens the tools of a server take in the context of a model
    #[command(override_usage = "pintle tokens SERVER|FILE\n       pintle tokens -- COMMAND...")]
    Tokens(TokensArgs),

    /// Serve any server to clients of every revision; without a server the showcase
    #[command(
        override_usage = "pintle serve [SERVER] [OPTIONS]\n       pintle serve [OPTIONS] -- COMMAND...",
        after_help = serve::HELP
    )]
    Serve(Box<ServeArgs>),

    /// Show and record the messages between a host and a server; all bytes pass unchanged
    #[command(
        override_usage = "pintle tap [--record FILE] -- COMMAND...\n       pintle tap [--record FILE] URL --http ADDRESS"
    )]
    Tap(TapArgs),

    /// Show and call a server in a page of the browser, served on this machine only
    #[command(
        override_usage = "pintle web [SERVER] [OPTIONS]\n       pintle web [OPTIONS] -- COMMAND...",
        after_help = web::HELP
    )]
    Web(Box<WebArgs>),

    /// Serve the answers of a recording, to clients of every revision
    Replay(ReplayArgs),

    /// Serve tools, resources and prompts with fixed answers, from a TOML file
    #[command(after_help = MOCK_HELP)]
    Mock(MockArgs),

    /// Print a script that completes commands and flags in a shell
    Completions {
        /// The shell
        shell: Shell,
    },

    /// Print the manual: `pintle man | man -l -`
    Man,
}

/// The arguments of `pintle list`: the server whose offers it lists.
#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

/// A list that a server can offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// The tools of the server.
    Tools,
    /// The resources of the server.
    Resources,
    /// The templates of resources.
    Templates,
    /// The prompts of the server.
    Prompts,
}

/// The arguments of `pintle call`.
#[derive(Debug, clap::Args)]
pub(crate) struct CallArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,

    /// Save pictures, sounds and other bytes in this directory
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) save: Option<PathBuf>,

    /// Skip the checks of the arguments and of the result against the schemas of the tool
    #[arg(long)]
    pub(crate) unchecked: bool,

    /// Run the call as a task, if the server supports tasks; the task continues after an interrupt
    #[arg(long)]
    pub(crate) task: bool,

    /// Print the id of the task, for `pintle tasks`, and do not wait for its result
    #[arg(long)]
    pub(crate) detach: bool,

    /// Ask the server to store the task and its result this long, such as 1h
    #[arg(long, value_name = "TIME", value_parser = value::duration)]
    pub(crate) keep: Option<Duration>,
}

/// The arguments of `pintle read`.
#[derive(Debug, clap::Args)]
pub(crate) struct ReadArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,

    /// Save pictures, sounds and other bytes in this directory
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) save: Option<PathBuf>,
}

/// The arguments of `pintle prompt`.
#[derive(Debug, clap::Args)]
pub(crate) struct PromptArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,

    /// Save pictures, sounds and other bytes in this directory
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) save: Option<PathBuf>,
}

/// The arguments of `pintle complete`.
#[derive(Debug, clap::Args)]
pub(crate) struct CompleteArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

/// The arguments of `pintle listen`.
#[derive(Debug, clap::Args)]
pub(crate) struct ListenArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,

    /// Exit after this many changes
    #[arg(long, value_name = "CHANGES")]
    pub(crate) count: Option<NonZeroUsize>,
}

/// The arguments of `pintle ping`.
#[derive(Debug, clap::Args)]
pub(crate) struct PingArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,

    /// Number of pings
    #[arg(long, value_name = "TIMES", default_value = "1")]
    pub(crate) count: NonZeroU32,
}

/// The arguments of `pintle inspect`.
#[derive(Debug, clap::Args)]
pub(crate) struct InspectArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

/// The arguments of `pintle tasks`.
#[derive(Debug, clap::Args)]
pub(crate) struct TasksArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,

    /// Save pictures, sounds and other bytes of a result in this directory
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) save: Option<PathBuf>,
}

/// The arguments of `pintle shell`.
#[derive(Debug, clap::Args)]
pub(crate) struct ShellArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

/// The arguments of `pintle bench`.
#[derive(Debug, clap::Args)]
pub(crate) struct BenchArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,

    /// Stop after this many calls
    #[arg(long, value_name = "CALLS", conflicts_with = "duration")]
    pub(crate) calls: Option<NonZeroU32>,

    /// Stop after this time, such as 10s or 500ms; 5s if neither option is given
    #[arg(long, value_name = "TIME", value_parser = value::duration)]
    pub(crate) duration: Option<Duration>,

    /// Number of calls that run at the same time; at most 256
    #[arg(long, value_name = "CALLS", default_value = "1", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) concurrency: u16,

    /// Make this many calls before measuring
    #[arg(long, value_name = "CALLS", default_value = "10")]
    pub(crate) warm_up: u32,

    /// Write the plot of percentiles to this file, as a picture in the format SVG
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,

    /// Measure this server in turns with the other: a URL, @NAME, or a command line in quotes
    #[arg(long, value_name = "TARGET", value_parser = server::rival)]
    pub(crate) compare: Option<ServerSpec>,

    /// Number of rounds of a comparison; the calls or the time are divided by it
    #[arg(long, value_name = "ROUNDS", default_value = "10", requires = "compare", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rounds: u32,
}

/// The arguments of `pintle login`.
#[derive(Debug, clap::Args)]
pub(crate) struct LoginArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

/// The arguments of `pintle logout`.
#[derive(Debug, clap::Args)]
pub(crate) struct LogoutArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

/// The command behind `auth`.
#[derive(Debug, Subcommand)]
pub(crate) enum AuthCommand {
    /// Show the servers you are signed in to, or the sign-in to this server
    #[command(override_usage = "pintle auth status [SERVER]")]
    Status(StatusArgs),
}

/// The arguments of `pintle auth status`.
#[derive(Debug, clap::Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    fn called(line: &str) -> Result<CallArgs, clap::Error> {
        match Args::try_parse_from(line.split(' '))?.command {
            Command::Call(call) => Ok(call),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_command_line_is_well_formed() {
        Args::command().debug_assert();
    }

    #[test]
    fn a_started_program_keeps_its_own_flags() {
        let call = called("pintle call --json add a=-1 -- npx -y x --json -v").expect("call");
        assert_eq!(call.server.words, ["add", "a=-1"]);
        assert_eq!(call.server.command, ["npx", "-y", "x", "--json", "-v"]);
        assert!(call.server.json);
        let call = called("pintle call @x add - a=1 --json").expect("call");
        assert_eq!(call.server.words, ["@x", "add", "-", "a=1"]);
    }

    #[test]
    fn settings_of_a_server_are_checked() {
        for wrong in [
            "--timeout soon",
            "--timeout 0s",
            "--header nothing",
            "--revision 1999-01-01",
            "--env =x",
            "--env NO_SUCH_VARIABLE_HERE",
            "--input x",
            "--answer perhaps",
            "--log loud",
        ] {
            assert!(
                called(&format!("pintle call x y {wrong}")).is_err(),
                "{wrong}"
            );
        }
        let call = called(
            "pintle call x y --timeout 1.5s --header X-A:b --revision 2025-06-18 --env A=b=c --env PATH",
        );
        let server = call.expect("call").server;
        assert_eq!(server.reach.timeout, Some(Duration::from_millis(1500)));
        let (name, value) = &server.reach.headers[0];
        assert_eq!((name.as_str(), value.reveal().as_str()), ("X-A", "b"));
        assert!(!format!("{server:?}").contains("\"b\""), "{server:?}");
        let path = std::env::var("PATH").expect("programs are found");
        let passed_on = ("PATH".to_owned(), path);
        assert_eq!(
            server.reach.env,
            [("A".to_owned(), "b=c".to_owned()), passed_on]
        );
    }

    #[test]
    fn every_shell_has_completions() {
        for shell in ["bash", "zsh", "fish", "powershell"] {
            let line = ["pintle", "completions", shell];
            assert!(Args::try_parse_from(line).is_ok(), "{shell}");
        }
    }
}
