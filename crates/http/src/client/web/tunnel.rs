//! A tunnel through a proxy: `CONNECT`.

use std::future::{Future, poll_fn};
use std::pin::pin;

use bytes::Bytes;
use http::header::{HOST, PROXY_AUTHORIZATION};
use http::{HeaderValue, Method, Request};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;

use crate::client::endpoint_url::UrlOrigin;
use crate::client::http_client::Whole;

use super::box_io::BoxIo;
use super::proxy::ProxyRoute;

/// Requests a byte stream to a server from a proxy.
///
/// # Errors
///
/// The reason that the proxy gave.
pub(super) async fn tunnel(
    stream: BoxIo,
    to: &UrlOrigin,
    proxy: &ProxyRoute,
) -> Result<BoxIo, Box<str>> {
    let text = |error: hyper::Error| -> Box<str> { error.to_string().into() };
    let handshake = http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, driver) = handshake.map_err(text)?;
    let request = request(to, proxy).ok_or("the server's name cannot be written")?;
    let mut driver = pin!(driver.with_upgrades());
    let mut has_ended = false;
    let mut answer = pin!(sender.send_request(request));
    let response = poll_fn(|cx| {
        // The connection future ends with the response and must not be polled after it.
        has_ended = has_ended || driver.as_mut().poll(cx).is_ready();
        answer.as_mut().poll(cx)
    });
    let response = response.await.map_err(text)?;
    if !response.status().is_success() {
        return Err(format!("HTTP status {}", response.status().as_u16()).into());
    }
    let mut upgrade = pin!(hyper::upgrade::on(response));
    let upgraded = poll_fn(|cx| {
        has_ended = has_ended || driver.as_mut().poll(cx).is_ready();
        upgrade.as_mut().poll(cx)
    });
    let upgraded = upgraded.await.map_err(text)?;
    Ok(BoxIo::new(TokioIo::new(upgraded)))
}

fn request(to: &UrlOrigin, proxy: &ProxyRoute) -> Option<Request<Whole>> {
    let authority = to.authority();
    let host = HeaderValue::from_str(&authority).ok()?;
    let mut request = Request::new(Whole::new(Bytes::new()));
    *request.method_mut() = Method::CONNECT;
    *request.uri_mut() = authority.parse().ok()?;
    let headers = request.headers_mut();
    headers.insert(HOST, host);
    let credential = proxy.credential.iter().cloned();
    headers.extend(credential.map(|credential| (PROXY_AUTHORIZATION, credential)));
    Some(request)
}
