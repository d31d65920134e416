//! Sends one message and waits for the head of the response. Handles redirects, the headers of the
//! caller, the timeout, and authorization.

use std::time::Duration;

use bytes::Bytes;
use http::header::WWW_AUTHENTICATE;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode};
use pintle_runtime::{
    AuthChallenge, AuthHeaders, Authorizer, AuthorizerError, BoxAuthorizer, RequestSummary,
    RetryDecision,
};
use tokio::time::timeout;

use crate::client::endpoint_url::EndpointUrl;
use crate::client::failure::HttpTransportError;
use crate::client::head::RequestHead;
use crate::client::http_client::{HttpClient, HttpClientBody};
use crate::client::redirect::{RedirectError, redirect};
use crate::rules::headers::single;

/// Makes the requests of one client.
#[derive(Debug)]
pub(crate) struct Agent<F> {
    pub(crate) fetch: F,
    /// Headers of every request. Requests never leave the origin of the endpoint.
    pub(crate) own: HeaderMap,
    pub(crate) redirects: u8,
    pub(crate) authorizer: Option<BoxAuthorizer>,
}

/// A request about to be made. Each attempt writes its headers anew, so that none are copied.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PreparedRequest<'a> {
    pub(crate) to: &'a EndpointUrl,
    pub(crate) head: RequestHead<'a>,
    pub(crate) body: &'a Bytes,
}

impl<F: HttpClient> Agent<F> {
    /// Makes a request. Follows redirects within the origin, and retries if the server requires
    /// authorization and the authorizer has some. `wait` limits each attempt, but not a sign-in.
    ///
    /// # Errors
    ///
    /// [`HttpTransportError::Fetch`], [`HttpTransportError::Redirect`], [`HttpTransportError::Silent`],
    /// [`HttpTransportError::Unauthorized`].
    pub(crate) async fn ask(
        &self,
        ask: &PreparedRequest<'_>,
        wait: Duration,
    ) -> Result<Response<HttpClientBody>, HttpTransportError> {
        match &self.authorizer {
            None => self.attempt(ask, None, wait).await,
            // Boxed, so that calls without an authorizer are not as large.
            Some(authorizer) => Box::pin(self.ask_authorized(authorizer, ask, wait)).await,
        }
    }

    async fn ask_authorized(
        &self,
        authorizer: &BoxAuthorizer,
        ask: &PreparedRequest<'_>,
        wait: Duration,
    ) -> Result<Response<HttpClientBody>, HttpTransportError> {
        let url = ask.to.to_string();
        let method = ask.head.method();
        let operation = ask.head.operation();
        let summary = RequestSummary::new(
            method.as_str(),
            &url,
            operation.as_deref().unwrap_or_default(),
        );
        let mut before = 0;
        loop {
            let auth = authorizer.authorize(summary).await?;
            let headers = authorization(&auth)?;
            let response = self.attempt(ask, Some(&headers), wait).await?;
            let Some(refused) = refusal(&response, auth.generation, before) else {
                if let Some(nonce) = nonce(response.headers()) {
                    authorizer.take_nonce(nonce);
                }
                return Ok(response);
            };
            if operation.is_none() || before >= REFUSALS {
                return Ok(response);
            }
            match authorizer.handle_challenge(summary, refused).await? {
                RetryDecision::Retry => before += 1,
                RetryDecision::GiveUp => return Ok(response),
            }
        }
    }

    async fn attempt(
        &self,
        ask: &PreparedRequest<'_>,
        headers: Option<&HeaderMap>,
        wait: Duration,
    ) -> Result<Response<HttpClientBody>, HttpTransportError> {
        let answered = timeout(wait, self.follow(ask, headers)).await;
        answered.unwrap_or(Err(HttpTransportError::Silent(wait)))
    }

    async fn follow(
        &self,
        ask: &PreparedRequest<'_>,
        headers: Option<&HeaderMap>,
    ) -> Result<Response<HttpClientBody>, HttpTransportError> {
        let mut moved = None;
        let mut left = self.redirects;
        loop {
            let to = moved.as_ref().unwrap_or(ask.to);
            let request = self.request(ask, to, headers);
            let response = self.fetch.fetch(request).await?;
            let status = response.status();
            let Some(next) = redirect(to, status, response.headers()) else {
                return Ok(response);
            };
            moved = Some(next?);
            left = left.checked_sub(1).ok_or(RedirectError::TooMany {
                status: status.as_u16(),
                most: self.redirects,
            })?;
        }
    }

    fn request(
        &self,
        ask: &PreparedRequest<'_>,
        to: &EndpointUrl,
        headers: Option<&HeaderMap>,
    ) -> Request<Bytes> {
        let mut request = Request::new(ask.body.clone());
        *request.method_mut() = ask.head.method();
        *request.uri_mut() = to.uri().clone();
        *request.headers_mut() = ask.head.headers();
        // A header of the authorizer replaces the caller's header of the same name.
        let is_replaced = |name| headers.is_some_and(|headers| headers.contains_key(name));
        let own = self.own.iter().filter(|(name, _)| !is_replaced(*name));
        for (name, value) in own.chain(headers.into_iter().flatten()) {
            request.headers_mut().append(name, value.clone());
        }
        request
    }
}

/// Maximum retries of one request after challenges. Authorizers normally give up earlier.
const REFUSALS: u32 = 8;
/// Maximum number of `WWW-Authenticate` headers that are read.
const CHALLENGES: usize = 16;
const DPOP_NONCE: HeaderName = HeaderName::from_static("dpop-nonce");

/// The headers of a auth; their values are not shown in logs.
fn authorization(auth: &AuthHeaders) -> Result<HeaderMap, HttpTransportError> {
    let mut headers = HeaderMap::new();
    for (name, value) in &auth.headers {
        let name = HeaderName::try_from(&**name).map_err(AuthorizerError::new)?;
        let mut value = HeaderValue::try_from(&**value).map_err(AuthorizerError::new)?;
        value.set_sensitive(true);
        headers.append(name, value);
    }
    Ok(headers)
}

/// How a server refused a request; none if it did not.
fn refusal(
    response: &Response<HttpClientBody>,
    edition: u64,
    before: u32,
) -> Option<AuthChallenge> {
    let status = response.status();
    if !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return None;
    }
    let lines = response.headers().get_all(WWW_AUTHENTICATE).iter();
    let lines = lines.filter_map(|line| line.to_str().ok().map(str::to_owned));
    let mut refused =
        AuthChallenge::new(status.as_u16(), lines.take(CHALLENGES).collect(), edition);
    refused.nonce = nonce(response.headers()).map(str::to_owned);
    refused.before = before;
    Some(refused)
}

fn nonce(headers: &HeaderMap) -> Option<&str> {
    single(headers, &DPOP_NONCE).ok().flatten()
}
