//! Failures of requests of the page.

use std::error::Error as StdError;

use http::StatusCode;
use pintle_client::{CallError, ConnectError};
use pintle_model::Error;
use pintle_proto::TransportErrorKind;

use crate::object::Object;
use crate::target::TargetError;

/// A failure, as the page shows it.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: StatusCode,
    /// The failure, and then its causes.
    messages: Vec<String>,
    /// The next step of the user.
    hint: Option<String>,
    /// Whether a sign-in may resolve the failure.
    needs_sign_in: bool,
    /// The error of the server, with its code and data.
    answer: Option<Error>,
}

impl Failure {
    /// Creates a failure of a request that this program answers itself.
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            messages: vec![message.into()],
            hint: None,
            needs_sign_in: false,
            answer: None,
        }
    }

    /// Creates a failure of something that was attempted. The status is 200, because the request itself was correct.
    pub(crate) fn of(error: &dyn StdError) -> Self {
        Self {
            messages: texts(error),
            ..Self::new(StatusCode::OK, "")
        }
    }

    /// The failure of a request without a connection.
    pub(crate) fn not_connected() -> Self {
        Self::new(StatusCode::OK, "there is no connection to a server")
    }

    /// Returns the JSON text for the page.
    pub(crate) fn shown(&self) -> Vec<u8> {
        let mut shown = Object::new();
        shown.texts("messages", &mut self.messages.iter().map(String::as_str));
        if let Some(hint) = &self.hint {
            shown.text("hint", hint);
        }
        if self.needs_sign_in {
            shown.flag("needsSignIn", true);
        }
        if let Some(answer) = &self.answer {
            shown.value("answer", answer);
        }
        shown.end()
    }

    /// Sets the next step of the user if a sign-in may resolve the failure.
    pub(crate) fn with_sign_in(mut self, command: Option<&str>) -> Self {
        if let (true, Some(command)) = (self.needs_sign_in, command) {
            self.hint = Some(format!("Sign in with `{command}`, then connect again."));
        }
        self
    }
}

/// Returns the texts of an error and its causes, each once.
fn texts(error: &dyn StdError) -> Vec<String> {
    let mut texts = vec![error.to_string()];
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if texts.last() != Some(&text) {
            texts.push(text);
        }
        cause = error.source();
    }
    texts
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        let needs_sign_in = match &error {
            CallError::NotConnected { source, .. } => {
                matches!(**source, ConnectError::Unauthorized(_))
            }
            CallError::Disconnected { source, .. } => {
                matches!(source.kind(), TransportErrorKind::Unauthorized(_))
            }
            _ => false,
        };
        Self {
            needs_sign_in,
            answer: error.answer().cloned(),
            ..Self::of(&error)
        }
    }
}

impl From<ConnectError> for Failure {
    fn from(error: ConnectError) -> Self {
        Self {
            needs_sign_in: matches!(error, ConnectError::Unauthorized(_)),
            ..Self::of(&error)
        }
    }
}

impl From<TargetError> for Failure {
    fn from(error: TargetError) -> Self {
        Self {
            hint: error.hint.clone(),
            ..Self::of(&error)
        }
    }
}
