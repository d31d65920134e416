//! One line connects a client to a server in this process, to a program and to a URL.

use pintle::http::HttpServer;
use pintle::prelude::*;
use serde_json::json;

/// Adds two numbers.
#[tool(read_only)]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn server() -> Server {
    Server::new("calculator", "1").tool::<add>()
}

async fn three(client: Client) -> Vec<ContentBlock> {
    let sum = client.call_tool("add", json!({ "a": 1, "b": 2 })).await;
    sum.expect("a sum").content
}

#[tokio::test]
async fn a_client_connects_to_a_server_in_this_process() {
    let client = Client::connect(server()).await.expect("a client");
    assert_eq!(three(client).await, [ContentBlock::text("3")]);
}

#[tokio::test]
async fn a_client_connects_to_a_url() {
    let endpoint = server().into_http().expect("an endpoint");
    let endpoint = HttpServer::bind(endpoint, "127.0.0.1:0").await;
    let endpoint = endpoint.expect("a socket");
    let url = format!("http://{}/mcp", endpoint.address().expect("an address"));
    let running = tokio::spawn(endpoint.run());
    let client = Client::connect(&*url).await.expect("a client");
    assert_eq!(three(client).await, [ContentBlock::text("3")]);
    let client = Client::builder().connect(url).await.expect("a client");
    assert_eq!(three(client).await, [ContentBlock::text("3")]);
    running.abort();
}

#[tokio::test]
async fn a_target_that_does_not_name_a_server_is_refused() {
    let refused = Client::connect("ftp://example.com").await;
    let error = refused.expect_err("an invalid URL").to_string();
    assert!(error.contains("http"), "{error}");
    let twice = server().tool::<add>();
    assert!(Client::connect(twice).await.is_err());
}

#[tokio::test]
async fn a_client_connects_to_a_program() {
    let missing = Client::connect(Command::new("no-program-has-this-name")).await;
    assert!(missing.is_err());
}
