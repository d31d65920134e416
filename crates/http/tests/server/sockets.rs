//! Raw bytes on a port: browsers, contradicting headers, bodies that are no messages, and floods.

use std::time::Duration;

use super::common::{Ask, ask, initialize, legacy, modern, modern_tool, notice, post};
use super::port::{Came, Port};
use pintle_http::{Access, HttpOptions, HttpServer, ServeError};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

fn list() -> Ask {
    modern(7, "tools/list", json!({}))
}

/// A refusal says what is wrong, and nothing about us.
fn assert_discreet(came: &Came, said: &str) {
    for secret in [
        "src/", ".rs:", "panicked", "/tmp", "/root", "RUST_", "thread '",
    ] {
        assert!(
            !came.body.contains(secret) && !came.head.contains(secret),
            "{said}: {came:?}"
        );
    }
}

// hardening: H-1, H-2, H-3, H-4, H-5, H-9
#[tokio::test]
async fn only_loopback_names_and_pages_are_served() {
    let port = Port::open().await;
    let rows: [(&str, Option<&str>, u16); 24] = [
        ("127.0.0.1:PORT", None, 200),
        ("localhost:PORT", None, 200),
        ("localhost", None, 200),
        ("[::1]:PORT", None, 200),
        ("127.0.0.1:PORT", Some("http://127.0.0.1:PORT"), 200),
        ("localhost:PORT", Some("http://localhost:PORT"), 200),
        ("localhost:PORT", Some("http://localhost:3000"), 200),
        ("127.0.0.1:PORT", Some("http://evil.example"), 403),
        ("127.0.0.1:PORT", Some("http://localhost.evil.example"), 403),
        (
            "127.0.0.1:PORT",
            Some("http://127.0.0.1:PORT.evil.example"),
            403,
        ),
        (
            "127.0.0.1:PORT",
            Some("http://evil.example@127.0.0.1:PORT"),
            403,
        ),
        (
            "127.0.0.1:PORT",
            Some("http://127.0.0.1:PORT@evil.example"),
            403,
        ),
        (
            "127.0.0.1:PORT",
            Some("http://127.0.0.1:PORT#evil.example"),
            403,
        ),
        ("127.0.0.1:PORT", Some("http://127.0.0.1:PORT/"), 403),
        ("127.0.0.1:PORT", Some("ftp://127.0.0.1:PORT"), 403),
        ("127.0.0.1:PORT", Some("null"), 403),
        (
            "127.0.0.1:PORT",
            Some("http://127.0.0.1:PORT, http://evil.example"),
            403,
        ),
        ("evil.example", None, 403),
        ("evil.example:PORT", None, 403),
        ("127.0.0.1.evil.example", None, 403),
        ("evil.example:1@localhost", None, 400),
        ("evil.example", Some("http://evil.example"), 403),
        ("127.0.0.2:PORT", None, 403),
        ("0.0.0.0:PORT", None, 403),
    ];
    for (host, origin, expected) in rows {
        for ask in [list(), initialize("2025-11-25"), ask("GET"), ask("DELETE")] {
            let is_post = ask.verb == "POST";
            let ask = ask.having("host", host);
            let ask = origin
                .iter()
                .fold(ask, |ask, origin| ask.with("origin", origin));
            let said = format!("{ask:?}");
            let came = port.ask(ask).await;
            if is_post || expected != 200 {
                assert_eq!(came.status, expected, "{said} {came:?}");
            }
            assert!(!came.head.contains("access-control"), "{said}");
            assert_discreet(&came, &said);
        }
    }
    assert_eq!(port.calls.begun(), 7);
}

// hardening: H-1
#[tokio::test]
async fn a_foreign_page_is_turned_away_before_its_body_comes() {
    let port = Port::open().await;
    let ask = list()
        .with("origin", "http://evil.example")
        .with("content-length", "1000000");
    let began = Instant::now();
    assert_eq!(port.send(ask.bytes(port.address)).await.status, 403);
    assert!(began.elapsed() < Duration::from_secs(2));
}

// hardening: H-6, H-7, H-8, H-9
#[tokio::test]
async fn what_browsers_send_unasked_is_never_executed() {
    let port = Port::open().await;
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonfoo",
    ] {
        assert_eq!(
            port.ask(list().having("content-type", kind)).await.status,
            415,
            "{kind}"
        );
    }
    assert_eq!(port.ask(list().without("content-type")).await.status, 415);
    assert_eq!(
        port.ask(list().with("content-encoding", "gzip"))
            .await
            .status,
        415
    );
    assert_eq!(
        port.ask(list().having("accept", "application/json"))
            .await
            .status,
        406
    );
    let preflight = ask("OPTIONS").with("access-control-request-method", "POST");
    let foreign = port
        .ask(preflight.clone().with("origin", "http://evil.example"))
        .await;
    let own = port
        .ask(preflight.with("origin", "http://localhost:3000"))
        .await;
    assert_eq!((foreign.status, own.status), (403, 405));
    assert!(!foreign.head.contains("access-control") && !own.head.contains("access-control"));
    for verb in ["PUT", "PATCH", "TRACE", "HEAD", "BREW"] {
        let came = port.ask(ask(verb).with("x-secret", "echo-me")).await;
        assert_eq!(came.status, 405, "{verb}");
        assert!(came.head.contains("allow: post, get, delete"), "{came:?}");
        assert!(!came.body.contains("echo-me") && !came.head.contains("echo-me"));
    }
    let tunnel = port.send(&b"CONNECT 127.0.0.1:80 HTTP/1.1\r\nhost: 127.0.0.1:80\r\nconnection: close\r\n\r\n"[..]).await;
    assert!((400..500).contains(&tunnel.status), "{tunnel:?}");
    assert_eq!(port.calls.begun(), 0);
    assert_eq!(port.ask(list()).await.status, 200);
}

// hardening: H-10
#[tokio::test]
async fn a_public_address_needs_a_decision() {
    let bind = |options| HttpServer::bind(super::common::endpoint_with(options).0, "0.0.0.0:0");
    let refused = bind(HttpOptions::default())
        .await
        .expect_err("nobody decided");
    assert!(
        matches!(refused, ServeError::Exposed { address } if address.ip().is_unspecified()),
        "{refused}"
    );
    let mut any = HttpOptions::default();
    any.access = Access::any_host();
    assert!(matches!(bind(any).await, Err(ServeError::Exposed { .. })));
    let mut listed = HttpOptions::default();
    listed.access = Access::hosts(["api.example"]).expect("a host");
    bind(listed).await.expect("hosts are listed");
    let mut insecure = HttpOptions::default();
    insecure.allow_insecure_bind = true;
    bind(insecure).await.expect("somebody decided");
}

// spec: 2026-07-28 N-HDR-01, N-HDR-03, N-HDR-04, N-HDR-06, N-HDR-07, N-HDR-08, N-HDR-13
// hardening: H-48, H-49, H-50, H-51, H-52, H-53, H-54
#[tokio::test]
async fn headers_agree_with_the_body() {
    let port = Port::open().await;
    let call = || modern_tool(7, "echo", json!({}));
    let regional = || modern_tool(7, "regional", json!({ "region": "é" }));
    let rows: Vec<(Ask, u16)> = vec![
        (call(), 200),
        (
            call()
                .without("mcp-method")
                .with("MCP-METHOD", "tools/call"),
            200,
        ),
        (call().having("mcp-name", "=?base64?ZWNobw==?="), 200),
        (call().having("mcp-name", "  echo  "), 200),
        (call().having("mcp-method", "tools/list"), 400),
        (call().having("mcp-method", "TOOLS/CALL"), 400),
        (call().without("mcp-method"), 400),
        (call().with("mcp-method", "tools/call"), 400),
        (call().having("mcp-name", "other"), 400),
        (call().having("mcp-name", "ECHO"), 400),
        (call().without("mcp-name"), 400),
        (call().with("mcp-name", "echo"), 400),
        (call().having("mcp-name", "=?base64?ZWNobw?="), 400),
        (call().having("mcp-name", "=?base64?ZW!obw==?="), 400),
        (call().having("mcp-name", "=?base64?/w==?="), 400),
        (call().having("mcp-name", "\u{e9}cho"), 400),
        (call().having("mcp-protocol-version", "2025-11-25"), 400),
        (call().without("mcp-protocol-version"), 400),
        (call().with("mcp-protocol-version", "2026-07-28"), 400),
        (regional().with("mcp-param-region", "=?base64?w6k=?="), 200),
        (regional(), 400),
        (regional().with("mcp-param-region", "e"), 400),
        (
            regional()
                .with("mcp-param-region", "=?base64?w6k=?=")
                .with("mcp-param-region", "=?base64?w6k=?="),
            400,
        ),
    ];
    for (ask, expected) in rows {
        let said = format!("{ask:?}");
        let came = port.ask(ask).await;
        assert_eq!(came.status, expected, "{said} {came:?}");
        assert_eq!(came.json()["id"], json!(7), "{said}");
        if expected == 400 {
            assert_eq!(came.code(), Some(-32020), "{said}");
            assert!(came.head.contains("content-type: application/json"));
        }
        assert_discreet(&came, &said);
    }
}

// hardening: H-61, H-62, H-63
#[tokio::test]
async fn heads_that_two_readers_could_read_differently_are_refused() {
    let port = Port::open().await;
    let length = |value: &str| {
        list()
            .with("content-length", value)
            .with("connection", "close")
            .bytes(port.address)
    };
    let body = list().body.len();
    let mut rows = vec![
        list()
            .with("content-length", &body.to_string())
            .with("content-length", "5")
            .with("connection", "close")
            .bytes(port.address),
        length("-1"),
        length("0x10"),
        length("1e2"),
        length(&format!("+{body}")),
        length(&format!("{body}, {}", body + 1)),
        length("99999999999999999999999999"),
        list()
            .without("host")
            .with("connection", "close")
            .bytes(port.address),
        list()
            .with("host", "localhost")
            .with("connection", "close")
            .bytes(port.address),
        list()
            .with("x-null", "a\0b")
            .with("connection", "close")
            .bytes(port.address),
        list()
            .with("x-spaced ", "a")
            .with("connection", "close")
            .bytes(port.address),
        list()
            .with("x-large", &"a".repeat(1 << 20))
            .with("connection", "close")
            .bytes(port.address),
    ];
    rows.push(
        (0..2000)
            .fold(list(), |ask, nth| ask.with(&format!("x-{nth}"), "a"))
            .with("connection", "close")
            .bytes(port.address),
    );
    for bytes in rows {
        let said = String::from_utf8_lossy(&bytes[..bytes.len().min(400)]).into_owned();
        let came = port.send(bytes).await;
        assert!(
            matches!(came.status, 0 | 400 | 431),
            "{said}: {} {}",
            came.status,
            came.head
        );
    }
    assert_eq!(port.calls.begun(), 0);
    assert_eq!(port.ask(list()).await.status, 200);
}

fn nested(depth: usize) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"m","params":{{"a":{}{}}}}}"#,
        "[".repeat(depth),
        "]".repeat(depth)
    )
}

// spec: 2026-07-28 N-HTTP-08
// spec: 2025-11-25 TRANS-HTTP-09, TRANS-HTTP-11
// hardening: H-94, H-95, H-96, H-97, H-98, H-100, H-102, H-103, H-104, H-106
#[tokio::test]
async fn a_body_that_is_no_message_is_refused() {
    let port = Port::open().await;
    let rows: Vec<(Vec<u8>, i64)> = vec![
        (b"".to_vec(), -32700),
        (b"{".to_vec(), -32700),
        (b"{\"jsonrpc\":\"2.0\",}".to_vec(), -32700),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\x01b\"}".to_vec(),
            -32700,
        ),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"} x".to_vec(),
            -32700,
        ),
        (b"{\"a\":\"\xff\"}".to_vec(), -32700),
        (b"{\"a\":\"\xc0\xaf\"}".to_vec(), -32700),
        (b"{\"a\":\"\xed\xa0\x80\"}".to_vec(), -32700),
        (b"{\"a\":\"\xf5\x80\x80\x80\"}".to_vec(), -32700),
        (b"\"text\"".to_vec(), -32600),
        (b"7".to_vec(), -32600),
        (b"null".to_vec(), -32600),
        (b"true".to_vec(), -32600),
        (b"[]".to_vec(), -32600),
        (b"[1,2]".to_vec(), -32600),
        (
            br#"[{"jsonrpc":"2.0","id":7,"method":"ping"}]"#.to_vec(),
            -32600,
        ),
        (
            br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#.to_vec(),
            -32600,
        ),
        (
            br#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#.to_vec(),
            -32600,
        ),
        (
            br#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#.to_vec(),
            -32600,
        ),
        (
            br#"{"jsonrpc":"2.0","id":[],"method":"ping"}"#.to_vec(),
            -32600,
        ),
        (
            br#"{"jsonrpc":"2.0","id":18446744073709551616,"method":"ping"}"#.to_vec(),
            -32600,
        ),
        (
            br#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#.to_vec(),
            -32600,
        ),
        (
            br#"{"jsonrpc":2.0,"id":7,"method":"ping"}"#.to_vec(),
            -32600,
        ),
        (
            br#"{"jsonrpc":"2.0 ","id":7,"method":"ping"}"#.to_vec(),
            -32600,
        ),
        (br#"{"id":7,"method":"ping"}"#.to_vec(), -32600),
        (
            br#"{"jsonrpc":"2.0","id":7,"METHOD":"ping"}"#.to_vec(),
            -32600,
        ),
        (
            br#"{"jsonrpc":"2.0","id":7,"method":"a","method":"b"}"#.to_vec(),
            -32600,
        ),
        (
            br#"{"jsonrpc":"2.0","id":7,"method":"m","params":{"_meta":{},"_meta":{}}}"#.to_vec(),
            -32600,
        ),
        (
            br#"{"jsonrpc":"2.0","id":7,"method":"m","params":[1]}"#.to_vec(),
            -32602,
        ),
        (nested(200).into(), -32600),
        (nested(5_000).into(), -32600),
        (nested(100_000).into(), -32600),
    ];
    for (body, code) in rows {
        let said = String::from_utf8_lossy(&body[..body.len().min(100)]).into_owned();
        let has_id = said.contains("\"id\":7") && !said.starts_with('[');
        let came = port.ask(post(body)).await;
        assert_eq!((came.status, came.code()), (400, Some(code)), "{said}");
        assert_eq!(came.json()["id"] == json!(7), has_id, "{said} {came:?}");
        assert_discreet(&came, &said);
    }
    assert_eq!(port.calls.begun(), 0);
}

async fn session(port: &Port) -> String {
    let opened = port.ask(initialize("2025-11-25")).await;
    let line = opened
        .head
        .lines()
        .find_map(|line| line.strip_prefix("mcp-session-id: "));
    let id = line.expect("a session").to_owned();
    assert_eq!(
        port.ask(notice("notifications/initialized").in_session(&id))
            .await
            .status,
        202
    );
    id
}

// spec: 2025-11-25 MSG-02
// hardening: H-98, H-99, H-101, H-102
#[tokio::test]
async fn ids_come_back_as_they_went_and_unknown_members_are_ignored() {
    let port = Port::open().await;
    let id = session(&port).await;
    let ids = [
        "0",
        "-1",
        "-9007199254740991",
        "9007199254740993",
        "9223372036854775807",
        "-9223372036854775808",
        "\"\"",
        "\"7\"",
        "\"\u{e9}\"",
    ];
    for spelled in ids {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":{spelled},"method":"ping","x":1,"params":{{"y":2,"_meta":{{"z":3}}}}}}"#
        );
        let came = port.ask(post(body).in_session(&id)).await;
        assert_eq!(came.status, 200);
        assert!(
            came.body.contains(&format!("\"id\":{spelled},")),
            "{}",
            came.body
        );
    }
    let shadowed = modern(
        7,
        "tools/call",
        json!({ "name": "echo", "Name": "panic", "arguments": {} }),
    );
    assert_eq!(port.ask(shadowed).await.status, 200);
}

// hardening: H-98, H-107, H-108, H-109, H-110, H-111, H-112
#[tokio::test]
async fn messages_without_a_meaning_here_have_no_effect() {
    let port = Port::open().await;
    let id = session(&port).await;
    let silent = [
        r#"{"jsonrpc":"2.0","method":"notifications/unknown"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#,
        r#"{"jsonrpc":"2.0","id":12345,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"both"}}"#,
        r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
    ];
    for body in silent {
        let came = port.ask(post(body).in_session(&id)).await;
        assert_eq!((came.status, &*came.body), (202, ""), "{body}");
    }
    let calls = [
        (legacy(7, "notifications/initialized", json!({})), -32601),
        (legacy(7, "tools/call", json!({ "name": "" })), -32602),
        (
            legacy(7, "tools/call", json!({ "name": "x".repeat(3000) })),
            -32602,
        ),
        (
            legacy(7, "tools/call", json!({ "name": "constructor" })),
            -32602,
        ),
        (
            legacy(7, "resources/read", json!({ "uri": "file:///none" })),
            -32602,
        ),
    ];
    for (ask, code) in calls {
        let came = port.ask(ask.in_session(&id)).await;
        assert_eq!(
            (came.status, came.code(), &came.json()["id"]),
            (200, Some(code), &json!(7))
        );
    }
}

// hardening: H-105, H-144
#[tokio::test]
async fn the_largest_body_is_read_and_one_byte_more_is_not() {
    let port = Port::open().await;
    let sized = |size: usize| {
        let text = modern_tool(7, "echo", json!({ "pad": "" }));
        let pad = "x".repeat(size - text.body.len());
        modern_tool(7, "echo", json!({ "pad": pad }))
    };
    const LIMIT: usize = 4 << 20;
    for size in [3 << 20, LIMIT] {
        let ask = sized(size);
        assert_eq!(ask.body.len(), size);
        assert_eq!(port.ask(chunked(&ask, 100_000)).await.status, 200);
        assert_eq!(port.ask(ask).await.status, 200);
    }
    let too_large = sized(LIMIT + 1);
    for ask in [chunked(&too_large, 100_000), too_large] {
        let status = port.ask(ask).await.status;
        assert!(matches!(status, 413 | 0), "{status}");
    }
    let declared = list()
        .with("content-length", "4194305")
        .with("connection", "close");
    let declared = Ask {
        body: Vec::new(),
        ..declared
    };
    assert_eq!(port.send(declared.bytes(port.address)).await.status, 413);
}

/// The same request, its body in chunks.
fn chunked(ask: &Ask, size: usize) -> Ask {
    let mut chunks = Vec::new();
    for chunk in ask.body.chunks(size) {
        chunks.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        chunks.extend_from_slice(chunk);
        chunks.extend_from_slice(b"\r\n");
    }
    chunks.extend_from_slice(b"0\r\n\r\n");
    Ask {
        body: chunks,
        ..ask.clone().with("transfer-encoding", "chunked")
    }
}

// hardening: H-142, H-143
#[tokio::test]
async fn a_body_may_come_in_any_pieces() {
    let port = Port::open().await;
    let ask = modern_tool(7, "echo", json!({ "text": "héllo ∞ 🎉" }));
    let came = port.ask(chunked(&ask, 1)).await;
    assert_eq!(came.status, 200);
    assert!(came.body.contains("héllo ∞ 🎉"), "{}", came.body);
    let mut stream = port.connect().await;
    for byte in ask.with("connection", "close").bytes(port.address) {
        stream.write_all(&[byte]).await.expect("written");
        stream.flush().await.expect("written");
    }
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let flood = Ask {
        body: vec![b'x'; 33 << 20],
        ..list()
    };
    let began = Instant::now();
    let status = port.ask(chunked(&flood, 1 << 20)).await.status;
    assert!(matches!(status, 413 | 0), "{status}");
    assert!(began.elapsed() < Duration::from_secs(5));
}

// hardening: H-145, H-146
#[tokio::test]
async fn other_protocols_and_bare_connections_are_survived() {
    let port = Port::open().await;
    let hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03";
    for bytes in [
        &hello[..],
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        &[0; 64],
        b"{\"jsonrpc\":\"2.0\"}\r\n\r\n",
        b"\r\n\r\n\xff\r\n\r\n",
    ] {
        let came = port.send(bytes).await;
        assert!(matches!(came.status, 0 | 400 | 505), "{came:?}");
    }
    let mut bare = Vec::new();
    for nth in 0..200 {
        let mut stream = port.connect().await;
        if nth % 4 == 0 {
            stream.shutdown().await.expect("half closed");
        }
        bare.push(stream);
    }
    assert_eq!(port.ask(list()).await.status, 200);
}

// hardening: H-139, H-140, H-147
#[tokio::test]
async fn slow_and_idle_clients_hold_nobody() {
    let port = Port::open().await;
    let id = session(&port).await;
    let mut held = Vec::new();
    for _ in 0..48 {
        let mut stream = port.connect().await;
        stream
            .write_all(b"POST /mcp HTTP/1.1\r\nhost: local")
            .await
            .expect("written");
        held.push(stream);
    }
    for _ in 0..24 {
        let mut stream = port.connect().await;
        let get = ask("GET")
            .with("accept", "text/event-stream")
            .in_session(&id);
        stream
            .write_all(&get.bytes(port.address))
            .await
            .expect("written");
        held.push(stream);
    }
    let began = Instant::now();
    let mut asked = JoinSet::new();
    let port = std::sync::Arc::new(port);
    for nth in 0..64 {
        let port = std::sync::Arc::clone(&port);
        asked.spawn(async move {
            let came = port
                .ask(modern_tool(nth, "echo", json!({ "nth": nth })))
                .await;
            assert_eq!((came.status, &came.json()["id"]), (200, &json!(nth)));
            nth
        });
    }
    let answered: std::collections::BTreeSet<i32> = asked.join_all().await.into_iter().collect();
    assert_eq!(answered.len(), 64);
    assert!(began.elapsed() < Duration::from_secs(3));
}

// hardening: H-153
#[tokio::test]
async fn a_head_or_a_body_that_stalls_is_given_up() {
    let mut options = HttpOptions::default();
    options.limits.head_time = Duration::from_millis(200);
    options.limits.body_pause = Duration::from_millis(200);
    let port = Port::open_with(options).await;
    let head = port.send(&b"POST /mcp HTTP/1.1\r\nhost: local"[..]).await;
    assert!(matches!(head.status, 0 | 408), "{head:?}");
    let ask = list().with("content-length", "1000");
    assert_eq!(port.send(ask.bytes(port.address)).await.status, 408);
}

// spec: 2026-07-28 N-HTTP-20
// hardening: H-138
#[tokio::test]
async fn clients_that_vanish_drop_their_handlers() {
    let port = Port::open().await;
    let mut streams = Vec::new();
    for nth in 0..50 {
        let mut stream = port.connect().await;
        stream
            .write_all(&modern_tool(nth, "hang", json!({})).bytes(port.address))
            .await
            .expect("written");
        streams.push(stream);
    }
    until(|| port.calls.begun() == 50).await;
    drop(streams);
    until(|| port.calls.dropped() == 50).await;
    assert_eq!(port.ask(list()).await.status, 200);
}

async fn until(is_so: impl Fn() -> bool) {
    let waiting = async {
        while !is_so() {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(Duration::from_secs(5), waiting)
        .await
        .expect("it comes to be so");
}

// hardening: H-150, H-152
#[tokio::test]
async fn payloads_are_data_and_nothing_else() {
    let port = Port::open().await;
    let nasty = "a\r\nb\u{2028}c\0d\u{1b}[31m</script>%s%n\r\n\r\nevent: x\ndata: y";
    let mut ask = modern_tool(7, "echo", json!({ "nasty": nasty }));
    let mut body: Value = serde_json::from_slice(&ask.body).expect("JSON");
    body["params"]["_meta"]["io.modelcontextprotocol/clientInfo"] =
        json!({ "name": nasty.repeat(1000), "version": nasty });
    ask.body = body.to_string().into();
    let came = port.ask(ask).await;
    let echoed = came.json()["result"]["content"][0]["text"]
        .as_str()
        .map(str::to_owned)
        .expect("text");
    let echoed: Value = serde_json::from_str(&echoed).expect("JSON");
    assert_eq!(echoed["nasty"], nasty);
    assert!(!came.head.contains("script"));
}

// hardening: H-176
#[tokio::test]
async fn the_end_lets_calls_finish_and_streams_end() {
    let mut port = Port::open().await;
    let mut listener = port.connect().await;
    let listen = modern(
        5,
        "subscriptions/listen",
        json!({ "notifications": { "toolsListChanged": true } }),
    );
    listener
        .write_all(&listen.bytes(port.address))
        .await
        .expect("written");
    let mut call = port.connect().await;
    call.write_all(&modern_tool(6, "slow", json!({ "seconds": 1 })).bytes(port.address))
        .await
        .expect("written");
    sleep(Duration::from_millis(300)).await;
    port.begin_end();
    let (mut heard, mut answered) = (String::new(), String::new());
    listener.read_to_string(&mut heard).await.expect("an end");
    call.read_to_string(&mut answered).await.expect("an end");
    assert!(
        heard.contains("acknowledged") && heard.contains("\"id\":5,"),
        "{heard}"
    );
    assert!(
        answered.contains("\"id\":6,") && answered.contains("done"),
        "{answered}"
    );
    port.ended().await;
}
