//! The showcase over HTTP.

use pintle_testkit::issuer::{Issuer, IssuerBehavior};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::serve::child::{Program, envelope};

// spec: 2026-07-28 N-DISC-01
#[tokio::test]
async fn the_server_prints_its_address_and_ends_on_sigterm() {
    let mut program = Program::start("serve --http 127.0.0.1:0");
    let address = address(&program.noted("http://").await);
    let discover = request(1, "server/discover", json!({}));
    let found = post(&address, &discover).await;
    assert_eq!(found["result"]["resultType"], "complete", "{found}");
    program.signal("TERM").await;
    assert_eq!(program.ended().await.code(), Some(0));
}

// hardening: H-176
#[tokio::test]
async fn on_sigterm_streams_end_with_a_result_and_a_call_completes() {
    let mut program = Program::start("serve --http 127.0.0.1:0");
    let address = address(&program.noted("http://").await);
    let filter = json!({ "toolsListChanged": true });
    let listen = request(
        1,
        "subscriptions/listen",
        json!({ "notifications": filter }),
    );
    let mut listener = open(&address, "", &listen).await;
    let mut notices = until(&mut listener, "acknowledged").await;
    let mut trip = request(2, "tools/call", json!({ "name": "board" }));
    trip["params"]["arguments"] = json!({ "call_sign": "RECK", "cables": 8 });
    trip["params"]["_meta"]["progressToken"] = json!(1);
    let mut caller = open(&address, "Mcp-Name: board\r\n", &trip).await;
    let mut answer = until(&mut caller, "notifications/progress").await;

    program.signal("TERM").await;
    listener.read_to_string(&mut notices).await.expect("an end");
    caller.read_to_string(&mut answer).await.expect("an end");
    assert!(notices.contains("\"resultType\":\"complete\""), "{notices}");
    assert!(answer.contains("the pilot is on board of RECK"), "{answer}");
    assert_eq!(program.ended().await.code(), Some(0));
}

// hardening: H-181
#[cfg(unix)]
#[tokio::test]
async fn accepting_pauses_without_descriptors_and_continues_later() {
    let mut program = Program::start_with_descriptors(40, "serve --http 127.0.0.1:0");
    let address = address(&program.noted("http://").await);
    let ping = request(1, "server/discover", json!({}));
    let mut first = TcpStream::connect(&address).await.expect("connects");
    let mut others = Vec::new();
    for _ in 0..64 {
        others.push(TcpStream::connect(&address).await.expect("connects"));
    }
    program.noted("accepting pauses").await;
    write(&mut first, &address, "", &ping).await;
    until(&mut first, "\"resultType\":\"complete\"").await;
    drop(others);
    for _ in 0..3 {
        let found = post(&address, &ping).await;
        assert_eq!(found["result"]["resultType"], "complete", "{found}");
    }
    program.signal("TERM").await;
    assert_eq!(program.ended().await.code(), Some(0));
}

#[tokio::test]
async fn the_server_prints_how_to_connect_a_host() {
    let mut program = Program::start("serve --http 127.0.0.1:0");
    let line = program.noted("claude mcp add").await;
    assert!(
        line.contains("--transport http pintle-showcase http://127.0.0.1:"),
        "{line}"
    );
    let line = program.noted("mcpServers").await;
    let (_, config) = line.split_once('{').expect("JSON");
    let config: Value = serde_json::from_str(&format!("{{{config}")).expect("ready to paste");
    assert!(config["mcpServers"]["pintle-showcase"]["url"].is_string());
}

// spec: 2025-11-25 AUTH-02, AUTH-80
// hardening: H-46, H-72
#[tokio::test]
async fn only_requests_with_a_token_are_served_and_no_log_has_it() {
    let issuer = Issuer::listen().await.expect("a port");
    let here = "http://127.0.0.1:8000/mcp";
    let token = |scope: &str| issuer.token(here).scopes(scope).sign();
    let cases = [
        ("no-token-at-all".to_owned(), 401),
        (token("other"), 403),
        (token("mcp"), 200),
    ];
    let broken_cases = [(token("mcp"), 503)];
    for (behavior, rows) in [
        (IssuerBehavior::Well, &cases[..]),
        (IssuerBehavior::Broken(500), &broken_cases[..]),
    ] {
        issuer.set_behavior(behavior);
        let notes = serve_to(&issuer, here, rows).await;
        let is_reported = notes.contains("a token cannot be verified");
        assert_eq!(is_reported, behavior != IssuerBehavior::Well, "{notes}");
        for part in rows.iter().flat_map(|(token, _)| token.split('.')) {
            assert!(!notes.contains(part), "{notes}");
        }
    }
    assert_eq!(issuer.count("/jwks"), 1);
}

/// Starts a server, sends a request with each token, and returns the log of the server.
async fn serve_to(issuer: &Issuer, here: &str, rows: &[(String, u16)]) -> String {
    let mut program = Program::start(&format!(
        "serve -vv --http 127.0.0.1:0 --auth-issuer {} --audience {here} --require-scope mcp",
        issuer.url()
    ));
    let address = address(&program.noted("http://").await);
    let discover = json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": { "_meta": envelope() } });
    for (token, status) in rows {
        let authorization = format!("Authorization: Bearer {token}\r\n");
        let answer = send(&address, &authorization, &discover).await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status} ")),
            "{answer}"
        );
    }
    program.signal("TERM").await;
    program.rest_of_notes().await
}

#[tokio::test]
async fn invalid_settings_are_rejected() {
    let line =
        "serve --http 127.0.0.1:0 --auth-issuer http://i.example --audience https://a.example";
    let mut program = Program::start(line);
    program
        .noted("invalid URL of a server `http://i.example`")
        .await;
    assert_eq!(program.ended().await.code(), Some(1));
}

#[tokio::test]
async fn the_server_shares_the_state_of_a_url() {
    let mut program = Program::start("serve --http 127.0.0.1:0 --state memory:");
    let address = address(&program.noted("http://").await);
    let found = post(&address, &request(1, "server/discover", json!({}))).await;
    assert_eq!(found["result"]["resultType"], "complete", "{found}");
    program.signal("TERM").await;
    assert_eq!(program.ended().await.code(), Some(0));
}

#[tokio::test]
async fn an_invalid_state_is_rejected_without_its_password() {
    let line = "serve --http 127.0.0.1:0 --state mysql://user:s3cret@db";
    let mut program = Program::start(line);
    let notes = program.rest_of_notes().await;
    assert!(
        notes.contains("the URL of --state has a password"),
        "{notes}"
    );
    assert!(notes.contains("the URL is not memory:"), "{notes}");
    assert!(!notes.contains("s3cret"), "{notes}");
    assert_eq!(program.ended().await.code(), Some(1));
}

/// Returns `127.0.0.1:41234` from a line like `… at http://127.0.0.1:41234/mcp, …`.
pub(super) fn address(line: &str) -> String {
    let (_, rest) = line.split_once("http://").expect("an address");
    rest.split_once('/').expect("a path").0.to_owned()
}

/// Posts a message and parses the answer. The body is JSON, because the server sends nothing
/// before.
async fn post(address: &str, message: &Value) -> Value {
    let answer = send(address, "", message).await;
    let (_, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
    serde_json::from_str(body).unwrap_or_else(|_| panic!("no JSON: {answer}"))
}

/// Returns a request of 2026-07-28.
pub(super) fn request(id: u32, method: &str, params: Value) -> Value {
    let mut params = params;
    params["_meta"] = envelope();
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// Posts a message with more headers, and returns the whole answer.
pub(super) async fn send(address: &str, more: &str, message: &Value) -> String {
    let more = format!("Connection: close\r\n{more}");
    let mut stream = open(address, &more, message).await;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("it writes");
    answer
}

/// Posts a message with more headers on a connection of its own.
async fn open(address: &str, more: &str, message: &Value) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.expect("connects");
    write(&mut stream, address, more, message).await;
    stream
}

/// Reads until `text` has arrived, and returns everything that was read.
async fn until(stream: &mut TcpStream, text: &str) -> String {
    let mut received = Vec::new();
    while !String::from_utf8_lossy(&received).contains(text) {
        let read = stream.read_buf(&mut received).await.expect("it writes");
        assert_ne!(read, 0, "{:?}", String::from_utf8_lossy(&received));
    }
    String::from_utf8(received).expect("text")
}

async fn write(stream: &mut TcpStream, address: &str, more: &str, message: &Value) {
    let body = message.to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: {}\r\nContent-Length: {}\r\n{more}\r\n",
        message["method"].as_str().expect("a method"),
        body.len(),
    );
    stream
        .write_all((head + &body).as_bytes())
        .await
        .expect("it reads");
}
