//! What was meant by a command that talks to a server.

use std::env;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum as _;
use pintle::auth::Secret;
use pintle::model::{LoggingLevel, Revision};

use super::{Format, UsageError, access};
use crate::args::{
    BenchArgs, CallArgs, Command, CompleteArgs, Kind, ListArgs, ListenArgs, PingArgs, PromptArgs,
    ReadArgs, ServerArgs, TasksArgs,
};
use crate::ask::ScriptedAnswer;
use pintle_hosts::suggestion;

/// How long a measurement takes that nobody bounds.
const MEASURED: Duration = Duration::from_secs(5);

/// A conversation, and what it is for.
#[derive(Debug)]
pub(crate) struct Talk {
    /// With which server.
    pub(crate) wanted: Wanted,
    /// How it is reached and talked to.
    pub(crate) settings: Settings,
    /// For whom results are printed.
    pub(crate) format: Format,
    /// What is wanted of it.
    pub(crate) wish: Wish,
}

/// A server, as it was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// By its name in the file of a host.
    Named(String),
    /// By its address.
    Url(String),
    /// By the program to start.
    Program(Vec<String>),
}

/// How a server is reached and talked to.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    pub(crate) config: Option<PathBuf>,
    /// Whether a server that a project's file describes needs no consent.
    pub(crate) is_trusted: bool,
    pub(crate) inputs: Vec<(String, String)>,
    pub(crate) headers: Vec<(String, Secret)>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) revision: Option<Revision>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) trace: Option<PathBuf>,
    pub(crate) log: Option<LoggingLevel>,
    /// Whether what a started server writes on its standard error is shown.
    pub(crate) shows_stderr: bool,
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) answers: Vec<ScriptedAnswer>,
    pub(crate) sample_with: Option<String>,
    /// Who asks.
    pub(crate) access: access::Settings,
}

/// What is wanted of a server.
#[derive(Debug)]
pub(crate) enum Wish {
    /// What it offers; everything, if no kind is named.
    List(Vec<Kind>),
    /// What a tool says.
    Call(Call),
    /// What resources contain.
    Read(Reading),
    /// What a prompt stands for.
    Prompt(Call),
    /// How an argument may go on.
    Complete(Completion),
    /// What changes.
    Listen {
        /// The resources that are of interest.
        uris: Vec<String>,
        /// After how many changes it is enough.
        count: Option<NonZeroUsize>,
    },
    /// A sign of life, so many times.
    Ping(NonZeroU32),
    /// Everything about it.
    Inspect,
    /// Tasks.
    Tasks(TaskWish),
    /// A conversation by hand.
    Shell,
    /// How fast it is.
    Bench(Bench),
}

impl Wish {
    /// Whether nothing is printed before all of it is there.
    pub(crate) fn prints_at_its_end(&self) -> bool {
        match self {
            Self::List(_) | Self::Call(_) | Self::Prompt(_) | Self::Complete(_) | Self::Inspect => {
                true
            }
            Self::Read(reading) => reading.uris.len() == 1,
            Self::Listen { .. } | Self::Ping(_) | Self::Tasks(_) | Self::Shell | Self::Bench(_) => {
                false
            }
        }
    }
}

/// A tool or a prompt, and its arguments.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) tool: String,
    pub(crate) words: Vec<String>,
    pub(crate) save: Option<PathBuf>,
    /// Whether arguments are sent that do not fit, and results are taken that do not.
    pub(crate) is_unchecked: bool,
    /// The task that it is to be, if it is to be one.
    pub(crate) task: Option<AsTask>,
}

/// A task that a call is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AsTask {
    /// Whether nobody waits for it.
    pub(crate) is_detached: bool,
    /// How long it is to be kept.
    pub(crate) keep: Option<Duration>,
}

/// Resources to read.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) uris: Vec<String>,
    pub(crate) save: Option<PathBuf>,
}

/// An argument to complete.
#[derive(Debug)]
pub(crate) struct Completion {
    /// The prompt, or the template of resources.
    pub(crate) of: String,
    pub(crate) argument: String,
    pub(crate) prefix: String,
    /// Arguments that are known already.
    pub(crate) others: Vec<(String, String)>,
}

/// What is wanted of tasks.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TaskWish {
    /// All of them.
    List,
    /// How far one is.
    Get(String),
    /// What came of one, if it is done.
    Result(String, Option<PathBuf>),
    /// What comes of one, when it is done.
    Wait(String, Option<PathBuf>),
    /// That one ends.
    Cancel(String),
}

/// A measurement.
#[derive(Debug)]
pub(crate) struct Bench {
    pub(crate) call: Call,
    pub(crate) until: Until,
    pub(crate) concurrency: usize,
    pub(crate) warm_up: u32,
}

/// When a measurement is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Until {
    /// After so many calls.
    Calls(u32),
    /// After so long.
    Time(Duration),
}

impl TryFrom<Command> for Talk {
    type Error = UsageError;

    fn try_from(command: Command) -> Result<Self, UsageError> {
        match command {
            Command::List(ListArgs { server }) => {
                Self::new(server, |words| words.kinds().map(Wish::List))
            }
            Command::Call(args) => called(args),
            Command::Read(ReadArgs { server, save }) => Self::new(server, |words| {
                let uris = words.all("which resource is to be read?")?;
                Ok(Wish::Read(Reading { uris, save }))
            }),
            Command::Prompt(PromptArgs { server, save }) => Self::new(server, |words| {
                let call = words.call("which prompt is wanted?", save)?;
                Ok(Wish::Prompt(call))
            }),
            Command::Complete(CompleteArgs { server }) => {
                Self::new(server, |words| words.completion().map(Wish::Complete))
            }
            Command::Listen(ListenArgs { server, count }) => Self::new(server, |words| {
                Ok(Wish::Listen {
                    uris: words.0,
                    count,
                })
            }),
            Command::Ping(PingArgs { server, count }) => {
                Self::new(server, |words| words.none(Wish::Ping(count)))
            }
            Command::Inspect(args) => Self::new(args.server, |words| words.none(Wish::Inspect)),
            Command::Tasks(TasksArgs { server, save }) => {
                Self::new(server, |words| words.tasks(save).map(Wish::Tasks))
            }
            Command::Shell(args) => Self::new(args.server, |words| words.none(Wish::Shell)),
            Command::Bench(args) => measured(args),
            Command::Login(_)
            | Command::Logout(_)
            | Command::Auth { .. }
            | Command::Serve(_)
            | Command::Completions { .. }
            | Command::Man => Err(UsageError("this command talks to no server".to_owned())),
        }
    }
}

fn called(args: CallArgs) -> Result<Talk, UsageError> {
    Talk::new(args.server, |words| {
        let call = words.call("which tool is to be called?", args.save)?;
        Ok(Wish::Call(Call {
            is_unchecked: args.unchecked,
            task: (args.task || args.detach || args.keep.is_some()).then_some(AsTask {
                is_detached: args.detach,
                keep: args.keep,
            }),
            ..call
        }))
    })
}

fn measured(args: BenchArgs) -> Result<Talk, UsageError> {
    Talk::new(args.server, |words| {
        Ok(Wish::Bench(Bench {
            call: words.call("which tool is to be measured?", None)?,
            until: match args.calls {
                Some(calls) => Until::Calls(calls.get()),
                None => Until::Time(args.duration.unwrap_or(MEASURED)),
            },
            concurrency: usize::from(args.concurrency),
            warm_up: args.warm_up,
        }))
    })
}

impl Talk {
    fn new(
        args: ServerArgs,
        wish: impl FnOnce(Words) -> Result<Wish, UsageError>,
    ) -> Result<Self, UsageError> {
        let (mut words, command, format, settings) = Settings::take(args)?;
        let wanted = match command.is_empty() {
            false => Wanted::Program(command),
            true => Wanted::first_of(&mut words)?,
        };
        Ok(Self {
            wanted,
            format,
            wish: wish(Words(words))?,
            settings,
        })
    }
}

impl Settings {
    /// Takes apart what was typed: the words, the program behind `--`, and the rest.
    ///
    /// # Errors
    ///
    /// [`UsageError`] for what names something that is not there.
    pub(super) fn take(
        args: ServerArgs,
    ) -> Result<(Vec<String>, Vec<String>, Format, Self), UsageError> {
        let settings = Self {
            config: args.config,
            is_trusted: args.trust,
            inputs: args.inputs,
            headers: args.headers,
            env: args.env,
            cwd: args.cwd,
            revision: args.revision,
            timeout: args.timeout,
            trace: args.trace,
            log: args.log,
            shows_stderr: false,
            roots: args.roots,
            answers: args.answers,
            sample_with: args.sample_with,
            access: access::Settings::read(args.access, &|name| env::var(name).ok())?,
        };
        Ok((args.words, args.command, Format::from(args.json), settings))
    }
}

impl Wanted {
    pub(super) fn first_of(words: &mut Vec<String>) -> Result<Self, UsageError> {
        let missing = "which server? A URL, @NAME (`pintle list @` shows them), or -- COMMAND";
        if words.is_empty() {
            return Err(UsageError(missing.to_owned()));
        }
        let first = words.remove(0);
        match first.strip_prefix('@') {
            Some("") => Err(UsageError(missing.to_owned())),
            Some(name) => Ok(Self::Named(name.to_owned())),
            None if first.contains("://") => Ok(Self::Url(first)),
            None => Err(UsageError(no_server(&first))),
        }
    }
}

fn no_server(word: &str) -> String {
    let hint = match word.contains([':', '/']) {
        true => format!("http://{word}"),
        false => format!("@{word}"),
    };
    format!("`{word}` is no server: a URL has a scheme, a name has an @; did you mean {hint}?")
}

/// The words behind the server.
struct Words(Vec<String>);

impl Words {
    fn none(self, wish: Wish) -> Result<Wish, UsageError> {
        match self.0.first() {
            None => Ok(wish),
            Some(word) => Err(UsageError(format!("`{word}` is one word too many"))),
        }
    }

    fn all(self, question: &str) -> Result<Vec<String>, UsageError> {
        match self.0.is_empty() {
            true => Err(UsageError(question.to_owned())),
            false => Ok(self.0),
        }
    }

    fn call(mut self, question: &str, save: Option<PathBuf>) -> Result<Call, UsageError> {
        if self.0.is_empty() {
            return Err(UsageError(question.to_owned()));
        }
        Ok(Call {
            tool: self.0.remove(0),
            words: self.0,
            save,
            is_unchecked: false,
            task: None,
        })
    }

    fn kinds(self) -> Result<Vec<Kind>, UsageError> {
        let kinds = self.0.iter().map(|word| {
            Kind::from_str(word, true).map_err(|_| {
                let known = ["tools", "resources", "templates", "prompts"];
                let near = suggestion(word, known);
                let known = known.join(", ");
                UsageError(format!(
                    "`{word}` is nothing to list{near}; there are {known}"
                ))
            })
        });
        kinds.collect()
    }

    fn completion(self) -> Result<Completion, UsageError> {
        let expected =
            "expected a prompt or a template, then KEY=PREFIX, then what is known already";
        let wrong = || UsageError(expected.to_owned());
        let mut words = self.0.into_iter();
        let of = words.next().ok_or_else(wrong)?;
        let pairs = words.map(|word| {
            let (name, value) = word.split_once('=')?;
            Some((name.to_owned(), value.to_owned()))
        });
        let mut pairs: Vec<_> = pairs.collect::<Option<_>>().ok_or_else(wrong)?;
        if pairs.is_empty() {
            return Err(wrong());
        }
        let (argument, prefix) = pairs.remove(0);
        Ok(Completion {
            of,
            argument,
            prefix,
            others: pairs,
        })
    }

    fn tasks(self, save: Option<PathBuf>) -> Result<TaskWish, UsageError> {
        let words: Vec<&str> = self.0.iter().map(String::as_str).collect();
        match words.as_slice() {
            [] | ["list"] => Ok(TaskWish::List),
            ["get", id] => Ok(TaskWish::Get((*id).to_owned())),
            ["result", id] => Ok(TaskWish::Result((*id).to_owned(), save)),
            ["wait", id] => Ok(TaskWish::Wait((*id).to_owned(), save)),
            ["cancel", id] => Ok(TaskWish::Cancel((*id).to_owned())),
            ["get" | "wait" | "result" | "cancel"] => Err(UsageError("which task?".to_owned())),
            [word, ..] => Err(UsageError(format!(
                "`{word}` is nothing to do with tasks; there are list, get ID, wait ID, result ID, cancel ID"
            ))),
        }
    }
}
