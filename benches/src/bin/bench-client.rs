//! A client to measure beside others: calls `echo` in closed loops over one conversation.
//!
//! `bench-client http URL 2025|2026 LOOPS SECONDS WARM` and
//! `bench-client stdio 2025|2026 LOOPS SECONDS WARM -- SERVER ARGS…`. Prints how many calls were
//! made in `SECONDS` after `WARM`, and the process's own CPU time meanwhile.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use pintle::client::{Client, EraMode};
use pintle::http::client::HttpConnect;
use pintle::model::Revision;
use pintle::process::Command;
use pintle::runtime::BoxConnect;
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;

const TEXT: &str = "hello, benchmark world";
const USAGE: &str = "usage: bench-client http URL 2025|2026 LOOPS SECONDS WARM
       bench-client stdio 2025|2026 LOOPS SECONDS WARM -- SERVER ARGS…";

/// Arguments of the command line.
struct Plan {
    target: BoxConnect,
    mode: EraMode,
    loops: usize,
    measured: Duration,
    warm: Duration,
}

#[tokio::main]
async fn main() -> pintle::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let plan = plan(&words)?;
    let client = Client::builder()
        .mode(plan.mode)
        .connect(plan.target)
        .await?;
    let made = Arc::new(AtomicU64::new(0));
    let loops: Vec<_> = (0..plan.loops)
        .map(|_| tokio::spawn(call(client.clone(), Arc::clone(&made))))
        .collect();
    tokio::time::sleep(plan.warm).await;
    let before = (made.load(Ordering::Relaxed), cpu(), Instant::now());
    tokio::time::sleep(plan.measured).await;
    let calls = made.load(Ordering::Relaxed) - before.0;
    let (cpu, wall) = (cpu() - before.1, before.2.elapsed());
    for a_loop in loops {
        if a_loop.is_finished() {
            a_loop.await??;
        } else {
            a_loop.abort();
        }
    }
    client.close().await;
    let figures =
        json!({ "calls": calls, "wall_s": wall.as_secs_f64(), "cpu_s": cpu.as_secs_f64() });
    writeln!(std::io::stdout(), "{figures}")?;
    Ok(())
}

/// Calls until it is stopped, or until an answer is wrong.
async fn call(client: Client, made: Arc<AtomicU64>) -> pintle::Result<()> {
    loop {
        let result = client.call_tool("echo", json!({ "text": TEXT })).await?;
        if result.first_text() != Some(TEXT) {
            return Err("the echo is wrong".into());
        }
        made.fetch_add(1, Ordering::Relaxed);
    }
}

fn plan(words: &[String]) -> pintle::Result<Plan> {
    let (target, rest) = match words {
        [kind, url, rest @ ..] if kind == "http" => (BoxConnect::new(HttpConnect::to(url)?), rest),
        [kind, rest @ ..] if kind == "stdio" => (BoxConnect::new(server(rest)?), rest),
        _ => return Err(USAGE.into()),
    };
    let [revision, loops, measured, warm, ..] = rest else {
        return Err(USAGE.into());
    };
    let seconds = |word: &str| word.parse().map(Duration::from_secs_f64);
    Ok(Plan {
        target,
        mode: match revision.as_str() {
            "2026" => EraMode::Pinned(Revision::V2026_07_28),
            "2025" => EraMode::Pinned(Revision::V2025_11_25),
            _ => return Err(USAGE.into()),
        },
        loops: loops.parse()?,
        measured: seconds(measured)?,
        warm: seconds(warm)?,
    })
}

fn server(words: &[String]) -> pintle::Result<Command> {
    let mut command = words.iter().skip_while(|word| *word != "--").skip(1);
    let program = command.next().ok_or(USAGE)?;
    Ok(Command::new(program).args(command).inherit_all_env())
}

/// The CPU time of this process so far, in all of its threads.
fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let (seconds, nanoseconds) = (time.tv_sec, time.tv_nsec);
    Duration::new(
        u64::try_from(seconds).unwrap_or_default(),
        u32::try_from(nanoseconds).unwrap_or_default(),
    )
}
