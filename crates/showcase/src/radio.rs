//! Log messages to the client, and `tracing` events that become log messages.
//!
//! The protocol deprecates its logging as of 2026-07-28; some hosts still show it.

use std::io;

use pintle::prelude::*;
use pintle::server::forward_event;
use serde_json::json;
use tracing::{Event, Subscriber};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::{self, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer, fmt, registry};

/// The target of events that clients may see. Others are for operators.
pub(super) const PUBLIC: &str = "harbour";

/// Keeps watch on a channel, and logs a message at every level.
#[tool(title = "Radio watch", read_only)]
pub(super) async fn watch(
    /// The number of the VHF channel.
    #[arg(default = 12, min = 1, max = 88)]
    channel: u8,
    ctx: Context,
) -> String {
    let heard = [
        (LoggingLevel::Debug, "static"),
        (
            LoggingLevel::Info,
            "Rule of Twelfths is passing the breakwater",
        ),
        (LoggingLevel::Warning, "fog is coming in"),
        (LoggingLevel::Error, "nobody answers at the lock"),
    ];
    for (level, words) in heard {
        ctx.log(
            level,
            Some("radio"),
            json!({ "channel": channel, "heard": words }),
        );
    }
    tracing::info!(target: PUBLIC, channel, "the watch is over");
    format!("kept watch on channel {channel}; what was heard is in the log")
}

/// Shows `tracing` events up to `level` on standard error, and public events to the clients.
///
/// # Panics
///
/// If the process has a subscriber already.
pub fn log_events(level: LevelFilter) {
    let to_operator = fmt::layer().with_ansi(false).with_writer(io::stderr);
    registry()
        .with(to_operator.with_filter(level))
        .with(ToClients)
        .init();
}

/// Shows public events to the client whose request they belong to.
#[derive(Debug)]
struct ToClients;

impl<S: Subscriber> Layer<S> for ToClients {
    fn on_event(&self, event: &Event<'_>, _cx: layer::Context<'_, S>) {
        if event.metadata().target() == PUBLIC {
            forward_event(event);
        }
    }
}
