//! Which requests are answered: those of the page itself, at the address of the page, with the token.

use std::net::SocketAddr;

use http::header::{HOST, HeaderName, ORIGIN};
use http::request::Parts;
use http::{HeaderMap, StatusCode};

use crate::failure::Failure;
use crate::token::Token;

/// The header with the token.
pub(crate) const TOKEN_HEADER: HeaderName = HeaderName::from_static("pintle-token");

/// The address of the page, and its token.
#[derive(Debug)]
pub(crate) struct Guard {
    /// The values of `Host` that name this address.
    hosts: [String; 2],
    token: Token,
}

impl Guard {
    pub(crate) fn new(address: SocketAddr, token: Token) -> Self {
        let hosts = [address.to_string(), format!("localhost:{}", address.port())];
        Self { hosts, token }
    }

    /// Returns the URL of the page, with its token in the fragment, which browsers do not send.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/#{}", self.hosts[0], self.token.reveal())
    }

    /// Checks that a request was sent to this address by its name. Otherwise a website could send it by DNS
    /// rebinding.
    ///
    /// # Errors
    ///
    /// A [`Failure`] with the status 403.
    pub(crate) fn check_host(&self, headers: &HeaderMap) -> Result<(), Failure> {
        let host = only(headers, &HOST);
        match self.hosts.iter().any(|own| Some(own.as_bytes()) == host) {
            true => Ok(()),
            false => Err(forbidden("the request has another host")),
        }
    }

    /// Checks that a request of the API comes from the page, and has the token.
    ///
    /// # Errors
    ///
    /// A [`Failure`] with the status 403 for another origin, and 401 for another token.
    pub(crate) fn check_api(&self, request: &Parts) -> Result<(), Failure> {
        let origin = only(&request.headers, &ORIGIN).unwrap_or_default();
        let origin = origin.strip_prefix(b"http://");
        // The origin and the host are the same name: one of a page is that of its requests.
        if origin.is_none() || origin != only(&request.headers, &HOST) {
            return Err(forbidden("the request comes from another origin"));
        }
        match only(&request.headers, &TOKEN_HEADER) {
            Some(token) if self.token.is(token) => Ok(()),
            _ => Err(Failure::new(
                StatusCode::UNAUTHORIZED,
                "the token is missing or wrong; open the URL that the program printed",
            )),
        }
    }
}

fn forbidden(message: &str) -> Failure {
    Failure::new(StatusCode::FORBIDDEN, message)
}

/// Returns the value of a header that occurs once.
fn only<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h [u8]> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    values.next().is_none().then(|| first.as_bytes())
}
