//! The registry of checks of clients, area by area.

mod calls;
mod cancellation;
mod http;
mod lifecycle;
mod messages;
mod meta;
mod mirror;
mod modern;
mod questions;
mod rounds;
mod scenes;
mod shutdown;
mod streams;

use super::check::ClientCheck;

/// Returns every check of clients, in the order of a report.
pub fn client_checks() -> impl Iterator<Item = &'static ClientCheck> {
    AREAS.iter().flat_map(|area| area.iter())
}

const AREAS: &[&[ClientCheck]] = &[
    lifecycle::CHECKS,
    messages::CHECKS,
    meta::CHECKS,
    calls::CHECKS,
    cancellation::CHECKS,
    questions::CHECKS,
    modern::CHECKS,
    rounds::CHECKS,
    http::CHECKS,
    mirror::CHECKS,
    streams::CHECKS,
    shutdown::CHECKS,
    scenes::CHECKS,
];

#[cfg(test)]
mod tests;
