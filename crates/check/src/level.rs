//! How strictly a requirement binds, and the transport of a conversation.

use std::fmt;

use serde::Serialize;

/// How strictly a requirement binds. Strict levels stand first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Level {
    /// The specification requires it.
    Must,
    /// The specification recommends it.
    Should,
    /// The specification is silent, and a server that fails is fragile.
    Robust,
}

impl Level {
    /// Every level, the strictest first.
    pub const ALL: [Self; 3] = [Self::Must, Self::Should, Self::Robust];

    /// Returns the name, as in `--level`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Must => "must",
            Self::Should => "should",
            Self::Robust => "robust",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The transport of a judged conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Carrier {
    /// Lines on a stream of bytes.
    Stdio,
    /// Messages of Streamable HTTP.
    Http,
}

impl Carrier {
    /// Returns the name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
        }
    }
}
