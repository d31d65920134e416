//! `pintle install` and `pintle uninstall`: servers in the files of hosts.

use std::env;
use std::sync::Arc;

use pintle::auth::Secret;
use pintle_hosts::{
    ConfigEdit, Environment, Host, LocalFiles, Named, NewServer, Placement, Platform,
    ServerRegistry, Text, UnexpandedTarget,
};

use crate::args::{ChangeArgs, InstallArgs, ServerSpec, UninstallArgs, UsageError};
use crate::ask::Prompter;
use crate::consent;
use crate::exit::{CliError, Exit};
use crate::live::Live;
use crate::output;
use crate::pack::is_secret;
use crate::screen::Screen;
use crate::show;
use crate::text;

/// A server to add to the file of a host.
#[derive(Debug)]
pub(crate) struct Install {
    server: ServerSpec,
    name: Option<String>,
    env: Vec<(String, Option<Secret>)>,
    headers: Vec<(String, Secret)>,
    bearer_env: Option<String>,
    replaces: bool,
    is_trusted: bool,
    change: Change,
}

/// A server to remove from the file of a host.
#[derive(Debug)]
pub(crate) struct Uninstall {
    name: String,
    change: Change,
}

/// The file of a change, and how the change is confirmed.
#[derive(Debug)]
struct Change {
    host: &'static Host,
    placement: Placement,
    is_dry: bool,
    is_confirmed: bool,
}

impl TryFrom<InstallArgs> for Install {
    type Error = UsageError;

    fn try_from(args: InstallArgs) -> Result<Self, UsageError> {
        let server = match args.command.is_empty() {
            false => ServerSpec::Program(args.command),
            true => ServerSpec::first_of(&mut args.server.into_iter().collect())?,
        };
        Ok(Self {
            server,
            name: args.name,
            env: args.env,
            headers: args.headers,
            bearer_env: args.bearer_env,
            replaces: args.replace,
            is_trusted: args.trust,
            change: args.change.try_into()?,
        })
    }
}

impl TryFrom<UninstallArgs> for Uninstall {
    type Error = UsageError;

    fn try_from(args: UninstallArgs) -> Result<Self, UsageError> {
        Ok(Self {
            name: args.name,
            change: args.change.try_into()?,
        })
    }
}

impl TryFrom<ChangeArgs> for Change {
    type Error = UsageError;

    fn try_from(args: ChangeArgs) -> Result<Self, UsageError> {
        let unknown = || UsageError(format!("`{}` is not a known host", args.host));
        Ok(Self {
            host: Host::by_id(&args.host).ok_or_else(unknown)?,
            placement: args.placement(),
            is_dry: args.dry_run,
            is_confirmed: args.yes,
        })
    }
}

impl Install {
    /// Adds the server.
    pub(super) fn run(&self) -> Result<(), CliError> {
        with_environment(|environment| {
            let console = Console::new();
            let server = self.new_server(environment, &console)?;
            let change = &self.change;
            let (host, placement) = (change.host, &change.placement);
            let edit = ConfigEdit::install(environment, host, placement, &server, self.replaces)?;
            self.warn_of_secrets(&edit, &console);
            let done = format!("`{}` is in {}", server.name, change.place(&edit));
            change.make(&edit, &console, &done)
        })
    }

    fn new_server(
        &self,
        environment: &Environment<'_>,
        console: &Console,
    ) -> Result<NewServer, CliError> {
        let mut server = match &self.server {
            ServerSpec::Named(name) => self.copied(name, environment, console)?,
            ServerSpec::Url(url) => {
                let is_http = url.starts_with("http://") || url.starts_with("https://");
                if !is_http {
                    return Err(usage("a host connects to http and https URLs only"));
                }
                let target = UnexpandedTarget::Url {
                    url: url.clone(),
                    headers: Vec::new(),
                    is_sse: false,
                };
                NewServer::new(self.required_name()?, target)?
            }
            ServerSpec::Program(words) => {
                let (command, arguments) = words
                    .split_first()
                    .ok_or_else(|| usage("no program to start behind `--`"))?;
                let target = UnexpandedTarget::Program {
                    command: command.clone(),
                    arguments: arguments.to_vec(),
                    environment: Vec::new(),
                    env_file: None,
                    directory: None,
                };
                NewServer::new(self.required_name()?, target)?
            }
        };
        self.add_settings(&mut server.target)?;
        Ok(server)
    }

    fn required_name(&self) -> Result<&str, CliError> {
        let name = self.name.as_deref();
        name.ok_or_else(|| usage("which name? --name NAME names the server in the file"))
    }

    fn copied(
        &self,
        name: &str,
        environment: &Environment<'_>,
        console: &Console,
    ) -> Result<NewServer, CliError> {
        let registry = ServerRegistry::open(environment);
        let found = registry.find(Named::from(name))?;
        // In the file of the user, the server would need no consent any more.
        consent::require(found, environment, self.is_trusted, &console.prompter)?;
        let name = self.name.as_deref().unwrap_or(&found.server.name);
        Ok(NewServer::copy(name, found, environment)?)
    }

    /// Adds the variables and headers of the command line. They replace those of a copy.
    fn add_settings(&self, target: &mut UnexpandedTarget) -> Result<(), CliError> {
        match target {
            UnexpandedTarget::Program { environment, .. } => {
                if !self.headers.is_empty() || self.bearer_env.is_some() {
                    return Err(usage(
                        "--header and --bearer-env require a URL as the server",
                    ));
                }
                let is_new = |name: &str| !self.env.iter().any(|(new, _)| new == name);
                environment.retain(|(name, _)| is_new(name));
                environment.extend(self.env.iter().map(|(name, value)| {
                    let text = match value {
                        Some(value) => Text::Written(value.reveal().clone()),
                        None => Text::Env(name.clone()),
                    };
                    (name.clone(), text)
                }));
            }
            UnexpandedTarget::Url { headers, .. } => {
                if !self.env.is_empty() {
                    return Err(usage("--env requires a program as the server"));
                }
                let new: Vec<_> = self.new_headers().collect();
                headers
                    .retain(|(name, _)| !new.iter().any(|(new, _)| new.eq_ignore_ascii_case(name)));
                headers.extend(new);
            }
        }
        Ok(())
    }

    fn new_headers(&self) -> impl Iterator<Item = (String, Text)> + '_ {
        let headers = self.headers.iter();
        let headers =
            headers.map(|(name, value)| (name.clone(), Text::Written(value.reveal().clone())));
        let bearer = self.bearer_env.iter();
        let bearer =
            bearer.map(|variable| ("Authorization".to_owned(), Text::Bearer(variable.clone())));
        headers.chain(bearer)
    }

    fn warn_of_secrets(&self, edit: &ConfigEdit, console: &Console) {
        let env = self.env.iter().filter(|(_, value)| value.is_some());
        let names = env.map(|(name, _)| (name, format!("--env {name}")));
        let headers = self.headers.iter();
        let headers = headers.map(|(name, _)| (name, "--bearer-env VARIABLE".to_owned()));
        for (name, option) in names.chain(headers).filter(|(name, _)| is_secret(name)) {
            let (host, file) = (self.change.host, edit.file.display());
            let hint = match host.has_references() {
                true => format!("{option} stores a reference to a variable"),
                false => format!("the file of {} cannot have references", host.name),
            };
            let warning = format!("{file} has the value of `{name}` as plain text; {hint}");
            console.prompter.warn(&warning);
        }
    }
}

impl Uninstall {
    /// Removes the server.
    pub(super) fn run(&self) -> Result<(), CliError> {
        with_environment(|environment| {
            let change = &self.change;
            let (host, placement) = (change.host, &change.placement);
            let edit = ConfigEdit::uninstall(environment, host, placement, &self.name)?;
            let done = format!("`{}` is removed from {}", self.name, change.place(&edit));
            change.make(&edit, &Console::new(), &done)
        })
    }
}

impl Change {
    /// Shows the change, asks for a confirmation, and makes it.
    fn make(&self, edit: &ConfigEdit, console: &Console, done: &str) -> Result<(), CliError> {
        let diff = show::diff(edit);
        if self.is_dry {
            let output = console.screen.output;
            return output::result(
                match output.is_terminal {
                    true => text::clean(&diff).into_owned().into_bytes(),
                    false => diff.into_bytes(),
                }
                .as_slice(),
            );
        }
        if !self.is_confirmed {
            match console.prompter.confirm(&text::clean(&diff)) {
                Some(true) => {}
                Some(false) => return Err(usage("the change was not confirmed")),
                None => {
                    return Err(usage(
                        "the change is confirmed at a terminal, or with --yes; --dry-run shows it",
                    ));
                }
            }
        }
        let backup = edit.apply()?;
        let backup = backup.map(|file| format!("; the file before it is {}", file.display()));
        let line = format!("{done}{}", backup.unwrap_or_default());
        output::result(format!("{}\n", text::line(&line)).as_bytes())
    }

    fn place(&self, edit: &ConfigEdit) -> String {
        format!("the file of {}, {}", self.host.name, edit.file.display())
    }
}

/// The terminal, and the questions on it.
struct Console {
    screen: Screen,
    prompter: Arc<Prompter>,
}

impl Console {
    fn new() -> Self {
        let screen = Screen::look();
        let live = Arc::new(Live::new(screen.notes));
        Self {
            screen,
            prompter: Prompter::new(&[], &[], screen, live),
        }
    }
}

fn with_environment(
    run: impl FnOnce(&Environment<'_>) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let here = env::current_dir()?;
    run(&Environment {
        platform: Platform::HERE,
        here: &here,
        env: &|name| env::var(name).ok(),
        disk: &LocalFiles,
    })
}

fn usage(text: &str) -> CliError {
    CliError::new(Exit::Usage, UsageError(text.to_owned()))
}
