//! The server: it counts the runs of its tools.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use pintle::http::{HttpOptions, HttpServer, HttpService};
use pintle::model::LoggingLevel;
use pintle::prelude::*;
use pintle::runtime::{IntoService, PipeOptions, serve_tcp};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// The number of runs of the tool.
#[derive(Clone, Default)]
pub(crate) struct Runs(Arc<AtomicUsize>);

impl Runs {
    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// Returns its text.
#[tool]
async fn echo(text: String, runs: State<Runs>) -> String {
    runs.0.0.fetch_add(1, Ordering::SeqCst);
    text
}

/// A gate that a thread waits for.
#[derive(Clone, Default)]
pub(crate) struct Gate(Arc<Gateway>);

#[derive(Default)]
struct Gateway {
    is_open: Mutex<bool>,
    opens: Condvar,
    waited_for: Notify,
}

impl Gate {
    pub(crate) fn open(&self) {
        *self.0.is_open.lock().expect("no panic") = true;
        self.0.opens.notify_all();
    }

    /// Waits until a thread waits for the gate.
    pub(crate) async fn waited_for(&self) {
        self.0.waited_for.notified().await;
    }

    /// Blocks the thread until the gate is open; false after a timeout.
    fn wait(&self) -> bool {
        self.0.waited_for.notify_one();
        let closed = self.0.is_open.lock().expect("no panic");
        let waiting = self
            .0
            .opens
            .wait_timeout_while(closed, PATIENCE, |open| !*open);
        !waiting.expect("no panic").1.timed_out()
    }
}

const PATIENCE: Duration = Duration::from_secs(20);

/// Blocks its thread, as the attribute declares.
#[tool(blocking)]
fn block(gate: State<Gate>) -> Result<&'static str> {
    match gate.wait() {
        true => Ok("it was opened"),
        false => Err("nobody has opened it, so nobody was served".into()),
    }
}

/// Line ends of every kind, and control characters of terminals.
pub(crate) const NASTY: &str = "a\r\nb\n\ndata: c\u{2028}d\u{0}e\u{1b}[31m";

/// Logs one message.
#[tool]
async fn log(ctx: Context) {
    ctx.log(LoggingLevel::Error, None, NASTY);
}

/// A page of text.
#[resource("wire://page")]
async fn page() -> &'static str {
    "a page"
}

fn server(runs: &Runs, gate: &Gate) -> Server {
    Server::new("wire", "1")
        .state(runs.clone())
        .state(gate.clone())
        .tools::<(echo, log, block)>()
        .resource::<page>()
        .logging()
}

/// A running server with its address; it stops when dropped.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) runs: Runs,
    pub(crate) gate: Gate,
    task: JoinHandle<()>,
}

impl Running {
    /// Serves lines, as on standard streams.
    pub(crate) async fn on_lines() -> Self {
        let (runs, gate) = (Runs::default(), Gate::default());
        let service = Arc::new(server(&runs, &gate).into_service().expect("it starts"));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let task = tokio::spawn(async move {
            let served = serve_tcp(service, listener, PipeOptions::default()).await;
            served.expect("a port");
        });
        Self {
            address,
            runs,
            gate,
            task,
        }
    }

    pub(crate) async fn on_http() -> Self {
        let (runs, gate) = (Runs::default(), Gate::default());
        let service = server(&runs, &gate).into_service().expect("it starts");
        let service = HttpService::new(service, HttpOptions::default());
        let server = HttpServer::bind(service, "127.0.0.1:0").await;
        let server = server.expect("a port");
        let address = server.address().expect("an address");
        let task = tokio::spawn(server.run());
        Self {
            address,
            runs,
            gate,
            task,
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.gate.open();
        self.task.abort();
    }
}
