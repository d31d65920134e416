//! A client connects to a URL.

use std::convert::Infallible;

use pintle_client::IntoConnect;
use pintle_http::client::{HttpConnect, UrlError};

/// The kind of URLs: see [`IntoConnect`].
#[derive(Debug, Clone, Copy)]
pub struct ByUrl(Infallible);

/// `http://…` or `https://…`, with the default options.
impl IntoConnect<ByUrl> for &str {
    type Connect = HttpConnect;
    type Error = UrlError;

    fn into_connect(self) -> Result<HttpConnect, UrlError> {
        HttpConnect::to(self)
    }
}

/// `http://…` or `https://…`, with the default options.
impl IntoConnect<ByUrl> for String {
    type Connect = HttpConnect;
    type Error = UrlError;

    fn into_connect(self) -> Result<HttpConnect, UrlError> {
        HttpConnect::to(&self)
    }
}
