//! The server behind the proxy of the tests, and its pairs with clients.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pintle::client::{Client, ClientBuilder, EraMode, InProcess};
use pintle::model::{LoggingLevel, Revision};
use pintle::prelude::*;
use pintle::runtime::{IntoService, ParamHeader, Service as _};
use pintle::server::ServerHandle;
use pintle_proxy::{Proxy, ProxyError, ProxyOptions, ToolFilter};
use serde::Deserialize;

/// Events that the handlers of a server have counted.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) bookings: AtomicUsize,
    pub(crate) cancelled: AtomicUsize,
}

impl Counts {
    pub(crate) fn bookings(&self) -> usize {
        self.bookings.load(Ordering::SeqCst)
    }

    pub(crate) fn cancelled(&self) -> usize {
        self.cancelled.load(Ordering::SeqCst)
    }
}

/// Returns its argument.
#[tool]
async fn echo(text: String) -> String {
    text
}

/// The arguments of a tool that HTTP clients repeat in headers.
#[derive(Deserialize, schemars::JsonSchema)]
pub(crate) struct Order {
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: String,
}

/// Returns the region.
#[tool]
async fn ship(order: Args<Order>) -> String {
    order.0.region
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Seat {
    seat: String,
}

/// Asks for a seat.
#[tool]
async fn book(cx: Context, counts: State<Arc<Counts>>) -> Result<String, String> {
    counts.bookings.fetch_add(1, Ordering::SeqCst);
    let mut seats = Vec::new();
    for message in ["Which seat?", "And then?"] {
        match cx.elicit::<Seat>(message).await {
            Ok(Answer::Accepted(Seat { seat })) => seats.push(seat),
            Ok(_) => return Err("declined".to_owned()),
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok(seats.join(" "))
}

/// Reports its steps.
#[tool]
async fn count(cx: Context) -> String {
    for step in 1..=3 {
        cx.progress(f64::from(step), Some(3.0), "step").await;
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    cx.log(LoggingLevel::Warning, Some("counter"), "counted");
    tokio::time::sleep(Duration::from_millis(10)).await;
    "done".to_owned()
}

/// Ends when it is cancelled.
#[tool]
async fn wait(counts: State<Arc<Counts>>) -> String {
    struct OnDrop(Arc<Counts>);
    impl Drop for OnDrop {
        fn drop(&mut self) {
            self.0.cancelled.fetch_add(1, Ordering::SeqCst);
        }
    }
    let _guard = OnDrop(Arc::clone(&counts));
    std::future::pending().await
}

/// Returns the first root of the client.
#[tool]
async fn root(cx: Context) -> Result<String, String> {
    let roots = cx.list_roots().await.map_err(|error| error.to_string())?;
    Ok(roots
        .first()
        .map(|root| root.uri.clone())
        .unwrap_or_default())
}

/// The server, its counts, and the handle that changes it.
pub(crate) fn server() -> (Server, Arc<Counts>, ServerHandle) {
    let counts = Arc::new(Counts::default());
    let server = Server::new("desk", "1.0.0")
        .instructions("Ask for a seat.")
        .logging()
        .resource_updates()
        .state(Arc::clone(&counts))
        .tool::<echo>()
        .tool::<book>()
        .tool::<count>()
        .tool::<wait>()
        .tool::<root>()
        .tool::<ship>()
        .add_resource(Resource::text("memo:///a", "a", "A"));
    let handle = server.handle();
    (server, counts, handle)
}

/// A client of a proxy of a server.
pub(crate) struct Chain {
    pub(crate) client: Client,
    pub(crate) proxy: Proxy,
    pub(crate) counts: Arc<Counts>,
    pub(crate) handle: ServerHandle,
}

/// The revisions of both sides: the client's, and the server's.
pub(crate) fn pairs() -> Vec<(Revision, Revision)> {
    let eras = [Revision::LATEST_LEGACY, Revision::LATEST];
    let all = eras
        .into_iter()
        .flat_map(|client| eras.map(|server| (client, server)));
    all.collect()
}

pub(crate) async fn chain(builder: ClientBuilder, pair: (Revision, Revision)) -> Chain {
    chain_with(builder, pair, ProxyOptions::default()).await
}

pub(crate) async fn chain_with(
    builder: ClientBuilder,
    pair: (Revision, Revision),
    options: ProxyOptions,
) -> Chain {
    let chain = chain_of(builder, pair, options, ToolFilter::default());
    chain.await.expect("a server")
}

pub(crate) async fn chain_of(
    builder: ClientBuilder,
    (of_client, of_server): (Revision, Revision),
    options: ProxyOptions,
    filter: ToolFilter,
) -> Result<Chain, ProxyError> {
    let (server, counts, handle) = server();
    let app = server.into_service().expect("a valid server");
    let proxy = Proxy::builder(move |client| {
        let target = InProcess::new(app.clone());
        client
            .mode(EraMode::Pinned(of_server))
            .connect_lazily(target)
    });
    let proxy = proxy.options(options).tools(filter).connect().await?;
    let client = builder
        .mode(EraMode::Pinned(of_client))
        .connect(InProcess::new(proxy.clone()))
        .await
        .expect("a proxy");
    Ok(Chain {
        client,
        proxy,
        counts,
        handle,
    })
}

impl Chain {
    /// Connects another client to the proxy, of the revision of the first one.
    pub(crate) async fn another_client(&self) -> Client {
        let revision = self.client.server().expect("a server").revision;
        let builder = Client::builder().mode(EraMode::Pinned(revision));
        let client = builder.connect(InProcess::new(self.proxy.clone())).await;
        client.expect("a proxy")
    }

    /// Returns the headers that repeat arguments of a tool.
    pub(crate) fn proxy_headers(&self, tool: &str) -> Arc<[ParamHeader]> {
        self.proxy.param_headers(tool, None)
    }
}

/// Returns the text of the first content of a result.
pub(crate) fn text(result: &pintle::model::CallToolResult) -> String {
    let written = serde_json::to_value(&result.content).expect("JSON");
    written[0]["text"].as_str().unwrap_or_default().to_owned()
}

/// A client that answers each form with a number of its own.
pub(crate) fn answering() -> ClientBuilder {
    let asked = AtomicUsize::new(0);
    Client::builder()
        .on_elicit(move |_| {
            let number = asked.fetch_add(1, Ordering::SeqCst) + 1;
            let mut content = pintle::model::JsonObject::new();
            content.insert("seat".to_owned(), format!("{number}A").into());
            async move { Answer::Accepted(content) }
        })
        .roots(["file:///src"])
}
