//! Errors when a store connects.

use std::fmt;
use std::time::Duration;

use redis::RedisError;

/// The reason why a server cannot be used as a store. Neither its `Debug` nor its `Display` shows
/// credentials.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The URL cannot be read.
    #[error("invalid Redis URL: {reason}")]
    Url {
        /// The part of the URL that is wrong, or a correct form.
        reason: String,
    },
    /// No server answers.
    #[error(
        "cannot connect to {host}; check that Redis runs there, and the host and port of the URL"
    )]
    Unreachable {
        /// The server of the URL.
        host: String,
        /// The error of the network.
        source: ClientError,
    },
    /// The sentinels know no server that accepts writes.
    #[error(
        "no sentinel names a server for {host}; correct the service of the URL, or wait for the end of a failover"
    )]
    UnknownService {
        /// The service, and the sentinels of the URL.
        host: String,
        /// The answer of the sentinels.
        source: ClientError,
    },
    /// The connection cannot be encrypted, or the certificate of the server is not trusted.
    #[error(
        "cannot establish TLS with {host}; check that its port accepts TLS, and pass the certificate of its authority in `ca`"
    )]
    Tls {
        /// The server of the URL.
        host: String,
        /// The error of TLS.
        source: ClientError,
    },
    /// A file of certificates or keys cannot be read.
    #[error("cannot read {parameter} from {path}: {reason}")]
    Certificate {
        /// The parameter of the URL that names the file.
        parameter: &'static str,
        /// The path of the file.
        path: String,
        /// The reason, for example an absent file.
        reason: String,
    },
    /// The server does not accept the user or the password, or requires them.
    #[error("Redis at {host} denies access; correct the user and the password of the URL")]
    Denied {
        /// The server of the URL.
        host: String,
        /// The answer of the server.
        source: ClientError,
    },
    /// The user has too few rights.
    #[error("the user of Redis at {host} has no permission; grant it with ACL SETUSER: {rights}")]
    Permission {
        /// The server of the URL.
        host: String,
        /// The rights that a store needs, as rules of `ACL SETUSER`.
        rights: String,
        /// The answer of the server, which names the missing right.
        source: ClientError,
    },
    /// The server is too old.
    #[error("the server at {host} has {found}; use Redis 6.2 or Valkey 7.2, or newer")]
    Version {
        /// The server of the URL.
        host: String,
        /// The program and the version of the server.
        found: String,
    },
    /// The server deletes entries when its memory is full.
    #[error(
        "Redis at {host} has the eviction policy {policy} and may delete state; set `maxmemory-policy` to noeviction"
    )]
    Evicting {
        /// The server of the URL.
        host: String,
        /// The value of `maxmemory-policy`.
        policy: String,
    },
    /// The server accepts no writes, because it is a replica.
    #[error("Redis at {host} is a read-only replica; name its primary server in the URL")]
    ReadOnly {
        /// The server of the URL.
        host: String,
    },
    /// The server does not answer in time.
    #[error(
        "{host} does not answer within {} ms; check the network, or set `connect_timeout` in the URL",
        limit.as_millis()
    )]
    TimedOut {
        /// The server of the URL.
        host: String,
        /// The longest time for a start.
        limit: Duration,
    },
    /// The server reports another error.
    #[error("Redis at {host} cannot be used as a store")]
    Refused {
        /// The server of the URL.
        host: String,
        /// The answer of the server.
        source: ClientError,
    },
}

/// The text of an error of the client or the server, without credentials.
#[derive(Clone)]
pub struct ClientError(String);

impl ClientError {
    /// Copies the text. An old server repeats commands that it does not know, with their arguments, so
    /// `secrets` are replaced.
    pub(crate) fn of(error: &RedisError, secrets: &[String]) -> Self {
        let text = secrets.iter().fold(error.to_string(), |text, secret| {
            text.replace(secret.as_str(), "…")
        });
        Self(text)
    }
}

impl fmt::Debug for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ClientError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_an_error_has_no_secret() {
        let detail = "unknown command `HELLO`, with args: `AUTH`, `me`, `hunter2`".to_owned();
        let error = redis::make_extension_error("ERR".to_owned(), Some(detail));
        let text = ClientError::of(&error, &["hunter2".to_owned()]);
        assert!(!format!("{text} {text:?}").contains("hunter2"), "{text}");
    }
}
