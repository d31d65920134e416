//! The end of a server on stdio.

use super::super::check::ClientCheck;
use super::super::record::Kind;
use super::super::seen::{Seen, not_seen};
use crate::check::should;
use crate::checks::{LEGACY, MODERN};
use crate::finding::{Judgement, observed};

pub(super) const CHECKS: &[ClientCheck] = &[ClientCheck::new(
    "client-shutdown",
    "The client closes the input of the server before it stops it.",
    "Lifecycle: Shutdown",
    &[
        should(LEGACY, &["LIFE-20"]).stdio(),
        should(MODERN, &["N-STDIO-08"]).stdio(),
    ],
    shutdown,
)];

fn shutdown(seen: &Seen<'_>) -> Judgement {
    let mut is_seen = false;
    for entry in seen.talks().flat_map(|talk| &talk.entries) {
        if let Kind::Ended(is_orderly) = entry.kind {
            is_seen = true;
            if !is_orderly {
                return Err(observed(
                    "the server was stopped, and its input was still open",
                ));
            }
        }
    }
    match is_seen {
        true => Ok(()),
        false => Err(not_seen("the client has not ended the server")),
    }
}
