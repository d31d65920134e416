//! Sends one message and waits for the head of the answer: redirects, the caller's own headers,
//! and the limit on waiting.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response};
use tokio::time::timeout;

use crate::client::failure::HttpFailure;
use crate::client::fetch::{Fetch, FetchBody};
use crate::client::redirect::{RefusedRedirect, redirect};
use crate::client::url::EndpointUrl;

/// Whoever makes the requests of one client.
#[derive(Debug)]
pub(crate) struct Agent<F> {
    pub(crate) fetch: F,
    /// Sent with every request. They never leave the origin of the endpoint: nothing does.
    pub(crate) own: HeaderMap,
    pub(crate) redirects: u8,
}

/// A request about to be made.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) method: Method,
    pub(crate) to: EndpointUrl,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl<F: Fetch> Agent<F> {
    /// Makes a request, at other addresses of the same origin if the server says so.
    ///
    /// # Errors
    ///
    /// [`HttpFailure::Fetch`], [`HttpFailure::Redirect`], [`HttpFailure::Silent`].
    pub(crate) async fn ask(
        &self,
        ask: Ask,
        patience: Duration,
    ) -> Result<Response<FetchBody>, HttpFailure> {
        let answered = timeout(patience, self.follow(ask)).await;
        answered.unwrap_or(Err(HttpFailure::Silent(patience)))
    }

    async fn follow(&self, mut ask: Ask) -> Result<Response<FetchBody>, HttpFailure> {
        let mut left = self.redirects;
        loop {
            let response = self.fetch.fetch(self.request(&ask)).await?;
            let status = response.status();
            let Some(to) = redirect(&ask.to, status, response.headers()) else {
                return Ok(response);
            };
            ask.to = to?;
            left = left.checked_sub(1).ok_or(RefusedRedirect::TooMany {
                status: status.as_u16(),
                most: self.redirects,
            })?;
        }
    }

    fn request(&self, ask: &Ask) -> Request<Bytes> {
        let mut request = Request::new(ask.body.clone());
        *request.method_mut() = ask.method.clone();
        *request.uri_mut() = ask.to.uri().clone();
        *request.headers_mut() = ask.headers.clone();
        for (name, value) in &self.own {
            request.headers_mut().append(name, value.clone());
        }
        request
    }
}
