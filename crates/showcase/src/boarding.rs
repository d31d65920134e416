//! Progress, a time limit, and clean-up after a cancellation.

use std::time::Duration;

use pintle::prelude::*;

use super::radio;

/// Time of the pilot boat for a cable, a tenth of a nautical mile.
const CABLE: Duration = Duration::from_millis(250);

/// Takes a pilot out to a vessel. It takes a quarter of a second per cable, and reports progress.
#[tool(title = "Board a pilot", destructive = false, timeout = "30s")]
pub(super) async fn board(
    /// The vessel's call sign.
    call_sign: String,
    /// How far out she is, in cables.
    #[arg(default = 8, min = 1, max = 200)]
    cables: u32,
    ctx: Context,
) -> String {
    let mut trip = Trip { is_over: false };
    for cable in 1..=cables {
        tokio::time::sleep(CABLE).await;
        let note = format!("{cable} of {cables} cables");
        ctx.progress(f64::from(cable), Some(f64::from(cables)), note)
            .await;
    }
    trip.is_over = true;
    format!("the pilot is on board of {call_sign}")
}

/// A trip of the boat. A cancelled or timed out call is dropped at its `await`, and this value with it. So its
/// `Drop` does the clean-up.
struct Trip {
    is_over: bool,
}

impl Drop for Trip {
    fn drop(&mut self) {
        if !self.is_over {
            tracing::info!(target: radio::PUBLIC, "the pilot boat turns back");
        }
    }
}
