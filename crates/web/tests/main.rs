//! The page over HTTP: its guard, its limits, and its requests to a server.

mod access;
mod api;
mod bounds;
mod browser;
mod development;
mod reports;
