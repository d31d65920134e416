//! The seam to servers: the page names one, and [`Targets`] returns how to connect to it.

use std::sync::Arc;
use std::time::Duration;

use pintle_client::{Client, ClientBuilder, ClientOptions, IntoConnect};
use pintle_model::Root;
use pintle_runtime::{BoxConnect, BoxFuture};

use crate::output::ServerOutput;
use crate::sign_in::SignInSteps;

/// The servers that the page can connect to.
pub trait Targets: Send + Sync + 'static {
    /// Returns the servers that the page offers. The page connects to the first one at once if it is
    /// [`TargetName::is_given`].
    fn names(&self) -> Vec<TargetName>;

    /// Returns true if the page offers a field for the URL of another server.
    fn accepts_urls(&self) -> bool {
        false
    }

    /// Prepares the connection to a server: one of [`Targets::names`], or a URL that the user typed.
    ///
    /// The page never names a program. An implementation that starts programs starts only those that its own
    /// configuration names.
    ///
    /// # Errors
    ///
    /// [`TargetError`] if there is no such server, or if the user does not agree to it.
    fn find<'t>(&'t self, name: &'t str) -> BoxFuture<'t, Result<Target, TargetError>>;

    /// Returns true if [`Targets::sign_in`] signs the user in. By default it returns false.
    fn can_sign_in(&self) -> bool {
        false
    }

    /// Signs the user in to a server, and stores the credentials for [`Targets::find`]. `steps` receives what the user
    /// has to do in the browser. The page receives no token. Dropping the future cancels the sign-in.
    ///
    /// # Errors
    ///
    /// [`TargetError`] if the server has no sign-in, or if it fails.
    fn sign_in<'t>(
        &'t self,
        name: &'t str,
        steps: SignInSteps,
    ) -> BoxFuture<'t, Result<(), TargetError>> {
        let _ = steps;
        let error = TargetError::new(format!("there is no sign-in for {name:?} here"));
        Box::pin(async { Err(error) })
    }

    /// Returns the recording that the page shows at its start; `None` by default.
    fn recording(&self) -> Option<&RecordingText> {
        None
    }
}

/// Judges a server for the page. Both reports are the JSON texts of the commands with `--json`.
pub trait Judge: Send + Sync + 'static {
    /// Returns the report of `pintle check`. Dropping the future ends the check.
    ///
    /// # Errors
    ///
    /// [`TargetError`] if the server cannot be judged.
    fn check(&self) -> BoxFuture<'_, Result<String, TargetError>>;

    /// Returns the findings of `pintle lint` about the server of a connection.
    ///
    /// # Errors
    ///
    /// [`TargetError`] if the lists of the server cannot be read.
    fn lint<'j>(&'j self, client: &'j Client) -> BoxFuture<'j, Result<String, TargetError>>;
}

/// A recording of `pintle tap`, as text.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RecordingText {
    /// The name that the page shows.
    pub name: String,
    /// The lines of the recording.
    pub text: String,
}

impl RecordingText {
    /// Creates a recording from its name and its lines.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            text: text.into(),
        }
    }
}

/// A server that the page offers.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TargetName {
    /// The name that [`Targets::find`] receives.
    pub name: String,
    /// The text that describes the server to the user.
    pub label: String,
    /// Whether the user has named this server already.
    pub is_given: bool,
}

impl TargetName {
    /// Creates the name of a server that the user may choose.
    pub fn new(name: impl Into<String>, label: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            label: label.into(),
            is_given: false,
        }
    }

    /// Marks the server as the one that the user has named.
    pub fn given(mut self) -> Self {
        self.is_given = true;
        self
    }
}

/// A server to connect to.
#[derive(Clone)]
#[non_exhaustive]
pub struct Target {
    /// Connects to the server, for each conversation.
    pub connect: BoxConnect,
    /// The configuration of the client. The page replaces its handlers of questions and notifications.
    pub client: ClientBuilder,
    /// The text that describes the server to the user.
    pub label: String,
    /// The roots at the beginning; the user may change them in the page.
    pub roots: Vec<Root>,
    /// Longest wait for progress or the result of each call. `None` is the default of the client.
    pub timeout: Option<Duration>,
    /// The words of a command that name the server, for commands that the user copies.
    pub words: Vec<String>,
    /// The URL of the server, for commands that the user copies. It has no credentials.
    pub url: Option<String>,
    /// The command that signs the user in, if the server is able to require it.
    pub sign_in: Option<String>,
    /// Receives the standard error of a program, which the page shows.
    pub output: Option<ServerOutput>,
    /// Judges the server on a click of the user.
    pub judge: Option<Arc<dyn Judge>>,
}

impl Target {
    /// Creates a target for a server that is reached by `connect`.
    pub fn new(label: impl Into<String>, connect: BoxConnect) -> Self {
        let mut options = ClientOptions::default();
        // The page shows what the server answers now.
        options.max_cached_results = 0;
        Self {
            connect,
            client: Client::builder().options(options),
            label: label.into(),
            roots: Vec::new(),
            timeout: None,
            words: Vec::new(),
            url: None,
            sign_in: None,
            output: None,
            judge: None,
        }
    }
}

/// The reason why there is no connection to a server.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct TargetError {
    /// The reason, as a sentence without an end.
    pub message: String,
    /// The next step of the user.
    pub hint: Option<String>,
}

impl TargetError {
    /// Creates an error with its reason.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
        }
    }

    /// Adds the next step of the user.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// One server, such as that of the program that serves the page.
#[derive(Clone)]
pub struct OneTarget(Target);

impl OneTarget {
    /// Creates the targets of a page that shows one server: a URL, or a server in this process.
    ///
    /// # Errors
    ///
    /// [`TargetError`] if `server` does not name a server.
    pub fn new<Kind>(
        label: impl Into<String>,
        server: impl IntoConnect<Kind>,
    ) -> Result<Self, TargetError> {
        let connect = server.into_connect();
        let connect = connect.map_err(|error| TargetError::new(error.to_string()))?;
        Ok(Self(Target::new(label, BoxConnect::new(connect))))
    }
}

impl From<OneTarget> for Target {
    fn from(target: OneTarget) -> Self {
        target.0
    }
}

impl From<Target> for OneTarget {
    fn from(target: Target) -> Self {
        Self(target)
    }
}

impl Targets for OneTarget {
    fn names(&self) -> Vec<TargetName> {
        let label = &self.0.label;
        vec![TargetName::new(label, label).given()]
    }

    fn find<'t>(&'t self, name: &'t str) -> BoxFuture<'t, Result<Target, TargetError>> {
        let found = match name == self.0.label {
            true => Ok(self.0.clone()),
            false => Err(TargetError::new(format!("there is no server {name:?}"))),
        };
        Box::pin(async move { found })
    }
}
