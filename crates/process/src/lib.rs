//! Servers as child processes.
//!
//! A server is started without a shell and in a minimal environment. Its descendants share its
//! process group (a job on Windows).
//!
//! To end a server, the host closes its input. If the server does not exit, its whole group gets
//! `SIGTERM`, and then `SIGKILL`. The group also ends when the host is killed: see
//! `group/keeper.rs`.

mod environment;
mod exit;
mod fingerprint;
mod group;
mod memory;
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

/// A server program to start: the `command`, `args`, `env` and `cwd` of a host's configuration.
///
/// The server gets a short list of the host's variables: for the user (`HOME`, `USER`, …), programs
/// (`PATH`, `SHELL`, …) and the language (`LANG`, `TZ`, …). [`Command::env`] and
/// [`Command::inherit_env`] add others by name.
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
    inherits_stderr: bool,
    history: Arc<Mutex<History>>,
}

impl Command {
    /// Creates a command. `program` is a name to look up in the server's `PATH`, or a path relative
    /// to the server's working directory. It is not a command line: spaces are part of the name.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            environment: Environment::default(),
            directory: None,
            options: ChildOptions::default(),
            streams: StreamOptions::default(),
            listener: None,
            inherits_stderr: false,
            history: Arc::default(),
        }
    }

    /// Adds an argument. It arrives unchanged, because no shell parses it.
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments, which arrive unchanged.
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

    /// Passes on a variable of the host's environment, if it is set when the server starts.
    pub fn inherit_env(mut self, name: impl Into<OsString>) -> Self {
        self.environment.inherit(name.into());
        self
    }

    /// Passes on the whole environment of the host, with every token and key in it.
    pub fn inherit_all_env(mut self) -> Self {
        self.environment.inherit_all();
        self
    }

    /// Sets the working directory; default: the host's.
    pub fn current_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Sets the limits of the process.
    pub fn options(mut self, options: ChildOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets the limits of a conversation with the server. [`ChildOptions::exit_timeout`] replaces
    /// [`StreamOptions::close_timeout`].
    pub fn stream_options(mut self, streams: StreamOptions) -> Self {
        self.streams = streams;
        self
    }

    /// Calls `listener` with the bytes of the server's standard error as they arrive, in pieces of
    /// any size. The task that supervises the server calls it, so it must not block.
    pub fn on_stderr(mut self, listener: impl Fn(&[u8]) + Send + Sync + 'static) -> Self {
        self.listener = Some(Arc::new(listener));
        self
    }

    /// Gives the server the standard error of the host, byte for byte and without a copy. The host then
    /// stores none of it, and [`Command::on_stderr`] is not called. Descendants that the server leaves are
    /// killed at once.
    pub fn inherit_stderr(mut self) -> Self {
        self.inherits_stderr = true;
        self
    }

    /// Starts the server.
    ///
    /// # Errors
    ///
    /// [`SpawnError`], if the program does not exist or the system does not start it.
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
            inherits_stderr: self.inherits_stderr,
        })
    }

    fn working_directory(&self) -> Result<PathBuf, SpawnError> {
        let configured = self.directory.as_deref().unwrap_or(Path::new("."));
        let absolute = std::path::absolute(configured).ok();
        let found = absolute.filter(|directory| directory.is_dir());
        found.ok_or_else(|| SpawnError::NoDirectory {
            directory: configured.to_owned(),
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
    /// The server's standard input. Dropping it ends that input, which asks the server to exit.
    pub stdin: ChildStdin,
    /// The server's standard output.
    pub stdout: ChildStdout,
    /// The supervisor of the server's process.
    pub supervisor: Supervisor,
}

impl ChildServer {
    /// Closes the server's input and ends the server: see [`Supervisor::end`].
    pub async fn end(self) -> ChildExit {
        drop(self.stdin);
        drop(self.stdout);
        self.supervisor.end().await
    }
}
