//! Lines that a peer may write to a pipe, and their answers.

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use crate::common::{Misbehaving, Peer, call, within};
use pintle_runtime::{PipeEnd, PipeOptions};

async fn modern() -> Peer {
    Peer::connect(Misbehaving, PipeOptions::default())
}

/// Sends `junk`, then a call; returns the messages before the call's answer.
async fn before_the_next_answer(peer: &mut Peer, junk: &[u8]) -> Vec<Value> {
    peer.writer.write_all(junk).await.expect("the server reads");
    peer.send(call("2026-07-28", 99, "echo")).await;
    let mut before = Vec::new();
    loop {
        let message = within(peer.receive()).await;
        if message["id"] == 99 {
            assert_eq!(message["result"]["content"][0]["text"], "echo");
            return before;
        }
        before.push(message);
    }
}

// hardening: H-116, H-120, H-124
// spec: 2025-11-25 MSG-08
#[tokio::test(start_paused = true)]
async fn an_invalid_line_is_refused_and_the_next_is_answered() {
    let mut peer = modern().await;
    for (junk, code) in [
        (&b"{\n"[..], -32700),
        (b"nonsense\n", -32700),
        (b"{\"a\":1,}\n", -32700),
        (b"\xff\xfe\n", -32700),
        (b"[]\n", -32600),
        (b"[1,2]\n", -32600),
        (b"17\n", -32600),
        (b"\"text\"\n", -32600),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}\n",
            -32600,
        ),
    ] {
        let before = before_the_next_answer(&mut peer, junk).await;
        assert_eq!(before.len(), 1, "{junk:?}: {before:?}");
        assert_eq!(before[0]["error"]["code"], code, "{junk:?}");
        assert_eq!(before[0].get("id"), None);
    }
}

// hardening: H-117, H-118, H-119, H-107
// spec: 2026-07-28 N-STDIO-01
#[tokio::test(start_paused = true)]
async fn blanks_line_ends_marks_and_stray_responses_are_passed_over() {
    for junk in [
        &b"\n\n \n\r\n"[..],
        b"\xef\xbb\xbf",
        b"{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}\r\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{},\"error\":{\"code\":1,\"message\":\"m\"}}\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":1,\"message\":\"m\"}}\n",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unknown\"}\n",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":7}}\n",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}\n",
    ] {
        let mut peer = modern().await;
        assert_eq!(before_the_next_answer(&mut peer, junk).await, Vec::<Value>::new(), "{junk:?}");
    }
}

// hardening: H-121
#[tokio::test(start_paused = true)]
async fn a_message_byte_by_byte_is_answered_once() {
    let mut peer = modern().await;
    for byte in format!("{}\n", call("2026-07-28", 1, "echo")).into_bytes() {
        peer.writer
            .write_all(&[byte])
            .await
            .expect("the server reads");
        tokio::task::yield_now().await;
    }
    assert_eq!(within(peer.receive()).await["id"], 1);
    assert_eq!(
        before_the_next_answer(&mut peer, b"").await,
        Vec::<Value>::new()
    );
}

// spec: 2026-07-28 N-STDIO-14
// hardening: H-105, H-122, H-123
// spec: 2026-07-28 N-STDIO-14
#[tokio::test(start_paused = true)]
async fn a_long_line_is_answered_up_to_the_limit_and_dropped_beyond_it() {
    let mut peer = modern().await;
    let mut long = call("2026-07-28", 1, "echo");
    long["params"]["arguments"]["text"] = json!("x".repeat(3 << 20));
    peer.send(long).await;
    assert_eq!(within(peer.receive()).await["id"], 1);

    let mut options = PipeOptions::default();
    options.max_line_bytes = 1 << 10;
    let mut peer = Peer::connect(Misbehaving, options);
    let before = before_the_next_answer(&mut peer, &[&[b'x'; 33 << 10][..], b"\n"].concat()).await;
    assert_eq!(before.len(), 1);
    assert_eq!(
        (&before[0]["error"]["code"], before[0].get("id")),
        (&json!(-32600), None)
    );
}

// hardening: H-126, H-134, H-127, H-109
// spec: 2026-07-28 N-META-02, N-VER-02, N-VER-10
#[tokio::test(start_paused = true)]
async fn requests_are_refused_with_the_specific_code() {
    let mut peer = modern().await;
    let refusals = [
        (
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }),
            -32600,
        ),
        (
            json!({ "jsonrpc": "2.0", "id": 2, "method": "server/discover" }),
            -32602,
        ),
        (envelope("1900-01-01", "tools/list"), -32022),
        (envelope("2025-11-25", "tools/list"), -32022),
        (envelope("2026-07-28", "ping"), -32601),
        (envelope("2026-07-28", "prompts/list"), -32601),
        (envelope("2026-07-28", "notifications/initialized"), -32601),
    ];
    for (request, code) in refusals {
        peer.send(request.clone()).await;
        let answer = within(peer.receive()).await;
        assert_eq!(
            (&answer["error"]["code"], &answer["id"]),
            (&json!(code), &request["id"]),
            "{request}"
        );
    }
    peer.send(json!({ "jsonrpc": "2.0", "id": 3, "method": "ping" }))
        .await;
    assert_eq!(within(peer.receive()).await["result"], json!({}));
    let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    peer.send(json!({ "jsonrpc": "2.0", "id": 4, "method": "initialize", "params": params }))
        .await;
    assert_eq!(
        within(peer.receive()).await["result"]["protocolVersion"],
        "2025-06-18",
        "initialize still works"
    );
}

fn envelope(revision: &str, method: &str) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": revision,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({ "jsonrpc": "2.0", "id": format!("{method} {revision}"), "method": method, "params": { "_meta": meta } })
}

// hardening: H-132
#[tokio::test(start_paused = true)]
async fn two_thousand_requests_of_a_peer_that_reads_late_are_all_answered() {
    let mut peer = modern().await;
    for id in 0..2_000 {
        peer.send(call("2026-07-28", id, "echo")).await;
    }
    let mut answered = std::collections::BTreeSet::new();
    for _ in 0..2_000 {
        answered.insert(within(peer.receive()).await["id"].as_i64());
    }
    assert_eq!(answered.len(), 2_000);
    assert_eq!(peer.finish().await, PipeEnd::EndOfInput);
}

// hardening: H-133, H-174
#[tokio::test(start_paused = true)]
async fn no_stray_notification_changes_how_later_requests_are_read() {
    let mut peer = modern().await;
    let mut strays = String::new();
    for at in 0..5_000 {
        strays.push_str(&format!(
            "{}\n",
            json!({ "jsonrpc": "2.0", "method": format!("notifications/stray/{at}") })
        ));
    }
    assert_eq!(
        before_the_next_answer(&mut peer, strays.as_bytes()).await,
        Vec::<Value>::new()
    );
}

// hardening: H-129, H-136
#[tokio::test(start_paused = true)]
async fn odd_ids_come_back_as_they_were_on_one_line() {
    let mut peer = modern().await;
    for id in ["", "a\nb", "\u{2028}\u{0}", "🦀", "\"}{"] {
        let mut request = call("2026-07-28", 0, "echo");
        request["id"] = json!(id);
        peer.send(request).await;
        assert_eq!(within(peer.receive()).await["id"], id);
    }
}

// hardening: H-186
#[tokio::test(start_paused = true)]
async fn a_peer_that_never_reads_is_given_up() {
    let mut peer = modern().await;
    let mut big = call("2026-07-28", 0, "echo");
    big["id"] = json!("i".repeat(30_000));
    for _ in 0..4 {
        peer.send(big.clone()).await;
    }
    let end = within(peer.driver)
        .await
        .expect("no panic")
        .expect("no error");
    assert_eq!(end, PipeEnd::WriteTimedOut);
}

// spec: 2025-11-25 D0326-01
// hardening: H-96
#[tokio::test(start_paused = true)]
async fn a_batch_is_answered_where_the_revision_has_batches() {
    let batch = json!([
        { "jsonrpc": "2.0", "id": 1, "method": "ping" },
        call("2025-03-26", 2, "echo"),
    ]);
    let mut peer = Peer::initialized("2025-03-26").await;
    peer.send(batch.clone()).await;
    let answers = within(peer.receive()).await;
    assert_eq!(
        (&answers[0]["id"], &answers[1]["id"]),
        (&json!(1), &json!(2))
    );
    let mut peer = Peer::initialized("2025-11-25").await;
    peer.send(batch).await;
    assert_eq!(within(peer.receive()).await["error"]["code"], -32600);
}

// hardening: H-125
#[tokio::test(start_paused = true)]
async fn large_ids_come_back_digit_for_digit_or_are_refused() {
    let mut peer = modern().await;
    for id in [i64::MAX, i64::MIN, 9_007_199_254_740_993] {
        peer.send(call("2026-07-28", id, "echo")).await;
        assert_eq!(within(peer.receive()).await["id"], id);
    }
    let beyond = call("2026-07-28", 77, "echo")
        .to_string()
        .replace("\"id\":77", "\"id\":18446744073709551616");
    let before = before_the_next_answer(&mut peer, format!("{beyond}\n").as_bytes()).await;
    assert_eq!(before[0]["error"]["code"], -32600);
}

// hardening: H-128
#[tokio::test(start_paused = true)]
async fn a_member_in_another_case_is_another_member() {
    let mut peer = modern().await;
    let real = call("2026-07-28", 5, "echo").to_string();
    for (name, other) in [
        ("\"method\"", "\"Method\""),
        ("\"method\"", "\"method\\u0000\""),
        ("\"jsonrpc\"", "\"JSONRPC\""),
    ] {
        let junk = format!("{}\n", real.replace(name, other));
        let before = before_the_next_answer(&mut peer, junk.as_bytes()).await;
        assert_eq!(before.len(), 1, "{other}");
        assert_eq!(before[0]["error"]["code"], -32600, "{other}");
    }
}
