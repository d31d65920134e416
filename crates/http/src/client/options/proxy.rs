//! The proxy in front of a server.

use http::Uri;

/// The proxy to use. Requests to this machine never use a proxy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Proxy {
    /// The proxy in `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`, in either case.
    #[default]
    Environment,
    /// No proxy; the environment is ignored.
    None,
    /// This one, for every server.
    Fixed(ProxyUrl),
}

/// The URL of a proxy: `http` or `https`, with a user name and a password if it requires them.
#[derive(Clone, PartialEq, Eq)]
pub struct ProxyUrl(Box<str>);

/// A text that is not the URL of an HTTP proxy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid proxy URL: the scheme is not http or https")]
pub struct ProxyUrlError;

impl Proxy {
    /// This proxy, for every server.
    ///
    /// # Errors
    ///
    /// [`ProxyUrlError`] for anything but `http://…` and `https://…`.
    pub fn fixed(url: &str) -> Result<Self, ProxyUrlError> {
        let uri: Uri = url.parse().map_err(|_| ProxyUrlError)?;
        if !matches!(uri.scheme_str(), Some("http" | "https")) || uri.host().is_none() {
            return Err(ProxyUrlError);
        }
        Ok(Self::Fixed(ProxyUrl(url.into())))
    }
}

impl ProxyUrl {
    /// Returns the URL, with its user name and password.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for ProxyUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown = self.0.rsplit('@').next().unwrap_or_default();
        write!(f, "ProxyUrl({shown})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_http_addresses_are_proxies() {
        for text in ["", "socks5://a:1", "a", "file:///x"] {
            assert_eq!(Proxy::fixed(text), Err(ProxyUrlError), "{text}");
        }
    }
}
