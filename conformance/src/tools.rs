//! The tools that the suite calls.
//!
//! The suite calls the first listed tool without arguments, so it must have none.

mod capability;
mod change;
mod content;
mod header;
mod input;
mod log;
mod progress;
mod questions;
mod reconnection;
mod schema;
mod tasks;

use pintle::prelude::*;

/// Offers all tools.
pub(crate) fn offer(server: Server) -> Server {
    let offers = [
        content::offer,
        log::offer,
        progress::offer,
        capability::offer,
        change::offer,
        header::offer,
        schema::offer,
        questions::offer,
        reconnection::offer,
        input::offer,
        tasks::offer,
    ];
    offers
        .into_iter()
        .fold(server, |server, offer| offer(server))
}
