//! Heads, framing and request targets of HTTP.

use crate::wire::peer::{Era, Posts};

/// The parts of requests.
struct Parts {
    host: String,
    /// The headers of every request of these tests.
    base: String,
    body: String,
    /// The length of the body, as a header.
    cl: String,
    /// The length of the body, as the size of a chunk.
    hex: String,
}

/// The fault or oddity, the bytes, and the accepted statuses.
type Row = (&'static str, String, &'static [u16]);

const POST: &str = "POST /mcp HTTP/1.1";
const TE: &str = "transfer-encoding: chunked\r\n";
const JSON: &str = "content-type: application/json";
const BOTH: &str = "accept: application/json, text/event-stream";

impl Parts {
    fn of(posts: &Posts) -> Self {
        let text = br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"text":"a"},META}}"#;
        let body = String::from_utf8(posts.era.fill(text)).expect("text");
        let own = posts.headers("tools/call", Some("echo"));
        Self {
            host: posts.server.address.to_string(),
            base: format!("connection: close\r\n{JSON}\r\n{BOTH}\r\n{own}"),
            cl: format!("content-length: {}\r\n", body.len()),
            hex: format!("{:x}", body.len()),
            body,
        }
    }

    fn post(&self, line: &str, more: &str, body: &str) -> String {
        let Self { host, base, .. } = self;
        format!("{line}\r\nhost: {host}\r\n{base}{more}\r\n{body}")
    }

    /// A request with its whole body and the length of the body.
    fn whole(&self, line: &str, more: &str) -> String {
        self.post(line, &format!("{more}{}", self.cl), &self.body)
    }

    /// A request with some headers replaced.
    fn with(&self, old: &str, new: &str) -> String {
        self.whole(POST, "").replace(old, new)
    }

    fn in_chunk(&self, size: &str) -> String {
        format!("{size}\r\n{}\r\n0\r\n\r\n", self.body)
    }

    /// A request with one more header, so that the head has this size.
    fn sized(&self, bytes: usize) -> String {
        let bare = self.post(POST, &format!("x-a: \r\n{}", self.cl), "");
        self.whole(
            POST,
            &format!("x-a: {}\r\n", "a".repeat(bytes - bare.len())),
        )
    }

    /// A request with this number of headers.
    fn counted(&self, count: usize) -> String {
        let there = self.base.matches("\r\n").count() + 2;
        let more = (there..count).map(|nth| format!("x-{nth}: a\r\n"));
        self.whole(POST, &more.collect::<String>())
    }
}

// hardening: H-61, H-142
#[tokio::test]
async fn a_body_has_one_length_that_every_reader_knows() {
    play(|p| {
        vec![
            ("good", p.whole(POST, ""), &[200]),
            ("chunked", p.post(POST, TE, &p.in_chunk(&p.hex)), &[200]),
            (
                "chunk extension",
                p.post(POST, TE, &p.in_chunk(&format!("{};a=b", p.hex))),
                &[200],
            ),
            (
                "trailers",
                p.post(
                    POST,
                    TE,
                    &format!(
                        "{}\r\n{}\r\n0\r\nmcp-method: tools/list\r\n\r\n",
                        p.hex, p.body
                    ),
                ),
                &[200],
            ),
            // The chunks delimit the body, so the bytes behind them are another request.
            (
                "cl and te",
                p.post(POST, &format!("{}{TE}", p.cl), &p.in_chunk(&p.hex)),
                &[200],
            ),
            (
                "te and cl",
                p.post(POST, &format!("{TE}{}", p.cl), &p.in_chunk(&p.hex)),
                &[200],
            ),
            ("cl twice same", p.whole(POST, &p.cl), &[200]),
            (
                "chunk size 0x",
                p.post(POST, TE, &p.in_chunk(&format!("0x{}", p.hex))),
                &[400],
            ),
            ("chunk size -", p.post(POST, TE, &p.in_chunk("-5")), &[400]),
            (
                "chunk size huge",
                p.post(POST, TE, &p.in_chunk("ffffffffffffffffff")),
                &[400],
            ),
            (
                "chunk size blank",
                p.post(POST, TE, &p.in_chunk(&format!(" {}", p.hex))),
                &[400],
            ),
            (
                "chunk too short",
                p.post(POST, TE, &format!("5\r\n{}\r\n0\r\n\r\n", p.body)),
                &[400],
            ),
            (
                "chunk bare LF",
                p.post(POST, TE, &format!("{}\n{}\n0\n\n", p.hex, p.body)),
                &[400, 413],
            ),
            (
                "chunk ext 1MB",
                p.post(
                    POST,
                    TE,
                    &p.in_chunk(&format!("{};{}", p.hex, "a".repeat(1 << 20))),
                ),
                &[400, 413],
            ),
            (
                "trailers 1MB",
                p.post(
                    POST,
                    TE,
                    &format!(
                        "{}\r\n{}\r\n0\r\nx: {}\r\n\r\n",
                        p.hex,
                        p.body,
                        "a".repeat(1 << 20)
                    ),
                ),
                &[400, 413],
            ),
            (
                "te twice",
                p.post(POST, &format!("{TE}{TE}"), &p.in_chunk(&p.hex)),
                &[400],
            ),
            (
                "te identity",
                p.whole(POST, "transfer-encoding: identity\r\n"),
                &[400],
            ),
            (
                "te gzip, chunked",
                p.post(
                    POST,
                    "transfer-encoding: gzip, chunked\r\n",
                    &p.in_chunk(&p.hex),
                ),
                &[400],
            ),
            (
                "te chunked, gzip",
                p.post(
                    POST,
                    "transfer-encoding: chunked, gzip\r\n",
                    &p.in_chunk(&p.hex),
                ),
                &[400],
            ),
            (
                "te xchunked",
                p.post(POST, "transfer-encoding: xchunked\r\n", &p.in_chunk(&p.hex)),
                &[400],
            ),
            (
                "te vtab",
                p.post(
                    POST,
                    "transfer-encoding: \x0bchunked\r\n",
                    &p.in_chunk(&p.hex),
                ),
                &[400],
            ),
            ("cl twice", p.whole(POST, "content-length: 5\r\n"), &[400]),
            (
                "cl list same",
                {
                    let length = p.body.len();
                    p.post(
                        POST,
                        &format!("content-length: {length}, {length}\r\n"),
                        &p.body,
                    )
                },
                &[400],
            ),
            (
                "cl +",
                p.post(
                    POST,
                    &format!("content-length: +{}\r\n", p.body.len()),
                    &p.body,
                ),
                &[400],
            ),
            (
                "cl 0x",
                p.post(POST, "content-length: 0x10\r\n", &p.body),
                &[400],
            ),
            (
                "cl empty",
                p.post(POST, "content-length: \r\n", &p.body),
                &[400],
            ),
            (
                "cl huge",
                p.post(POST, "content-length: 99999999999999999999999\r\n", &p.body),
                &[400],
            ),
            (
                "cl short",
                p.post(POST, "content-length: 5\r\n", &p.body),
                &[400],
            ),
            ("no length", p.post(POST, "", &p.body), &[400]),
        ]
    })
    .await;
}

// hardening: H-62, H-8
#[tokio::test]
async fn a_head_is_one_that_every_reader_knows() {
    play(|p| {
        vec![
            ("obs-fold", p.whole(POST, "x-a: b\r\n c\r\n"), &[400]),
            ("space colon", p.whole(POST, "x-a : b\r\n"), &[400]),
            ("leading space header", p.whole(POST, " x-a: b\r\n"), &[400]),
            ("no colon", p.whole(POST, "x-a\r\n"), &[400]),
            ("empty name", p.whole(POST, ": b\r\n"), &[400]),
            ("NUL value", p.whole(POST, "x-a: a\0b\r\n"), &[400]),
            ("bare CR value", p.whole(POST, "x-a: a\rb\r\n"), &[400]),
            ("HTTP/1.0", p.whole("POST /mcp HTTP/1.0", ""), &[200]),
            (
                "HTTP/1.0 te",
                p.post("POST /mcp HTTP/1.0", TE, &p.in_chunk(&p.hex)),
                &[400],
            ),
            ("HTTP/2.0", p.whole("POST /mcp HTTP/2.0", ""), &[400]),
            ("HTTP/1.2", p.whole("POST /mcp HTTP/1.2", ""), &[400]),
            ("HTTP/0.9", "POST /mcp\r\n".to_owned(), &[400]),
            ("lower verb", p.whole("post /mcp HTTP/1.1", ""), &[405]),
            ("tab in line", p.whole("POST\t/mcp\tHTTP/1.1", ""), &[400]),
            ("double space", p.whole("POST  /mcp HTTP/1.1", ""), &[400]),
            (
                "no host",
                p.with(&format!("host: {}\r\n", p.host), ""),
                &[400],
            ),
            (
                "empty host",
                p.with(&format!("host: {}", p.host), "host:"),
                &[400],
            ),
            (
                "expect other",
                p.whole(POST, "expect: 200-maybe\r\n"),
                &[200],
            ),
            (
                "expect continue",
                p.whole(POST, "expect: 100-continue\r\n"),
                &[100],
            ),
            (
                "upgrade h2c",
                p.whole(POST, "upgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAAP__\r\n"),
                &[200],
            ),
        ]
    })
    .await;
}

// hardening: H-1, H-3
#[tokio::test]
async fn a_request_is_for_this_server_and_its_path() {
    play(|p| {
        vec![
            (
                "absolute own",
                p.whole(&format!("POST http://{}/mcp HTTP/1.1", p.host), ""),
                &[200],
            ),
            (
                "absolute evil",
                p.whole("POST http://evil.example/mcp HTTP/1.1", ""),
                &[400],
            ),
            (
                "authority",
                p.post("CONNECT evil.example:80 HTTP/1.1", "", ""),
                &[404],
            ),
            ("star", p.post("OPTIONS * HTTP/1.1", "", ""), &[404]),
            ("query", p.whole("POST /mcp?a=b HTTP/1.1", ""), &[200]),
            ("dots", p.whole("POST /x/../mcp HTTP/1.1", ""), &[404]),
            ("double slash", p.whole("POST //mcp HTTP/1.1", ""), &[404]),
            ("percent", p.whole("POST /%6dcp HTTP/1.1", ""), &[404]),
            ("trailing slash", p.whole("POST /mcp/ HTTP/1.1", ""), &[404]),
            (
                "bytes target",
                p.whole("POST /mcp\u{e9} HTTP/1.1", ""),
                &[404],
            ),
            (
                "host userinfo",
                p.with(&format!("host: {}", p.host), "host: evil:1@localhost"),
                &[400],
            ),
            (
                "two hosts",
                p.whole(POST, &format!("host: {}\r\n", p.host)),
                &[400],
            ),
            (
                "evil origin",
                p.whole(POST, "origin: http://evil.example\r\n"),
                &[403],
            ),
            ("origin null", p.whole(POST, "origin: null\r\n"), &[403]),
        ]
    })
    .await;
}

// hardening: H-7, H-51, H-59
#[tokio::test]
async fn a_body_is_json_with_one_content_type() {
    play(|p| {
        vec![
            ("gzip", p.whole(POST, "content-encoding: gzip\r\n"), &[415]),
            (
                "identity",
                p.whole(POST, "content-encoding: identity\r\n"),
                &[200],
            ),
            (
                "type twice",
                p.whole(POST, "content-type: text/plain\r\n"),
                &[415],
            ),
            (
                "type text",
                p.with(JSON, "content-type: text/plain"),
                &[415],
            ),
            (
                "type charset",
                p.with(JSON, "content-type: application/json; charset=utf-8"),
                &[200],
            ),
            (
                "type latin1",
                p.with(JSON, "content-type: application/json; charset=latin1"),
                &[415],
            ),
            ("type none", p.with(&format!("{JSON}\r\n"), ""), &[415]),
            (
                "accept twice",
                p.with(
                    BOTH,
                    "accept: application/json\r\naccept: text/event-stream",
                ),
                &[200],
            ),
            (
                "accept json",
                p.with(BOTH, "accept: application/json"),
                &[200],
            ),
            ("accept html", p.with(BOTH, "accept: text/html"), &[406]),
            (
                "version twice",
                p.whole(POST, "mcp-protocol-version: 2025-11-25\r\n"),
                &[400],
            ),
            (
                "version unknown",
                p.with("mcp-protocol-version: 202", "mcp-protocol-version: 902"),
                &[400],
            ),
        ]
    })
    .await;
}

// hardening: H-63
#[tokio::test]
async fn a_head_has_its_size_and_no_more() {
    play(|p| {
        vec![
            ("100 headers", p.counted(100), &[200]),
            ("101 headers", p.counted(101), &[431]),
            ("head 64k", p.sized(64 << 10), &[200]),
            ("head 64k+1", p.sized((64 << 10) + 1), &[431]),
            (
                "long target",
                p.whole(&format!("POST /{} HTTP/1.1", "a".repeat(100_000)), ""),
                &[414],
            ),
            (
                "1MB header",
                p.whole(POST, &format!("x-a: {}\r\n", "a".repeat(1 << 20))),
                &[431],
            ),
            ("2000 headers", p.counted(2_000), &[431]),
        ]
    })
    .await;
}

/// Sends every row in both eras. A rejected row runs nothing, and the next request is served.
async fn play(rows: impl Fn(&Parts) -> Vec<Row>) {
    for era in [Era::Legacy, Era::Modern] {
        let posts = Posts::connect(era).await;
        for (what, bytes, statuses) in rows(&Parts::of(&posts)) {
            let before = posts.server.runs.count();
            let came = posts.send(bytes.as_bytes()).await;
            let runs = posts.server.runs.count() - before;
            assert!(statuses.contains(&came.status), "{era:?}, {what}: {came:?}");
            let is_served = came.status < 300;
            assert_eq!(runs, usize::from(is_served), "{era:?}, {what}: {came:?}");
            posts.assert_served(what).await;
        }
    }
}
