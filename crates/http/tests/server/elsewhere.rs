//! Clients that resume a stream at another replica.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use pintle_http::{HttpServer, ResponseBody};
use pintle_proto::frame::sse;
use pintle_runtime::fleet::{Fleet, FleetOptions, StreamEvent, Written};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout};

use super::mail::{A_WHILE, Clocked, replicas_with_store};
use crate::common::{Ask, Endpoint, get, legacy, messages, piece, post};

const SECOND: Duration = Duration::from_secs(1);

fn tool(name: &str, arguments: Value, id: &str) -> Ask {
    let params = json!({ "name": name, "arguments": arguments, "_meta": { "progressToken": "t" } });
    legacy(7, "tools/call", params).in_session(id)
}

/// A client that reads a stream, and loses it.
#[derive(Default)]
struct Reader {
    decoder: sse::Decoder,
    messages: Vec<Value>,
}

impl Reader {
    fn read(&mut self, text: &str) {
        let mut rest = text.as_bytes();
        while let Some(event) = self.decoder.decode(&mut rest).expect("short events") {
            let message = serde_json::from_slice(&event.data).expect("JSON");
            self.messages.push(message);
        }
    }

    async fn read_some(&mut self, body: &mut ResponseBody, count: usize) {
        while self.decoder.last_id().is_none() || self.messages.len() < count {
            self.read(&piece(body).await.expect("more to come"));
        }
    }

    async fn read_to_end(&mut self, body: &mut ResponseBody) {
        while let Some(piece) = piece(body).await {
            self.read(&piece);
        }
    }

    fn resume(&mut self, session: &str) -> Ask {
        let last = self.decoder.last_id().expect("an event id").to_owned();
        self.decoder = sse::Decoder::default().resuming(Some(&last));
        get().in_session(session).with("last-event-id", &last)
    }

    async fn resume_at(&mut self, endpoint: &Endpoint, session: &str) -> ResponseBody {
        let response = self.resume(session).of(endpoint).await;
        assert_eq!(response.status(), 200);
        response.into_body()
    }

    /// Returns the progress of each notice, or the id of the answer.
    fn steps(&self) -> Value {
        let step = |message: &Value| match message.get("id") {
            Some(id) => json!({ "id": id }),
            None => message["params"]["progress"].clone(),
        };
        self.messages.iter().map(step).collect()
    }
}

/// Sends a call, and reads some messages of its stream.
async fn reading(endpoint: &Endpoint, call: Ask, seen: usize) -> (Reader, ResponseBody) {
    let mut body = call.of(endpoint).await.into_body();
    let mut reader = Reader::default();
    reader.read_some(&mut body, seen).await;
    (reader, body)
}

async fn three() -> ([Endpoint; 3], String, Arc<Clocked>) {
    let (endpoints, id, _, _, store) = replicas_with_store(A_WHILE).await;
    (endpoints, id, store)
}

// spec: 2025-11-25 TRANS-RESUME-05, AMB-33
#[tokio::test(start_paused = true)]
async fn a_call_is_resumed_at_any_replica_without_gap_or_duplicate() {
    for (seen, away) in [(0, 0), (1, 0), (1, 3), (2, 0), (3, 0), (2, 60)] {
        let ([first, second, third], id, _) = three().await;
        let (mut reader, body) =
            reading(&first, tool("steady", json!({ "steps": 4 }), &id), seen).await;
        drop(body);
        sleep(SECOND * away).await;
        let mut body = reader.resume_at(&second, &id).await;
        let more = (seen + 1).min(4);
        reader.read_some(&mut body, more).await;
        drop(body);
        let mut body = reader.resume_at(&third, &id).await;
        reader.read_to_end(&mut body).await;
        let steps = json!([1.0, 2.0, 3.0, 4.0, { "id": 7 }]);
        assert_eq!(reader.steps(), steps, "{seen} seen, away for {away} s");
        let mut again = reader.resume_at(&second, &id).await;
        assert_eq!(piece(&mut again).await, None, "the client has all");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_returns_to_the_replica_of_its_call() {
    let ([first, second, _], id, _) = three().await;
    let mut body = tool("steady", json!({ "steps": 4 }), &id)
        .of(&first)
        .await
        .into_body();
    let mut reader = Reader::default();
    for endpoint in [&second, &first, &second, &first] {
        let seen = reader.messages.len() + 1;
        reader.read_some(&mut body, seen).await;
        body = reader.resume_at(endpoint, &id).await;
    }
    reader.read_to_end(&mut body).await;
    let steps = json!([1.0, 2.0, 3.0, 4.0, { "id": 7 }]);
    assert_eq!(reader.steps(), steps);
}

#[tokio::test(start_paused = true)]
async fn a_question_is_asked_at_the_replica_where_its_client_resumes() {
    let ([first, second, third], id, _) = three().await;
    let (mut reader, body) = reading(&first, tool("roots later", json!({}), &id), 0).await;
    drop(body);
    let mut body = reader.resume_at(&second, &id).await;
    reader.read_some(&mut body, 1).await;
    let question = &reader.messages[0];
    assert_eq!(question["method"], "roots/list");
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": { "roots": [] } });
    let posted = post(answer.to_string()).in_session(&id).of(&third).await;
    assert_eq!(posted.status(), 202);
    let ended = timeout(A_WHILE, reader.read_to_end(&mut body)).await;
    ended.expect("in time");
    let text = &reader.messages[1]["result"]["content"][0]["text"];
    assert_eq!(text, "0 roots");
}

// spec: 2025-11-25 AMB-32
// hardening: H-189
#[tokio::test(start_paused = true)]
async fn an_event_that_no_replica_knows_is_refused() {
    let ([first, second, _], id, _) = three().await;
    let (reader, _body) = reading(&first, tool("steady", json!({ "steps": 4 }), &id), 2).await;
    let last = reader.decoder.last_id().expect("an event id").to_owned();
    let (stream, _) = last.rsplit_once('-').expect("a position");
    let (tag, _) = stream.split_once('-').expect("a tag");
    for event in [
        format!("{stream}-9"),
        format!("{stream}-ffffffffffffffff"),
        format!("{tag}-9-1"),
        "00000000-1-1".to_owned(),
    ] {
        let ask = get().in_session(&id).with("last-event-id", &event);
        assert_eq!(ask.of(&second).await.status(), 400, "{event}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_has_nothing_to_resume_elsewhere() {
    let ([first, second, _], id, _) = three().await;
    let (mut reader, body) = reading(&first, tool("hang", json!({}), &id), 0).await;
    drop(body);
    let mut body = reader.resume_at(&second, &id).await;
    let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": { "requestId": 7 } });
    let posted = post(cancelled.to_string())
        .in_session(&id)
        .of(&second)
        .await;
    assert_eq!(posted.status(), 202);
    let ended = timeout(A_WHILE, reader.read_to_end(&mut body)).await;
    ended.expect("in time");
    assert_eq!(reader.messages.len(), 0);
    let status = reader.resume(&id).of(&second).await.status();
    assert_eq!(status, StatusCode::NO_CONTENT);
}

/// Writes the log of a stream of a call, as a replica that ends.
async fn gone(store: &Arc<Clocked>, session: &str, tag: u32, notices: u64) -> Fleet {
    let fleet = Fleet::join(Arc::clone(store) as _, FleetOptions::default()).await;
    let fleet = fleet.expect("joins");
    let number = u128::from_str_radix(&session[2..34], 16).expect("digits");
    let log = fleet.stream_log(number, tag, 1);
    let event = |number| StreamEvent {
        writer: fleet.replica(),
        number,
        request: Some("7".into()),
        is_last: false,
        message: match number {
            0 => Bytes::new(),
            step => json!({ "params": { "progress": step } }).to_string().into(),
        },
    };
    let events: Vec<_> = (0..=notices).map(event).collect();
    let written = log.writer(100, 1 << 20, SECOND * 600).append(&events).await;
    assert_eq!(written, Written::Done);
    fleet
}

#[tokio::test(start_paused = true)]
async fn a_call_of_a_replica_that_is_gone_ends_with_an_error() {
    let ([first, second, _], id, store) = three().await;
    gone(&store, &id, 5, 2).await.leave().await;
    let began = Instant::now();
    for (endpoint, after) in [(&first, 0), (&second, 1), (&first, 2), (&second, 7)] {
        let event = format!("00000005-1-{after}");
        let ask = get().in_session(&id).with("last-event-id", &event);
        let mut body = ask.of(endpoint).await.into_body();
        let mut reader = Reader::default();
        reader.read_to_end(&mut body).await;
        let lacks = 2_usize.saturating_sub(after);
        assert_eq!(reader.messages.len(), lacks + 1, "after {after}");
        let end = &reader.messages[lacks];
        assert_eq!(
            (&end["id"], &end["error"]["code"]),
            (&json!(7), &json!(-32000))
        );
        let text = end["error"]["message"].as_str().expect("a text");
        assert!(
            text.contains("the effect of the request is unknown"),
            "{text}"
        );
        let mut body = reader.resume_at(endpoint, &id).await;
        assert_eq!(piece(&mut body).await, None, "the client has the end");
    }
    assert!(began.elapsed() < SECOND);
}

#[tokio::test(start_paused = true)]
async fn without_the_store_a_stream_continues_and_is_resumed_later() {
    let ([first, second, _], id, store) = three().await;
    let (mut reader, mut body) =
        reading(&first, tool("steady", json!({ "steps": 9 }), &id), 1).await;
    store.set_away(true);
    reader.read_some(&mut body, 3).await;
    let refused = reader.resume(&id).of(&second).await;
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(refused.headers()["retry-after"], "2");
    reader.read_some(&mut body, 4).await;
    drop(body);
    store.set_away(false);
    let mut body = reader.resume_at(&second, &id).await;
    reader.read_to_end(&mut body).await;
    let mut steps: Vec<_> = (1..=9).map(|step| json!(f64::from(step))).collect();
    steps.push(json!({ "id": 7 }));
    assert_eq!(reader.steps(), Value::from(steps));
}

// Operations of the store by kind of request: a budget that does not depend on the machine.
#[tokio::test(start_paused = true)]
async fn a_stream_appends_once_for_each_flush_and_a_body_never() {
    let ([first, ..], id, store) = three().await;
    store.take_appends();
    for _ in 0..20 {
        let (status, _) = tool("echo", json!({}), &id).json(&first).await;
        assert_eq!(status, 200);
    }
    assert_eq!(store.take_appends(), (0, 0), "one body has no log");
    let mut body = tool("steady", json!({ "steps": 3 }), &id)
        .of(&first)
        .await
        .into_body();
    let mut reader = Reader::default();
    reader.read_to_end(&mut body).await;
    // The beginning with the first notice, the second, and the third with the answer.
    assert_eq!(store.take_appends(), (3, 0));
}

// spec: 2025-11-25 TRANS-RESUME-05
#[tokio::test(start_paused = true)]
async fn a_stream_of_unsolicited_messages_moves_to_another_replica() {
    let ([first, second, third], id, _) = three().await;
    let mut body = get().in_session(&id).of(&first).await.into_body();
    let mut reader = Reader::default();
    reader.read_some(&mut body, 0).await;
    let changed = tool("change", json!({}), &id).of(&first).await;
    assert_eq!(changed.status(), 200);
    sleep(SECOND).await;
    // The change has left, but it did not arrive.
    let text = piece(&mut body).await.expect("a change");
    assert_eq!(messages(&text).len(), 1);
    drop(body);
    let mut body = reader.resume_at(&second, &id).await;
    reader.read_some(&mut body, 1).await;
    let known = reader.messages.len();
    let changed = tool("change", json!({}), &id).of(&second).await;
    assert_eq!(changed.status(), 200);
    reader.read_some(&mut body, known + 1).await;
    drop(body);
    let mut body = reader.resume_at(&third, &id).await;
    let known = reader.messages.len();
    let changed = tool("change", json!({}), &id).of(&third).await;
    assert_eq!(changed.status(), 200);
    let more = timeout(A_WHILE, reader.read_some(&mut body, known + 1)).await;
    more.expect("in time");
}

// The client has no event of the replica to which the stream has moved.
#[tokio::test(start_paused = true)]
async fn a_moved_stream_is_followed_from_its_first_replica() {
    let ([first, second, third], id, _) = three().await;
    let mut body = get().in_session(&id).of(&first).await.into_body();
    let mut reader = Reader::default();
    reader.read_some(&mut body, 0).await;
    for way in [[&second, &first], [&first, &third], [&second, &first]] {
        let event = reader.decoder.last_id().expect("an event id").to_owned();
        for endpoint in way {
            let ask = get().in_session(&id).with("last-event-id", &event);
            body = ask.of(endpoint).await.into_body();
            sleep(SECOND).await;
        }
        for known in [1, 2, 3].map(|more| reader.messages.len() + more) {
            let changed = tool("change", json!({}), &id).of(way[1]).await;
            assert_eq!(changed.status(), 200);
            let more = timeout(A_WHILE, reader.read_some(&mut body, known)).await;
            more.expect("in time");
        }
    }
}

/// Sends a request on a connection of its own, and reads the response up to a text.
async fn send(address: SocketAddr, head: &str, body: &str, until: &str) -> String {
    read(&mut begin(address, head, body).await, until).await
}

async fn begin(address: SocketAddr, head: &str, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.expect("connects");
    let length = body.len();
    let request = format!("{head}host: {address}\r\ncontent-length: {length}\r\n\r\n{body}");
    let sent = stream.write_all(request.as_bytes()).await;
    sent.expect("the server reads");
    stream
}

async fn read(stream: &mut TcpStream, until: &str) -> String {
    let mut text = String::new();
    while !text.contains(until) {
        let mut part = [0; 4096];
        let read = stream.read(&mut part).await.expect("the server writes");
        assert!(read > 0, "{text}");
        text += std::str::from_utf8(&part[..read]).expect("text");
    }
    text
}

// Over sockets, in real time.
#[tokio::test]
async fn a_stream_is_resumed_on_a_connection_to_another_replica() {
    let (endpoints, id, ..) = replicas_with_store::<2>(Duration::ZERO).await;
    let mut addresses = Vec::new();
    for endpoint in &endpoints {
        let server = HttpServer::bind(endpoint.only().clone(), "127.0.0.1:0").await;
        let server = server.expect("a port");
        addresses.push(server.address().expect("an address"));
        tokio::spawn(server.run());
    }
    let session = format!("mcp-session-id: {id}\r\nmcp-protocol-version: 2025-11-25\r\n");
    let message = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {
        "name": "progress", "arguments": { "steps": 3 }, "_meta": { "progressToken": "t" } } });
    let head = format!(
        "POST /mcp HTTP/1.1\r\n{session}content-type: application/json\r\n\
         accept: application/json, text/event-stream\r\n"
    );
    let text = send(addresses[0], &head, &message.to_string(), "\"id\":7").await;
    let events: Vec<_> = text
        .lines()
        .filter_map(|line| line.strip_prefix("id: "))
        .collect();
    assert_eq!(events.len(), 5, "{text}");
    for (seen, event) in events[..4].iter().enumerate() {
        let head = format!(
            "GET /mcp HTTP/1.1\r\n{session}accept: text/event-stream\r\nlast-event-id: {event}\r\n"
        );
        let text = send(addresses[1], &head, "", "\"id\":7").await;
        let again: Vec<_> = text
            .lines()
            .filter_map(|line| line.strip_prefix("id: "))
            .collect();
        assert_eq!(again, events[seen + 1..], "{text}");
    }
}

fn posted(id: &str) -> String {
    format!(
        "POST /mcp HTTP/1.1\r\nmcp-session-id: {id}\r\nmcp-protocol-version: 2025-11-25\r\n\
         content-type: application/json\r\naccept: application/json, text/event-stream\r\n"
    )
}

// Over sockets, in real time.
#[tokio::test]
async fn a_server_that_shall_end_waits_for_the_answers_of_its_clients() {
    let (endpoints, id, ..) = replicas_with_store::<1>(Duration::ZERO).await;
    let server = HttpServer::bind(endpoints[0].only().clone(), "127.0.0.1:0").await;
    let server = server.expect("a port");
    let address = server.address().expect("an address");
    let (end, ended) = oneshot::channel::<()>();
    let serving = tokio::spawn(server.run_until(async {
        let _ = ended.await;
    }));
    let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call",
        "params": { "name": "roots", "arguments": {} } });
    let mut stream = begin(address, &posted(&id), &call.to_string()).await;
    let asked = read(&mut stream, "roots/list\"").await;
    let mut lines = asked.lines().filter_map(|line| line.strip_prefix("data: "));
    let question = lines.find_map(|line| serde_json::from_str::<Value>(line).ok());
    let question = &question.expect("a question")["id"];
    drop(end);
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    let answer = json!({ "jsonrpc": "2.0", "id": question, "result": { "roots": [] } });
    let text = send(address, &posted(&id), &answer.to_string(), "\r\n\r\n").await;
    assert!(text.starts_with("HTTP/1.1 202"), "{text}");
    let text = read(&mut stream, "\"id\":7").await;
    assert!(text.contains("0 roots"), "{text}");
    timeout(A_WHILE, serving)
        .await
        .expect("in time")
        .expect("no panic");
}
