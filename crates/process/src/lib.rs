//! Servers as child processes.
//!
//! A server is started without a shell, in an environment that has only what it needs, and in a
//! process group (a job on Windows) together with whatever it starts itself. It ends by the end of its
//! input, then by being asked, then by force, the whole group at once; also when nobody is left to
//! ask: see `group/keeper.rs`.

mod environment;
mod exit;
mod fingerprint;
mod group;
mod options;
mod resolve;
mod restart;
mod supervisor;
mod tail;
mod transport;

use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pintle_runtime::StreamOptions;
use pintle_runtime::sync::Mutex;
use tokio::process::{ChildStdin, ChildStdout};

use environment::Environment;
use group::{Group, SpawnPlan};
use resolve::{Lookup, ResolveError};
use supervisor::Listener;
use transport::History;

pub use exit::{ChildExit, SpawnError};
pub use options::ChildOptions;
pub use supervisor::Supervisor;
pub use transport::ChildTransport;

/// A server program to be started: what a host's configuration calls `command`, `args`, `env` and
/// `cwd`.
///
/// Of the host's environment the server gets a short list: where the user is at home (`HOME`,
/// `USER`, …), what runs (`PATH`, `SHELL`, …) and in which language (`LANG`, `TZ`, …). Anything else
/// is named: [`Command::env`], [`Command::inherit_env`].
///
/// # Examples
///
/// ```
/// use pintle_process::Command;
///
/// let server = Command::new("npx")
///     .args(["-y", "@modelcontextprotocol/server-everything"])
///     .inherit_env("HTTPS_PROXY")
///     .env("LOG_LEVEL", "debug");
/// ```
#[derive(Clone)]
pub struct Command {
    program: OsString,
    args: Vec<OsString>,
    environment: Environment,
    directory: Option<PathBuf>,
    options: ChildOptions,
    streams: StreamOptions,
    listener: Option<Listener>,
    history: Arc<Mutex<History>>,
}

impl Command {
    /// A server program: a name that is looked up in the server's `PATH`, or a path, which begins
    /// in the server's working directory. It is not a command line: spaces are part of the name.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            environment: Environment::default(),
            directory: None,
            options: ChildOptions::default(),
            streams: StreamOptions::default(),
            listener: None,
            history: Arc::default(),
        }
    }

    /// Adds an argument. It arrives byte for byte: no shell sees it.
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets a variable of the server's environment.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.set(name.into(), value.into());
        self
    }

    /// Sets variables of the server's environment.
    pub fn envs<N, V>(self, variables: impl IntoIterator<Item = (N, V)>) -> Self
    where
        N: Into<OsString>,
        V: Into<OsString>,
    {
        let set = |command: Self, (name, value)| command.env(name, value);
        variables.into_iter().fold(self, set)
    }

    /// Passes a variable of the host's environment on, if it is set when the server starts.
    pub fn inherit_env(mut self, name: impl Into<OsString>) -> Self {
        self.environment.inherit(name.into());
        self
    }

    /// Passes all of the host's environment on, with every token and key that is in it.
    pub fn inherit_all_env(mut self) -> Self {
        self.environment.inherit_all();
        self
    }

    /// Sets the working directory; default: the host's.
    pub fn current_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Sets the bounds of the process.
    pub fn options(mut self, options: ChildOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets the bounds of a conversation with it. In place of [`StreamOptions::close_timeout`] stands
    /// [`ChildOptions::exit_timeout`].
    pub fn stream_options(mut self, streams: StreamOptions) -> Self {
        self.streams = streams;
        self
    }

    /// Gives what the server writes to its standard error to somebody, as it comes and in pieces of
    /// any size. It is called by the task that watches the server, and must not block.
    pub fn on_stderr(mut self, listener: impl Fn(&[u8]) + Send + Sync + 'static) -> Self {
        self.listener = Some(Arc::new(listener));
        self
    }

    /// Starts the server.
    ///
    /// # Errors
    ///
    /// [`SpawnError`], if there is no such program or the system does not start it.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with I/O and time enabled.
    pub fn start(&self) -> Result<ChildServer, SpawnError> {
        let plan = self.plan()?;
        let program = self.program.to_string_lossy();
        let (group, streams) = Group::start(&plan).map_err(|source| SpawnError::Failed {
            program: program.clone().into_owned(),
            source,
        })?;
        let supervisor = Supervisor::start(
            group,
            streams.stderr,
            program.into(),
            self.options.clone(),
            self.listener.clone(),
        );
        Ok(ChildServer {
            stdin: streams.stdin,
            stdout: streams.stdout,
            supervisor,
        })
    }

    fn plan(&self) -> Result<SpawnPlan, SpawnError> {
        let variables = self.environment.resolve(env::vars_os());
        let directory = self.working_directory()?;
        Ok(SpawnPlan {
            program: self.resolve(&variables, &directory)?,
            args: self.args.clone(),
            variables,
            directory,
        })
    }

    fn working_directory(&self) -> Result<PathBuf, SpawnError> {
        let given = self.directory.as_deref().unwrap_or(Path::new("."));
        let absolute = std::path::absolute(given).ok();
        let found = absolute.filter(|directory| directory.is_dir());
        found.ok_or_else(|| SpawnError::NoDirectory {
            directory: given.to_owned(),
        })
    }

    fn resolve(
        &self,
        variables: &[(OsString, OsString)],
        directory: &Path,
    ) -> Result<PathBuf, SpawnError> {
        let endings = environment::value(variables, "PATHEXT").and_then(OsStr::to_str);
        let lookup = Lookup {
            path: environment::value(variables, "PATH"),
            endings: cfg!(windows).then(|| endings.unwrap_or(resolve::ENDINGS)),
            directory,
        };
        let found = lookup.resolve(&self.program, resolve::look);
        found.map_err(|unresolved| {
            let program = self.program.to_string_lossy().into_owned();
            match unresolved {
                ResolveError::Missing => SpawnError::NotFound { program },
                ResolveError::NotExecutable => SpawnError::NotExecutable { program },
            }
        })
    }
}

/// Values of variables and arguments may be secrets, so only their number is shown.
impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Command")
            .field("program", &self.program)
            .field("args", &self.args.len())
            .field("directory", &self.directory)
            .finish_non_exhaustive()
    }
}

/// A running server.
#[derive(Debug)]
pub struct ChildServer {
    /// What the server reads. Dropping it is the end of the server's input, which asks it to leave.
    pub stdin: ChildStdin,
    /// What the server writes.
    pub stdout: ChildStdout,
    /// Who watches over its process.
    pub supervisor: Supervisor,
}

impl ChildServer {
    /// Closes the server's input, and ends it: see [`Supervisor::end`].
    pub async fn end(self) -> ChildExit {
        drop(self.stdin);
        drop(self.stdout);
        self.supervisor.end().await
    }
}
