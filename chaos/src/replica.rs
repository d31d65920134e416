//! One server: its tools append a line to the common file before they answer.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pintle::http::{HttpOptions, HttpServer, TrustedProxies};
use pintle::prelude::*;
use pintle::server::StateBackend;
use tokio::time::sleep;

use crate::counted::{Counted, Counts};
use crate::logs;

/// Twice the interval of the checks of the proxy.
const SHUTDOWN_DELAY: Duration = Duration::from_secs(2);
/// The argument of a server without a shared state.
pub(crate) const NO_STATE: &str = "none";
/// Requests of one client in each interval. All but one client send fewer.
pub(crate) const QUOTA: usize = 300;
pub(crate) const QUOTA_INTERVAL: Duration = Duration::from_secs(10);
/// The resource whose updates clients subscribe to.
pub(crate) const BOARD: &str = "chaos://board";

/// Returns the right answer of a call.
pub(crate) fn answer(value: i64) -> i64 {
    value.wrapping_mul(31).wrapping_add(7)
}

/// The file with a line for each call: key, server, value.
#[derive(Clone)]
struct Lines {
    file: PathBuf,
    server: String,
}

impl Lines {
    fn append(&self, key: &str, value: i64) -> Result<()> {
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(&self.file)?;
        // One write, so lines of several processes do not mix.
        file.write_all(format!("{key} {} {value}\n", self.server).as_bytes())?;
        Ok(())
    }
}

/// Returns the text.
#[tool]
async fn echo(text: String) -> String {
    text
}

/// Returns the number of operations of the store by their kind.
#[tool]
async fn operations(counts: State<Counts>) -> String {
    counts.text()
}

/// Reports so much progress without a pause.
#[tool]
async fn steps(count: u32, ctx: Context) -> String {
    for step in 1..=count {
        ctx.progress(step, count, ()).await;
    }
    count.to_string()
}

/// Appends a line.
#[tool]
async fn append(key: String, value: i64, lines: State<Lines>) -> Result<String> {
    lines.append(&key, value)?;
    Ok(answer(value).to_string())
}

/// Reports progress for some time, and appends a line.
#[tool]
async fn slow(
    key: String,
    value: i64,
    millis: u64,
    ctx: Context,
    lines: State<Lines>,
) -> Result<String> {
    for step in 1..=4_u32 {
        sleep(Duration::from_millis(millis / 4)).await;
        ctx.progress(f64::from(step), Some(4.0), ()).await;
    }
    lines.append(&key, value)?;
    Ok(answer(value).to_string())
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Number {
    number: i64,
}

/// Asks the user for the successor of the value, and appends a line.
#[tool]
async fn ask(key: String, value: i64, ctx: Context, lines: State<Lines>) -> Result<String> {
    let asked = ctx.elicit::<Number>(format!("after {value}")).await?;
    let number = asked.accepted().ok_or("declined")?.number;
    lines.append(&key, value)?;
    Ok(answer(number).to_string())
}

/// Asks the client for its root, whose name is a number, and appends a line. Clients of 2024-11-05 can answer it.
#[tool]
async fn root(key: String, value: i64, ctx: Context, lines: State<Lines>) -> Result<String> {
    let roots = ctx.list_roots().await?;
    let name = roots.first().and_then(|it| it.uri.rsplit('/').next());
    let number: i64 = name.ok_or("no root")?.parse()?;
    lines.append(&key, value)?;
    Ok(answer(value + number).to_string())
}

/// Appends a line, as a step of a task.
#[tool(task = optional)]
async fn work(key: String, value: i64, ctx: Context, lines: State<Lines>) -> Result<String> {
    sleep(Duration::from_millis(300)).await;
    let step = async { lines.append(&key, value).is_ok() };
    if !ctx.once("append", step).await {
        return Err("the line was not written".into());
    }
    sleep(Duration::from_millis(300)).await;
    Ok(answer(value).to_string())
}

/// Announces an update of the board.
#[tool]
async fn announce(server: State<ServerHandle>) -> &'static str {
    server.changes().resource(BOARD);
    "announced"
}

/// The text of the board.
#[resource("chaos://board")]
async fn board() -> &'static str {
    "a board"
}

/// Serves until SIGTERM: `ADDRESS STATE FILE NAME [QUOTA]`.
pub(crate) async fn serve(words: &[String]) -> Result<()> {
    let [address, state, file, name, quota @ ..] = words else {
        return Err("usage: chaos replica ADDRESS STATE FILE NAME [QUOTA]".into());
    };
    logs::begin_server();
    let lines = Lines {
        file: file.into(),
        server: name.clone(),
    };
    let counts = Counts::default();
    let mut server = Server::new("chaos", "1.0.0")
        .state(lines)
        .state(counts.clone());
    if state != NO_STATE {
        server = server.state_backend(counted(state, counts).await?);
    }
    let server = server
        .resource_updates()
        .tool::<echo>()
        .tool::<operations>()
        .tool::<steps>()
        .tool::<append>()
        .tool::<slow>()
        .tool::<ask>()
        .tool::<root>()
        .tool::<work>()
        .tool::<announce>()
        .resource::<board>();
    let mut options = HttpOptions::default();
    options.serve_health = true;
    options.limits.shutdown_delay = SHUTDOWN_DELAY;
    // Clients without a header of their own have one address, so the limits of one peer are those of all.
    options.limits.max_sessions_per_peer = options.limits.max_sessions;
    options.limits.max_streams_per_address = options.limits.max_streams;
    if let [quota] = quota {
        options.trusted_proxies = TrustedProxies::x_forwarded_for(["127.0.0.1"])?;
        options.limits.max_requests_per_peer = quota.parse()?;
        options.limits.quota_interval = QUOTA_INTERVAL;
    }
    let server = HttpServer::bind(server.into_http_with(options)?, address).await?;
    server.with_sse().run().await;
    Ok(())
}

/// Opens a state whose operations are counted.
async fn counted(url: &str, counts: Counts) -> Result<StateBackend> {
    let store = Arc::clone(pintle::state(url).await?.store());
    let counted = Counted { store, counts };
    Ok(StateBackend::open(Arc::new(counted), None).await?)
}
