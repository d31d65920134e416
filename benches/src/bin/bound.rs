//! The least that the protocol asks of the measured rows, over HTTP by hyper. It has no limits,
//! timeouts, cancellation or other methods, and closes a connection with an invalid request.
use bytes::{Buf as _, Bytes, buf::Chain};
use http::header::{ACCEPT, CONTENT_TYPE, HOST, ORIGIN};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use pintle_bench::payload::text_64k;
use serde::Deserialize;
use serde_json::{json, value::RawValue};
use std::hash::{BuildHasher, RandomState};
use std::{borrow::Cow, cell::RefCell, collections::HashMap, io::Write, rc::Rc};
use tokio::task::{LocalSet, spawn_local};
type Error = Box<dyn std::error::Error + Send + Sync>;
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const MODERN: &str = "2026-07-28";
const OPENED: &str = r#""protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"bound","version":"0.1.0"}}}"#;
const STAMPS: &str = r#""resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"bound","version":"0.1.0"}},"#;

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
    #[serde(borrow, rename = "_meta", default)]
    meta: Meta<'a>,
}
#[derive(Deserialize, Default)]
struct Meta<'a> {
    #[serde(borrow, rename = "io.modelcontextprotocol/protocolVersion")]
    revision: Option<Text<'a>>,
    #[serde(borrow, rename = "io.modelcontextprotocol/clientInfo")]
    _client: Option<Client<'a>>,
    #[serde(borrow, rename = "io.modelcontextprotocol/clientCapabilities")]
    capabilities: Option<&'a RawValue>,
    #[serde(borrow, rename = "progressToken")]
    token: Option<&'a RawValue>,
}
#[derive(Deserialize)]
struct Client<'a> {
    #[serde(borrow, rename = "name")]
    _name: Text<'a>,
    #[serde(borrow, rename = "version")]
    _version: Text<'a>,
}
#[derive(Deserialize, Default)]
struct Arguments {
    text: Option<String>,
    steps: Option<u32>,
}
struct Server {
    tools: Bytes,
    sessions: RefCell<HashMap<String, u64>>,
}
type Pieces = Chain<Bytes, Bytes>;
impl Server {
    /// Answers a request in `before` and `after` each message of a stream; `None` if it is not valid.
    fn answer(&self, message: &Message<'_>, [before, after]: [&str; 2]) -> Option<Pieces> {
        let (params, mut out) = (&message.params, Vec::with_capacity(512));
        let (method, id) = (&*message.method.0, message.id?.get());
        let is_modern = params.meta.revision.is_some();
        let terms = params.meta.capabilities.map_or("", RawValue::get);
        let is_id = id.starts_with('"') || id.parse::<i64>().is_ok();
        if message.jsonrpc != "2.0" || !is_id || (is_modern && !terms.starts_with('{')) {
            return None;
        }
        let arguments = params.arguments.map_or("{}", RawValue::get);
        let arguments: Arguments = serde_json::from_str(arguments).ok()?;
        let stamps = if is_modern { STAMPS } else { "" };
        let head = [r#"{"jsonrpc":"2.0","id":"#, id, r#","result":{"#, stamps];
        let text = match (method, params.name.as_ref().map(|name| &*name.0)) {
            ("tools/list", _) => {
                put(&mut out, &head);
                return Some(Bytes::from(out).chain(self.tools.clone()));
            }
            ("initialize", _) => {
                put(&mut out, &[head[0], id, head[2], OPENED]);
                return Some(Bytes::from(out).chain(Bytes::new()));
            }
            ("tools/call", Some("echo")) => Cow::from(arguments.text?),
            ("tools/call", Some("big_text")) => Cow::from(text_64k()),
            ("tools/call", Some("progress")) => {
                let (steps, token) = (arguments.steps?, params.meta.token?);
                for step in 1..=steps {
                    let notice = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"#;
                    put(&mut out, &[before, notice, token.get(), ",\"progress\":"]);
                    write!(out, "{step},\"total\":{steps},\"message\":").ok()?;
                    serde_json::to_writer(&mut out, &format!("step {step}")).ok()?;
                    put(&mut out, &["}}", after]);
                }
                Cow::from("done")
            }
            _ => return None,
        };
        let is_stream = !out.is_empty();
        put(&mut out, &[if is_stream { before } else { "" }]);
        put(&mut out, &head);
        put(&mut out, &[r#""content":[{"type":"text","text":"#]);
        json_escape_simd::escape_into(&*text, &mut out);
        put(&mut out, &["}]}}", if is_stream { after } else { "" }]);
        Some(Bytes::from(out).chain(Bytes::new()))
    }
    async fn post(&self, request: Request<Incoming>) -> Result<Response<Full<Pieces>>, Error> {
        check(&request).ok_or("an invalid head")?;
        let (head, body) = request.into_parts();
        let body = body.collect().await?.to_bytes();
        let message: Message<'_> = serde_json::from_slice(&body)?;
        let header = |name: &str| head.headers.get(name)?.to_str().ok();
        let method = &*message.method.0;
        if let Some(claim) = &message.params.meta.revision {
            let name = message.params.name.as_ref().map(|name| &*name.0);
            let routing = [header("mcp-method"), header("mcp-name")];
            let revision = header("mcp-protocol-version");
            if claim.0 != MODERN || revision != Some(MODERN) || routing != [Some(method), name] {
                return Err("the headers differ from the message".into());
            }
        } else if method != "initialize" {
            let mut sessions = self.sessions.borrow_mut();
            let uses = header("mcp-session-id").and_then(|id| sessions.get_mut(id));
            *uses.ok_or("an unknown session")? += 1;
        }
        let answer = self.answer(&message, ["data: ", "\n\n"]);
        let answer = answer.unwrap_or_else(|| Bytes::new().chain(Bytes::new()));
        let is_stream = answer.first_ref().starts_with(b"data");
        let media = [JSON, EVENTS][usize::from(is_stream)];
        let mut response = Response::new(Full::new(answer));
        response
            .headers_mut()
            .insert(CONTENT_TYPE, HeaderValue::from_static(media));
        if message.id.is_none() {
            *response.status_mut() = StatusCode::ACCEPTED;
        } else if method == "initialize" {
            let id = format!("{:016x}", RandomState::new().hash_one(method));
            let headers = response.headers_mut();
            headers.insert("mcp-session-id", HeaderValue::try_from(&id)?);
            self.sessions.borrow_mut().insert(id, 0);
        }
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
    let is_post = request.method() == Method::POST && request.uri().path() == "/mcp";
    let is_json = text(CONTENT_TYPE)? == JSON && accepts(JSON).and(accepts(EVENTS)).is_some();
    (is_post && is_json && is_local(text(HOST)?) && origin.is_none_or(is_local)).then_some(())
}
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let text = "x".repeat(262);
    let schema = json!({"type": "object", "properties": {"key": {}, "limit": {}, "verbose": {}}});
    let tool = |at| json!({"name": format!("tool_{at:03}"), "title": text, "inputSchema": schema});
    let tools: Vec<_> = (0..100).map(tool).collect();
    let list = json!({"ttlMs": 0, "cacheScope": "public", "tools": tools}).to_string() + "}";
    // glibc keeps the memory of a large answer after it has freed a larger block.
    drop(std::hint::black_box(Vec::<u8>::with_capacity(1 << 20)));
    let (tools, sessions) = (Bytes::from(list).slice(1..), RefCell::default());
    let server = &Rc::new(Server { tools, sessions });
    let address = std::env::args().nth(2).ok_or("usage: bound http ADDRESS")?;
    let listener = tokio::net::TcpListener::bind(address).await?;
    let serve = async {
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let server = Rc::clone(server);
            spawn_local(async move {
                let (service, io) = (service_fn(|it| server.post(it)), TokioIo::new(stream));
                http1::Builder::new().serve_connection(io, service).await
            });
        }
    };
    LocalSet::new().run_until(serve).await
}
