//! `pintle ping`: checks that a server answers, and measures its response time.

use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::args::Format;
use crate::conversation::Conversation;
use crate::exit::CliError;
use crate::output;

/// Sends pings, and prints the time of each answer.
pub(crate) async fn run(conversation: &Conversation, count: NonZeroU32) -> Result<(), CliError> {
    let mut times = Vec::new();
    for _ in 0..count.get() {
        let began = Instant::now();
        conversation.client.ping().await?;
        let took = began.elapsed();
        if conversation.format == Format::Text {
            output::result(format!("{:.3} ms\n", millis(took)).as_bytes())?;
        }
        times.push(millis(took));
    }
    match conversation.format {
        Format::Json => output::json(&conversation.screen, &json!({ "milliseconds": times })),
        Format::Text => Ok(()),
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
