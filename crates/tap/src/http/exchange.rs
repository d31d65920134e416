//! One request and its response.

use std::pin::Pin;

use ::http::header::{
    CONNECTION, CONTENT_ENCODING, CONTENT_TYPE, HOST, HeaderMap, HeaderName, TE, TRAILER,
    TRANSFER_ENCODING, UPGRADE,
};
use ::http::{Method, Request, Response, StatusCode, Uri};
use bytes::{Bytes, BytesMut};
use http_body::Body;
use pintle_http::client::HttpClient;
use pintle_runtime::Host;

use crate::framing::Framing;
use crate::observer::Direction;
use crate::queue::What;

use super::Upstream;
use super::body::{OpenStream, TappedBody};

/// The header with the id of a session.
const SESSION: &str = "mcp-session-id";
/// Maximum size of the id of a session that is observed, in bytes.
const MAX_SESSION_BYTES: usize = 1024;
/// The header with the revision of a request.
const REVISION: &str = "mcp-protocol-version";
/// Headers of one connection, besides those that `Connection` names.
const HOP_BY_HOP: [HeaderName; 5] = [CONNECTION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE];
/// The same, without constants.
const OTHER_HOP_BY_HOP: [&str; 4] = [
    "keep-alive",
    "proxy-connection",
    "proxy-authenticate",
    "proxy-authorization",
];

impl<C: HttpClient> Upstream<C> {
    /// Passes a request to the server, and returns its response.
    pub(super) async fn exchange<B: Body<Data = Bytes>>(
        &self,
        request: Request<B>,
    ) -> Response<TappedBody> {
        if !is_local(request.headers()) {
            // A page of a browser must not reach the server by a name that resolves to this machine.
            return own(
                StatusCode::FORBIDDEN,
                "the host of the request is not a loopback name\n",
            );
        }
        let (mut head, body) = request.into_parts();
        let Some(uri) = self.uri(&head.uri) else {
            return own(
                StatusCode::BAD_REQUEST,
                "the path of the request is invalid\n",
            );
        };
        let Some(body) = collect(body, self.max_body_bytes).await else {
            return own(
                StatusCode::PAYLOAD_TOO_LARGE,
                "the body of the request is too large\n",
            );
        };
        let stream = self.begin(&head.method, &head.headers, &uri);
        self.tap.bytes(stream.id, Direction::ToServer, &body);
        self.tap.end(stream.id, Direction::ToServer);
        let what = format!("{} {}", head.method, head.uri.path());
        head.uri = uri;
        remove_hop_by_hop(&mut head.headers);
        head.headers.remove(HOST);
        match self.client.fetch(Request::from_parts(head, body)).await {
            Ok(response) => self.answer(response, stream, &what),
            Err(error) => {
                self.tap
                    .note(&format!("#{} {what}: no response: {error}", stream.id));
                own(StatusCode::BAD_GATEWAY, "the server did not respond\n")
            }
        }
    }

    /// Returns the URL of a request at the server.
    fn uri(&self, requested: &Uri) -> Option<Uri> {
        let mut parts = self.url.clone().into_parts();
        parts.path_and_query = Some(requested.path_and_query()?.clone());
        Uri::from_parts(parts).ok()
    }

    /// Begins a stream of the tap.
    fn begin(&self, method: &Method, headers: &HeaderMap, uri: &Uri) -> OpenStream {
        let id = self.next_stream();
        let (tap, to_server) = (self.tap.clone(), Direction::ToServer);
        tap.begin(id, to_server, framing(headers));
        match text(headers, SESSION).filter(|id| id.len() <= MAX_SESSION_BYTES) {
            Some(session) => tap.push(id, to_server, What::Session(session.into())),
            // The transport of 2024-11-05 sends answers on another stream.
            None if method != Method::POST || uri.path() != self.url.path() => {
                tap.push(id, to_server, What::Unrelated);
            }
            None => {}
        }
        let revision = text(headers, REVISION).and_then(|revision| revision.parse().ok());
        tap.push(id, to_server, What::Revision(revision));
        OpenStream { tap, id }
    }

    fn answer(
        &self,
        response: Response<pintle_http::client::HttpClientBody>,
        stream: OpenStream,
        what: &str,
    ) -> Response<TappedBody> {
        let (mut head, body) = response.into_parts();
        let to_client = Direction::ToClient;
        let session = text(&head.headers, SESSION);
        if let Some(session) = session.filter(|id| id.len() <= MAX_SESSION_BYTES) {
            self.tap
                .push(stream.id, to_client, What::Session(session.into()));
        }
        if head.status.is_client_error() || head.status.is_server_error() {
            self.tap.note(&format!(
                "#{} {what}: HTTP status {}",
                stream.id,
                head.status.as_u16()
            ));
        }
        self.tap.begin(stream.id, to_client, framing(&head.headers));
        remove_hop_by_hop(&mut head.headers);
        head.version = ::http::Version::HTTP_11;
        Response::from_parts(head, TappedBody::new(body, stream))
    }
}

/// Whether the request names this machine, and comes from a page of this machine if from any.
fn is_local(headers: &HeaderMap) -> bool {
    let is_loopback = |authority: &str| {
        let uri: Option<Uri> = format!("http://{authority}/").parse().ok();
        let host = uri.as_ref().and_then(Uri::host);
        host.is_some_and(|host| Host::parse(host).is_ok_and(|host| host.is_loopback()))
    };
    let origin = headers.get("origin").map(|origin| {
        let origin = origin.to_str().unwrap_or_default();
        origin
            .split_once("://")
            .is_some_and(|(_, authority)| is_loopback(authority))
    });
    text(headers, HOST.as_str()).is_some_and(is_loopback) && origin.unwrap_or(true)
}

fn framing(headers: &HeaderMap) -> Framing {
    let media = text(headers, CONTENT_TYPE.as_str()).unwrap_or_default();
    let media = media.split(';').next().unwrap_or_default().trim();
    if headers.contains_key(CONTENT_ENCODING) {
        Framing::Ignored
    } else if media.eq_ignore_ascii_case("application/json") {
        Framing::Body
    } else if media.eq_ignore_ascii_case("text/event-stream") {
        Framing::Events
    } else {
        Framing::Ignored
    }
}

/// Removes the headers of one connection. RFC 9110, section 7.6.1.
fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let listed: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in listed.iter().chain(&HOP_BY_HOP) {
        headers.remove(name);
    }
    for name in OTHER_HOP_BY_HOP {
        headers.remove(name);
    }
}

/// Reads a body up to a limit. `None` if it is larger, or breaks off.
async fn collect<B: Body<Data = Bytes>>(body: B, max_bytes: usize) -> Option<Bytes> {
    let mut body = std::pin::pin!(body);
    let mut bytes = BytesMut::new();
    while let Some(frame) = next_frame(body.as_mut()).await {
        let data = frame.ok()?.into_data().unwrap_or_default();
        if bytes.len() + data.len() > max_bytes {
            return None;
        }
        bytes.extend_from_slice(&data);
    }
    Some(bytes.freeze())
}

async fn next_frame<B: Body>(
    mut body: Pin<&mut B>,
) -> Option<Result<http_body::Frame<B::Data>, B::Error>> {
    std::future::poll_fn(|cx| body.as_mut().poll_frame(cx)).await
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

fn own(status: StatusCode, text: &'static str) -> Response<TappedBody> {
    let mut response = Response::new(TappedBody::own(text));
    *response.status_mut() = status;
    response
}

#[cfg(test)]
mod tests;
