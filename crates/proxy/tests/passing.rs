//! Members and methods that pass through: completion, pages, cache hints, and the context of traces.

use pintle::client::{Client, EraMode, InProcess};
use pintle::model::{JsonObject, Revision};
use pintle::prelude::*;
use pintle::proto::TransportError;
use pintle::runtime::{Connect, IntoService, ParamHeader, Service};
use pintle_proxy::Proxy;
use serde_json::{Value, json};

use crate::server::pairs;

const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// Returns the context of the trace of its call, and a member that no revision has.
#[tool]
async fn trace(cx: Context) -> String {
    let params: Value = serde_json::from_str(cx.request().params.text()).unwrap_or_default();
    let meta = &params["_meta"];
    format!("{} {}", meta["traceparent"], meta["com.example/own"])
}

/// Returns without an effect.
#[tool]
async fn rest() -> &'static str {
    ""
}

/// Returns a text for a person.
#[prompt(complete(name = names))]
async fn greet(name: String) -> String {
    name
}

async fn names() -> Vec<&'static str> {
    vec!["Ada", "Alan"]
}

fn library() -> impl Service {
    let server = Server::new("library", "1.0.0").page_size(1);
    let server = server.tool::<trace>().tool::<rest>().prompt::<greet>();
    server.into_service().expect("a valid server")
}

async fn client(revision: Revision, service: impl Service) -> Client {
    let builder = Client::builder().mode(EraMode::Pinned(revision));
    builder
        .connect(InProcess::new(service))
        .await
        .expect("a server")
}

/// Returns two clients of a revision: one of the server, and one of a proxy to a server of a revision.
async fn both((of_client, of_server): (Revision, Revision)) -> [Client; 2] {
    let proxy = Proxy::connect(move |client| {
        let client = client.mode(EraMode::Pinned(of_server));
        client.connect_lazily(InProcess::new(library()))
    });
    let proxy = proxy.await.expect("a server");
    [
        client(of_client, library()).await,
        client(of_client, proxy).await,
    ]
}

async fn ask(client: &Client, method: &str, params: &Value) -> Value {
    let result = client.forward(method, &params.to_string()).await;
    let result = result.unwrap_or_else(|error| panic!("{method}: {error}"));
    serde_json::from_str(result.get()).expect("JSON")
}

#[tokio::test(start_paused = true)]
async fn results_are_those_of_the_server_in_the_clients_revision() {
    let meta = json!({ "traceparent": TRACE, "com.example/own": 1 });
    let requests = [
        ("tools/list", json!({})),
        ("prompts/list", json!({})),
        (
            "tools/call",
            json!({ "name": "trace", "arguments": {}, "_meta": meta }),
        ),
        (
            "prompts/get",
            json!({ "name": "greet", "arguments": { "name": "Ada" } }),
        ),
        (
            "completion/complete",
            json!({
                "ref": { "type": "ref/prompt", "name": "greet" },
                "argument": { "name": "name", "value": "A" },
            }),
        ),
    ];
    for pair in pairs() {
        let [direct, proxied] = both(pair).await;
        for (method, params) in &requests {
            let mut expected = ask(&direct, method, params).await;
            let mut found = ask(&proxied, method, params).await;
            if pair.0 != pair.1 {
                // The cursor of a page belongs to one process, and an earlier server has no cache hints.
                for result in [&mut expected, &mut found] {
                    let members = result.as_object_mut().expect("an object");
                    members.retain(|name, _| !["ttlMs", "cacheScope"].contains(&&**name));
                }
            }
            for result in [&mut expected, &mut found] {
                if let Some(cursor) = result.get_mut("nextCursor") {
                    *cursor = "a cursor".into();
                }
            }
            assert_eq!(found, expected, "{method} {pair:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_context_of_a_trace_reaches_the_server() {
    for pair in pairs() {
        let [_, proxied] = both(pair).await;
        let meta = json!({ "traceparent": TRACE, "com.example/own": 1 });
        let params = json!({ "name": "trace", "arguments": {}, "_meta": meta });
        let result = ask(&proxied, "tools/call", &params).await;
        let expected = format!("\"{TRACE}\" 1");
        assert_eq!(result["content"][0]["text"], expected, "{pair:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_pages_of_a_list_continue() {
    for pair in pairs() {
        let [_, proxied] = both(pair).await;
        let tools = proxied.list_tools().await.expect("a list");
        let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["trace", "rest"], "{pair:?}");
    }
}

/// Returns its region.
#[tool]
async fn ship(order: Args<Order>) -> String {
    order.0.region
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Order {
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: String,
}

/// A transport that cannot repeat arguments in headers.
struct WithoutHeaders<S>(InProcess<S>);

impl<S: Service> Connect for WithoutHeaders<S> {
    type Transport = <InProcess<S> as Connect>::Transport;

    async fn connect(&self) -> Result<Self::Transport, TransportError> {
        self.0.connect().await
    }

    fn param_headers(&self, schema: &JsonObject) -> Result<Vec<ParamHeader>, String> {
        match json!(schema).to_string().contains("x-mcp-header") {
            true => Err("this transport has no headers".to_owned()),
            false => Ok(Vec::new()),
        }
    }
}

#[tokio::test]
async fn tools_that_the_transport_of_the_server_cannot_call_are_hidden() {
    let server = Server::new("port", "1.0.0").tool::<ship>().tool::<rest>();
    let server = server.into_service().expect("valid");
    let proxy = Proxy::connect(move |client| {
        client.connect_lazily(WithoutHeaders(InProcess::new(server.clone())))
    });
    let proxy = proxy.await.expect("a server");
    let client = Client::connect(InProcess::new(proxy)).await;
    let tools = client.expect("a proxy").list_tools().await.expect("tools");
    let names: Vec<_> = tools.into_iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["rest"]);
}
