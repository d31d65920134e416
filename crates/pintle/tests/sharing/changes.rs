//! Changes that one replica announces reach the clients of the others.

use std::sync::Arc;

use serde_json::json;

use super::{Counted, Replica, replicas, settle};

fn all() -> serde_json::Value {
    json!({ "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
        "resourceSubscriptions": ["file:///a"] })
}

// spec: 2026-07-28 N-SUBS-07
#[tokio::test(start_paused = true)]
async fn a_change_at_one_replica_reaches_listeners_of_all_others() {
    let [first, second, third] = replicas(&Arc::new(Counted::new())).await;
    let mut listeners = [
        first.listen(all()).await,
        second.listen(all()).await,
        third.listen(all()).await,
    ];
    for listener in &mut listeners {
        assert_eq!(listener.arrived().await, ["subscriptions/acknowledged"]);
    }
    first.changes.tools();
    first.changes.prompts();
    first.changes.resources();
    first.changes.resource("file:///a");
    first.changes.resource("file:///b");
    for (number, listener) in listeners.iter_mut().enumerate() {
        let mut arrived = listener.arrived().await;
        arrived.sort();
        let expected = [
            "prompts/list_changed",
            "resources/list_changed",
            "resources/updated file:///a",
            "tools/list_changed",
        ];
        assert_eq!(arrived, expected, "replica {number}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_of_a_session_receives_changes_of_other_replicas() {
    let [first, second] = replicas(&Arc::new(Counted::new())).await;
    let id = first.open().await;
    let subscribe = json!({ "uri": "file:///a" });
    let (status, _) = second.ask(&id, "resources/subscribe", subscribe).await;
    assert_eq!(status, 200);
    let mut stream = second.stream(&id).await;
    settle().await;
    first.changes.tools();
    first.changes.resource("file:///a");
    first.changes.resource("file:///b");
    let mut arrived = stream.arrived().await;
    arrived.sort();
    assert_eq!(
        arrived,
        ["resources/updated file:///a", "tools/list_changed"]
    );
}

/// Replicas with a session, whose client subscribed at the last of them.
async fn subscribed() -> ([Replica; 3], String) {
    let replicas = replicas(&Arc::new(Counted::new())).await;
    let id = replicas[0].open().await;
    let subscribe = json!({ "uri": "file:///a" });
    let (status, _) = replicas[2].ask(&id, "resources/subscribe", subscribe).await;
    assert_eq!(status, 200);
    (replicas, id)
}

#[tokio::test(start_paused = true)]
async fn one_stream_of_a_session_receives_a_change_of_any_replica_once() {
    let (replicas, id) = subscribed().await;
    let mut stream = replicas[1].stream(&id).await;
    settle().await;
    for announcing in &replicas {
        announcing.changes.resource("file:///a");
        let arrived = stream.arrived().await;
        assert_eq!(arrived, ["resources/updated file:///a"]);
    }
}

const UPDATED: [&str; 1] = ["resources/updated file:///a"];

// spec: 2025-11-25 TRANS-HTTP-39
#[tokio::test(start_paused = true)]
async fn the_newest_of_two_streams_at_two_replicas_receives_a_change() {
    let (replicas, id) = subscribed().await;
    let [first, second, _] = &replicas;
    let mut older = first.stream(&id).await;
    settle().await;
    let mut newer = second.stream(&id).await;
    settle().await;
    for announcing in &replicas {
        announcing.changes.resource("file:///a");
        assert_eq!(newer.arrived().await, UPDATED);
        assert_eq!(older.arrived().await, [""; 0]);
    }
    // The older one becomes the newest again.
    let mut newest = first.stream(&id).await;
    settle().await;
    second.changes.resource("file:///a");
    assert_eq!(newest.arrived().await, UPDATED);
    assert_eq!(newer.arrived().await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn one_of_two_streams_that_open_together_receives_a_change() {
    let (replicas, id) = subscribed().await;
    let [first, second, third] = &replicas;
    let mut streams = [
        first.stream(&id).await,
        second.stream(&id).await,
        third.stream(&id).await,
    ];
    settle().await;
    for announcing in &replicas {
        announcing.changes.resource("file:///a");
        let mut arrived = Vec::new();
        for stream in &mut streams {
            arrived.extend(stream.arrived().await);
        }
        assert_eq!(arrived, UPDATED);
    }
}

#[tokio::test(start_paused = true)]
async fn an_older_stream_receives_changes_after_the_end_of_the_newer_one() {
    let (replicas, id) = subscribed().await;
    let [first, second, third] = &replicas;
    let mut older = first.stream(&id).await;
    settle().await;
    let newer = second.stream(&id).await;
    settle().await;
    assert_eq!(older.arrived().await, [""; 0]);
    drop(newer);
    settle().await;
    // Some may have been lost with the newer one, so all are sent.
    let arrived = older.arrived().await;
    assert!(arrived.iter().any(|it| it == UPDATED[0]), "{arrived:?}");
    third.changes.resource("file:///a");
    assert_eq!(older.arrived().await, UPDATED);
}

#[tokio::test(start_paused = true)]
async fn an_older_stream_receives_changes_when_the_other_replica_is_gone() {
    let (replicas, id) = subscribed().await;
    let [first, second, third] = replicas;
    let mut older = first.stream(&id).await;
    settle().await;
    let newer = second.stream(&id).await;
    settle().await;
    drop((second, newer));
    for _ in 0..4 {
        settle().await;
    }
    drop(older.arrived().await);
    third.changes.resource("file:///a");
    assert_eq!(older.arrived().await, UPDATED);
}

#[tokio::test(start_paused = true)]
async fn a_burst_of_changes_is_one_append_and_no_replica_repeats_it() {
    let store = Arc::new(Counted::new());
    let [first, second] = replicas(&store).await;
    let mut listeners = [first.listen(all()).await, second.listen(all()).await];
    settle().await;
    let before = store.appends("news");
    for _ in 0..100 {
        first.changes.tools();
    }
    for listener in &mut listeners {
        let arrived = listener.arrived().await;
        let acknowledged_first = &arrived[1..];
        assert_eq!(acknowledged_first, ["tools/list_changed"]);
    }
    settle().await;
    assert_eq!(store.appends("news") - before, 1);
}

#[tokio::test(start_paused = true)]
async fn a_change_from_before_the_first_client_joins_the_replica() {
    let [first, second] = replicas(&Arc::new(Counted::new())).await;
    let mut listener = second.listen(all()).await;
    settle().await;
    first.changes.resource("file:///a");
    let arrived = listener.arrived().await;
    assert_eq!(arrived.last().expect("one"), "resources/updated file:///a");
}

#[tokio::test(start_paused = true)]
async fn a_server_without_listeners_and_changes_does_not_join() {
    let store = Arc::new(Counted::new());
    let [first, _second] = replicas(&store).await;
    let before = store.total();
    settle().await;
    drop(first);
    settle().await;
    assert_eq!(store.total(), before);
}
