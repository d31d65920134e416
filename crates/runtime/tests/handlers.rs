//! Whatever a handler does, its peer is answered and the server lives on: on a pipe, in every
//! revision.

use serde_json::json;

use crate::common::{Peer, REVISIONS, call, dropped, ready, within};
use pintle_runtime::{PipeEnd, PipeOptions};

// hardening: H-182
#[tokio::test(start_paused = true)]
async fn a_panicking_handler_is_answered_and_the_next_call_works() {
    for revision in REVISIONS {
        let mut peer = ready(revision).await;
        for (id, tool) in [(1, "panic"), (2, "late-panic")] {
            peer.send(call(revision, id, tool)).await;
            let answer = within(peer.receive()).await;
            assert_eq!(
                (&answer["id"], &answer["error"]["code"]),
                (&json!(id), &json!(-32603)),
                "{revision}"
            );
            assert!(
                !answer.to_string().contains("as asked"),
                "the panic's text stays here"
            );
        }
        peer.send(call(revision, 3, "echo")).await;
        assert_eq!(
            within(peer.receive()).await["result"]["content"][0]["text"],
            "echo"
        );
        assert_eq!(peer.finish().await, PipeEnd::EndOfInput);
    }
}

// hardening: H-183
#[tokio::test(start_paused = true)]
async fn a_hanging_handler_does_not_hold_the_others() {
    for revision in REVISIONS {
        let mut peer = ready(revision).await;
        peer.send(call(revision, 1, "hang")).await;
        peer.send(call(revision, 2, "echo")).await;
        assert_eq!(within(peer.receive()).await["id"], 2);
        assert_eq!(
            peer.finish().await,
            PipeEnd::Cut,
            "what hangs is cut off at the end"
        );
    }
}

// spec: 2025-11-25 CANC-04
// spec: 2026-07-28 N-CANC-04, N-CANC-05
#[tokio::test(start_paused = true)]
async fn a_cancelled_handler_is_dropped_and_not_answered() {
    for revision in REVISIONS {
        let mut peer = ready(revision).await;
        let before = dropped();
        peer.send(call(revision, 1, "hang")).await;
        peer.send(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } })).await;
        peer.send(call(revision, 2, "slow")).await;
        let answer = within(peer.receive()).await;
        assert_eq!(answer["id"], 2, "nothing is said about the cancelled one");
        assert!(dropped() > before, "its future is dropped");
        assert_eq!(peer.finish().await, PipeEnd::EndOfInput);
    }
}

// spec: 2025-11-25 PROG-03
// spec: 2026-07-28 N-PROG-04, N-PROG-05
#[tokio::test(start_paused = true)]
async fn progress_arrives_in_order_and_before_the_answer() {
    for revision in REVISIONS {
        let mut peer = ready(revision).await;
        let mut request = call(revision, 1, "progress");
        request["params"]["arguments"]["steps"] = json!(2_000);
        peer.send(request).await;
        for step in 1..=2_000 {
            let notice = within(peer.receive()).await;
            assert_eq!(notice["params"]["progress"].as_f64(), Some(f64::from(step)));
        }
        assert_eq!(within(peer.receive()).await["id"], 1);
        assert_eq!(peer.finish().await, PipeEnd::EndOfInput);
    }
}

// hardening: H-130
#[tokio::test(start_paused = true)]
async fn open_requests_are_answered_after_the_end_of_input() {
    let mut peer = Peer::connect(crate::common::Misbehaving, PipeOptions::default());
    for id in 1..=10 {
        peer.send(call("2026-07-28", id, "late-panic")).await;
    }
    peer.send(call("2026-07-28", 11, "hang")).await;
    let started = tokio::time::Instant::now();
    tokio::io::AsyncWriteExt::shutdown(&mut peer.writer)
        .await
        .expect("shuts down");
    for _ in 1..=10 {
        assert_eq!(within(peer.receive()).await["error"]["code"], -32603);
    }
    let end = within(peer.driver)
        .await
        .expect("no panic")
        .expect("no error");
    assert_eq!(end, PipeEnd::Cut, "what hangs is cut off");
    assert!(started.elapsed().as_secs() <= 5);
}
