//! The registry: every check, area by area.

mod cache;
mod capabilities;
mod completion;
mod content;
mod discover;
mod envelope;
mod headers;
mod http_messages;
mod lifecycle;
mod listen;
mod lists;
mod logging;
mod malformed;
mod messages;
mod metadata;
mod notifications;
mod origin;
mod prompts;
mod resources;
mod robustness;
mod sessions;
mod stdio;
mod task_runs;
mod tasks;
mod tool_calls;
mod tools;
mod traffic;
mod traffic_modern;

use pintle_model::Feature;

use crate::check::Check;
use crate::finding::{Judgement, observed_after};
use crate::value::Fault;

/// Returns every check, in the order of a run.
pub fn checks() -> impl Iterator<Item = &'static Check> {
    AREAS.iter().flat_map(|area| area.iter())
}

// The checks of all messages stand last.
const AREAS: &[&[Check]] = &[
    lifecycle::CHECKS,
    discover::CHECKS,
    envelope::CHECKS,
    capabilities::CHECKS,
    messages::CHECKS,
    malformed::CHECKS,
    notifications::CHECKS,
    lists::CHECKS,
    cache::CHECKS,
    tools::CHECKS,
    tool_calls::CHECKS,
    resources::CHECKS,
    prompts::CHECKS,
    completion::CHECKS,
    logging::CHECKS,
    tasks::CHECKS,
    task_runs::CHECKS,
    listen::CHECKS,
    http_messages::CHECKS,
    headers::CHECKS,
    sessions::CHECKS,
    origin::CHECKS,
    stdio::CHECKS,
    robustness::CHECKS,
    traffic::CHECKS,
    metadata::CHECKS,
    traffic_modern::CHECKS,
];

/// The revisions with a handshake.
pub(crate) const LEGACY: &[Feature] = &[Feature::Handshake];
/// Those from 2025-03-26 on.
pub(crate) const LEGACY_03: &[Feature] = &[Feature::Handshake, Feature::StreamableHttp];
/// Those from 2025-06-18 on.
pub(crate) const LEGACY_06: &[Feature] = &[Feature::Handshake, Feature::RevisionHeader];
/// The last revision with a handshake.
pub(crate) const LEGACY_11: &[Feature] = &[Feature::Handshake, Feature::Icons];
/// The revisions without a handshake.
pub(crate) const MODERN: &[Feature] = &[Feature::Envelope];

/// Passes without a fault. A fault describes the answer to `sent`.
fn without_fault(sent: &str, fault: Fault) -> Judgement {
    match fault {
        None => Ok(()),
        Some(fault) => Err(observed_after(sent, fault)),
    }
}

/// Turns the name of an async function into the code of a check.
macro_rules! run {
    ($function:path) => {
        |peer| Box::pin($function(peer))
    };
}
use run;

#[cfg(test)]
mod tests;
