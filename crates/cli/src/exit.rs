//! Exit codes for scripts, and the error that ends a run.

use std::error::Error;
use std::fmt;
use std::io;
use std::process::ExitCode;

use crate::pack::PackError;
use pintle::auth::AuthError;
use pintle::client::{CallError, ConnectError, Misbehavior};
use pintle::proto::{TransportError, TransportErrorKind};
use pintle_hosts::{ConfigError, EditError};

/// The documented exit codes. A code never changes its meaning.
///
/// 2 is left free, because shells use it themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// The command has succeeded.
    Done = 0,
    /// The command line is not valid, or does not allow the request.
    Usage = 1,
    /// The server requires a sign-in.
    SignIn = 3,
    /// A server cannot be reached, or an address cannot be listened on.
    Unreachable = 4,
    /// The tool failed, or nothing was found.
    Failed = 5,
    /// An argument or an output does not match its schema, or the schema is not usable.
    Schema = 6,
    /// A server differs from its lock file, or from another server.
    Differs = 7,
    /// `pintle lint`, `pintle check` or `pintle doctor` found errors.
    Findings = 8,
    /// The user pressed Ctrl-C. Shells use this code for an interrupted program.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// The error that ended a run, with its exit code and a hint for the user.
#[derive(Debug)]
pub(crate) struct CliError {
    exit: Exit,
    source: Box<dyn Error + Send + Sync>,
    hint: Option<String>,
}

impl CliError {
    /// An error with its exit code. A text is an error, too.
    pub(crate) fn new(exit: Exit, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            exit,
            source: source.into(),
            hint: None,
        }
    }

    /// The error for a name that the server does not have, and for a result that is missing.
    pub(crate) fn not_found(text: impl Into<String>) -> Self {
        Self::new(Exit::Failed, text.into())
    }

    /// The error for a run that Ctrl-C has ended.
    pub(crate) fn interrupted() -> Self {
        Self::new(Exit::Interrupted, "interrupted")
    }

    /// Adds a hint to an error that a sign-in can resolve; the first hint stays.
    pub(crate) fn with_next(mut self, next: impl FnOnce() -> String) -> Self {
        if self.exit == Exit::SignIn && self.hint.is_none() {
            self.hint = Some(next());
        }
        self
    }

    /// Returns the error itself as this type. Its sources are not considered.
    pub(crate) fn as_error<E: Error + 'static>(&self) -> Option<&E> {
        self.source.downcast_ref()
    }

    /// The next step for the user: the option or the part of a URL that may be missing.
    pub(crate) fn hint(&self) -> Option<&str> {
        self.hint.as_deref().or_else(|| {
            let of_call = || need_hint(&call_text(self.as_error()?));
            transport_hint(self).or_else(of_call)
        })
    }

    /// The exit code of this error.
    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt(f)
    }
}

impl Error for CliError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.source()
    }
}

/// The hint for the first transport error among the sources that has one.
fn transport_hint(error: &CliError) -> Option<&'static str> {
    let mut cause = Error::source(error);
    while let Some(error) = cause {
        match error.downcast_ref().map(TransportError::kind) {
            Some(TransportErrorKind::Status(404)) => {
                return Some("The path of the URL may be missing; it is often /mcp.");
            }
            Some(TransportErrorKind::ProcessExited) => {
                let hint = "A program gets few variables of the environment; \
                            --env NAME passes one on.";
                return Some(hint);
            }
            _ => cause = error.source(),
        }
    }
    None
}

fn call_text(error: &CallError) -> String {
    let data = error.answer().and_then(|error| error.data.as_ref());
    let data = data.map(ToString::to_string);
    format!("{error} {}", data.unwrap_or_default())
}

/// The option without which this client does not have what a server needs, by the text of its error.
pub(crate) fn need_hint(text: &str) -> Option<&'static str> {
    let text = text.to_lowercase();
    if !text.contains("client") {
        None
    } else if text.contains("sampling") {
        Some("--sample-with COMMAND lets a program answer in place of a model.")
    } else if text.contains("roots") {
        Some("--root DIRECTORY gives the server a root.")
    } else {
        None
    }
}

fn connect_exit(error: &ConnectError) -> Exit {
    match error {
        ConnectError::Unauthorized(_) => Exit::SignIn,
        ConnectError::InvalidConfig(_) => Exit::Usage,
        _ => Exit::Unreachable,
    }
}

fn call_exit(error: &CallError) -> Exit {
    match error {
        CallError::Answered { .. }
        | CallError::NotSent { .. }
        | CallError::QuestionFailed { .. }
        | CallError::NotApproved { .. }
        | CallError::TaskCancelled { .. } => Exit::Failed,
        CallError::Misbehaved {
            source: Misbehavior::Output(_),
            ..
        }
        | CallError::UnusableOutputSchema { .. } => Exit::Schema,
        CallError::InvalidParams { .. } => Exit::Usage,
        CallError::Disconnected { source, .. } => transport_exit(source),
        CallError::NotConnected { source, .. } => connect_exit(source),
        _ => Exit::Unreachable,
    }
}

fn transport_exit(error: &TransportError) -> Exit {
    match error.kind() {
        TransportErrorKind::Unauthorized(_) => Exit::SignIn,
        _ => Exit::Unreachable,
    }
}

impl From<ConnectError> for CliError {
    fn from(error: ConnectError) -> Self {
        Self::new(connect_exit(&error), error)
    }
}

impl From<CallError> for CliError {
    fn from(error: CallError) -> Self {
        Self::new(call_exit(&error), error)
    }
}

impl From<AuthError> for CliError {
    fn from(error: AuthError) -> Self {
        let exit = match error {
            AuthError::NoRedirectPort(..) => Exit::Unreachable,
            _ => Exit::SignIn,
        };
        Self::new(exit, error)
    }
}

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        Self::new(Exit::Usage, error)
    }
}

impl From<EditError> for CliError {
    fn from(error: EditError) -> Self {
        let exit = match error {
            EditError::Unwritable { .. } | EditError::Changed(_) => Exit::Failed,
            _ => Exit::Usage,
        };
        Self::new(exit, error)
    }
}

impl From<PackError> for CliError {
    fn from(error: PackError) -> Self {
        let exit = match error {
            PackError::Missing { .. } | PackError::Invalid { .. } => Exit::Usage,
            PackError::NoProject(_) | PackError::UnknownTarget(_) => Exit::Usage,
            _ => Exit::Failed,
        };
        Self::new(exit, error)
    }
}

impl From<io::Error> for CliError {
    fn from(error: io::Error) -> Self {
        Self::new(Exit::Unreachable, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_hint_of_an_error_that_needs_a_sign_in_stays() {
        let error = CliError::from(AuthError::SignInUnavailable);
        let error = error.with_next(|| "first".to_owned());
        let error = error.with_next(|| "second".to_owned());
        assert_eq!((error.exit(), error.hint()), (Exit::SignIn, Some("first")));
        let error = CliError::not_found("x").with_next(|| "first".to_owned());
        assert_eq!((error.exit(), error.hint()), (Exit::Failed, None));
    }

    #[test]
    fn an_error_shows_its_source_once() {
        let error = CliError::from(io::Error::other("full"));
        assert_eq!(error.to_string(), "full");
        assert!(error.as_error::<io::Error>().is_some());
        assert!(Error::source(&error).is_none());
    }
}
