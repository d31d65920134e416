//! A faulty handler is answered with an error, and other requests are not affected.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use pintle::prelude::*;
use pintle::server::StartError;
use serde_json::json;

use crate::server::peer::{Peer, REVISIONS};

/// Panics at once.
#[tool]
async fn panics() -> String {
    panic!("as asked; the password is 12345")
}

/// Panics after a while.
#[tool]
async fn panics_late() -> String {
    tokio::time::sleep(Duration::from_millis(10)).await;
    panic!("as asked, later")
}

/// Waits without end.
#[tool(timeout = "1s")]
async fn hangs() {
    std::future::pending().await
}

/// Waits until the call is cancelled.
#[tool]
async fn waits(dropped: State<AtomicUsize>, ctx: Context) {
    struct Guard(State<AtomicUsize>);
    impl Drop for Guard {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let _guard = Guard(dropped);
    ctx.progress(1.0, None, ()).await;
    std::future::pending().await
}

/// Returns the number of dropped calls.
#[tool]
async fn dropped(dropped: State<AtomicUsize>) -> usize {
    dropped.load(Ordering::SeqCst)
}

/// A gate that opens once.
struct Gate {
    key: Sender<()>,
    lock: Mutex<Receiver<()>>,
}

/// Blocks its thread until the gate is opened.
#[tool(blocking)]
fn blocks(gate: State<Gate>) -> &'static str {
    let opened = gate.lock.lock().expect("nobody panics").recv();
    opened.map_or("shut", |()| "opened")
}

/// Opens the gate.
#[tool]
async fn opens(gate: State<Gate>) -> bool {
    gate.key.send(()).is_ok()
}

fn server() -> Server {
    let (key, lock) = channel();
    Server::new("faults", "1")
        .state(AtomicUsize::new(0))
        .state(Gate {
            key,
            lock: Mutex::new(lock),
        })
        .tools::<(panics, panics_late, hangs, waits, dropped, blocks, opens)>()
}

// spec: 2025-11-25 TOOL-24
// spec: 2026-07-28 N-TOOL-13, N-TOOL-18 (failures)
#[tokio::test(start_paused = true)]
async fn a_panic_is_an_internal_error_without_details() {
    for revision in REVISIONS {
        let mut peer = Peer::of(server(), revision).await;
        for tool in ["panics", "panics_late"] {
            let error = peer.error("tools/call", json!({ "name": tool })).await;
            assert_eq!(error["code"], -32603, "{revision}");
            assert!(
                !error.to_string().contains("as asked"),
                "{revision}: {error}"
            );
        }
        assert_eq!(
            peer.call("dropped", json!({})).await["content"][0]["text"],
            "0",
            "{revision}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_beyond_its_timeout_ends_with_an_error_for_the_model() {
    for revision in REVISIONS {
        let mut peer = Peer::of(server(), revision).await;
        let late = peer.call("hangs", json!({})).await;
        assert_eq!(late["isError"], true, "{revision}");
        assert!(
            late["content"][0]["text"]
                .as_str()
                .expect("text")
                .contains("1s"),
            "{revision}: {late}"
        );
    }
}

#[tokio::test]
async fn a_cancelled_call_is_dropped_and_the_next_is_served() {
    for revision in REVISIONS {
        let mut peer = Peer::of(server(), revision).await;
        let id = peer
            .request(
                "tools/call",
                json!({ "name": "waits", "_meta": { "progressToken": 1 } }),
            )
            .await;
        peer.receive_method("notifications/progress").await;
        let params = json!({ "requestId": id, "reason": "no longer wanted" });
        peer.send(
            &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }),
        )
        .await;
        while peer.call("dropped", json!({})).await["content"][0]["text"] == "0" {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn a_function_that_blocks_does_not_delay_other_requests() {
    for revision in REVISIONS {
        let mut peer = Peer::of(server(), revision).await;
        let blocked = peer
            .request("tools/call", json!({ "name": "blocks" }))
            .await;
        assert_eq!(
            peer.call("opens", json!({})).await["content"][0]["text"],
            "true",
            "{revision}"
        );
        let answer = peer.first(|message| message["id"] == blocked).await;
        assert_eq!(
            answer["result"]["content"][0]["text"], "opened",
            "{revision}"
        );
    }
}

#[test]
fn a_server_without_the_state_of_its_handlers_does_not_start() {
    let error = Server::new("faults", "1")
        .tool::<waits>()
        .build()
        .expect_err("a fault");
    assert!(
        matches!(&error, StartError::MissingState { of, .. } if of == "waits"),
        "{error:?}"
    );
    assert!(error.to_string().contains("AtomicUsize"), "{error}");
}

// spec: 2025-11-25 TOOL-16, PROM-04
// spec: 2026-07-28 N-TOOL-05
#[test]
fn two_of_a_name_do_not_start() {
    let error = server().tool::<panics>().build().expect_err("a fault");
    assert!(matches!(error, StartError::Taken(_)), "{error:?}");
}
