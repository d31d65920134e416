//! A bridge with two tokens: its clients send one, and it sends another one to its server.

use pintle_testkit::fake_http::{
    FakeResponse, FakeServer, SeenRequest, courtesy, empty, json, with,
};
use pintle_testkit::issuer::Issuer;
use serde_json::{Value, json};

use crate::serve::child::Program;
use crate::serve::http::{address, request, send};
use crate::talk::guarded::Guard;

/// The audience of tokens for the bridge.
const BRIDGE: &str = "http://127.0.0.1:8000/mcp";
/// A secret of the bridge for its server.
const OWN: &str = "secret-of-the-bridge";

/// A bridge that accepts only tokens of an issuer.
struct Bridge {
    issuer: Issuer,
    program: Program,
    address: String,
}

impl Bridge {
    /// Starts a bridge. The variable `OWN` has the secret.
    async fn start(server: &str) -> Self {
        let issuer = Issuer::listen().await.expect("a port");
        let guard = format!("--auth-issuer {} --audience {BRIDGE}", issuer.url());
        let line = format!("serve -vv --http 127.0.0.1:0 {guard} {server}");
        let mut program = Program::start_with(&[("OWN", OWN)], &line);
        let address = address(&program.noted("http://").await);
        Self {
            issuer,
            program,
            address,
        }
    }

    /// Calls a tool with a token. Returns the status, and the message in the body.
    async fn call(&self, tool: &str, token: &str) -> (u16, Value) {
        let headers = format!("Mcp-Name: {tool}\r\nAuthorization: Bearer {token}\r\n");
        let params = json!({ "name": tool, "arguments": { "a": 1, "b": 2 } });
        let answer = send(&self.address, &headers, &request(1, "tools/call", params)).await;
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
        let status = head.split(' ').nth(1).expect("a status");
        let message = serde_json::from_str(body).unwrap_or(Value::Null);
        (status.parse().expect("a number"), message)
    }

    /// Ends the bridge, whose log has none of the secrets.
    async fn end(mut self, secrets: &[&str]) {
        self.program.signal("TERM").await;
        let notes = self.program.rest_of_notes().await;
        for secret in secrets {
            assert!(!notes.contains(secret), "{notes}");
        }
    }
}

/// A server of 2025-11-25 whose response to each call is given, and its URL.
async fn server(answer: fn(&SeenRequest) -> FakeResponse) -> (FakeServer, String) {
    let server = FakeServer::new(move |seen, _| match seen.method().as_str() {
        "tools/call" => answer(seen),
        _ => courtesy(seen).unwrap_or_else(|| empty(404)),
    });
    let address = server.listen().await.expect("a port");
    (server, format!("http://{address}/mcp"))
}

fn done(seen: &SeenRequest) -> FakeResponse {
    let result = json!({ "content": [] });
    json(
        200,
        &json!({ "jsonrpc": "2.0", "id": seen.id(), "result": result }),
    )
}

fn unauthorized(_: &SeenRequest) -> FakeResponse {
    with(
        401,
        &[("www-authenticate", "Bearer error=\"invalid_token\"")],
        "",
    )
}

fn forbidden(_: &SeenRequest) -> FakeResponse {
    let challenge = "Bearer error=\"insufficient_scope\", scope=\"admin\"";
    with(403, &[("www-authenticate", challenge)], "")
}

// spec: 2025-11-25 AUTH-66, AUTH-109, SEC-08
#[tokio::test]
async fn the_token_of_a_client_does_not_reach_the_server_of_a_bridge() {
    for (options, header, expected) in [
        ("--bearer-env OWN", "authorization", format!("Bearer {OWN}")),
        ("--header X-Api-Key:key-1", "x-api-key", "key-1".to_owned()),
    ] {
        let (behind, url) = server(done).await;
        let bridge = Bridge::start(&format!("--revision 2025-11-25 {options} {url}")).await;
        let token = bridge.issuer.token(BRIDGE).sign();
        let (status, answer) = bridge.call("t", &token).await;
        assert_eq!(
            (status, &answer["result"]["content"]),
            (200, &json!([])),
            "{answer}"
        );
        for wrong in [OWN, "another"] {
            assert_eq!(bridge.call("t", wrong).await.0, 401);
        }
        bridge.end(&[&token, OWN]).await;
        assert_eq!(behind.count("tools/call"), 1);
        for seen in behind.seen() {
            assert_eq!(seen.header(header), Some(&*expected), "{seen:?}");
            assert!(!format!("{seen:?}").contains(&token), "{seen:?}");
        }
    }
}

#[tokio::test]
async fn a_guarded_bridge_signs_in_to_its_server() {
    let behind = Guard::new().await;
    behind.issuer.knows("robot", Some(OWN), &[]);
    let robot = "--client-id robot --client-secret-env OWN --client-credentials --scope bench";
    let bridge = Bridge::start(&format!("{robot} {}", behind.url())).await;
    let token = bridge.issuer.token(BRIDGE).sign();
    let (status, answer) = bridge.call("add", &token).await;
    let text = &answer["result"]["content"][0]["text"];
    assert_eq!((status, text), (200, &json!("3")), "{answer}");
    // The server accepts this token, and the bridge does not.
    assert_eq!(bridge.call("add", &behind.token()).await.0, 401);
    bridge.end(&[&token, OWN]).await;
    assert_eq!(behind.issuer.count("/authorize"), 0);
}

// hardening: H-46
#[tokio::test]
async fn a_client_receives_an_error_if_the_server_rejects_the_bridge() {
    for (answer, text) in [
        (unauthorized as fn(&SeenRequest) -> FakeResponse, "401"),
        (forbidden, "scope"),
    ] {
        let (behind, url) = server(answer).await;
        let line = format!("--revision 2025-11-25 --bearer-env OWN {url}");
        let bridge = Bridge::start(&line).await;
        let token = bridge.issuer.token(BRIDGE).sign();
        let (status, answer) = bridge.call("t", &token).await;
        assert_eq!(
            (status, &answer["error"]["code"]),
            (200, &json!(-32603)),
            "{answer}"
        );
        let message = answer["error"]["message"].as_str().expect("a text");
        assert!(message.contains(text), "{message}");
        for secret in [&*token, OWN] {
            assert!(!message.contains(secret), "{message}");
        }
        bridge.end(&[&token, OWN]).await;
        assert_eq!(behind.count("tools/call"), 1, "{text}");
    }
}
