//! Errors of the client as errors that name a remedy.

use std::error::Error as _;
use std::io;

use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use super::Target;
use crate::connect_error::ConnectError;

impl Target {
    /// Converts the error of a start.
    pub(crate) fn explain<T>(&self, result: Result<T, Error>) -> Result<T, ConnectError> {
        result.map_err(|error| self.connect_error(error))
    }

    /// As [`Target::explain`], for a statement that needs the rights in `missing`.
    pub(crate) fn explain_right<T>(
        &self,
        result: Result<T, Error>,
        missing: &str,
    ) -> Result<T, ConnectError> {
        result.map_err(|error| match error.code() {
            Some(&SqlState::INSUFFICIENT_PRIVILEGE) => ConnectError::Permission {
                user: self.user(),
                missing: missing.to_owned(),
            },
            _ => self.connect_error(error),
        })
    }

    fn connect_error(&self, source: Error) -> ConnectError {
        let host = self.host();
        if let Some(code) = source.code().cloned() {
            return self.answered(&code, source);
        }
        match kind(&source) {
            Kind::ReadOnly => ConnectError::ReadOnly { host },
            Kind::Tls => ConnectError::Tls { host, source },
            Kind::Password => ConnectError::Denied {
                user: self.user(),
                source,
            },
            Kind::Network => ConnectError::Unreachable { host, source },
            Kind::Other => ConnectError::Refused { host, source },
        }
    }

    fn answered(&self, code: &SqlState, source: Error) -> ConnectError {
        let (host, user) = (self.host(), self.user());
        match *code {
            SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
                ConnectError::Denied { user, source }
            }
            SqlState::INVALID_CATALOG_NAME => ConnectError::Database {
                database: self.config.get_dbname().unwrap_or(&user).to_owned(),
            },
            SqlState::INSUFFICIENT_PRIVILEGE => ConnectError::Permission {
                user,
                missing: source
                    .as_db_error()
                    .map_or_else(String::new, |it| it.message().to_owned()),
            },
            SqlState::READ_ONLY_SQL_TRANSACTION => ConnectError::ReadOnly { host },
            SqlState::CANNOT_CONNECT_NOW => ConnectError::Unreachable { host, source },
            _ => ConnectError::Refused { host, source },
        }
    }
}

enum Kind {
    Network,
    ReadOnly,
    Tls,
    Password,
    Other,
}

/// Returns the kind of an error that the server did not send. The client shows it in its text alone.
fn kind(error: &Error) -> Kind {
    let cause = error.source().and_then(|it| it.downcast_ref::<io::Error>());
    if cause.is_some_and(|it| {
        it.kind() == io::ErrorKind::PermissionDenied && it.raw_os_error().is_none()
    }) {
        return Kind::ReadOnly;
    }
    let is_password = error
        .source()
        .is_some_and(|it| it.to_string() == "password missing");
    match error.to_string().as_str() {
        "error performing TLS handshake" => Kind::Tls,
        "authentication error" => Kind::Password,
        "invalid configuration" if is_password => Kind::Password,
        "error connecting to server"
        | "error communicating with the server"
        | "connection closed" => Kind::Network,
        _ => Kind::Other,
    }
}
