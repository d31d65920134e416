//! Stores and typed views of them.

mod faults;
mod file;
mod model;
mod shelf;
mod suite;
mod support;
