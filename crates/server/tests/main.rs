//! Servers in memory.

mod questions;
mod tasks;
