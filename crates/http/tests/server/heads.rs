//! Headers that contradict the body or each other, as raw bytes on a port.

use serde_json::json;

use super::port::Port;
use crate::common::{Ask, list, modern_tool};

// spec: 2026-07-28 N-TRAN-02
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
        came.assert_discreet(&said);
    }
}

// spec: 2026-07-28 N-XHDR-20 (refusal)
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
    assert_eq!(port.calls.started(), 0);
    assert_eq!(port.ask(list()).await.status, 200);
}
