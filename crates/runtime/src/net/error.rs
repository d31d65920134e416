//! The errors of hosts and URLs.

use pintle_model::errors;

/// Maximum size of a URL in a document, in bytes.
pub(super) const MAX_BYTES: usize = 8 << 10;

errors! {
    /// Why a text is not a URL of the web.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum UrlError {
        /// A character must be encoded, or readers disagree about it.
        InvalidCharacter => "the URL has an invalid character",
        /// The text does not begin with `http://` or `https://`.
        UnsupportedScheme => "the scheme of the URL is not http or https",
        /// The host is missing or has more than one meaning.
        InvalidHost => "the URL has no valid host",
        /// The port is not a number from 1 to 65535.
        InvalidPort => "the URL has an invalid port",
        /// A user name or a password precedes the host.
        UserInformation => "the URL has user information",
        /// A fragment (`#`) is not allowed here.
        UnexpectedFragment => "the URL has a fragment",
        /// The URL is too long.
        TooLong => "the URL is longer than {MAX_BYTES} bytes",
    }
}
