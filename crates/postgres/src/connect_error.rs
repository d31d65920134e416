//! Errors when a store connects.

use std::time::Duration;

/// The reason why a database cannot be used as a store. Neither its `Debug` nor its `Display` shows a
/// password.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The URL cannot be read.
    #[error("invalid PostgreSQL URL: {reason}")]
    Url {
        /// The part of the URL that is wrong, and a correct form.
        reason: String,
    },
    /// No server answers.
    #[error(
        "cannot connect to {host}; check that PostgreSQL runs there, and the host and port of the URL"
    )]
    Unreachable {
        /// The hosts of the URL.
        host: String,
        /// The error of the network.
        source: tokio_postgres::Error,
    },
    /// The connection cannot be encrypted, or the certificate of the server is not trusted.
    #[error(
        "cannot establish TLS with {host}; pass the certificate of its authority in `ca`, or choose another `sslmode`"
    )]
    Tls {
        /// The hosts of the URL.
        host: String,
        /// The error of TLS.
        source: tokio_postgres::Error,
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
    /// The server does not accept the user or the password.
    #[error(
        "PostgreSQL denies access to user {user}; check the user and the password of the URL, and pg_hba.conf"
    )]
    Denied {
        /// The user of the URL.
        user: String,
        /// The answer of the server.
        source: tokio_postgres::Error,
    },
    /// The database does not exist.
    #[error(
        "the database {database} does not exist; create it, or name another database in the URL"
    )]
    Database {
        /// The database of the URL.
        database: String,
    },
    /// The user has too few rights.
    #[error(
        "user {user} has no permission: {missing}; grant it, or connect once as a user who has it"
    )]
    Permission {
        /// The user of the URL.
        user: String,
        /// The missing rights.
        missing: String,
    },
    /// The server is too old.
    #[error("the server has PostgreSQL {found}; use PostgreSQL 13 or newer")]
    Version {
        /// The major version of the server.
        found: i32,
    },
    /// The database cannot store all keys.
    #[error("the database has the encoding {found}; create a database with the encoding UTF8")]
    Encoding {
        /// The encoding of the database.
        found: String,
    },
    /// The server accepts no writes, because it is a standby.
    #[error("the server at {host} is read-only; name the primary server in the URL")]
    ReadOnly {
        /// The hosts of the URL.
        host: String,
    },
    /// A newer version of this program created the tables.
    #[error(
        "the schema {schema} has layout {found}, and this version reads layouts up to {supported}; use a newer version"
    )]
    NewerLayout {
        /// The schema of the URL.
        schema: String,
        /// The layout of the tables.
        found: i32,
        /// The newest layout that this version reads.
        supported: i32,
    },
    /// The schema has tables of another program.
    #[error("the schema {schema} belongs to another program; choose another schema with `prefix`")]
    OtherProgram {
        /// The schema of the URL.
        schema: String,
    },
    /// The server does not answer in time.
    #[error(
        "{host} does not answer within {} s; check the network, or set `connect_timeout` in the URL",
        limit.as_secs()
    )]
    TimedOut {
        /// The hosts of the URL.
        host: String,
        /// The longest time for a start.
        limit: Duration,
    },
    /// The server reports another error.
    #[error("PostgreSQL at {host} cannot be used as a store")]
    Refused {
        /// The hosts of the URL.
        host: String,
        /// The answer of the server.
        source: tokio_postgres::Error,
    },
}
