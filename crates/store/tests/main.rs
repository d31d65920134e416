//! Stores and typed views of them.

mod faults;
mod file;
mod kills;
mod model;
mod shelf;
mod suite;
mod support;
