//! Messages in HTTP requests and responses, on a loopback address.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use pintle_model::Feature;
use serde_json::Value;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;

use super::super::record::{Head, Kind};
use super::super::scene::{Play, Scene};
use super::super::script::{Actor, Out, Part, claimed};
use super::super::stage::Stage;
use super::body::{Answer, Events};

/// Connections that are open at once.
const MAX_CONNECTIONS: usize = 64;
/// Maximum time for the head of a request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);
/// Parts of a response that wait for the client to read.
const QUEUED_PARTS: usize = 64;
/// Pause after a failed accept.
const ACCEPT_DELAY: Duration = Duration::from_millis(100);
/// Characters of a header value that are recorded.
const MAX_VALUE_CHARS: usize = 4_096;

const SESSION: &str = "mcp-session-id";

type Reply = Response<Answer>;

/// Serves all visits of a stage, until the future is dropped.
pub(crate) async fn serve(listener: TcpListener, stage: Arc<Stage>) {
    let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let Ok(permit) = Arc::clone(&permits).acquire_owned().await else {
            return;
        };
        while connections.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((stream, _)) => {
                let stage = Arc::clone(&stage);
                connections.spawn(async move {
                    connection(stream, stage).await;
                    drop(permit);
                });
            }
            Err(_) => tokio::time::sleep(ACCEPT_DELAY).await,
        }
    }
}

async fn connection(stream: TcpStream, stage: Arc<Stage>) {
    // Answers are small and must not wait for each other.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request: Request<Incoming>| {
        let stage = Arc::clone(&stage);
        async move { Ok::<_, Infallible>(respond(&stage, request).await) }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service);
    // A broken connection is an event of the client.
    let _ = served.await;
}

async fn respond(stage: &Arc<Stage>, request: Request<Incoming>) -> Reply {
    let Some((visit, play)) = stage.at(request.uri().path()) else {
        return status(404);
    };
    let (parts, body) = request.into_parts();
    let head = head(&parts);
    let session = head.get(SESSION).map(str::to_owned);
    if parts.method != Method::POST {
        return without_message(stage, visit, play, head, session.as_deref());
    }
    let limit = stage.options.max_message_bytes;
    let Ok(body) = Limited::new(body, limit).collect().await else {
        return status(413);
    };
    let body = body.to_bytes();
    let Ok(message) = serde_json::from_slice::<Value>(&body) else {
        let text = String::from_utf8_lossy(&body).into_owned();
        let kind = Kind::Junk(text);
        conversation(stage, visit, play, session.as_deref()).add(body.len(), kind);
        return status(400);
    };
    posted(stage, visit, play, head, message).await
}

fn head(parts: &http::request::Parts) -> Head {
    let headers = parts.headers.iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes());
        (
            name.as_str().to_owned(),
            value.chars().take(MAX_VALUE_CHARS).collect(),
        )
    });
    Head {
        method: parts.method.as_str().to_owned(),
        headers: headers.collect(),
    }
}

/// Returns the conversation of a request that states no revision.
fn conversation(stage: &Stage, visit: usize, play: Play, session: Option<&str>) -> Arc<Actor> {
    session
        .and_then(|id| stage.session(id))
        .or_else(|| stage.latest(visit))
        .unwrap_or_else(|| stage.stateless(visit, play))
}

/// Serves GET and DELETE.
fn without_message(
    stage: &Arc<Stage>,
    visit: usize,
    play: Play,
    head: Head,
    session: Option<&str>,
) -> Reply {
    let event = head.get("last-event-id").map(str::to_owned);
    let method = head.method.clone();
    conversation(stage, visit, play, session).add(0, Kind::Bare(head));
    let is_modern = play.revision.is_some_and(|own| own.has(Feature::Envelope));
    match method.as_str() {
        "DELETE" if session.is_some_and(|id| stage.close(id)) => status(200),
        "DELETE" => status(404),
        "GET" if is_modern || play.scene == Scene::JsonAnswers => status(405),
        "GET" if session.and_then(|id| stage.session(id)).is_none() => status(404),
        "GET" => match event {
            None => stream(Events::idle(stage)),
            Some(event) => match stage.resume(&event) {
                Some(parts) => stream(Events::new(None, parts, stage, false)),
                None => status(404),
            },
        },
        _ => status(405),
    }
}

async fn posted(stage: &Arc<Stage>, visit: usize, play: Play, head: Head, message: Value) -> Reply {
    let params = message.get("params").unwrap_or(&Value::Null);
    let is_request = is_request(&message);
    let is_initialize = message.get("method").and_then(Value::as_str) == Some("initialize");
    let session = head.get(SESSION).map(str::to_owned);
    let has_envelope = claimed(params).is_some();
    if is_initialize && !is_modern(play) {
        return match stage.open(visit, play) {
            Some((id, actor)) => with_session(answer(stage, actor, head, message).await, &id),
            None => status(503),
        };
    }
    if has_envelope || is_modern(play) {
        let actor = stage.stateless(visit, play);
        return answered(stage, actor, head, message, is_request).await;
    }
    let Some(actor) = session.as_deref().and_then(|id| stage.session(id)) else {
        conversation(stage, visit, play, None).receive_unserved(message, head);
        return status(if session.is_some() { 404 } else { 400 });
    };
    if is_request && play.scene == Scene::SessionLost && stage.forgets(visit) {
        actor.receive_unserved(message, head);
        actor.add(0, Kind::Forgotten);
        stage.close(session.as_deref().unwrap_or_default());
        return status(404);
    }
    answered(stage, actor, head, message, is_request).await
}

fn is_modern(play: Play) -> bool {
    play.revision.is_some_and(|own| own.has(Feature::Envelope))
}

/// Returns true if a message, or one of a batch, is a request.
fn is_request(message: &Value) -> bool {
    let one = |message: &Value| message.get("method").is_some() && message.get("id").is_some();
    match message {
        Value::Array(parts) => parts.iter().any(one),
        message => one(message),
    }
}

async fn answered(
    stage: &Arc<Stage>,
    actor: Arc<Actor>,
    head: Head,
    message: Value,
    is_request: bool,
) -> Reply {
    if is_request {
        return answer(stage, actor, head, message).await;
    }
    let (sender, _) = mpsc::channel(1);
    actor.receive(message, Some(head), Out(sender)).await;
    status(202)
}

/// Serves a request: the first part decides between a status, JSON and events.
async fn answer(stage: &Arc<Stage>, actor: Arc<Actor>, head: Head, message: Value) -> Reply {
    let (sender, mut parts) = mpsc::channel(QUEUED_PARTS);
    let play = actor.play;
    tokio::spawn(async move { actor.receive(message, Some(head), Out(sender)).await });
    let first = parts.recv().await;
    match first {
        Some(Part::Status(200)) => stream(Events::new(None, parts, stage, false)),
        Some(Part::Status(code)) => match parts.recv().await {
            Some(Part::Message(message)) => json(code, &message),
            _ => status(code),
        },
        Some(Part::Message(message)) if play.scene == Scene::JsonAnswers => {
            json(200, &last(message, &mut parts).await)
        }
        first => {
            let is_unusual = play.scene == Scene::EventForms;
            stream(Events::new(first, parts, stage, is_unusual))
        }
    }
}

/// Returns the last message, which is the response.
async fn last(mut message: Value, parts: &mut mpsc::Receiver<Part>) -> Value {
    while message.get("method").is_some() {
        match parts.recv().await {
            Some(Part::Message(next)) => message = next,
            Some(_) => {}
            None => break,
        }
    }
    message
}

fn with_session(mut reply: Reply, id: &str) -> Reply {
    if let Ok(value) = HeaderValue::from_str(id) {
        reply.headers_mut().insert(SESSION, value);
    }
    reply
}

fn status(code: u16) -> Reply {
    let mut reply = Response::new(Answer::Whole(None));
    *reply.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    reply
}

fn json(code: u16, message: &Value) -> Reply {
    let mut reply = status(code);
    *reply.body_mut() = Answer::Whole(Some(Bytes::from(message.to_string())));
    let media_type = HeaderValue::from_static("application/json");
    reply
        .headers_mut()
        .insert(http::header::CONTENT_TYPE, media_type);
    reply
}

fn stream(events: Events) -> Reply {
    let mut reply = Response::new(Answer::Events(events));
    let media_type = HeaderValue::from_static("text/event-stream");
    reply
        .headers_mut()
        .insert(http::header::CONTENT_TYPE, media_type);
    reply
}
