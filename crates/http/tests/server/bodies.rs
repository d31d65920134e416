//! Bodies as raw bytes on a port: invalid messages, strange messages, and bodies that are too large.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::Instant;

use super::port::Port;
use crate::common::{Ask, legacy, list, modern, modern_tool, post};

fn nested(depth: usize) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"m","params":{{"a":{}{}}}}}"#,
        "[".repeat(depth),
        "]".repeat(depth)
    )
}

// spec: 2026-07-28 N-TRAN-05
// spec: 2025-11-25 TRANS-HTTP-12
// spec: 2026-07-28 N-HTTP-08
// spec: 2025-11-25 TRANS-HTTP-09, TRANS-HTTP-11
// hardening: H-94, H-95, H-96, H-97, H-98, H-100, H-102, H-103, H-104, H-106
#[tokio::test]
async fn a_body_that_is_not_a_message_is_rejected() {
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
        came.assert_discreet(&said);
    }
    assert_eq!(port.calls.started(), 0);
}

// spec: 2025-11-25 MSG-02
// hardening: H-98, H-99, H-101, H-102
#[tokio::test]
async fn ids_come_back_as_they_went_and_unknown_members_are_ignored() {
    let port = Port::open().await;
    let id = port.session().await;
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
    let id = port.session().await;
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
        assert_eq!(port.ask(ask).await.status, 413);
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

/// A body in chunks, with a second request behind it. A reader that believes the length ends the body earlier.
fn smuggled(ask: &Ask, framing: &[(&str, &str)], address: std::net::SocketAddr) -> Vec<u8> {
    let mut first = chunked(ask, 64).without("transfer-encoding");
    for (name, value) in framing {
        first = first.with(name, value);
    }
    let mut bytes = first.bytes(address);
    bytes.extend(list().bytes(address));
    bytes
}

#[tokio::test]
async fn a_request_in_chunks_ends_its_connection_with_or_without_a_length() {
    let port = Port::open().await;
    let (length, coding) = (("content-length", "4"), ("transfer-encoding", "chunked"));
    // hyper closes the connection behind the first two since 1.12; the third shows that we do.
    for framing in [&[length, coding][..], &[coding, length], &[coding]] {
        // The test ends only if the connection does.
        let came = port.send(smuggled(&list(), framing, port.address)).await;
        assert_eq!(came.status, 200, "{framing:?} {came:?}");
        assert!(
            came.head.contains("connection: close"),
            "{framing:?} {came:?}"
        );
        assert_eq!(came.body.matches("HTTP/1.1").count(), 0, "{came:?}");
    }
}

// hardening: H-150 (headers), H-152
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
