//! Parked calls: their limit, their timeout, and the end of their client.

use std::time::Duration;

use pintle::client::{Client, EraMode, InProcess};
use pintle::model::{JsonObject, Revision};
use pintle_proxy::ProxyOptions;
use serde_json::{Value, json};

use crate::server::{Chain, answering, chain_with, text};

const PAIR: (Revision, Revision) = (Revision::LATEST, Revision::LATEST_LEGACY);

fn params(value: Value) -> JsonObject {
    value.as_object().cloned().expect("an object")
}

/// Calls the tool that asks, without an answer to its question.
async fn ask(chain: &Chain) -> Result<Value, pintle::client::CallError> {
    let params = json!({ "name": "book" }).to_string();
    let raw = chain.client.forward("tools/call", &params).await?;
    Ok(serde_json::from_str(raw.get()).expect("JSON"))
}

/// Retries the call with an answer to each question of a result.
async fn retry(chain: &Chain, asked: &Value) -> Result<Value, pintle::client::CallError> {
    let questions = asked["inputRequests"].as_object().expect("questions");
    let answer = json!({ "action": "accept", "content": { "seat": "7C" } });
    let answers = questions.keys().map(|name| (name.clone(), answer.clone()));
    let params = json!({
        "name": "book",
        "inputResponses": Value::Object(answers.collect()),
        "requestState": asked["requestState"],
    });
    let raw = chain
        .client
        .forward("tools/call", &params.to_string())
        .await?;
    Ok(serde_json::from_str(raw.get()).expect("JSON"))
}

fn code(error: &pintle::client::CallError) -> Option<i64> {
    error.answer().map(|error| error.code.0)
}

#[tokio::test(start_paused = true)]
async fn a_parked_call_continues_with_the_retry() {
    let chain = chain_with(answering(), PAIR, ProxyOptions::default()).await;
    let first = ask(&chain).await.expect("a question");
    assert_eq!(first["resultType"], "input_required");
    let second = retry(&chain, &first).await.expect("a question");
    assert_eq!(second["resultType"], "input_required");
    let again = retry(&chain, &first).await.expect_err("a used state");
    assert_eq!(code(&again), Some(-32602));
    let result = retry(&chain, &second).await.expect("a result");
    assert_eq!(result["content"][0]["text"], "7C 7C");
    assert_eq!(chain.counts.bookings(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_retry_without_an_answer_is_asked_again() {
    let chain = chain_with(answering(), PAIR, ProxyOptions::default()).await;
    let mut asked = ask(&chain).await.expect("a question");
    let params = json!({ "name": "book", "requestState": asked["requestState"] });
    let raw = chain
        .client
        .forward("tools/call", &params.to_string())
        .await;
    asked = serde_json::from_str(raw.expect("a question").get()).expect("JSON");
    assert_eq!(asked["resultType"], "input_required");
    assert_eq!(
        retry(&chain, &asked).await.expect("a question")["resultType"],
        "input_required"
    );
}

#[tokio::test(start_paused = true)]
async fn a_parked_call_ends_after_its_timeout() {
    let mut options = ProxyOptions::default();
    options.park_timeout = Duration::from_secs(5);
    let chain = chain_with(answering(), PAIR, options).await;
    let asked = ask(&chain).await.expect("a question");
    tokio::time::sleep(Duration::from_secs(7)).await;
    let late = retry(&chain, &asked).await.expect_err("an expired state");
    assert_eq!(code(&late), Some(-32602));
}

#[tokio::test(start_paused = true)]
async fn parked_calls_have_a_limit() {
    let mut options = ProxyOptions::default();
    options.max_parked_calls = 2;
    let chain = chain_with(answering(), PAIR, options).await;
    for _ in 0..2 {
        ask(&chain).await.expect("a question");
    }
    let refused = ask(&chain).await.expect_err("no room");
    assert_eq!(code(&refused), Some(-32603));
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_session_closes_its_connection() {
    let chain = chain_with(answering(), PAIR, ProxyOptions::default()).await;
    ask(&chain).await.expect("a question");
    assert_eq!(chain.proxy.connections(), 1);
    chain.client.close().await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(chain.proxy.connections(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_session_does_not_continue_the_call_of_another() {
    let chain = chain_with(answering(), PAIR, ProxyOptions::default()).await;
    let asked = ask(&chain).await.expect("a question");
    let other = answering().mode(EraMode::Pinned(Revision::LATEST));
    let other = other
        .connect(InProcess::new(chain.proxy.clone()))
        .await
        .expect("a proxy");
    let params = json!({ "name": "book", "requestState": asked["requestState"] });
    let refused = other.forward("tools/call", &params.to_string()).await;
    assert_eq!(code(&refused.expect_err("another session")), Some(-32602));
    assert_eq!(
        retry(&chain, &asked).await.expect("a question")["resultType"],
        "input_required"
    );
}

#[tokio::test(start_paused = true)]
async fn connections_have_a_limit() {
    let mut options = ProxyOptions::default();
    options.max_connections = 1;
    let chain = chain_with(Client::builder(), PAIR, options).await;
    let result = chain.client.call_tool("echo", json!({ "text": "a" })).await;
    assert_eq!(text(&result.expect("a result")), "a");
    let other = Client::builder()
        .connect(InProcess::new(chain.proxy.clone()))
        .await;
    let refused = other
        .expect("a proxy")
        .request_raw("tools/list", params(json!({})))
        .await;
    assert_eq!(code(&refused.expect_err("no room")), Some(-32603));
}
