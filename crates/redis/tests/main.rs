//! A store in Redis: the contract, several openings and processes, starts, restarts and lost content.
//!
//! The tests start servers of their own in folders for temporary files. Without an installed server they
//! report that they skip, and fail if the variable `PINTLE_ENGINES` is `required`.
#![cfg(unix)]

mod clusters;
mod faults;
mod figures;
mod processes;
mod restarts;
mod sentinels;
mod starts;
mod suite;
mod support;
mod tls;
