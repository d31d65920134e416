//! Connections that are kept, and what happens when they are not there any more.

use std::time::Duration;

use pintle_http::client::HttpClientOptions;
use pintle_model::Revision;
use serde_json::json;
use tokio::time::sleep;

use super::origin::{BodyPart, FakeServer, event, json, result, stream, streamed, with};
use super::user::{User, user_with};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn one_connection_carries_one_call_after_the_other() {
    let origin = FakeServer::new(|seen, count| match count % 3 {
        0 => json(200, &result(seen)),
        1 => streamed([event(&result(seen))]),
        _ => json(400, &super::origin::error(seen.id(), -32602)),
    });
    let user = User::modern(origin.clone()).await;
    for _ in 0..30 {
        drop(user.list().await);
    }
    assert_eq!(origin.seen().len(), 30);
    assert_eq!(origin.connections().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn concurrent_calls_have_own_connections_that_are_reused_later() {
    let origin = FakeServer::new(|seen, _| {
        let mut answer = vec![BodyPart::Wait(SECOND)];
        answer.extend(json(200, &result(seen)));
        answer
    });
    let user = User::modern(origin.clone()).await;
    for _ in 0..3 {
        let calls: Vec<_> = (0..8).map(|_| user.call("tools/list", json!({}))).collect();
        for call in calls {
            call.outcome().await.expect("a result");
        }
    }
    assert_eq!(origin.connections().len(), 8);
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_the_server_closed_is_replaced() {
    let origin = FakeServer::new(|seen, _| {
        let mut answer = json(200, &result(seen));
        answer.extend([BodyPart::Wait(SECOND), BodyPart::Cut]);
        answer
    });
    let user = User::modern(origin.clone()).await;
    for _ in 0..5 {
        user.list().await.expect("a result");
        sleep(2 * SECOND).await;
    }
    assert_eq!(origin.connections().len(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_connection_is_kept_for_its_time_and_no_longer() {
    for (said, kept, gone) in [(None, 29, 31), (Some("timeout=5, max=9"), 3, 5)] {
        let origin = FakeServer::new(move |seen, _| {
            let said = said.map(|said| ("keep-alive", said));
            let mut headers: Vec<_> = said.into_iter().collect();
            headers.push(("content-type", "application/json"));
            with(200, &headers, result(seen).to_string())
        });
        let user = User::modern(origin.clone()).await;
        user.list().await.expect("a result");
        sleep(kept * SECOND).await;
        user.list().await.expect("a result");
        assert_eq!(origin.connections().len(), 1);
        sleep(gone * SECOND).await;
        assert_eq!(origin.closed(), [0], "nobody had to come back for it");
        user.list().await.expect("a result");
        assert_eq!(origin.connections().len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn idle_connections_are_limited_in_number() {
    let origin = FakeServer::new(|seen, _| {
        let mut answer = vec![BodyPart::Wait(SECOND)];
        answer.extend(json(200, &result(seen)));
        answer
    });
    let mut options = HttpClientOptions::default();
    options.limits.max_idle_connections = 3;
    let user = user_with(origin.clone(), &options).await;
    user.peer
        .with_engine_mut(|engine| engine.use_revision(Revision::LATEST));
    for expected in [4, 5] {
        let calls: Vec<_> = (0..4).map(|_| user.call("tools/list", json!({}))).collect();
        for call in calls {
            call.outcome().await.expect("a result");
        }
        sleep(SECOND).await;
        assert_eq!(origin.connections().len(), expected);
        assert_eq!(origin.closed().len(), expected - 3);
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_does_not_end_after_its_answer_is_not_kept() {
    let origin = FakeServer::new(|seen, _| {
        let mut answer = stream(&[]);
        answer.extend([event(&result(seen)), BodyPart::Hang]);
        answer
    });
    let user = User::modern(origin.clone()).await;
    user.list().await.expect("a result");
    sleep(2 * SECOND).await;
    assert_eq!(origin.closed(), [0]);
}
