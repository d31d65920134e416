//! A store in a PostgreSQL database: the contract, several openings and processes, starts and restarts.
//!
//! The tests start a server of their own in a folder for temporary files. Without an installed server they
//! report that they skip, and fail if the variable `PINTLE_ENGINES` is `required`.
#![cfg(unix)]

mod breaks;
mod faults;
mod figures;
mod migrations;
mod model;
mod pooler;
mod processes;
mod restarts;
mod starts;
mod storm;
mod suite;
mod support;
mod tls;
