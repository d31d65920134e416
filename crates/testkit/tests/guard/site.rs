//! A server with protected tools and resources.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pintle_auth::resource::{Guarded, RequireBearer, RequireBearerBuilder, VerifiedToken};
use pintle_http::{HttpServer, HttpService, ServeHttp as _};
use pintle_model::TaskSupport;
use pintle_runtime::{AskError, Context, Principal};
use pintle_server::{App, Resource, Server, ServerHandle, State, Tool};
use pintle_testkit::issuer::{Issuer, Token};
use tokio::sync::oneshot;
use tower_layer::Layer as _;

/// The URL of the server in tokens and metadata; its real port differs.
pub(crate) const HERE: &str = "https://api.test/mcp";
pub(crate) const METADATA: &str = "https://api.test/.well-known/oauth-protected-resource/mcp";

/// The number of runs of handlers.
#[derive(Debug, Default)]
pub(crate) struct Runs(AtomicUsize);

impl Runs {
    fn count(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A running server, and the issuer of its tokens.
pub(crate) struct Site {
    pub(crate) issuer: Issuer,
    pub(crate) address: SocketAddr,
    runs: Arc<Runs>,
    _end: oneshot::Sender<()>,
}

impl Site {
    pub(crate) async fn new() -> Self {
        Self::requiring(|requirements| requirements).await
    }

    pub(crate) async fn requiring(
        change: impl FnOnce(RequireBearerBuilder) -> RequireBearerBuilder,
    ) -> Self {
        let issuer = Issuer::new("https://issuer.test");
        let requirements = RequireBearer::jwks(issuer.url(), issuer.clone()).audience(HERE);
        Self::behind(issuer, change(requirements)).await
    }

    /// The same behind these requirements.
    pub(crate) async fn behind(issuer: Issuer, requirements: RequireBearerBuilder) -> Self {
        let layer = requirements.build().expect("good settings");
        let runs = Arc::new(Runs::default());
        let service = server(&runs).into_http().expect("starts");
        let server = HttpServer::bind_with_layer(layer, service, "127.0.0.1:0");
        let server = server.await.expect("a port").with_sse();
        let address = server.address().expect("an address");
        let (end, ended) = oneshot::channel::<()>();
        tokio::spawn(server.run_until(async move {
            // The task is dropped with the site.
            let _dropped = ended.await;
        }));
        Self {
            issuer,
            address,
            runs,
            _end: end,
        }
    }

    /// A valid token for this server.
    pub(crate) fn token(&self) -> Token {
        self.issuer.token(HERE)
    }

    /// The number of runs of handlers so far.
    pub(crate) fn runs(&self) -> usize {
        self.runs.0.load(Ordering::SeqCst)
    }
}

/// The same without a socket.
pub(crate) fn in_memory(
    issuer: &Issuer,
    change: impl FnOnce(RequireBearerBuilder) -> RequireBearerBuilder,
) -> Guarded<HttpService<App>> {
    let service = server(&Arc::default()).into_http().expect("starts");
    layer(issuer, change).layer(service)
}

pub(crate) fn layer(
    issuer: &Issuer,
    change: impl FnOnce(RequireBearerBuilder) -> RequireBearerBuilder,
) -> RequireBearer {
    let requirements = RequireBearer::jwks(issuer.url(), issuer.clone()).audience(HERE);
    change(requirements).build().expect("good settings")
}

pub(crate) fn server(runs: &Arc<Runs>) -> Server {
    let counted = Arc::clone(runs);
    let server = Server::new("bank", "1").resource_updates();
    let handle = server.handle();
    server
        .state(counted)
        .state(handle)
        .add_tool(Tool::new("whoami").handler(whoami))
        .add_tool(Tool::new("head").handler(head))
        .add_tool(Tool::new("chat").handler(chat))
        .add_tool(Tool::new("hello").handler(hello))
        .add_tool(
            Tool::new("endless")
                .task(TaskSupport::Optional)
                .handler(endless),
        )
        .add_tool(
            Tool::new("open")
                .scopes(["safe"])
                .handler(async || "opened"),
        )
        .add_tool(
            Tool::new("audit")
                .scopes(["books:read", "books:audit"])
                .handler(async || "audited"),
        )
        .add_tool(Tool::new("ring").handler(ring))
        .add_tool(Tool::new("slow").handler(slow))
        .add_resource(Resource::text("bank://safe", "safe", "gold").scopes(["safe"]))
        .add_resource(Resource::text("bank://hours", "hours", "nine to five"))
}

/// Runs longer than the lifetime of a token.
async fn slow() -> &'static str {
    tokio::time::sleep(Duration::from_secs(200)).await;
    "at last"
}

/// Publishes two changes: first of a restricted resource, then of a public one.
async fn ring(server: State<ServerHandle>) -> &'static str {
    server.changes().resource("bank://safe");
    server.changes().resource("bank://hours");
    "rung"
}

async fn whoami(runs: State<Arc<Runs>>, who: Principal) -> String {
    runs.count();
    who.id().to_owned()
}

/// Returns the parts of the request that a handler sees: header names, and the claims of the token.
async fn head(cx: Context) -> String {
    let Some(parts) = cx.extension::<http::request::Parts>() else {
        return "no head".into();
    };
    let names: Vec<&str> = parts.headers.keys().map(http::HeaderName::as_str).collect();
    let grant = parts.extensions.get::<Arc<VerifiedToken>>();
    format!("{names:?} {grant:?} {:?}", parts.headers)
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Name {
    name: String,
}

/// Asks for the name of the user.
async fn hello(cx: Context) -> Result<String, AskError> {
    let name = cx.elicit::<Name>("Who?").named("who").await?;
    let name = name.accepted().map(|name| name.name);
    Ok(format!("hello {}", name.as_deref().unwrap_or("nobody")))
}

/// Waits without end.
async fn endless() -> String {
    std::future::pending().await
}

/// Reports progress, and works for some time.
async fn chat(cx: Context) -> String {
    cx.progress(1.0, None, "private").await;
    tokio::time::sleep(Duration::from_millis(20)).await;
    "done".into()
}
