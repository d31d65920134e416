//! Where a server is served, and to which clients.

use std::net::SocketAddr;
#[cfg(unix)]
use std::path::PathBuf;

/// The transport of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// Standard input and output.
    Stdio,
    /// HTTP at an address.
    Http {
        /// The address to listen on.
        address: SocketAddr,
        /// The clients that are accepted.
        exposure: Exposure,
    },
    /// A Unix socket, for programs of this user. Messages have the form of standard streams, and each connection
    /// is a conversation of its own. The file has mode 0600.
    #[cfg(unix)]
    Unix(PathBuf),
}

/// The clients that the server accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exposure {
    /// Clients on this machine, without a token. An address that is not loopback is rejected.
    Loopback,
    /// Every client that reaches the address, without a token.
    AnyClient,
    /// Clients that reach the address and have a token.
    TokenHolders(BearerPolicy),
}

/// The tokens that the server accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BearerPolicy {
    /// Issuer that signed the token.
    pub issuer: String,
    /// Audience of the token.
    pub audience: String,
    /// Scopes that the token must have.
    pub scopes: Vec<String>,
}
