//! A long job as a task that outlives its connection and its process. A step that is done is not repeated after a restart.
//!
//! `durable_task --state file:FOLDER` stores the tasks in a folder.

#![expect(clippy::print_stderr, reason = "the log of the work")]

use std::time::Duration;

use pintle::prelude::*;

/// Measures the depth along one line, and returns it in metres.
async fn sound(line: u32) -> f64 {
    tokio::time::sleep(Duration::from_millis(100)).await;
    eprintln!("line {line}");
    7.5 - f64::from(line) / 10.0
}

/// Sounds the basin line by line, and returns the least depth.
#[tool(read_only, task = required)]
async fn survey(#[arg(min = 1, max = 1000)] lines: u32, ctx: Context) -> Result<String> {
    let mut least = f64::MAX;
    for line in 1..=lines {
        // The store has the depth of each line. After a restart the handler runs again, and reads the stored depths.
        let depth = ctx.once(&format!("line {line}"), sound(line)).await;
        least = least.min(depth);
        ctx.progress(f64::from(line), Some(f64::from(lines)), ())
            .await;
    }
    Ok(format!(
        "{lines} lines sounded; the least depth is {least} m"
    ))
}

#[pintle::main]
fn main() -> Server {
    Server::new("survey", env!("CARGO_PKG_VERSION")).tool::<survey>()
}
