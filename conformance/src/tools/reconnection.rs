//! A tool whose client reconnects for the result.

use std::time::Duration;

use pintle::prelude::*;
use tokio::time::sleep;

const WORK: Duration = Duration::from_millis(100);

pub(super) fn offer(server: Server) -> Server {
    server.tool::<test_reconnection>()
}

/// Closes its connection before it is done.
#[tool(read_only)]
async fn test_reconnection(cx: Context) -> &'static str {
    cx.close_stream();
    sleep(WORK).await;
    "Reconnection test completed successfully"
}
