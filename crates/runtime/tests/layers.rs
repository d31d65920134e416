//! Layers around a service, seen from a peer.

use std::time::Duration;

use tower_layer::Layer;

use crate::common::{Misbehaving, Peer, call, within};
use pintle_runtime::layers::{CatchPanicLayer, LimitLayer, TimeoutLayer, TraceLayer};
use pintle_runtime::{PipeOptions, Service};

fn peer(service: impl Service) -> Peer {
    Peer::connect(service, PipeOptions::default())
}

// hardening: H-183
#[tokio::test(start_paused = true)]
async fn a_handler_past_its_ceiling_is_dropped_and_answered() {
    let mut peer = peer(TimeoutLayer::new(Duration::from_secs(2)).layer(Misbehaving));
    let started = tokio::time::Instant::now();
    peer.send(call("2026-07-28", 1, "slow")).await;
    let answer = within(peer.receive()).await;
    assert_eq!(answer["error"]["code"], -32603);
    assert!(
        answer["error"]["message"]
            .as_str()
            .expect("a message")
            .contains("tools/call")
    );
    assert_eq!(started.elapsed().as_secs(), 2);
}

// spec: 2025-11-25 TOOL-31
// spec: 2026-07-28 N-TOOL-18 (rate)
#[tokio::test(start_paused = true)]
async fn a_principal_at_its_bound_is_refused_and_served_again_afterwards() {
    let mut peer = peer(LimitLayer::new(8, 1).layer(Misbehaving));
    peer.send(call("2026-07-28", 1, "slow")).await;
    peer.send(call("2026-07-28", 2, "echo")).await;
    let refused = within(peer.receive()).await;
    assert_eq!(
        (&refused["id"], &refused["error"]["code"]),
        (&2.into(), &(-32603).into())
    );
    assert_eq!(within(peer.receive()).await["id"], 1);
    peer.send(call("2026-07-28", 3, "echo")).await;
    assert_eq!(
        within(peer.receive()).await["result"]["content"][0]["text"],
        "echo"
    );
}

#[tokio::test(start_paused = true)]
async fn layers_go_around_each_other_and_leave_answers_as_they_are() {
    let layered = TraceLayer
        .layer(CatchPanicLayer.layer(TimeoutLayer::new(Duration::from_secs(9)).layer(Misbehaving)));
    let mut peer = peer(layered);
    for (id, tool) in [(1, "panic"), (2, "late-panic")] {
        peer.send(call("2026-07-28", id, tool)).await;
        assert_eq!(within(peer.receive()).await["error"]["code"], -32603);
    }
    peer.send(call("2026-07-28", 3, "echo")).await;
    assert_eq!(
        within(peer.receive()).await["result"]["content"][0]["text"],
        "echo"
    );
}
