//! The least that the protocol asks of a session over HTTP that is opened, has calls, and is ended, by hyper. It has no
//! limits, timeouts, cancellation, streams or other methods, and closes a connection with an invalid request.
use std::hash::{BuildHasher, RandomState};
use std::{borrow::Cow, cell::RefCell, collections::HashMap, rc::Rc};

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HOST, ORIGIN};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::task::{LocalSet, spawn_local};

type Error = Box<dyn std::error::Error + Send + Sync>;
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const REVISIONS: [&str; 3] = ["2025-11-25", "2025-06-18", "2025-03-26"];
const SESSION_ID: &str = "mcp-session-id";
const OPENED: &str =
    r#","capabilities":{"tools":{}},"serverInfo":{"name":"bound","version":"0.1.0"}}}"#;

#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
#[derive(Deserialize)]
struct Message<'a> {
    jsonrpc: &'a str,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Text<'a>,
    #[serde(borrow, default)]
    params: Params<'a>,
}
#[derive(Deserialize, Default)]
struct Params<'a> {
    #[serde(borrow)]
    name: Option<Text<'a>>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, rename = "protocolVersion")]
    revision: Option<Text<'a>>,
    #[serde(borrow)]
    capabilities: Option<&'a RawValue>,
    #[serde(borrow, rename = "clientInfo")]
    client: Option<Client<'a>>,
}
#[derive(Deserialize)]
struct Client<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    version: Text<'a>,
}
#[derive(Deserialize)]
struct Arguments {
    text: String,
}
/// The terms of a session, which its requests need.
struct Session {
    revision: &'static str,
    _capabilities: String,
    _client: [String; 2],
    is_ready: bool,
}
#[derive(Default)]
struct Server {
    sessions: RefCell<HashMap<String, Session>>,
}
impl Server {
    /// Opens a session, and returns its id with the response.
    fn open(&self, id: &str, params: &Params<'_>) -> Option<(String, Vec<u8>)> {
        let (terms, client) = (params.capabilities?.get(), params.client.as_ref()?);
        let asked = &*params.revision.as_ref()?.0;
        let known = REVISIONS.into_iter().find(|revision| *revision == asked);
        let session = Session {
            revision: known.unwrap_or(REVISIONS[0]),
            _capabilities: terms.starts_with('{').then(|| terms.to_owned())?,
            _client: [&client.name, &client.version].map(|text| text.0.clone().into_owned()),
            is_ready: false,
        };
        let mut out = Vec::with_capacity(512);
        let head = [
            r#"{"jsonrpc":"2.0","id":"#,
            id,
            r#","result":{"protocolVersion":""#,
        ];
        put(&mut out, &head);
        put(&mut out, &[session.revision, "\"", OPENED]);
        let random = RandomState::new();
        let name = format!("{:016x}{:016x}", random.hash_one(0), random.hash_one(1));
        self.sessions.borrow_mut().insert(name.clone(), session);
        Some((name, out))
    }
    /// Handles a message of a session; the response is empty if it is not a request.
    fn accept(session: &mut Session, message: &Message<'_>) -> Option<Vec<u8>> {
        let (mut out, params) = (Vec::new(), &message.params);
        let Some(id) = message.id else {
            session.is_ready |= message.method.0 == "notifications/initialized";
            return Some(out);
        };
        let is_call = message.method.0 == "tools/call" && params.name.as_ref()?.0 == "echo";
        let arguments = params.arguments.filter(|_| is_call && session.is_ready)?;
        let arguments: Arguments = serde_json::from_str(arguments.get()).ok()?;
        out.reserve(512);
        let head = [r#"{"jsonrpc":"2.0","id":"#, id.get(), r#","result":{"#];
        put(&mut out, &head);
        put(&mut out, &[r#""content":[{"type":"text","text":"#]);
        serde_json::to_writer(&mut out, &arguments.text).ok()?;
        put(&mut out, &["}]}}"]);
        Some(out)
    }
    async fn handle(&self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Error> {
        check(&request).ok_or("an invalid head")?;
        let (head, body) = request.into_parts();
        let header = |name: &str| head.headers.get(name)?.to_str().ok();
        let mut response = Response::default();
        if head.method == Method::DELETE {
            let id = header(SESSION_ID).ok_or("no session")?;
            let ended = self.sessions.borrow_mut().remove(id);
            ended.ok_or("an unknown session")?;
            *response.status_mut() = StatusCode::NO_CONTENT;
            return Ok(response);
        }
        let body = body.collect().await?.to_bytes();
        let message: Message<'_> = serde_json::from_slice(&body)?;
        let id = message.id.map_or("1", RawValue::get);
        let is_id = id.starts_with('"') || id.parse::<i64>().is_ok();
        if message.jsonrpc != "2.0" || !is_id {
            return Err("an invalid message".into());
        }
        let mut headers = HeaderMap::new();
        let out = if message.method.0 == "initialize" {
            let opened = self.open(id, &message.params);
            let (name, out) = opened.ok_or("an invalid handshake")?;
            headers.insert(SESSION_ID, HeaderValue::try_from(name)?);
            out
        } else {
            let mut sessions = self.sessions.borrow_mut();
            let session = header(SESSION_ID).and_then(|id| sessions.get_mut(id));
            let session = session.ok_or("an unknown session")?;
            let revision = header("mcp-protocol-version");
            if revision.is_some_and(|revision| revision != session.revision) {
                return Err("another revision".into());
            }
            Self::accept(session, &message).ok_or("an invalid message")?
        };
        match out.is_empty() {
            true => *response.status_mut() = StatusCode::ACCEPTED,
            false => drop(headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON))),
        }
        *response.headers_mut() = headers;
        *response.body_mut() = out.into();
        Ok(response)
    }
}
fn put(out: &mut Vec<u8>, parts: &[&str]) {
    for part in parts {
        out.extend_from_slice(part.as_bytes());
    }
}
fn is_port(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(':')
}
/// Checks the parts of a head that do not depend on the message.
fn check(request: &Request<Incoming>) -> Option<()> {
    let text = |name| Some(request.headers().get(name)?.to_str().unwrap_or(""));
    let is_at = |host: &str, name: &str| host.strip_prefix(name).is_some_and(is_port);
    let is_local = |host: &str| is_at(host, "localhost") || is_at(host, "127.0.0.1");
    let origin = text(ORIGIN).map(|origin| origin.strip_prefix("http://").unwrap_or(""));
    let accepts = |media| text(ACCEPT)?.split(',').find(|range| range.trim() == media);
    let is_post = request.method() == Method::POST;
    let is_json =
        || text(CONTENT_TYPE) == Some(JSON) && accepts(JSON).and(accepts(EVENTS)).is_some();
    let is_known = request.uri().path() == "/mcp"
        && (request.method() == Method::DELETE || is_post && is_json());
    (is_known && is_local(text(HOST)?) && origin.is_none_or(is_local)).then_some(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let server = &Rc::new(Server::default());
    let address = std::env::args()
        .nth(2)
        .ok_or("usage: bound-session http ADDRESS")?;
    let listener = tokio::net::TcpListener::bind(address).await?;
    let serve = async {
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let server = Rc::clone(server);
            spawn_local(async move {
                let (service, io) = (service_fn(|it| server.handle(it)), TokioIo::new(stream));
                http1::Builder::new().serve_connection(io, service).await
            });
        }
    };
    LocalSet::new().run_until(serve).await
}
