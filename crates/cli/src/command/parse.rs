//! Turns parsed arguments into an action and its options.

use std::time::Duration;

use pintle_check::CheckOptions;
use pintle_lint::Host;

use super::bench::{Bench, BenchEnd};
use super::check::{Checking, ClientSource};
use super::diff::Diff;
use super::install::Install;
use super::lint::Lint;
use super::pack::Pack;
use super::read::Reading;
use super::serve::Serve;
use super::web::Page;
use super::{Action, Invocation};
use crate::args::{
    Args, AuthCommand, BenchArgs, Call, CallArgs, CallTaskOptions, CheckArgs, Command, DiffArgs,
    Format, LintArgs, LockArgs, PackArgs, ServeArgs, ServerArgs, ServerSpec, Settings,
    SurfaceSource, TaskAction, TokensArgs, UsageError, Verbosity, VerifyArgs, WebArgs, Words,
    allowed_tools, take_source,
};

/// Default time of a measurement.
const MEASURED: Duration = Duration::from_secs(5);

impl TryFrom<Args> for Invocation {
    type Error = UsageError;

    fn try_from(args: Args) -> Result<Self, UsageError> {
        let mut invocation = parsed(args.command)?;
        invocation.verbosity = Verbosity::from(args.verbose);
        // A served program is not a part of a command: its messages belong to the operator.
        invocation.settings.shows_stderr = invocation.verbosity != Verbosity::Warnings
            || matches!(invocation.action, Action::Serve(_) | Action::Web(_));
        Ok(invocation)
    }
}

fn parsed(command: Command) -> Result<Invocation, UsageError> {
    match command {
        Command::List(args) if names_no_server(&args.server) => Ok(Invocation::hosts(args.server)),
        Command::List(args) => at_server(args.server, |words| words.kinds().map(Action::List)),
        Command::Call(args) => called(args),
        Command::Read(args) => at_server(args.server, |words| {
            let uris = words.all("which resource is to be read?")?;
            let save = args.save;
            Ok(Action::Read(Reading { uris, save }))
        }),
        Command::Prompt(args) => at_server(args.server, |words| {
            let call = words.call("which prompt is to be used?", args.save)?;
            Ok(Action::Prompt(call))
        }),
        Command::Complete(args) => at_server(args.server, |words| {
            words.completion().map(Action::Complete)
        }),
        Command::Listen(args) => at_server(args.server, |words| {
            let (uris, count) = (words.0, args.count);
            Ok(Action::Listen { uris, count })
        }),
        Command::Ping(args) => at_server(args.server, |words| words.none(Action::Ping(args.count))),
        Command::Inspect(args) => at_server(args.server, |words| words.none(Action::Inspect)),
        Command::Tasks(args) => {
            if args.server.command.is_empty() {
                TaskAction::check_order(&args.server.words)?;
            }
            at_server(args.server, |words| {
                words.tasks(args.save).map(Action::Tasks)
            })
        }
        Command::Shell(args) => at_server(args.server, |words| words.none(Action::Shell)),
        Command::Bench(args) => measured(*args),
        Command::Login(args) => Invocation::login(args.server),
        Command::Logout(args) => Invocation::logout(args.server),
        Command::Auth {
            command: AuthCommand::Status(args),
        } => Invocation::about_access(args.server, Action::Status),
        Command::Install(args) => Ok(Invocation::local(Action::Install(Box::new(
            Install::try_from(args)?,
        )))),
        Command::Uninstall(args) => Ok(Invocation::local(Action::Uninstall(args.try_into()?))),
        Command::Pack(args) => packed(*args),
        Command::Lock(args) => locked(args),
        Command::Verify(args) => verified(args),
        Command::Diff(args) => compared(args),
        Command::Lint(args) => linted(args),
        Command::Check(args) => judged(args),
        Command::Doctor(args) => Ok(Invocation::local(Action::Doctor(args))),
        Command::Tokens(args) => estimated(args),
        Command::Serve(args) => served(*args),
        Command::Tap(args) => Ok(Invocation::local(Action::Tap(args))),
        Command::Web(args) => shown(*args),
        Command::Replay(args) => Ok(Invocation::local(Action::Replay(args))),
        Command::Mock(args) => Ok(Invocation::local(Action::Mock(args))),
        Command::Completions { shell } => Ok(Invocation::local(Action::Completions(shell))),
        Command::Man => Ok(Invocation::local(Action::Man)),
    }
}

fn names_no_server(args: &ServerArgs) -> bool {
    args.command.is_empty() && args.words == ["@"]
}

/// Returns an invocation of an action that has a server.
fn at_server(
    args: ServerArgs,
    action: impl FnOnce(Words) -> Result<Action, UsageError>,
) -> Result<Invocation, UsageError> {
    let (mut words, command, format, settings) = Settings::take(args)?;
    let server = match command.is_empty() {
        false => ServerSpec::Program(command),
        true => ServerSpec::first_of(&mut words)?,
    };
    Ok(Invocation {
        server: Some(server),
        format,
        settings,
        ..Invocation::local(action(Words(words))?)
    })
}

fn called(args: CallArgs) -> Result<Invocation, UsageError> {
    at_server(args.server, |words| {
        let call = words.call("which tool is to be called?", args.save)?;
        Ok(Action::Call(Call {
            is_unchecked: args.unchecked,
            task: (args.task || args.detach || args.keep.is_some()).then_some(CallTaskOptions {
                is_detached: args.detach,
                keep: args.keep,
            }),
            ..call
        }))
    })
}

fn measured(args: BenchArgs) -> Result<Invocation, UsageError> {
    at_server(args.server, |words| {
        Ok(Action::Bench(Bench {
            call: words.call("which tool is to be measured?", None)?,
            end: match args.calls {
                Some(calls) => BenchEnd::Calls(calls.get()),
                None => BenchEnd::Time(args.duration.unwrap_or(MEASURED)),
            },
            concurrency: usize::from(args.concurrency),
            warm_up: args.warm_up,
            svg: args.svg,
            rival: args.compare.map(|server| (server, args.rounds)),
        }))
    })
}

fn locked(args: LockArgs) -> Result<Invocation, UsageError> {
    let file = args.file;
    at_server(args.server, |words| words.none(Action::Lock(file)))
}

fn verified(args: VerifyArgs) -> Result<Invocation, UsageError> {
    let mut invocation = at_server(args.server, |words| words.none(Action::Inspect))?;
    let server = invocation.required_server()?.clone();
    invocation.action = Action::Diff(Diff {
        old: SurfaceSource::File(args.file),
        new: SurfaceSource::Server(server),
        confirms: true,
    });
    Ok(invocation)
}

fn compared(args: DiffArgs) -> Result<Invocation, UsageError> {
    let ([old, new], format, settings) = args.take()?;
    let confirms = false;
    Ok(Invocation {
        format,
        settings,
        ..Invocation::local(Action::Diff(Diff { old, new, confirms }))
    })
}

fn estimated(args: TokensArgs) -> Result<Invocation, UsageError> {
    let (source, format, settings) = take_source(args.server)?;
    Ok(Invocation {
        format,
        settings,
        ..Invocation::local(Action::Tokens(source))
    })
}

fn linted(args: LintArgs) -> Result<Invocation, UsageError> {
    let (source, format, settings) = take_source(args.server)?;
    let hosts = match args.hosts.is_empty() {
        true => Host::ALL.to_vec(),
        false => args.hosts.iter().map(|host| host.0).collect(),
    };
    Ok(Invocation {
        format,
        settings,
        ..Invocation::local(Action::Lint(Lint { source, hosts }))
    })
}

fn judged(args: CheckArgs) -> Result<Invocation, UsageError> {
    let mut options = CheckOptions::default();
    if let Some(level) = args.level {
        options.level = level.0;
    }
    options.only = args.only;
    options.tools = allowed_tools(&args.tools)?;
    options.revisions.extend(args.server.reach.revision);
    if let Some(timeout) = args.server.reach.timeout {
        options.answer_timeout = timeout;
    }
    let checking = Box::new(Checking {
        options,
        client: None,
        lists: args.list,
        junit: args.junit,
        sarif: args.sarif,
    });
    match args.client || args.list || args.relay.is_some() {
        true => judged_client(args.server, args.client, args.relay, checking),
        false => at_server(args.server, |words| words.none(Action::Check(checking))),
    }
}

/// A check without a server: of a client, or the list of checks.
fn judged_client(
    server: ServerArgs,
    is_client: bool,
    relay: Option<String>,
    mut checking: Box<Checking>,
) -> Result<Invocation, UsageError> {
    let (words, command, format, settings) = Settings::take(server)?;
    if let Some(word) = words.first() {
        return Err(UsageError(format!(
            "unexpected word `{word}`; the command of a client stands behind `--`"
        )));
    }
    checking.client = match (relay, is_client, command.is_empty()) {
        (Some(address), ..) => Some(ClientSource::Relay(address)),
        (None, true, false) => Some(ClientSource::Program(command)),
        (None, true, true) => Some(ClientSource::Any),
        (None, false, _) => None,
    };
    Ok(Invocation {
        format,
        settings,
        ..Invocation::local(Action::Check(checking))
    })
}

fn packed(args: PackArgs) -> Result<Invocation, UsageError> {
    if args.server.command.is_empty() {
        let question = "which program is the server? Write it behind `--`";
        return Err(UsageError(question.to_owned()));
    }
    let pack = Box::new(Pack::from(&args));
    at_server(args.server, |words| words.none(Action::Pack(pack)))
}

fn served(mut args: ServeArgs) -> Result<Invocation, UsageError> {
    let command = std::mem::take(&mut args.command);
    let server = match (args.server.take(), command.is_empty()) {
        (_, false) => Some(ServerSpec::Program(command)),
        (Some(word), true) => Some(ServerSpec::first_of(&mut vec![word])?),
        (None, true) => None,
    };
    let option = args.filter.first();
    #[cfg(unix)]
    let option = option.or(args.share.then_some("--share"));
    let option = option.or((!args.watch.is_empty()).then_some("--watch"));
    let option = option.or(args.max_age.map(|_| "--max-age"));
    let (serve, reach) = Serve::of(args);
    let settings = Settings::reaching(reach)?;
    if let (None, Some(option)) = (&server, option.or(settings.first_reaching())) {
        let text = format!("{option} requires a server: a URL, @NAME, or -- COMMAND");
        return Err(UsageError(text));
    }
    Ok(Invocation {
        server,
        settings,
        ..Invocation::local(Action::Serve(Box::new(serve)))
    })
}

fn shown(args: WebArgs) -> Result<Invocation, UsageError> {
    let server = match (args.server, args.command.is_empty()) {
        (_, false) => Some(ServerSpec::Program(args.command)),
        (Some(word), true) => Some(ServerSpec::first_of(&mut vec![word])?),
        (None, true) => None,
    };
    let page = Page {
        port: args.port,
        opens: !args.no_open,
        recording: args.recording,
    };
    let settings = Settings {
        roots: args.roots,
        ..Settings::reaching(args.reach)?
    };
    if server.is_none()
        && let Some(option) = settings.first_of_server()
    {
        let text = format!("{option} requires a server: a URL, @NAME, or -- COMMAND");
        return Err(UsageError(text));
    }
    Ok(Invocation {
        server,
        settings,
        ..Invocation::local(Action::Web(page))
    })
}

impl Invocation {
    /// Returns an invocation of an action without a server.
    fn local(action: Action) -> Self {
        Self {
            action,
            server: None,
            settings: Settings::default(),
            format: Format::Text,
            verbosity: Verbosity::Warnings,
        }
    }

    fn hosts(args: ServerArgs) -> Self {
        let mut invocation = Self::local(Action::Hosts);
        invocation.settings.config = args.reach.config;
        invocation.format = Format::from(args.json);
        invocation
    }

    fn login(args: ServerArgs) -> Result<Self, UsageError> {
        let invocation = Self::about_access(args, Action::Login)?;
        invocation.required_server()?;
        let access = &invocation.settings.access;
        if access.bearer.is_some() || access.is_itself {
            let reason = "--bearer-env and --client-credentials need no sign-in; pass them to the commands that \
                        connect to the server";
            return Err(UsageError(reason.to_owned()));
        }
        Ok(invocation)
    }

    fn logout(args: ServerArgs) -> Result<Self, UsageError> {
        let invocation = Self::about_access(args, Action::Logout)?;
        invocation.required_server()?;
        Ok(invocation)
    }

    /// An action on stored credentials.
    fn about_access(args: ServerArgs, action: Action) -> Result<Self, UsageError> {
        let (mut words, command, format, settings) = Settings::take(args)?;
        if !command.is_empty() {
            let reason = "a program has no sign-in; pass credentials to it with --env";
            return Err(UsageError(reason.to_owned()));
        }
        let server = match words.is_empty() {
            true => None,
            false => Some(ServerSpec::first_of(&mut words)?),
        };
        Words(words).none(Self {
            server,
            format,
            settings,
            ..Self::local(action)
        })
    }

    /// Returns the server of an action that requires one.
    ///
    /// # Errors
    ///
    /// [`UsageError`] if no server was typed.
    pub(super) fn required_server(&self) -> Result<&ServerSpec, UsageError> {
        let missing = || UsageError("which server? A URL, or @NAME".to_owned());
        self.server.as_ref().ok_or_else(missing)
    }
}
