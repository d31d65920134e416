//! Tools that log.

use std::time::Duration;

use pintle::prelude::*;
use tokio::time::sleep;

const PAUSE: Duration = Duration::from_millis(50);

pub(super) fn offer(server: Server) -> Server {
    server.tools::<(test_tool_with_logging, test_logging_tool)>()
}

/// Logs before, during and after some work.
#[tool(read_only)]
async fn test_tool_with_logging(cx: Context) -> &'static str {
    cx.log(LoggingLevel::Info, None, "Tool execution started");
    sleep(PAUSE).await;
    cx.log(LoggingLevel::Info, None, "Tool processing data");
    sleep(PAUSE).await;
    cx.log(LoggingLevel::Info, None, "Tool execution completed");
    "Tool with logging executed successfully"
}

/// Logs once, if the client requested logs.
#[tool(read_only)]
async fn test_logging_tool(cx: Context) -> &'static str {
    cx.log(LoggingLevel::Info, None, "Logged by test_logging_tool");
    "Logged, if anybody asked for it"
}
