//! A tool that reports its progress.

use std::time::Duration;

use pintle::prelude::*;
use tokio::time::sleep;

const PAUSE: Duration = Duration::from_millis(50);
const TOTAL: f64 = 100.0;

pub(super) fn offer(server: Server) -> Server {
    server.tool::<test_tool_with_progress>()
}

/// Reports its progress in three steps.
#[tool(read_only)]
async fn test_tool_with_progress(cx: Context) -> &'static str {
    cx.progress(0.0, Some(TOTAL), "begun").await;
    sleep(PAUSE).await;
    cx.progress(TOTAL / 2.0, Some(TOTAL), "half done").await;
    sleep(PAUSE).await;
    cx.progress(TOTAL, Some(TOTAL), "done").await;
    "Tool with progress executed successfully"
}
