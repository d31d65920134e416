//! The limits of a proxy.

use std::time::Duration;

use pintle::client::{CallError, Client};
use pintle::model::Revision;
use pintle_proxy::ProxyOptions;

use crate::server::{answering, chain_with};

const LEGACY: Revision = Revision::LATEST_LEGACY;
const MODERN: Revision = Revision::LATEST;

fn code<T: std::fmt::Debug>(result: Result<T, CallError>) -> Option<i64> {
    let error = result.expect_err("a limit");
    error.answer().map(|error| error.code.0)
}

#[tokio::test(start_paused = true)]
async fn the_rounds_of_a_call_have_a_limit() {
    let mut options = ProxyOptions::default();
    options.max_rounds = 1;
    let chain = chain_with(answering(), (LEGACY, MODERN), options).await;
    assert_eq!(code(chain.client.call_tool("book", ()).await), Some(-32603));
}

#[tokio::test(start_paused = true)]
async fn a_call_without_an_answer_ends_after_its_timeout() {
    for pair in [(LEGACY, LEGACY), (MODERN, LEGACY), (MODERN, MODERN)] {
        let mut options = ProxyOptions::default();
        options.call_timeout = Duration::from_secs(5);
        let chain = chain_with(answering(), pair, options).await;
        assert_eq!(code(chain.client.call_tool("wait", ()).await), Some(-32603));
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(chain.counts.cancelled(), 1, "{pair:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_open_calls_of_a_connection_have_a_limit() {
    let mut options = ProxyOptions::default();
    // The subscription of the proxy is a call, too.
    options.max_calls = 2;
    let chain = chain_with(Client::builder(), (MODERN, MODERN), options).await;
    chain.client.list_tools().await.expect("a list");
    let client = chain.client.clone();
    let waiting = tokio::spawn(async move { client.call_tool("wait", ()).await });
    tokio::time::sleep(Duration::from_secs(1)).await;
    let refused = chain.client.forward("tools/list", "{}");
    assert_eq!(code(refused.await), Some(-32603));
    waiting.abort();
}
