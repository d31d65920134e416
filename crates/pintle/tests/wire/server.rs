//! The server: it counts what it was made to do.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pintle::http::{HttpOptions, HttpServer, HttpService};
use pintle::model::LoggingLevel;
use pintle::prelude::*;
use pintle::runtime::{IntoService, PipeOptions, serve_tcp};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// How often the tool was run.
#[derive(Clone, Default)]
pub(crate) struct Runs(Arc<AtomicUsize>);

impl Runs {
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// Gives back what it is given.
#[tool]
async fn echo(text: String, runs: State<Runs>) -> String {
    runs.0.0.fetch_add(1, Ordering::SeqCst);
    text
}

/// Ends of lines of every kind, and what a terminal would obey.
pub(crate) const NASTY: &str = "a\r\nb\n\ndata: c\u{2028}d\u{0}e\u{1b}[31m";

/// Says something.
#[tool]
async fn log(ctx: Context) {
    ctx.log(LoggingLevel::Error, None, NASTY);
}

/// A page.
#[resource("wire://page")]
async fn page() -> &'static str {
    "a page"
}

fn server(runs: &Runs) -> Server {
    Server::new("wire", "1")
        .state(runs.clone())
        .tools::<(echo, log)>()
        .resource::<page>()
        .logging()
}

/// A server at an address, until it is dropped.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) runs: Runs,
    task: JoinHandle<()>,
}

impl Running {
    /// Lines, as on standard streams.
    pub(crate) async fn on_lines() -> Self {
        let runs = Runs::default();
        let service = Arc::new(server(&runs).into_service().expect("it starts"));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let task = tokio::spawn(async move {
            let served = serve_tcp(service, listener, PipeOptions::default()).await;
            served.expect("a port");
        });
        Self {
            address,
            runs,
            task,
        }
    }

    pub(crate) async fn on_http() -> Self {
        let runs = Runs::default();
        let service = server(&runs).into_service().expect("it starts");
        let service = HttpService::new(service, HttpOptions::default());
        let server = HttpServer::bind(service, "127.0.0.1:0").await;
        let server = server.expect("a port");
        let address = server.address().expect("an address");
        let task = tokio::spawn(server.run());
        Self {
            address,
            runs,
            task,
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}
