//! The errors of hosts and URLs.

use std::fmt;

/// Maximum size of a URL in a document, in bytes.
pub(super) const MAX_BYTES: usize = 8 << 10;

/// Why a text is not a URL of the web.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum UrlError {
    /// A character must be encoded, or readers disagree about it.
    InvalidCharacter,
    /// The text does not begin with `http://` or `https://`.
    UnsupportedScheme,
    /// The host is missing or has more than one meaning.
    InvalidHost,
    /// The port is not a number from 1 to 65535.
    InvalidPort,
    /// A user name or a password precedes the host.
    UserInformation,
    /// A fragment (`#`) is not allowed here.
    UnexpectedFragment,
    /// The URL is too long.
    TooLong,
}

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidCharacter => f.write_str("the URL has an invalid character"),
            Self::UnsupportedScheme => f.write_str("the scheme of the URL is not http or https"),
            Self::InvalidHost => f.write_str("the URL has no valid host"),
            Self::InvalidPort => f.write_str("the URL has an invalid port"),
            Self::UserInformation => f.write_str("the URL has user information"),
            Self::UnexpectedFragment => f.write_str("the URL has a fragment"),
            Self::TooLong => write!(f, "the URL is longer than {MAX_BYTES} bytes"),
        }
    }
}

impl std::error::Error for UrlError {}
